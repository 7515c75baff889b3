"""The analysis of Appendix C: exclusions, counts by size, candidate time models, Vuong's test, ANCOVA, pay.

Everything starts from `study.records.Records` and leaves it as it is; every function returns plain rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tellmore import kinds as question_kinds
from tellmore.core.time_model import Form, basis
from tellmore.errors import InputError, needs
from tellmore.policy.cost_fit import Timed, fault
from tellmore.study.records import Records
from tellmore.study.vuong import VuongTest, gaussian_loglik, vuong
from tellmore.types import Array


@dataclass(frozen=True)
class Exclusion:
    """How many participants and answers of a kind are left after a step."""

    kind: str
    step: str
    participants: int
    answers: int


def exclude(records: Records, kind: str) -> tuple[list[dict[str, Any]], list[Exclusion]]:
    """The answers of ``kind`` that are analysed, and the counts at each step.

    Participants: consent, comprehension, then every gold question of the kind answered exactly right.
    Answers of those who remain: gold questions and skips removed, then times that cannot be (`policy.cost_fit.fault`).
    """
    answers = [row for row in records.answers if row["kind"] == kind]
    people = {person["participant"]: person for person in records.people}
    steps: list[Exclusion] = []

    def note(step: str) -> None:
        steps.append(Exclusion(kind, step, len(people), sum(row["participant"] in people for row in answers)))

    note("entered")
    people = {name: person for name, person in people.items() if person["consented"]}
    note("consented")
    people = {name: person for name, person in people.items() if person["passed_comprehension"]}
    note("passed the comprehension check")
    gold = {name: [r["right"] for r in answers if r["gold"] and r["participant"] == name] for name in people}
    wanted = max((len(right) for right in gold.values()), default=0)
    people = {name: person for name, person in people.items() if len(gold[name]) == wanted}
    note("reached all gold questions")
    people = {name: person for name, person in people.items() if all(gold[name])}
    note("answered all gold questions rightly")
    answers = [row for row in answers if row["participant"] in people and not row["gold"]]
    note("gold questions removed")
    answers = [row for row in answers if not row["skipped"]]
    note("skipped questions removed")
    answers = [row for row in answers if fault(Timed(kind, row["size"], row["seconds"])) is None]
    note("impossible times removed")
    return answers, steps


def unusable_times(records: Records) -> list[dict[str, str]]:
    """Each time that cannot be used, with the reason, so that nothing vanishes unseen."""
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


@dataclass(frozen=True)
class CandidateFit:
    """One row of Table V. ``mse`` is the residual mean square; clustered errors allow for participants.

    ``per_mark`` are the seconds that each mark adds, where the kind counts marks, such as ticks.
    """

    kind: str
    form: Form
    b0: float
    b0_se: float
    b1: float
    b1_se: float
    b1_se_clustered: float
    r2: float
    r2_adjusted: float
    mse: float
    n: int
    per_mark: float | None = None
    per_mark_se: float | None = None

    def row(self) -> dict[str, Any]:
        """As a plain dict, without the marks of kinds that have none."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def _statsmodels() -> Any:
    with needs("statsmodels", "lab"):
        import statsmodels.api as sm
    return sm


def _sizes_and_seconds(answers: Sequence[Mapping[str, Any]], kind: str) -> tuple[Array, Array]:
    sizes = np.array([row["size"] for row in answers], dtype=float)
    seconds = np.array([row["seconds"] for row in answers], dtype=float)
    if len(sizes) < 3:
        raise InputError(f"{len(sizes)} {kind} answers are left: too few to fit a time model; at least 3 are needed")
    if np.ptp(sizes) == 0:
        raise InputError(f"all {kind} answers show {int(sizes[0])} items: a slope cannot be fitted; ask several sizes")
    if np.ptp(seconds) == 0:
        raise InputError(f"all {kind} answers took {seconds[0]:g} s exactly: these are no measured times")
    return sizes, seconds


