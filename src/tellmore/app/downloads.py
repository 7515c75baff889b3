"""Files the owner takes away: the log as it is, and whatever the exports offer."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

from fastapi.responses import Response, StreamingResponse

from tellmore import __version__
from tellmore.app.session import Session
from tellmore.store.events import answer_to_json

FORMATS = ("jsonl", "csv")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = (
    "participant",
    "question_id",
    "kind",
    "items",
    "answer",
    "rt_ms",
    "latency_ms",
    "t_utc",
    "version",
    "seed",
    "check",
    "stale",
    "late",
    "void",
)


def download(session: Session, format: str) -> Response:
    """One export as a response that the browser saves."""
    headers = {"content-disposition": f'attachment; filename="tellmore-answers.{format}"'}
    if format == "jsonl":
        return StreamingResponse(log_lines(session), media_type="application/x-ndjson", headers=headers)
    return Response(answers_csv(session), media_type="text/csv; charset=utf-8", headers=headers)


def log_lines(session: Session) -> Iterator[str]:
    """The whole log, one event a line."""
    for event in session.repository.since(0):
        yield json.dumps(event.as_json(), ensure_ascii=False) + "\n"


def answers_csv(session: Session) -> str:
    """Every answer as a row, also those taken back (column ``void``)."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(COLUMNS)
    with session.lock:
        seed = session.settings.learning.seed
        for given in session.desk.given.values():
            asked = session.desk.asked.get(given.question_id)
            if asked is None or given.answer is None:
                continue
            row = (
                given.participant,
                given.question_id,
                asked.question.kind,
                json.dumps(asked.question.items, ensure_ascii=False),
                json.dumps(answer_to_json(given.answer), ensure_ascii=False),
                given.rt_ms,
                None if given.timing is None else given.timing.get("latency_ms"),
                given.t_utc,
                __version__,
                seed,
                asked.check,
                asked.stale,
                given.late,
                given.void,
            )
            table.writerow([neutral(cell) for cell in row])
    return text.getvalue()


def neutral(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula.

    >>> neutral("=1+1")
    "'=1+1"
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
