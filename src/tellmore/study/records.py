"""From the log of a study to tables: one row a participant, one row an answer. Raw times are copied, never changed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tellmore import kinds
from tellmore.kinds import answer_from_json
from tellmore.store.repository import Event, Repository
from tellmore.study.design import Planned
from tellmore.study.flow import EVENT_KINDS, Progress, outcome, passed_comprehension, right_answer
from tellmore.study.settings import Study
from tellmore.types import Skip


@dataclass(frozen=True)
class Records:
    """What was collected. ``people`` has one dict a participant, ``answers`` one an answer to a main question.

    people: participant, order, consented, passed_comprehension, outcome, total_s, demographics.
    answers: participant, kind, size, block, position, stage, gold, right, skipped, marks, seconds, question_id,
    items, answer, timing.
    """

    people: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)


def seconds_of(timing: dict[str, Any] | None) -> float | None:
    """From onset to submission in seconds; None where it was not measured."""
    if not timing or timing.get("onset_ms") is None or timing.get("submit_ms") is None:
        return None
    return float(timing["submit_ms"] - timing["onset_ms"]) / 1000.0


@dataclass
class _Person:
    progress: Progress = field(default_factory=Progress)
    first_utc: str = ""
    last_utc: str = ""
    reported_s: float | None = None
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    erased: bool = False


def study_events(database_url: str) -> list[Event]:
    """What a project's log holds of its study."""
    with closing(Repository(database_url)) as repository:
        return list(repository.since(0, kinds=EVENT_KINDS))


def read_records(study: Study, events: Iterable[Event]) -> Records:
    """Tables of the log's study events; participants who were erased are left out."""
    people: dict[str, _Person] = {}
    for event in events:
        if event.participant is None or not event.kind.startswith("study_"):
            continue
        person = people.setdefault(event.participant, _Person(first_utc=event.t_utc))
        if event.erased:
            person.erased = True
            continue
        person.progress = person.progress.after(event.kind, event.question_id, event.payload)
        person.last_utc = event.t_utc
        if event.kind == "study_answer" and event.question_id and event.payload.get("part") != "practice":
            person.answers.setdefault(event.question_id, event.payload)
        if event.kind == "study_step" and event.payload.get("elapsed_ms") is not None:
            person.reported_s = event.payload["elapsed_ms"] / 1000.0
    kept = {name: person for name, person in people.items() if not person.erased and person.progress.assignment}
    return Records(
        [_person_row(study, name, person) for name, person in kept.items()],
        [row for name, person in kept.items() for row in _answer_rows(name, person)],
    )


def _person_row(study: Study, name: str, person: _Person) -> dict[str, Any]:
    steps = person.progress.steps
    wall_s = (datetime.fromisoformat(person.last_utc) - datetime.fromisoformat(person.first_utc)).total_seconds()
    return {
        "participant": name,
        "order": list(dict.fromkeys(planned.kind for planned in person.progress.assignment)),
        "consented": steps.get("eligibility") is True and steps.get("consent") is True,
        "passed_comprehension": "instructions" in steps and passed_comprehension(study, person.progress) is True,
        "outcome": outcome(study, person.progress) or "unfinished",
        "total_s": person.reported_s if person.reported_s is not None else wall_s,
        "demographics": dict(steps.get("demographics") or {}),
    }


def _answer_rows(name: str, person: _Person) -> list[dict[str, Any]]:
    return [
        _answer_row(name, planned, person.answers[planned.id])
        for planned in person.progress.assignment
        if planned.id in person.answers
    ]


def _answer_row(name: str, planned: Planned, payload: dict[str, Any]) -> dict[str, Any]:
    answer = answer_from_json(payload["answer"])
    return {
        "participant": name,
        "kind": planned.kind,
        "size": len(planned.items),
        "block": planned.block,
        "position": planned.position,
        "stage": planned.stage,
        "gold": planned.gold is not None,
        "right": None if planned.gold is None else right_answer(planned.gold, planned.kind, answer),
        "skipped": isinstance(answer, Skip),
        "marks": 0 if isinstance(answer, Skip) else kinds.named(planned.kind).marks(answer),
        "seconds": seconds_of(payload.get("timing")),
        "question_id": planned.id,
        "items": list(planned.items),
        "answer": payload["answer"],
        "timing": payload.get("timing"),
    }


def has_simulated(events: Iterable[Event]) -> bool:
    """Whether a simulated participant (outside id "sim" and four digits, see `study.simulate`) took part."""
    entered = (event.payload for event in events if event.kind == "study_entered")
    return any(re.fullmatch(r"sim\d{4}", str(payload.get("external", ""))) for payload in entered)


_CSV_COLUMNS = (
    "participant", "question_id", "kind", "block", "position", "stage", "gold", "right", "size", "items", "answer",
    "seconds", "onset_ms", "first_action_ms", "submit_ms", "moves", "device", "hidden_ms", "blurred_ms", "latency_ms",
    "away_ms",
)  # fmt: skip


def answers_csv(records: Records) -> str:
    """Every answer as a row of CSV with raw times; participants under pseudonyms, outside ids left out.

    ``away_ms`` is how long the page was gone, by a reload, before the same question came back; part of ``hidden_ms``.
    """
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, _CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in records.answers:
        timing = row.get("timing") or {}
        structured = {"items": json.dumps(row["items"]), "answer": json.dumps(row["answer"])}
        away_ms = sum(back - left for left, back in timing.get("away") or ())
        writer.writerow({**timing, **row, **structured, "away_ms": away_ms})
    return buffer.getvalue()
