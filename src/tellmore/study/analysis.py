"""The analysis of Appendix C: exclusions, counts by size, models and tests of each kind (`study.fits`), and pay.

Everything starts from `study.records.Records` and does not change it; every function returns plain rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tellmore.errors import InputError
from tellmore.policy.cost_fit import Timed, fault
from tellmore.study.fits import (
    Ancova,
    CandidateFit,
    MixedFit,
    ancova_stage,
    compare_candidates,
    fit_candidates,
    fit_mixed,
)
from tellmore.study.records import Records
from tellmore.study.vuong import VuongTest


@dataclass(frozen=True)
class Exclusion:
    """How many participants and answers of a kind are left after a step."""

    kind: str
    step: str
    participants: int
    answers: int


PERSON_STEPS = {
    "no consent": "consented",
    "failed the comprehension check": "passed the comprehension check",
    "did not reach all gold questions": "reached all gold questions",
    "missed a gold question": "answered all gold questions correctly",
}
"""Why a participant is left out, and what is true of the others, in the order of the checks."""


def excluded_people(records: Records, kind: str) -> dict[str, str | None]:
    """Why each participant is left out of the analysis of ``kind``; None for those who stay.

    Participants stay if they consented, passed the comprehension check, and answered every gold question of the kind correctly.
    """
    gold: dict[str, list[bool]] = {person["participant"]: [] for person in records.people}
    for row in records.answers:
        if row["kind"] == kind and row["gold"]:
            gold[row["participant"]].append(row["right"])
    understood = [person for person in records.people if person["consented"] and person["passed_comprehension"]]
    wanted = max((len(gold[person["participant"]]) for person in understood), default=0)

    def reason(person: Mapping[str, Any]) -> str | None:
        right = gold[person["participant"]]
        fails = not person["consented"], not person["passed_comprehension"], len(right) < wanted, not all(right)
        return next((why for why, fault in zip(PERSON_STEPS, fails, strict=True) if fault), None)

    return {person["participant"]: reason(person) for person in records.people}


def exclude(records: Records, kind: str) -> tuple[list[dict[str, Any]], list[Exclusion]]:
    """The answers of ``kind`` that are analysed, and the counts at each step.

    Participants are excluded by `excluded_people`; from the answers of the others, gold questions and skips are removed, then
    impossible times (`policy.cost_fit.fault`).
    """
    answers = [row for row in records.answers if row["kind"] == kind]
    reasons = excluded_people(records, kind)
    people = set(reasons)
    steps: list[Exclusion] = []

    def note(step: str) -> None:
        steps.append(Exclusion(kind, step, len(people), sum(row["participant"] in people for row in answers)))

    note("entered")
    for reason, step in PERSON_STEPS.items():
        people = {name for name in people if reasons[name] != reason}
        note(step)
    answers = [row for row in answers if row["participant"] in people and not row["gold"]]
    note("gold questions removed")
    answers = [row for row in answers if not row["skipped"]]
    note("skipped questions removed")
    answers = [row for row in answers if fault(Timed(kind, row["size"], row["seconds"])) is None]
    note("impossible times removed")
    return answers, steps


def unusable_times(records: Records) -> list[dict[str, str]]:
    """Each time that cannot be used, with the reason, so that nothing is dropped silently."""
    rows = []
    for row in records.answers:
        reason = None if row["skipped"] else fault(Timed(row["kind"], row["size"], row["seconds"]))
        if reason is not None:
            rows.append({"participant": row["participant"], "question_id": row["question_id"], "reason": reason})
    return rows


def counts_by_size(answers: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, int]]:
    """Answers by set size for each kind (Table IV)."""
    sizes = sorted({row["size"] for rows in answers.values() for row in rows})
    return [
        {"size": size, **{kind: sum(row["size"] == size for row in rows) for kind, rows in answers.items()}}
        for size in sizes
    ]


def mean_times(answers: Sequence[Mapping[str, Any]], *, by_stage: bool = False) -> list[dict[str, Any]]:
    """Mean and standard error of seconds for each size, and ``by_stage`` for each stage; the points of Figs. 8 and 17."""
    groups: dict[tuple[str | None, int], list[float]] = {}
    for row in answers:
        groups.setdefault((row["stage"] if by_stage else None, row["size"]), []).append(row["seconds"])
    rows = []
    for (stage, size), seconds in sorted(groups.items(), key=lambda group: (str(group[0][0]), group[0][1])):
        se = float(np.std(seconds, ddof=1) / np.sqrt(len(seconds))) if len(seconds) > 1 else 0.0
        rows.append({"stage": stage, "size": size, "mean_s": float(np.mean(seconds)), "se_s": se, "n": len(seconds)})
    return rows


def total_times(records: Records) -> list[float]:
    """Minutes of everyone who completed the study (Fig. 16)."""
    return [person["total_s"] / 60 for person in records.people if person["outcome"] == "complete"]


def hourly_pay(minutes: Sequence[float], amount: float) -> dict[str, float] | None:
    """Mean, median and standard deviation of pay per hour; None if no one finished or nothing is paid."""
    paid = [amount / (m / 60) for m in minutes if m > 0]
    if not paid or amount <= 0:
        return None
    sd = float(np.std(paid, ddof=1)) if len(paid) > 1 else 0.0
    return {"mean": float(np.mean(paid)), "median": float(np.median(paid)), "sd": sd}


def ages(records: Records) -> list[float]:
    """Ages of those who passed the comprehension check and gave their age (Fig. 15)."""
    given = (person["demographics"].get("age") for person in records.people if person["passed_comprehension"])
    return [float(age) for age in given if isinstance(age, int | float)]


def demographic_counts(records: Records, field: str) -> list[dict[str, Any]]:
    """How many people gave each answer to a question about themselves, most frequent first (Tables II and III)."""
    given = [
        str(person["demographics"].get(field, "Not available"))
        for person in records.people
        if person["passed_comprehension"]
    ]
    values = sorted(set(given), key=lambda value: (value == "Not available", -given.count(value), value))
    return [{"value": value, "count": given.count(value)} for value in values]


@dataclass(frozen=True)
class KindAnalysis:
    """Models and tests of one kind; the tests as in the paper, and with errors clustered by participant."""

    candidates: list[CandidateFit]
    mixed: MixedFit | None = None
    vuong: VuongTest | None = None
    vuong_clustered: VuongTest | None = None
    ancova: Ancova | None = None
    ancova_clustered: Ancova | None = None

    @classmethod
    def of(cls, answers: Sequence[Mapping[str, Any]], kind: str) -> tuple[KindAnalysis, list[str]]:
        """The models and tests that are possible, and one line for each that is not, saying why."""
        notes: list[str] = []

        def attempt(compute: Callable[[], Any]) -> Any:
            try:
                return compute()
            except InputError as error:
                if str(error) not in notes:
                    notes.append(str(error))
                return None

        found = cls(
            attempt(lambda: fit_candidates(answers, kind)) or [],
            attempt(lambda: fit_mixed(answers, kind)),
            attempt(lambda: compare_candidates(answers, kind)),
            attempt(lambda: compare_candidates(answers, kind, clustered=True)),
            attempt(lambda: ancova_stage(answers, kind)),
            attempt(lambda: ancova_stage(answers, kind, clustered=True)),
        )
        if found.mixed is not None and not found.mixed.converged:
            notes.append(f"the mixed model of {kind} did not converge: do not rely on it")
        return found, notes


@dataclass(frozen=True)
class Analysis:
    """Everything that the report shows. If a kind cannot be fitted, ``notes`` says why."""

    answers: dict[str, list[dict[str, Any]]]
    exclusions: list[Exclusion]
    counts: list[dict[str, int]]
    fits: dict[str, KindAnalysis]
    unusable: list[dict[str, str]]
    minutes: list[float]
    pay: dict[str, float] | None
    notes: list[str]

    @property
    def candidates(self) -> list[CandidateFit]:
        """The rows of Table V."""
        return [fit for own in self.fits.values() for fit in own.candidates]

    def as_json(self) -> dict[str, Any]:
        """All numbers, without single answers."""
        return {
            "exclusions": [asdict(step) for step in self.exclusions],
            "counts_by_size": self.counts,
            "fits": {kind: asdict(own) for kind, own in self.fits.items()},
            "unusable_times": self.unusable,
            "minutes": self.minutes,
            "hourly_pay": self.pay,
            "notes": self.notes,
        }


def analyse(records: Records, kinds: Sequence[str], *, pay: float = 0.0) -> Analysis:
    """The whole analysis of the question kinds of a study."""
    answers: dict[str, list[dict[str, Any]]] = {}
    fits: dict[str, KindAnalysis] = {}
    steps: list[Exclusion] = []
    notes: list[str] = []
    for kind in kinds:
        answers[kind], own = exclude(records, kind)
        steps += own
        fits[kind], wrong = KindAnalysis.of(answers[kind], kind)
        notes += wrong
    hidden = sum(bool((row.get("timing") or {}).get("hidden_ms")) for rows in answers.values() for row in rows)
    if hidden:
        notes.append(f"{hidden} answers are analysed although the page was hidden for part of the time")
    versions = {person["fingerprint"] for person in records.people}
    if len(versions) > 1:
        notes.append(f"the study was changed while it ran: participants saw {len(versions)} versions of it")
    minutes = total_times(records)
    counts, unusable = counts_by_size(answers), unusable_times(records)
    return Analysis(answers, steps, counts, fits, unusable, minutes, hourly_pay(minutes, pay), notes)
