"""Values that all layers share: arrays, and answers, which contain nothing about display, storage or mathematics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import AnswerError, QuestionError

Array: TypeAlias = NDArray[np.floating[Any]]
Id: TypeAlias = str | int
"""The id of an item. Answers, logs and files store it as a string."""
SkipReason = Literal["skip", "cant_tell"]
MISSING_VALUES = ("None", "nan", "<NA>", "NaT")
"""How Python, NumPy and pandas write a missing value."""


class Answer:
    """A person's answer. Each kind of question has its own frozen dataclass, whose fields are plain values.

    ``type`` names the class in the log and over HTTP. The constructor checks each field by itself; ``check`` checks them
    against the items shown.

    Parameters of the methods:

    items: the ids shown.
    plain: what ``as_json`` returns.

    >>> from tellmore import LabelAnswer
    >>> LabelAnswer(True).as_json()
    {'type': 'label', 'positive': True}
    """

    type: ClassVar[str] = ""

    def check(self, items: tuple[str, ...]) -> None:
        """Raise AnswerError unless this is a possible answer to a question on ``items``."""

    def as_json(self) -> dict[str, Any]:
        """As stored in the log and sent over HTTP."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"type": self.type, **{name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The inverse of ``as_json``: the answer that ``plain`` describes; AnswerError names the field that is wrong."""
        known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
        unknown = [name for name in plain if name not in known and name != "type"]
        missing = [
            name
            for name, field in known.items()
            if name not in plain and field.default is MISSING and field.default_factory is MISSING
        ]
        if unknown or missing:
            fault = f"has no {unknown[0]!r}" if unknown else f"lacks {missing[0]!r}"
            raise AnswerError(f"an answer of type {cls.type!r} {fault}; its fields are {', '.join(known)}")
        return cls(**{name: value for name, value in plain.items() if name != "type"})


@dataclass(frozen=True)
class Skip(Answer):
    """No answer: the belief does not change, but the question is added to the history.

    reason: ``skip`` (the person skipped it) or ``cant_tell``.

    >>> Skip("cant_tell").as_json()
    {'type': 'skip', 'reason': 'cant_tell'}
    """

    type: ClassVar[str] = "skip"
    reason: SkipReason = "skip"

    def __post_init__(self) -> None:
        if self.reason not in get_args(SkipReason):
            raise AnswerError(f"a skip's reason is one of {', '.join(get_args(SkipReason))}, not {self.reason!r}")


def ids_of(items: Iterable[Any], name: str = "items") -> tuple[Id, ...]:
    """Items as ids; a single string is refused, because it would be read letter by letter."""
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise QuestionError(f"{name} must be a list of ids, not {items!r}; write [{items!r}]")
    return tuple(kept_id(item) for item in items)


def kept_id(item: Any) -> Id:
    """An id as given if it is a string or a whole number; a date or the like as text. Missing values are refused."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return int(item)
    name = str(item)
    if name in MISSING_VALUES:
        raise QuestionError(f"an item has no id, only {name}; give every item its own")
    if isinstance(item, bool | np.bool_ | float | np.floating | bytes | list | tuple | set | dict | np.ndarray):
        raise QuestionError(
            f"an id is a text or a whole number, not {name} ({type(item).__name__}); write it as a text"
        )
    return name


def id_list(name: str, value: Any) -> tuple[str, ...]:
    """The ids in a field of an answer; AnswerError if it is not a list of ids, or names one twice."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise AnswerError(f"{name} must be a list of ids, not {value!r}")
    ids = tuple(one_id(name, one) for one in value)
    if len(set(ids)) != len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise AnswerError(f"{name} names {twice!r} twice; name each item once")
    return ids


def one_id(name: str, value: Any) -> str:
    """One id as a string; it may be given as a whole number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, str | int | np.integer):
        raise AnswerError(f"{name} must name an item by its id, not {value!r}")
    return str(value)


def truth(name: str, value: Any) -> bool:
    """True or False, or NumPy's values of these; anything else is refused."""
    if not isinstance(value, bool | np.bool_):
        raise AnswerError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def whole_number(name: str, value: Any) -> int:
    """A whole number of at least 0."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        raise AnswerError(f"{name} must be a whole number of at least 0, not {value!r}")
    return int(value)


def check_shown(named: Iterable[str], items: tuple[str, ...]) -> None:
    """Raise AnswerError if an answer names an item that was not shown."""
    stranger = next((one for one in named if one not in items), None)
    if stranger is not None:
        raise AnswerError(f"{stranger!r} was not shown; shown were {list(items)}")