def _ols(answers: Sequence[Mapping[str, Any]], kind: str, form: Form) -> Any:
    sm = _statsmodels()
    sizes, seconds = _sizes_and_seconds(answers, kind)
    return sm.OLS(seconds, np.column_stack([sm.add_constant(basis(form, sizes)), _marks(answers, kind)])).fit()


def _marks(answers: Sequence[Mapping[str, Any]], kind: str) -> Array:
    """The marks of each answer as a column, where its kind counts them; else no column at all."""
    if not question_kinds.named(kind).time.counts_marks:
        return np.empty((len(answers), 0))
    return np.array([[float(row["marks"])] for row in answers])


def fit_candidate(answers: Sequence[Mapping[str, Any]], kind: str, form: Form) -> CandidateFit:
    """Ordinary least squares of seconds on one form, on single answers."""
    fit = _ols(answers, kind, form)
    groups = np.unique([row["participant"] for row in answers], return_inverse=True)[1]
    clustered = float("nan")
    if len(set(groups.tolist())) > 2:
        robust = fit.get_robustcov_results("cluster", groups=groups, use_correction=True)
        clustered = float(robust.bse[1])
    b, se = fit.params.tolist(), fit.bse.tolist()
    quality = float(fit.rsquared), float(fit.rsquared_adj), float(fit.mse_resid), int(fit.nobs)
    marks = (b[2], se[2]) if len(b) > 2 else ()
    return CandidateFit(kind, form, b[0], se[0], b[1], se[1], clustered, *quality, *marks)


