"""Checks of a caller's options, with errors that say what was wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.errors import SettingError


def one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise SettingError unless the value is one of those allowed."""
    if value not in allowed:
        raise SettingError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def positive_number(name: str, value: float | None, default: float | None = None) -> float:
    """A positive number, or the default if there is one and ``value`` is None."""
    if value is None and default is not None:
        return default
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if value is None or not number or not np.isfinite(value) or value <= 0:
        raise SettingError(f"{name} must be a positive number, not {value!r}")
    return float(value)


def whole_number(name: str, value: Any, fewest: int = 0) -> int:
    """A whole number of at least ``fewest``; other numbers are refused, not rounded."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < fewest:
        raise SettingError(f"{name} must be a whole number of at least {fewest}, not {value!r}")
    return int(value)


def share(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise SettingError(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(value)


def switch(name: str, value: Any) -> bool:
    """True or False; anything else is refused."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def several(name: str, values: Any) -> tuple[Any, ...]:
    """The values of a list; a single string is refused, because it would be read letter by letter."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SettingError(f"{name} must be a list, not {values!r}; write [{values!r}]")
    return tuple(values)


def one_path(name: str, value: Any) -> Path:
    """The path of a file or a folder."""
    if not isinstance(value, str | PathLike):
        raise SettingError(f"{name} must be a path, not {value!r}")
    return Path(value)


def checked_size(size: int, fewest: int, most: int, n_items: int) -> int:
    """A number of items that a question can show."""
    size = whole_number("the number of items in a question", size)
    if not fewest <= size <= most:
        raise SettingError(f"a set must have {fewest} to {most} items, not {size}")
    if size > n_items:
        raise SettingError(f"a question on {size} items needs a pool of at least {size}, and this one has {n_items}")
    return size


def one_name(name: str, value: Any) -> str:
    """A name, which may be empty."""
    if not isinstance(value, str):
        raise SettingError(f"{name} must be a name in quotation marks, not {value!r}")
    return value


def functions(name: str, values: Any) -> tuple[Any, ...]:
    """A list of functions."""
    if not isinstance(values, Iterable) or not all(map(callable, found := tuple(values))):
        raise SettingError(f"{name} must be a list of functions, not {values!r}")
    return found


def cost_model(cost: Any, default: Any) -> Any:
    """A cost model, or the default if it is None."""
    if cost is not None and not callable(getattr(cost, "seconds", None)):
        raise SettingError(f"cost must be a CostModel, not {cost!r}")
    return default if cost is None else cost


def stopping_rule(stop: Any) -> None:
    """Raise SettingError unless ``stop`` is a rule; a number of answers, or the class of a rule, is not."""
    if isinstance(stop, type) or not callable(getattr(stop, "check", None)):
        raise SettingError(f"stop must be a rule, such as AnswerBudget(20), not {stop!r}")
