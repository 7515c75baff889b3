"""Questions: frozen values that know nothing of display, storage or mathematics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tellmore import kinds
from tellmore.errors import AnswerError, QuestionError
from tellmore.kinds import Perception
from tellmore.types import Answer, Skip, ids_of


@dataclass(frozen=True)
class Question:
    """A question of some ``kind`` on ``items``, ids in the order shown; ``check``: they were drawn at random, to measure by.

    >>> Question("select_high", items=["calm", "grim"]).items
    ('calm', 'grim')
    """

    kind: str
    items: tuple[str, ...]
    id: str = field(default_factory=lambda: uuid4().hex)
    check: bool = False

    def __init__(self, kind: str, items: Sequence[Any], id: str | None = None, *, check: bool = False) -> None:
        ids, asked = ids_of(items), kinds.named(kind)
        if len(set(ids)) != len(ids):
            raise QuestionError(f"a question shows each item once, but {list(ids)} repeats one")
        if asked.most == 1 and len(ids) != 1:
            raise QuestionError(f"a {kind} question shows exactly 1 item, not {len(ids)}")
        if len(ids) < asked.fewest:
            raise QuestionError(f"a {kind} question shows at least {asked.fewest} items, not {len(ids)}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "items", ids)
        object.__setattr__(self, "id", uuid4().hex if id is None else str(id))
        object.__setattr__(self, "check", bool(check))

    @property
    def size(self) -> int:
        """How many items are shown, |S|."""
        return len(self.items)


def check_answer(question: Question, answer: Answer) -> None:
    """Raise AnswerError unless ``answer`` is a possible answer to ``question``."""
    if isinstance(answer, Skip):
        return
    kind = kinds.named(question.kind)
    if not isinstance(answer, kind.answer_type):
        raise AnswerError(
            f"a {question.kind} question is answered by {kind.answer_type.__name__} or Skip, not by {type(answer).__name__}"
        )
    kind.check(question.items, answer)


def check_new(question: Question, history: Iterable[tuple[Question, Answer]]) -> None:
    """Raise QuestionError where ``question`` was answered before."""
    if any(told.id == question.id for told, _ in history):
        raise QuestionError(
            f"the question {question.id!r} was told already; undo its answer first, or ask the same items in a new Question"
        )


def labels_in(question: Question, answer: Answer | None) -> dict[str, bool]:
    """All labels that an answer contains, by item."""
    if answer is None or isinstance(answer, Skip):
        return {}
    return kinds.named(question.kind).labels(question.items, answer)


def answer_from(question: Question, seen: Perception) -> Answer:
    """The answer to ``question`` of somebody who sees its items so."""
    kind = kinds.named(question.kind)
    return kind.answer(question.items, kind.respond(seen))