def fit_candidates(answers: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[CandidateFit]:
    """The two candidates of each kind, in the order in which Vuong's test compares them (Table V)."""
    return [
        fit_candidate(rows, kind, form)
        for kind, rows in answers.items()
        for form in question_kinds.named(kind).time_forms
    ]


def compare_candidates(answers: Sequence[Mapping[str, Any]], kind: str) -> VuongTest:
    """Vuong's test of a kind's first candidate (linear) against its second."""
    first, second = (_ols(answers, kind, form) for form in question_kinds.named(kind).time_forms)
    return vuong(gaussian_loglik(first.resid), gaussian_loglik(second.resid))


@dataclass(frozen=True)
class Ancova:
    """Does the learning stage explain time beyond set size? F test of the larger model against the smaller."""

    kind: str
    f: float
    df_stage: int
    df_residual: int
    p: float
    n: int


def ancova_stage(answers: Sequence[Mapping[str, Any]], kind: str) -> Ancova:
    """ANCOVA of seconds on size alone against size and stage; answers without a stage are not counted."""
    sm = _statsmodels()
    staged = [row for row in answers if row["stage"] is not None]
    sizes, seconds = _sizes_and_seconds(staged, kind)
    names = sorted({row["stage"] for row in staged})
    if len(names) < 2:
        raise InputError(f"{kind} answers are of {len(names)} learning stage: an ANCOVA needs at least two")
    dummies = np.array([[float(row["stage"] == name) for name in names[1:]] for row in staged])
    terms = np.column_stack([sm.add_constant(sizes), _marks(staged, kind)])
    small = sm.OLS(seconds, terms).fit()
    large = sm.OLS(seconds, np.column_stack([terms, dummies])).fit()
    f, p, df = large.compare_f_test(small)
    return Ancova(kind, float(f), int(df), int(large.df_resid), float(p), len(staged))


def mean_times(answers: Sequence[Mapping[str, Any]], *, by_stage: bool = False) -> list[dict[str, Any]]:
    """Mean and standard error of seconds for each size, and each stage if asked; the points of Figs. 8 and 17."""
    groups: dict[tuple[str | None, int], list[float]] = {}
    for row in answers:
        groups.setdefault((row["stage"] if by_stage else None, row["size"]), []).append(row["seconds"])
    rows = []
    for (stage, size), seconds in sorted(groups.items(), key=lambda group: (str(group[0][0]), group[0][1])):
        se = float(np.std(seconds, ddof=1) / np.sqrt(len(seconds))) if len(seconds) > 1 else 0.0
        rows.append({"stage": stage, "size": size, "mean_s": float(np.mean(seconds)), "se_s": se, "n": len(seconds)})
    return rows


def total_times(records: Records) -> list[float]:
    """Minutes of everybody who completed the study (Fig. 16)."""
    return [person["total_s"] / 60 for person in records.people if person["outcome"] == "complete"]


def hourly_pay(minutes: Sequence[float], amount: float) -> dict[str, float] | None:
    """Mean, median and standard deviation of pay per hour; None where nobody finished or nothing is paid."""
    paid = [amount / (m / 60) for m in minutes if m > 0]
    if not paid or amount <= 0:
        return None
    sd = float(np.std(paid, ddof=1)) if len(paid) > 1 else 0.0
    return {"mean": float(np.mean(paid)), "median": float(np.median(paid)), "sd": sd}


def ages(records: Records) -> list[float]:
    """Ages of those who passed comprehension and gave theirs (Fig. 15)."""
    given = (person["demographics"].get("age") for person in records.people if person["passed_comprehension"])
    return [float(age) for age in given if isinstance(age, int | float)]


def demographic_counts(records: Records, field: str) -> list[dict[str, Any]]:
    """How many gave each answer to a question on the person, most frequent first (Tables II and III)."""
    given = [
        str(person["demographics"].get(field, "Not available"))
        for person in records.people
        if person["passed_comprehension"]
    ]
    values = sorted(set(given), key=lambda value: (value == "Not available", -given.count(value), value))
    return [{"value": value, "count": given.count(value)} for value in values]


@dataclass(frozen=True)
class Analysis:
    """Everything the report shows. Where a kind cannot be fitted, ``notes`` say why."""

    answers: dict[str, list[dict[str, Any]]]
    exclusions: list[Exclusion]
    counts: list[dict[str, int]]
    candidates: list[CandidateFit]
    tests: dict[str, VuongTest]
    ancova: list[Ancova]
    unusable: list[dict[str, str]]
    minutes: list[float]
    pay: dict[str, float] | None
    notes: list[str]

    def as_json(self) -> dict[str, Any]:
        """All numbers, without the single answers."""
        return {
            "exclusions": [asdict(step) for step in self.exclusions],
            "counts_by_size": self.counts,
            "candidates": [fit.row() for fit in self.candidates],
            "vuong": {kind: asdict(test) for kind, test in self.tests.items()},
            "ancova": [asdict(test) for test in self.ancova],
            "unusable_times": self.unusable,
            "minutes": self.minutes,
            "hourly_pay": self.pay,
            "notes": self.notes,
        }


def analyse(records: Records, kinds: Sequence[str], *, pay: float = 0.0) -> Analysis:
    """The whole analysis of the question kinds of a study."""
    answers: dict[str, list[dict[str, Any]]] = {}
    steps: list[Exclusion] = []
    for kind in kinds:
        answers[kind], own = exclude(records, kind)
        steps += own
    candidates: list[CandidateFit] = []
    tests: dict[str, VuongTest] = {}
    ancova: list[Ancova] = []
    notes: list[str] = []
    for kind in kinds:
        try:
            candidates += fit_candidates({kind: answers[kind]})
            tests[kind] = compare_candidates(answers[kind], kind)
            ancova.append(ancova_stage(answers[kind], kind))
        except InputError as error:
            notes.append(str(error))
    hidden = sum(bool((row.get("timing") or {}).get("hidden_ms")) for rows in answers.values() for row in rows)
    if hidden:
        notes.append(f"{hidden} answers are analysed although the page was hidden for part of the time")
    minutes = total_times(records)
    counts, unusable = counts_by_size(answers), unusable_times(records)
    paid = hourly_pay(minutes, pay)
    return Analysis(answers, steps, counts, candidates, tests, ancova, unusable, minutes, paid, notes)
