"""Imports answers from other tools into the log of a project.

Ids of questions are derived from their content, so importing the same file twice adds nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tellmore.data.labels import LabelWords, same_word
from tellmore.data.project import Project
from tellmore.data.reading import Reading
from tellmore.data.records import open_records
from tellmore.errors import DataFileError, SettingError, TellmoreError
from tellmore.pool import Pool
from tellmore.questions import Question, check_answer
from tellmore.store.events import answer_event, question_event, undo_event
from tellmore.store.formats import FORMATS
from tellmore.store.formats.contract import IMPORTED, Draft, Format, Source
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository
from tellmore.types import Answer


@dataclass(frozen=True)
class Collected:
    """One answer to one question, and who gave it; ``row`` is its row in the file. ``random``: the file
    says that its items were drawn at random. ``replaces``: the id of the question whose answer in the log it replaces."""

    question: Question
    answer: Answer
    row: int
    participant: str = IMPORTED
    timing: dict[str, Any] | None = None
    random: bool = False
    replaces: str = ""


@dataclass(frozen=True)
class AnswerColumns:
    """Which columns have the ids and the labels (None: those usual for the format), and what the labels mean."""

    id: str | None = None
    label: str | None = None
    words: LabelWords = field(default_factory=LabelWords)


def read_answers(
    path: Path,
    pool: Pool,
    *,
    format: str | None = None,
    columns: AnswerColumns | None = None,
    reading: Reading | None = None,
) -> list[Collected]:
    """All answers of the file, checked against ``pool``; the format is detected unless it is given.

    One DataFileError names all faulty rows, unless ``reading`` says to leave them out.
    """
    columns, reading = columns or AnswerColumns(), reading or Reading()
    if format is not None and format not in FORMATS:
        raise SettingError(f"unknown format {format!r}; the formats are {', '.join(FORMATS)}")
    names, records = open_records(path, reading)
    source = Source(path, pool, names, list(records), reading, columns.id, columns.label)
    chosen = _format_of(source) if format is None else FORMATS[format]
    drafts = list(chosen.read(source))
    found = collected(source, drafts, columns.words)
    reading.settle()
    if not found and reading.faults:
        raise DataFileError(f"{path}: {reading.finish()}; no answer is left")
    if not found:
        raise DataFileError(f"{path}: no answers found in it (read as {chosen.name}; say --format for another)")
    return found


def _format_of(source: Source) -> Format:
    suiting = next((format for format in FORMATS.values() if format.suits(source)), None)
    if suiting is None:
        source.reading.settle()
        told = "; ".join(f"{format.name}: {format.about}" for format in FORMATS.values())
        raise DataFileError(
            f"{source.path}: not of a known format; its columns are {', '.join(sorted(source.keys)) or 'none'}. "
            f"Say --format, or --id-column and --label-column; known are {told}"
        )
    return suiting


def collected(source: Source, drafts: Sequence[Draft], words: LabelWords) -> list[Collected]:
    """The drafts as checked answers; faulty rows are collected."""
    meanings = words.meanings((draft.word for draft in drafts if draft.word is not None), str(source.path))
    counts: Counter[str] = Counter()
    found: list[Collected] = []
    for draft in drafts:
        with source.reading.row():
            found.append(_collected(source, draft, words, meanings, counts))
    return found


def _collected(
    source: Source, draft: Draft, words: LabelWords, meanings: Mapping[str, bool], counts: Counter[str]
) -> Collected:
    """A checked answer with an id derived from its content; equal answers are distinguished by their count."""
    if draft.word is not None and same_word(draft.word) not in meanings:
        raise source.fault(draft.row, f"the label {draft.word!r} is unknown: {words.advice()}")
    try:
        answer = draft.answer(None if draft.word is None else meanings[same_word(draft.word)])
        content = content_of(draft.kind, draft.items, answer, draft.participant)
        counts[content] += 1
        key = key_of(content, counts[content])
        question = Question(draft.kind, draft.items, id=draft.question_id or key)
        _check(source.pool, question, answer)
    except TellmoreError as error:
        raise source.fault(draft.row, str(error)) from None
    return Collected(question, answer, draft.row, draft.participant, draft.timing, draft.random)


def content_of(kind: str, items: Sequence[str], answer: Answer, participant: str) -> str:
    """The content by which answers are compared."""
    return json.dumps([kind, list(items), answer.as_json(), participant], ensure_ascii=False)


def key_of(content: str, count: int = 1) -> str:
    """The id of the question for the ``count``-th answer with this content."""
    return hashlib.sha256(f"{content} {count}".encode()).hexdigest()[:32]


def _check(pool: Pool, question: Question, answer: Answer) -> None:
    """Raise an error unless the question is about items of the pool and the answer fits it."""
    pool.rows(question.items)
    check_answer(question, answer)


def append_answers(project: Project, found: Sequence[Collected], *, why: str = "import", random: bool = False) -> int:
    """Add the answers that are not in the log yet, all at once; returns how many. If one does not fit the project, QuestionError
    or AnswerError is raised and nothing changes.

    Each is checked against the project's items. ``random``: all of their items were drawn at random from the project, so they
    measure the accuracy, as its own random questions do; otherwise only those that say so. A random answer that is in the log,
    but not as a random one, is replaced.
    """
    for each in found:
        _check(project.pool, each.question, each.answer)
        if not isinstance(each.participant, str) or not each.participant.strip():
            raise SettingError(f"participant must be the name of the person who answered, not {each.participant!r}")
    with closing(Repository(project.database_url)) as repository:
        log = list(repository.since(kinds=("question", "answer", "undo", "reset", "delete")))
        known, ledger = {event.question_id for event in log}, Ledger(project.settings, log)
        wanted = [_after_reset(each, ledger) for each in found]
        wanted = [_as_check(each, ledger) if random or each.random else each for each in wanted]
        fresh = list({each.question.id: each for each in wanted if each.question.id not in known}.values())
        events = [event for each in fresh for event in _events(each, ledger, why, random)]
        if events:
            repository.append(events)
        return len(fresh)


def _after_reset(each: Collected, ledger: Ledger) -> Collected:
    """``each`` with an id of its own if a reset took back all answers since the log got it: it can then be added again."""
    question = each.question
    while question.id in ledger.asked and ledger.asked[question.id].seq < ledger.reset_seq:
        question = replace(question, id=key_of(question.id))
    return replace(each, question=question)


def _as_check(each: Collected, ledger: Ledger) -> Collected:
    """``each`` with an id of its own if the log has it without the check. If it were left out, the random sample would lack
    exactly the items that were labelled before."""
    earlier = ledger.asked.get(each.question.id)
    if earlier is None or earlier.check:
        return each
    return replace(each, question=replace(each.question, id=key_of(each.question.id)), replaces=each.question.id)


def _events(each: Collected, ledger: Ledger, why: str, random: bool) -> Iterator[Event]:
    earlier = ledger.given.get(each.replaces)
    if earlier is not None and earlier.counts:  # it counts once, and is predicted before it is learnt
        yield undo_event(earlier.question_id, earlier.participant, earlier.seq)
    yield question_event(each.question, each.participant, check=random or each.random, why=why)
    yield answer_event(each.question.id, each.participant, each.answer, timing=each.timing)
