"""The log of a study as tables: one row per participant, one row per answer. Raw times are copied, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    """What was collected. ``people`` has one dict per participant, ``answers`` one per answer to a main question.

    people: participant, order, consented, passed_comprehension, outcome, total_s, fingerprint (of the study that they saw),
    demographics.
    answers: participant, kind, size, block, position, stage, iteration, gold, right, skipped, marks, seconds, question_id,
    items, answer, timing.
    """

    people: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)


def seconds_of(timing: dict[str, Any] | None) -> float | None:
    """The time from onset to submission in seconds; None if it was not measured."""
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
    fingerprint: str = ""
    erased: bool = False


def study_events(database_url: str) -> list[Event]:
    """The events of the study in a project's log."""
    with closing(Repository(database_url)) as repository:
        return list(repository.since(0, kinds=EVENT_KINDS))


def read_records(study: Study, events: Iterable[Event]) -> Records:
    """The tables from the study's events; participants who were erased are left out."""
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
        person.fingerprint = event.payload.get("fingerprint", person.fingerprint)
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
        "fingerprint": person.fingerprint,
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
        "iteration": planned.iteration,
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
    """Whether a simulated participant took part."""
    return any(map(_enters_simulated, events))


def _enters_simulated(event: Event) -> bool:
    """Simulated participants have the external id "sim" and four digits: see `study.simulate`."""
    name = str(event.payload.get("external", ""))
    return event.kind == "study_entered" and re.fullmatch(r"sim\d{4}", name) is not None


def without_simulated(events: Sequence[Event]) -> list[Event]:
    """The events of real people, if any took part; else all. Times of people are never pooled with simulated ones."""
    simulated = {event.participant for event in events if _enters_simulated(event)}
    people = [event for event in events if event.participant not in simulated]
    return people if any(event.kind == "study_entered" for event in people) else list(events)
