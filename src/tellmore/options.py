"""Checks of the options a caller gives: what was wrong, what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellmore.errors import SettingError


def one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse a value that is not among those allowed."""
    if value not in allowed:
        raise SettingError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def positive_number(name: str, value: float | None, default: float) -> float:
    """A positive number, or the default where none is given."""
    if value is None:
        return default
    if not np.isfinite(value) or value <= 0:
        raise SettingError(f"{name} must be a positive number, not {value!r}")
    return float(value)


def checked_size(size: int, fewest: int, most: int, n_items: int) -> int:
    """A number of items that a question can show."""
    if not fewest <= size <= most:
        raise SettingError(f"a set must have {fewest} to {most} items, not {size}")
    if size > n_items:
        raise SettingError(f"a question on {size} items needs a pool of at least {size}, and this one has {n_items}")
    return int(size)
