"""Questions and answers: frozen values that know nothing of display, storage or mathematics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import AnswerError, QuestionError

Array: TypeAlias = NDArray[np.floating[Any]]
Kind = Literal["label", "select_high", "select_low", "rank"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SkipReason = Literal["skip", "cant_tell"]


def _ids(items: Iterable[Any]) -> tuple[str, ...]:
    if isinstance(items, str):
        raise QuestionError(f"items must be a list of ids, not the single string {items!r}; write [{items!r}]")
    return tuple(str(item) for item in items)


@dataclass(frozen=True)
class Question:
    """A question of some ``kind`` on ``items``, ids in the order shown.

    >>> Question("select_high", items=["calm", "grim"]).items
    ('calm', 'grim')
    """

    kind: Kind
    items: tuple[str, ...]
    id: str = field(default_factory=lambda: uuid4().hex)

    def __init__(self, kind: Kind, items: Sequence[Any], id: str | None = None) -> None:
        ids = _ids(items)
        if kind not in KINDS:
            raise QuestionError(f"unknown question kind {kind!r}; the kinds are {', '.join(KINDS)}")
        if len(set(ids)) != len(ids):
            raise QuestionError(f"a question shows each item once, but {list(ids)} repeats one")
        if kind == "label" and len(ids) != 1:
            raise QuestionError(f"a label question shows exactly 1 item, not {len(ids)}")
        if kind != "label" and len(ids) < 2:
            raise QuestionError(f"a {kind} question shows at least 2 items, not {len(ids)}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "items", ids)
        object.__setattr__(self, "id", uuid4().hex if id is None else str(id))

    @property
    def size(self) -> int:
        """How many items are shown, |S|."""
        return len(self.items)


@dataclass(frozen=True)
class LabelAnswer:
    """The item is positive, or it is not."""

    positive: bool

    def __post_init__(self) -> None:
        _check_bool(self.positive)


@dataclass(frozen=True)
class SelectAnswer:
    """The chosen item (most or least so, as asked) and its label; None where only the choice is known."""

    chosen: str
    positive: bool | None

    def __post_init__(self) -> None:
        if self.positive is not None:
            _check_bool(self.positive)
        object.__setattr__(self, "chosen", str(self.chosen))


@dataclass(frozen=True)
class RankAnswer:
    """All items, highest first; the first ``n_positive`` of them are positive; None where only the order is known.

    ``ties``: places (from 0) whose item is level with the next one. A partial ranking, the best m in order, ties the rest.

    >>> RankAnswer(["calm", "plain", "dull", "grim"], n_positive=1, ties=[1]).ties  # plain and dull are level
    (1,)
    """

    order: tuple[str, ...]
    n_positive: int | None
    ties: tuple[int, ...] = ()

    def __init__(self, order: Sequence[Any], n_positive: int | None, ties: Iterable[int] = ()) -> None:
        if isinstance(n_positive, bool) or not isinstance(n_positive, int | np.integer | None):
            raise AnswerError(f"n_positive must be a whole number from 0 to {len(order)}, not {n_positive!r}")
        object.__setattr__(self, "order", _ids(order))
        object.__setattr__(self, "n_positive", None if n_positive is None else int(n_positive))
        object.__setattr__(self, "ties", tuple(sorted({int(place) for place in ties})))


@dataclass(frozen=True)
class Skip:
    """No answer: the person passed (``skip``) or cannot tell (``cant_tell``). The belief stays as it is."""

    reason: SkipReason = "skip"

    def __post_init__(self) -> None:
        if self.reason not in get_args(SkipReason):
            raise AnswerError(f"a skip's reason is one of {', '.join(get_args(SkipReason))}, not {self.reason!r}")


Answer: TypeAlias = LabelAnswer | SelectAnswer | RankAnswer | Skip


def _check_bool(positive: Any) -> None:
    if not isinstance(positive, bool | np.bool_):
        raise AnswerError(f"positive must be True or False, not {positive!r}")


def check_answer(question: Question, answer: Answer) -> None:
    """Raise AnswerError unless ``answer`` is a possible answer to ``question``."""
    if isinstance(answer, Skip):
        return
    expected: dict[str, type] = {"label": LabelAnswer, "rank": RankAnswer}
    wanted = expected.get(question.kind, SelectAnswer)
    if not isinstance(answer, wanted):
        raise AnswerError(
            f"a {question.kind} question is answered by {wanted.__name__} or Skip, not by {type(answer).__name__}"
        )
    if isinstance(answer, SelectAnswer) and answer.chosen not in question.items:
        raise AnswerError(f"{answer.chosen!r} was not shown; shown were {list(question.items)}")
    if isinstance(answer, RankAnswer):
        if sorted(answer.order) != sorted(question.items):
            raise AnswerError(
                f"the order must hold each item shown exactly once: {list(question.items)}, not {list(answer.order)}"
            )
        if answer.n_positive is not None and not 0 <= answer.n_positive <= question.size:
            raise AnswerError(f"n_positive must be from 0 to {question.size}, not {answer.n_positive}")
        if any(not 0 <= place < question.size - 1 for place in answer.ties):
            raise AnswerError(f"ties must be places from 0 to {question.size - 2}, not {list(answer.ties)}")
        if answer.n_positive is not None and answer.n_positive - 1 in answer.ties:
            raise AnswerError(
                "the last positive item cannot be level with the first negative one; move the border or the tie"
            )
