"""Compares another model's judgements with people's, on the project's random checks.

Random checks are labels of items drawn from the whole pool, so results on them hold for the pool, within the intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.core.ppi import more_to_halve, powered_share
from tellmore.data.scores import JudgeScores
from tellmore.questions import labels_in
from tellmore.store.ledger import Ledger
from tellmore.store.statistics import Accuracy, accuracy_of
from tellmore.types import Skip

ENOUGH = 30
"""Fewer random answers than this say little."""
BINS = 5


@dataclass(frozen=True)
class Check:
    """One item of a random check and its label; ``earlier``: it was drawn before the last items were added."""

    item: str
    positive: bool
    earlier: bool = False


@dataclass(frozen=True)
class Bin:
    """Random answers with similar scores: people called ``positive`` of them positive."""

    scores: str
    n: int
    mean_score: float | None
    positive: Accuracy


@dataclass(frozen=True)
class Wrong:
    """An item that people labelled differently in ``wrong`` of ``answers``; ``distance`` is from its score to the threshold."""

    item: str
    score: str
    judge_positive: bool
    wrong: int
    answers: int
    distance: float | None


@dataclass(frozen=True)
class PoolShare:
    """The share of positives among the scored items: by the judge, by the random answers alone, and by both together."""

    judge: float
    people: Accuracy
    estimate: float
    low: float
    high: float
    weight: float
    more_to_halve: int


@dataclass(frozen=True)
class Verdict:
    """How good a judge is. ``commoner``: the agreement if the more common answer were always given. ``earlier``: answers
    about items that were drawn before others were added."""

    rule: str
    scored: int
    checks: int
    earlier: int
    without_score: int
    skipped: int
    enough: bool
    agreement: Accuracy
    commoner: float
    both_positive: int
    judge_only: int
    people_only: int
    both_negative: int
    precision: Accuracy | None
    recall: Accuracy | None
    calibration: tuple[Bin, ...]
    wrong_most: tuple[Wrong, ...]
    share: PoolShare

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def random_checks(ledger: Ledger) -> list[Check]:
    """Every label of a random check that counts, in order."""
    return [
        Check(item, positive, asked.seq < ledger.items_seq)
        for asked, given in ledger.counting()
        if asked.check and kinds.named(asked.question.kind).labels_all
        for item, positive in labels_in(asked.question, given.answer).items()
    ]


def skipped_checks(ledger: Ledger) -> int:
    """How many random checks people skipped; what they would have answered is not known."""
    return sum(
        isinstance(given.answer, Skip) and not given.void and ledger.asked[given.question_id].check
        for given in ledger.given.values()
        if given.question_id in ledger.asked
    )


def verdict(checks: Sequence[Check], scores: JudgeScores, *, skipped: int = 0) -> Verdict | None:
    """The result of the comparison; None if no checked item has a score."""
    usable = [check for check in checks if check.item in scores.positive]
    if not usable:
        return None
    table = Counter((scores.positive[check.item], check.positive) for check in usable)
    hits, alarms, misses, rejections = (
        table[key] for key in ((True, True), (True, False), (False, True), (False,) * 2)
    )
    n, positives = len(usable), hits + misses
    return Verdict(
        rule=scores.rule,
        scored=len(scores.positive),
        checks=n,
        earlier=sum(check.earlier for check in usable),
        without_score=len(checks) - n,
        skipped=skipped,
        enough=n >= ENOUGH,
        agreement=accuracy_of(hits + rejections, n),
        commoner=max(positives, n - positives) / n,
        both_positive=hits,
        judge_only=alarms,
        people_only=misses,
        both_negative=rejections,
        precision=accuracy_of(hits, hits + alarms) if hits + alarms else None,
        recall=accuracy_of(hits, positives) if positives else None,
        calibration=tuple(_calibration(usable, scores)),
        wrong_most=tuple(_wrong_most(usable, scores)),
        share=_share(usable, scores),
    )


def _share(usable: Sequence[Check], scores: JudgeScores) -> PoolShare:
    labels = np.array([check.positive for check in usable], dtype=float)
    predicted = np.array([scores.prediction(check.item) for check in usable])
    pool = np.array([scores.prediction(item) for item in scores.positive])
    together = powered_share(labels, predicted, pool)
    low, high = together.interval
    return PoolShare(
        judge=sum(scores.positive.values()) / len(scores.positive),
        people=accuracy_of(int(labels.sum()), len(labels)),
        estimate=min(1.0, max(0.0, together.value)),
        low=low,
        high=high,
        weight=together.weight,
        more_to_halve=more_to_halve(len(labels)),
    )


def _calibration(usable: Sequence[Check], scores: JudgeScores) -> Iterator[Bin]:
    """The bins: one for each word, probabilities in steps of a fifth, other numbers in fifths of the scored items."""
    if scores.numbers is None:
        groups: dict[str, list[Check]] = {}
        for check in usable:
            groups.setdefault(scores.values[check.item].casefold(), []).append(check)
        for together in sorted(groups.values(), key=len, reverse=True):
            yield _bin(scores.values[together[0].item], together, None)
        return
    edges = np.unique(_edges(scores.numbers, probabilities=scores.probabilities))
    place = np.searchsorted(edges[1:-1], [scores.numbers[check.item] for check in usable], side="right")
    for number in range(max(1, len(edges) - 1)):
        together = [check for check, at in zip(usable, place, strict=True) if at == number]
        if together:
            yield _bin(f"{edges[number]:.3g} to {edges[min(number + 1, len(edges) - 1)]:.3g}", together, scores.numbers)


def _edges(numbers: Mapping[str, float], *, probabilities: bool) -> Any:
    steps = np.arange(BINS + 1) / BINS  # linspace would put 0.6 just below its own edge
    return steps if probabilities else np.quantile(list(numbers.values()), steps)


def _bin(name: str, together: Sequence[Check], numbers: Mapping[str, float] | None) -> Bin:
    mean = None if numbers is None else float(np.mean([numbers[check.item] for check in together]))
    return Bin(name, len(together), mean, accuracy_of(sum(check.positive for check in together), len(together)))


def _wrong_most(usable: Sequence[Check], scores: JudgeScores) -> list[Wrong]:
    """The items that people labelled differently: first those contradicted most often, then those with extreme scores."""
    answers = Counter(check.item for check in usable)
    contradicted = Counter(check.item for check in usable if check.positive != scores.positive[check.item])
    found = [
        Wrong(item, scores.values[item], scores.positive[item], wrong, answers[item], _distance(scores, item))
        for item, wrong in contradicted.items()
    ]
    return sorted(found, key=lambda one: (-one.wrong, -(one.distance or 0.0), one.item))


def _distance(scores: JudgeScores, item: str) -> float | None:
    if scores.numbers is None or scores.threshold is None:
        return None
    return abs(scores.numbers[item] - scores.threshold)
