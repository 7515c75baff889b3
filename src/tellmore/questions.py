"""Questions: immutable values that contain nothing about display, storage or mathematics."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tellmore import kinds
from tellmore.display import table
from tellmore.errors import AnswerError, QuestionError
from tellmore.kinds import Perception, Words
from tellmore.types import Answer, Skip, ids_of

_ANSWERED = "the question {!r} is already answered; undo its answer first, or ask the same items in a new Question"


@dataclass(frozen=True)
class Question:
    """A question on some items.

    kind: what is asked: ``label``, ``select_high``, ``select_low``, ``rank``, ``tick``, or a kind that a package adds.
    items: ids, in the order shown; strings and whole numbers are kept as they are.
    id: the id of the question; by default a new one.
    check: whether the items were drawn at random, to measure the accuracy.
    texts, images: what people see of the items, one each, if the pool has them.

    >>> Question("select_high", items=["calm", "grim"]).items
    ('calm', 'grim')
    """

    kind: str
    items: tuple[Any, ...]
    id: str = field(default_factory=lambda: uuid4().hex)
    check: bool = False
    texts: tuple[str, ...] | None = field(default=None, compare=False, repr=False)
    images: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    def __init__(
        self,
        kind: str,
        items: Sequence[Any],
        id: str | None = None,
        *,
        check: bool = False,
        texts: Sequence[str] | None = None,
        images: Sequence[str] | None = None,
    ) -> None:
        ids, asked = ids_of(items), kinds.named(kind)
        if len(set(map(str, ids))) != len(ids):
            raise QuestionError(f"a question shows each item once, but {list(ids)} repeats one")
        if asked.most == 1 and len(ids) != 1:
            raise QuestionError(f"a {kind} question shows exactly 1 item, not {len(ids)}")
        if len(ids) < asked.fewest:
            raise QuestionError(f"a {kind} question shows at least {asked.fewest} items, not {len(ids)}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "items", ids)
        object.__setattr__(self, "id", uuid4().hex if id is None else str(id))
        object.__setattr__(self, "check", bool(check))
        object.__setattr__(self, "texts", None if texts is None else tuple(texts))
        object.__setattr__(self, "images", None if images is None else tuple(images))

    def _repr_html_(self) -> str:
        seen = [(self.items if each is None else each) for each in (self.texts, self.images) if each is not None]
        return table(kinds.named(self.kind).headline(Words()), zip(self.items, *seen, strict=True))

    @property
    def size(self) -> int:
        """The number of items shown, |S|."""
        return len(self.items)

    @property
    def names(self) -> tuple[str, ...]:
        """The items as strings, as in answers and logs."""
        return tuple(map(str, self.items))

    def as_json(self) -> dict[str, Any]:
        """The question as stored in files."""
        return {"kind": self.kind, "items": list(self.names), "id": self.id, "check": self.check}


def check_answer(question: Question, answer: Answer) -> None:
    """Raise AnswerError unless ``answer`` is a possible answer to ``question``."""
    if isinstance(answer, Skip):
        return
    kind = kinds.named(question.kind)
    if not isinstance(answer, kind.answer_type):
        raise AnswerError(
            f"a {question.kind} question is answered by {kind.answer_type.__name__} or Skip, not by {type(answer).__name__}"
        )
    kind.check(question.names, answer)


def answer_to(question: Question, value: Any) -> Answer:
    """The answer to ``question`` that ``value``, an Answer or a plain value, stands for; AnswerError if there is none."""
    answer = value if isinstance(value, Answer) else kinds.named(question.kind).from_plain(value)
    check_answer(question, answer)
    return answer


def open_question(question: Any, asked: Iterable[Question], told: Container[str] = ()) -> Question:
    """The question itself, or the open question among ``asked`` that has this id. ``told``: ids of those answered."""
    if isinstance(question, Question):
        return question
    if isinstance(question, str) and question in told:
        raise QuestionError(_ANSWERED.format(question))
    found = next((each for each in asked if each.id == question), None)
    if found is None:
        raise QuestionError(
            f"there is no open question with the id {question!r}; give a Question that was asked, or its id"
        )
    return found


def check_new(question: Question, told: Container[str]) -> None:
    """Raise QuestionError if ``question`` was answered before, that is, if its id is among those ``told``."""
    if question.id in told:
        raise QuestionError(_ANSWERED.format(question.id))


def labels_in(question: Question, answer: Answer | None) -> dict[Any, bool]:
    """All labels that an answer contains, by item."""
    if answer is None or isinstance(answer, Skip):
        return {}
    labels = kinds.named(question.kind).labels(question.names, answer)
    return {item: labels[name] for name, item in zip(question.names, question.items, strict=True) if name in labels}


def answer_from(question: Question, seen: Perception) -> Answer:
    """The answer to ``question`` of a person who sees its items like this."""
    kind = kinds.named(question.kind)
    return kind.answer(question.names, kind.respond(seen))
