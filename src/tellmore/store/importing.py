"""Answers collected elsewhere: our own log, Label Studio, pairwise comparisons, rankings.

Each answer gets a question id that follows from its content, so importing the same file twice adds nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tellmore.data.items import Record, encoding_error, open_records, require_file
from tellmore.data.project import Project
from tellmore.data.settings import Settings
from tellmore.errors import DataFileError, SettingError, TellmoreError
from tellmore.kinds import answer_from_json
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.pool import Pool
from tellmore.questions import Question, check_answer
from tellmore.store.events import answer_event, question_event
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository
from tellmore.types import Answer

IMPORTED = "import"
"""The participant of answers whose giver is unknown."""


@dataclass(frozen=True)
class Collected:
    """One answer to one question, and who gave it; ``row`` is where it stands in the file."""

    question: Question
    answer: Answer
    row: int
    participant: str = IMPORTED
    timing: dict[str, Any] | None = None


@dataclass(frozen=True)
class Reader:
    """What the readers of all formats share: the file, the pool its ids must be of, and how labels are written."""

    path: Path
    pool: Pool
    positive_value: str | None = None
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def ids_by_text(self) -> dict[str, list[str]]:
        """Ids of the items with each text."""
        found: dict[str, list[str]] = {}
        for identifier, text in zip(self.pool.ids, self.pool.text or (), strict=False):
            found.setdefault(text, []).append(identifier)
        return found

    def collected(
        self, row: int, kind: str, items: list[str], answer: Answer, participant: str = IMPORTED, **more: Any
    ) -> Collected:
        """A checked answer under an id that follows from its content; equal answers are told apart by their count."""
        try:
            content = json.dumps([kind, items, answer.as_json(), participant], ensure_ascii=False)
            self.counts[content] += 1
            key = hashlib.sha256(f"{content} {self.counts[content]}".encode()).hexdigest()[:32]
            question = Question(kind, items, id=more.pop("question_id", None) or key)
            self.pool.rows(question.items)
            check_answer(question, answer)
        except TellmoreError as error:
            raise self.fault(row, str(error)) from None
        return Collected(question, answer, row, participant, **more)

    def fault(self, row: int, what: str) -> DataFileError:
        return DataFileError(f"{self.path}, row {row}: {what}")

    def is_positive(self, row: int, value: str) -> bool:
        """Whether a label, as it is written in the file, means positive."""
        if self.positive_value is not None:
            return value == self.positive_value
        if value.lower() not in ("positive", "negative"):
            raise self.fault(
                row, f"the label {value!r} is neither 'positive' nor 'negative'; say --positive-value VALUE"
            )
        return value.lower() == "positive"


def read_answers(
    path: Path, pool: Pool, *, format: str | None = None, positive_value: str | None = None
) -> list[Collected]:
    """All answers of the file, checked against ``pool``; the format is seen from the file unless given."""
    require_file(path)
    chosen = format or _format_of(path)
    if chosen not in FORMATS:
        raise SettingError(f"unknown format {chosen!r}; the formats are {', '.join(FORMATS)}")
    found = list(FORMATS[chosen](Reader(path, pool, positive_value)))
    if not found:
        raise DataFileError(f"{path}: no answers found in it (read as {chosen}; say --format for another)")
    return found


def _format_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return "tellmore"
    if suffix == ".json":
        return "label-studio"
    if suffix in (".csv", ".tsv", ".parquet"):
        names, _ = open_records(path)
        return "pairwise" if {"winner", "loser"} <= set(names) else "ranking"
    raise DataFileError(f"{path}: unknown kind of file; allowed are .jsonl, .json (Label Studio), .csv")


# Our own


def _read_own(reader: Reader) -> Iterator[Collected]:
    """The log as ``tellmore export --format jsonl`` writes it, or lines {"kind", "items", "answer"}."""
    records = [(row, record) for row, record in open_records(reader.path)[1] if record.get("kind") != "provenance"]
    if any("payload" in record for _, record in records):
        yield from _read_log(reader, records)
        return
    for row, record in records:
        try:
            answer = answer_from_json(record["answer"])
            kind, items = record["kind"], list(record["items"])
        except (KeyError, TypeError, AttributeError):
            raise reader.fault(row, 'expected {"kind": …, "items": […], "answer": {"type": …}}') from None
        except TellmoreError as error:
            raise reader.fault(row, str(error)) from None
        participant = str(record.get("participant") or IMPORTED)
        yield reader.collected(row, kind, items, answer, participant, question_id=record.get("question_id"))


def _read_log(reader: Reader, records: list[tuple[int, Record]]) -> Iterator[Collected]:
    """The answers of a log that count there: not those undone, reset or deleted."""
    ledger, row_of = Ledger(Settings()), {}
    for row, record in records:
        try:
            event = Event(
                **{key: record[key] for key in ("kind", "question_id", "participant", "payload", "seq", "t_utc")}
            )
            ledger.apply(event)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise reader.fault(row, f"not an event of a log: {error}") from None
        if event.question_id is not None:
            row_of[event.question_id] = row
    for asked, given in ledger.counting():
        assert given.answer is not None
        question = asked.question
        yield reader.collected(
            row_of[question.id],
            question.kind,
            list(question.items),
            given.answer,
            given.participant,
            question_id=question.id,
            timing=given.timing,
        )


# Label Studio


def _read_label_studio(reader: Reader) -> Iterator[Collected]:
    """Tasks exported as JSON, with results of type choices, pairwise or ranker; "row" counts the tasks."""
    try:
        tasks = json.loads(reader.path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise encoding_error(reader.path) from None
    except ValueError as error:
        raise DataFileError(f"{reader.path}: not valid JSON: {error}") from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise DataFileError(f"{reader.path}: expected the list of tasks that Label Studio exports as JSON")
    for row, task in enumerate(tasks, start=1):
        data = task.get("data")
        if not isinstance(data, dict):
            raise reader.fault(row, 'the task has no "data"; export as JSON, not as JSON-MIN')
        for annotation in task.get("annotations") or ():
            if not annotation.get("was_cancelled"):
                yield from _annotation(reader, row, data, annotation)


def _annotation(reader: Reader, row: int, data: Record, annotation: Record) -> Iterator[Collected]:
    who = annotation.get("completed_by")
    participant = f"{IMPORTED}-{who.get('id') if isinstance(who, dict) else who}" if who is not None else IMPORTED
    lead = annotation.get("lead_time")
    timing = (
        {"onset_ms": 0, "submit_ms": round(1000 * lead), "device": "api"} if isinstance(lead, int | float) else None
    )
    for result in annotation.get("result") or ():
        value = result.get("value") or {}
        match result.get("type"):
            case "choices":
                kind, items, answer = _label_choice(reader, row, data, value)
            case "pairwise":
                kind, items, answer = _left_or_right(reader, row, data, value)
            case "ranker":
                kind, items, answer = _ranker(reader, row, value)
            case _:
                continue
        yield reader.collected(row, kind, items, answer, participant, timing=timing)


def _label_choice(reader: Reader, row: int, data: Record, value: Record) -> tuple[str, list[str], Answer]:
    choices = value.get("choices") or []
    if len(choices) != 1:
        raise reader.fault(row, f"expected one choice for an item, not {choices}")
    return "label", [_task_item(reader, row, data, "")], LabelAnswer(reader.is_positive(row, str(choices[0])))


def _left_or_right(reader: Reader, row: int, data: Record, value: Record) -> tuple[str, list[str], Answer]:
    items = [_task_item(reader, row, data, which) for which in ("1", "2")]
    selected = value.get("selected")
    if selected not in ("left", "right"):
        raise reader.fault(row, f"a pairwise result selects 'left' or 'right', not {selected!r}")
    return "select_high", items, SelectAnswer(items[0] if selected == "left" else items[1], None)


def _ranker(reader: Reader, row: int, value: Record) -> tuple[str, list[str], Answer]:
    ranked = value.get("ranker")
    order = ranked.get("rank") if isinstance(ranked, dict) else ranked
    if not isinstance(order, list):
        raise reader.fault(row, "expected a ranker with one list of ids, rank")
    return "rank", sorted(map(str, order)), RankAnswer(order, None)


def _task_item(reader: Reader, row: int, data: Record, which: str) -> str:
    """The item of a task: by its id, else by its text where that is unique in the pool."""
    identifier = data.get(f"id{which}")
    if identifier is not None:
        return str(identifier)
    text = data.get(f"text{which}")
    if text is None:
        raise reader.fault(row, f'the task names no item: its data needs "id{which}" or "text{which}"')
    ids = reader.ids_by_text.get(str(text), [])
    if len(ids) != 1:
        raise reader.fault(row, f"{len(ids)} items have the text {str(text)[:60]!r}; give the id in data.id{which}")
    return ids[0]


# Comparisons


def _read_pairwise(reader: Reader) -> Iterator[Collected]:
    """Columns winner and loser; where there are, participant and positive (the winner's label)."""
    names, records = open_records(reader.path)
    missing = {"winner", "loser"} - set(names)
    if missing:
        raise DataFileError(f"{reader.path}: no column {sorted(missing)[0]!r}; pairwise data has winner and loser")
    for row, record in records:
        pair = [str(record["winner"]), str(record["loser"])]
        label = str(record.get("positive") or "")
        positive = None if not label else _truth(reader, row, label)
        yield reader.collected(row, "select_high", sorted(pair), SelectAnswer(pair[0], positive), _participant(record))


def _truth(reader: Reader, row: int, label: str) -> bool:
    known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    return known[label.lower()] if label.lower() in known else reader.is_positive(row, label)


def _participant(record: Record) -> str:
    who = record.get("participant")
    return f"{IMPORTED}-{who}" if who not in (None, "") else IMPORTED


def _read_ranking(reader: Reader) -> Iterator[Collected]:
    """Rankings in one of two shapes, with optional columns participant and n_positive.

    Columns rank1, rank2, … (or 1, 2, …) hold ids, best first, short rankings end in empty cells. Or the columns are ids and
    the cells ranks, 1 the best, 0 or empty where an item was not ranked, as Plackett-Luce tools keep them.
    """
    names, records = open_records(reader.path)
    columns = [name for name in names if name not in ("participant", "n_positive")]
    by_place = all(re.fullmatch(r"(rank[ _]?)?\d+", name) for name in columns) and not set(columns) <= set(
        reader.pool.ids
    )
    ordered = sorted(columns, key=lambda name: int(re.sub(r"\D", "", name))) if by_place else columns
    for row, record in records:
        if by_place:
            order = [str(record[name]) for name in ordered if str(record[name] or "").strip()]
        else:
            order = _order_of_ranks(reader, row, {name: record[name] for name in ordered})
        count = str(record.get("n_positive") if record.get("n_positive") is not None else "").strip()
        if count and not count.isdigit():
            raise reader.fault(row, f"n_positive must be a whole number from 0 to {len(order)}, not {count!r}")
        answer = RankAnswer(order, int(count) if count else None)
        yield reader.collected(row, "rank", sorted(order), answer, _participant(record))


def _order_of_ranks(reader: Reader, row: int, cells: Record) -> list[str]:
    ranks: dict[int, str] = {}
    for item, cell in cells.items():
        text = str(cell if cell is not None else "").strip()
        if text in ("", "0", "NA"):
            continue
        if not re.fullmatch(r"\d+(\.0)?", text):
            raise reader.fault(row, f"column {item}: a rank is a whole number, 1 the best, not {text!r}")
        rank = int(float(text))
        if rank in ranks:
            raise reader.fault(row, f"{ranks[rank]!r} and {item!r} share rank {rank}; ties cannot be imported")
        ranks[rank] = item
    return [ranks[rank] for rank in sorted(ranks)]


FORMATS: dict[str, Callable[[Reader], Iterator[Collected]]] = {
    "tellmore": _read_own,
    "label-studio": _read_label_studio,
    "pairwise": _read_pairwise,
    "ranking": _read_ranking,
}


# Into the log


def append_answers(project: Project, found: Sequence[Collected], *, why: str = "import", random: bool = False) -> int:
    """Add the answers that are not in the log yet, all at once; returns how many.

    ``random``: their items were drawn at random from the project, so they measure accuracy as its own random questions do.
    """
    with closing(Repository(project.database_url)) as repository:
        known = {event.question_id for event in repository.since(kinds=("question",))}
        fresh = [each for each in found if each.question.id not in known]
        events = [event for each in fresh for event in _events(each, why, random)]
        if events:
            repository.append(events)
        return len(fresh)


def _events(each: Collected, why: str, random: bool) -> Iterator[Event]:
    yield question_event(each.question, each.participant, check=random, why=why)
    yield answer_event(each.question.id, each.participant, each.answer, timing=each.timing)
