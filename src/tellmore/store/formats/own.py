"""tellmore's own format: the log as ``tellmore export --format jsonl`` writes it, or lines {"kind", "items", "answer"}."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tellmore.data.records import Record
from tellmore.data.settings import Settings
from tellmore.errors import TellmoreError
from tellmore.kinds import answer_from_json
from tellmore.store.formats.contract import IMPORTED, Draft, Format, Source, each_record
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event
from tellmore.types import Answer


def _suits(source: Source) -> bool:
    return "payload" in source.keys or {"kind", "items"} <= source.keys


def _read(source: Source) -> Iterator[Draft]:
    if any("payload" in record for _, record in source.records):
        return _read_log(source)
    return each_record(_read_line)(source)


def _read_line(source: Source, row: int, record: Record) -> Iterator[Draft]:
    try:
        answer, kind, items = answer_from_json(record["answer"]), record["kind"], list(record["items"])
    except (KeyError, TypeError, AttributeError):
        raise source.fault(row, 'expected {"kind": …, "items": […], "answer": {"type": …}}') from None
    except TellmoreError as error:
        raise source.fault(row, str(error)) from None
    participant = str(record.get("participant") or IMPORTED)
    yield Draft(row, kind, items, _same(answer), participant=participant, question_id=record.get("question_id"))


def _read_log(source: Source) -> Iterator[Draft]:
    """The answers that count in a log, without those undone, reset or deleted."""
    ledger, row_of = Ledger(Settings()), {}
    for row, record in source.records:
        if record.get("kind") == "provenance":
            continue
        with source.reading.row():
            try:
                event = Event(
                    **{key: record[key] for key in ("kind", "question_id", "participant", "payload", "seq", "t_utc")}
                )
                ledger.apply(event)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise source.fault(row, f"not an event of a log: {error}") from None
            if event.question_id is not None:
                row_of[event.question_id] = row
    for asked, given in ledger.counting():
        assert given.answer is not None
        question = asked.question
        yield Draft(
            row_of[question.id],
            question.kind,
            list(question.items),
            _same(given.answer),
            participant=given.participant,
            question_id=question.id,
            timing=given.timing,
            random=asked.check,
        )


def _same(answer: Answer) -> Callable[[bool | None], Answer]:
    return lambda _: answer


OWN = Format("tellmore", "tellmore's own log, or lines {kind, items, answer}", _suits, _read)
