"""The answer log for the owner: filtered, newest first, each answer in one line."""

from __future__ import annotations

from typing import Literal

from tellmore import kinds
from tellmore.app import wire_board as board
from tellmore.app.dashboard import item_out
from tellmore.data.settings import words_of
from tellmore.kinds import Words
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.ledger import Given, Ledger
from tellmore.types import Answer, Skip

LONGEST, LONGEST_OF_MANY, MANY = 100, 40, 6
"""At most this many characters of a text are shown in the log: fewer if a question has at least ``MANY`` items."""

LogFilter = Literal["random", "second", "known", "direct", "settled", "skipped", "undone"]


def log_entries(
    ledger: Ledger, *, participant: str | None = None, kind: str | None = None, only: LogFilter | None = None
) -> list[Given]:
    """The requested answers and skips of the log, newest first, without those of deleted participants."""
    return [
        given
        for given in reversed(ledger.given.values())
        if given.void != "deleted" and given.question_id in ledger.asked
        if participant in (None, given.participant)
        if kind in (None, ledger.asked[given.question_id].question.kind)
        if only is None or _is(only, given, ledger)
    ]


def _is(only: LogFilter, given: Given, ledger: Ledger) -> bool:
    asked = ledger.asked[given.question_id]
    if only == "random":
        return asked.check
    if only == "skipped":
        return isinstance(given.answer, Skip)
    return bool(given.void) if only == "undone" else asked.why == only


def told(question: Question, answer: Answer | None, pool: Pool, words: Words) -> str | None:
    """An answer in one line, with its items as people saw them; None if it was erased."""
    if answer is None:
        return None
    if isinstance(answer, Skip):
        passed = "skipped" if answer.reason == "skip" else "can’t tell"
        pictures = pool.images is not None  # shown next to the answer
        return passed if pictures else f"{passed}: {', '.join(_seen(pool, question, item) for item in question.items)}"
    return kinds.named(question.kind).tell(question.items, answer, lambda item: _seen(pool, question, item), words)


def _seen(pool: Pool, question: Question, item: str) -> str:
    """The text of an item: single words unchanged, others in quotation marks and shortened if they are long. A picture without
    text is named by its number in the question if there are several items."""
    shown = item_out(pool, item)
    if shown.image and not shown.text:
        return f"picture {list(question.items).index(item) + 1}" if len(question.items) > 1 else "picture"
    text = " ".join((shown.text or item).split())
    if " " not in text:
        return text
    longest = LONGEST if question.size < MANY else LONGEST_OF_MANY
    return f"“{text if len(text) <= longest else text[:longest].rstrip() + '…'}”"


def log_row(given: Given, ledger: Ledger, pool: Pool) -> board.LogRow:
    """One answer or skip."""
    asked = ledger.asked[given.question_id]
    return board.LogRow(
        seq=given.seq,
        t_utc=given.t_utc,
        participant=given.participant,
        question_id=given.question_id,
        kind=asked.question.kind,
        items=[item_out(pool, item) for item in asked.question.items],
        answer=None if given.answer is None else given.answer.as_json(),
        told=told(asked.question, given.answer, pool, words_of(ledger.settings)),
        rt_ms=given.rt_ms,
        why=asked.why,
        stale=asked.stale,
        check=asked.check,
        late=given.late,
        undone=bool(given.void),
        left_out=given.participant in ledger.left_out,
    )
