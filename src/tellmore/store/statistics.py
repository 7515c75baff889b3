"""Numbers computed from the log and the belief: accuracy, time left, what each person did, seconds per question. Pure
functions: all results can be computed again from the exported log.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from tellmore import kinds
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.cost_fit import OnlineCost, Timed, fault
from tellmore.policy.tally import Check
from tellmore.policy.words import ENOUGH_CHECKS
from tellmore.pool import Pool
from tellmore.questions import Question, labels_in
from tellmore.store.fold import DECISION_THRESHOLD, AnswerEffect
from tellmore.store.ledger import Asked, Given, Ledger
from tellmore.types import Answer, Array, Skip

WINDOW = 100
"""The accuracy is measured on the newest check questions with at least this many items; older mistakes do not count."""

LISTED_MISTAKES = 10
SMALLEST_FIT = 8
CALIBRATION_ITEMS = 4
WIDEST = 5.0
"""The time left is not shown if its upper end is more than this many times its lower end, and above ``SOON_MINUTES``."""

SOON_MINUTES = 10.0


@dataclass(frozen=True)
class Accuracy:
    """``correct`` of ``n`` randomly drawn items were predicted correctly; ``low`` to ``high`` is the 95 % Wilson interval."""

    estimate: float
    low: float
    high: float
    n: int
    correct: int


@lru_cache(maxsize=10_000)
def accuracy_of(correct: int, n: int) -> Accuracy:
    """The accuracy for ``correct`` of ``n`` items.

    >>> round(accuracy_of(9, 10).low, 3), round(accuracy_of(9, 10).high, 3)
    (0.596, 0.982)
    """
    interval = binomtest(correct, n).proportion_ci(confidence_level=0.95, method="wilson")
    return Accuracy(correct / n, float(interval.low), float(interval.high), n, correct)


def accuracy(effects: Sequence[AnswerEffect]) -> Accuracy | None:
    """Accuracy over the newest check questions; None before the first."""
    newest = _newest_checks(effects)
    scored = sum(each.scored for each in newest)
    return accuracy_of(sum(each.correct for each in newest), scored) if scored else None


def _newest_checks(effects: Sequence[AnswerEffect]) -> list[AnswerEffect]:
    found: list[AnswerEffect] = []
    scored = 0
    for each in reversed(effects):
        if scored >= WINDOW:
            break
        if each.scored:
            found.append(each)
            scored += each.scored
    return found


@dataclass(frozen=True)
class Commoner:
    """The more common label of the items on which the accuracy is measured, and its ``share``: the accuracy of it alone."""

    positive: bool
    share: float


def commoner(ledger: Ledger, effects: Sequence[AnswerEffect]) -> Commoner | None:
    """The more common label on the newest check questions; None before the first."""
    labels: list[bool] = []
    for each in _newest_checks(effects):
        if each.question_id in ledger.asked and each.question_id in ledger.given:
            asked, given = ledger.asked[each.question_id], ledger.given[each.question_id]
            labels += labels_in(asked.question, given.answer).values()
    if not labels:
        return None
    positive = sum(labels) / len(labels)
    return Commoner(positive > 0.5, max(positive, 1 - positive))


def _marks(question: Question, answer: Answer | None) -> int:
    """How many marks an answer has, if its kind counts them."""
    return 0 if answer is None or isinstance(answer, Skip) else kinds.named(question.kind).marks(answer)


def minutes_spent(effects: Sequence[AnswerEffect]) -> Array:
    """Minutes of everybody's time after each answer [n]."""
    return np.cumsum([each.seconds / 60 for each in effects])


def time_left(effects: Sequence[AnswerEffect], target: float, n: int) -> tuple[float, float] | None:
    """Estimated minutes to ``target`` accuracy, as a range of one standard error; None if it cannot be estimated.

    The belief's expected error, corrected by its result on the check questions, falls as a power of the minutes spent.
    That power is fitted to the newer half of the answers and extrapolated. The upper limit is the time for labelling all
    ``n`` items one by one.
    """
    slope, wrong = _slope(effects), sum(each.scored - each.correct for each in effects)
    if slope is None or sum(each.scored for each in effects) < ENOUGH_CHECKS:
        return None
    spent, most = float(minutes_spent(effects)[-1]), n * _label_seconds(effects) / 60
    error = (1 - effects[-1].expected_accuracy) * _calibration(effects)
    spread = 1 / math.sqrt(wrong + CALIBRATION_ITEMS)
    low, high = (_minutes_to(error * math.exp(side), 1 - target, spent, slope, most) for side in (-spread, spread))
    if low >= most or high <= 0 or high > max(WIDEST * low, SOON_MINUTES):
        return None
    return low, high


def _slope(effects: Sequence[AnswerEffect]) -> float | None:
    """The power of the minutes with which the expected error falls; None if it does not, or the answers are too few."""
    if len(effects) < SMALLEST_FIT:
        return None
    half = len(effects) // 2
    minutes = minutes_spent(effects)[half:]
    error = np.array([1 - each.expected_accuracy for each in effects[half:]])
    if minutes[0] <= 0 or minutes[-1] <= minutes[0] or error.min() <= 0:
        return None
    slope = float(np.polyfit(np.log(minutes), np.log(error), 1)[0])
    return slope if slope < 0 else None


def _minutes_to(error: float, wanted: float, spent: float, slope: float, most: float) -> float:
    """Minutes until ``error`` has fallen to ``wanted``, 0 if it has, and at most ``most``."""
    log_ratio = math.log(error / wanted) / -slope
    if log_ratio <= 0:
        return 0.0
    return most if log_ratio > math.log1p(most / spent) else spent * math.expm1(log_ratio)


def _label_seconds(effects: Sequence[AnswerEffect]) -> float:
    """Seconds to label one item: these people's median or, before there is one, the published time."""
    single = kinds.single().name
    own = [each.seconds for each in effects if each.kind == single and each.seconds > 0]
    return median(own) if own else PAPER_COST.seconds(single, 1)


def _calibration(effects: Sequence[AnswerEffect]) -> float:
    """The ratio of wrong predictions of random items to the number expected, shrunk towards 1 while they are few."""
    wrong = expected = 0.0
    for before, each in pairwise(effects):
        wrong += each.scored - each.correct
        expected += each.scored * (1 - before.expected_accuracy)
    return (wrong + CALIBRATION_ITEMS) / (expected + CALIBRATION_ITEMS)


@dataclass(frozen=True)
class Mistake:
    """An item of a random check: whether people called it positive (``told``), and its ``probability`` before that."""

    item: str
    probability: float
    told: bool


def confident_mistakes(
    ledger: Ledger, effects: Sequence[AnswerEffect], checks: Sequence[Check], n: int = LISTED_MISTAKES
) -> list[Mistake]:
    """The ``n`` most confident mistakes on random checks, the most confident first.

    ``checks`` are those of the learner's tally: one for each item of the check questions in ``effects``, in order.
    """
    scored = [each.question_id for each in effects if each.scored]
    items = [item for one in scored for item in labels_in(ledger.asked[one].question, ledger.given[one].answer)]
    if len(items) != len(checks):  # version 0.1 did not store the probabilities
        return []
    wrong = [
        Mistake(item, check.stated, check.told)
        for item, check in zip(items, checks, strict=True)
        if (check.probability >= DECISION_THRESHOLD) != check.told
    ]
    return sorted(wrong, key=lambda one: -abs(one.probability - DECISION_THRESHOLD))[:n]


@dataclass(frozen=True)
class Contribution:
    """One person's work. ``agreement``: share of their labelled items for which the belief now predicts the same label."""

    participant: str
    name: str
    answers: int
    skips: int
    undone: int
    median_s: float | None
    minutes: float
    agreement: float | None
    last_utc: str | None


def contributions(ledger: Ledger, pool: Pool, probability: Array) -> list[Contribution]:
    """One row per person who was invited or answered, in the order of their first appearance."""
    people: dict[str, list[Given]] = {participant: [] for participant in ledger.names}
    for given in ledger.given.values():
        if given.void not in ("deleted", "reset"):
            people.setdefault(given.participant, []).append(given)
    return [_contribution(participant, work, ledger, pool, probability) for participant, work in people.items()]


def _contribution(participant: str, work: list[Given], ledger: Ledger, pool: Pool, probability: Array) -> Contribution:
    valid = [given for given in work if not given.void]
    times = [given.active_ms / 1000 for given in valid if given.counts and given.timing is not None]
    return Contribution(
        participant=participant,
        name=ledger.names.get(participant, participant),
        answers=sum(given.counts for given in valid),
        skips=sum(isinstance(given.answer, Skip) for given in valid),
        undone=sum(given.void == "undo" for given in work),
        median_s=median(times) if times else None,
        minutes=sum(given.active_ms for given in valid) / 60_000,
        agreement=_agreement(valid, ledger, pool, probability),
        last_utc=max((given.t_utc for given in work), default=None),
    )


def _agreement(work: list[Given], ledger: Ledger, pool: Pool, probability: Array) -> float | None:
    right = total = 0
    for given in work:
        if given.answer is None or given.question_id not in ledger.asked:
            continue
        labels = labels_in(ledger.asked[given.question_id].question, given.answer)
        if labels:
            predicted = probability[pool.rows(list(labels))] >= DECISION_THRESHOLD
            right += int(np.sum(predicted == np.array(list(labels.values()))))
            total += len(labels)
    return right / total if total else None


def extreme_rows(probability: Array) -> tuple[NDArray[np.intp], ...]:
    """The rows of a pool: the most positive first, the most negative first, the most uncertain first; ties in pool order.

    The first two have only the rows that are predicted on that side.

    >>> [rows.tolist() for rows in extreme_rows(np.array([0.9, 0.2, 0.6]))]
    [[0, 2], [1], [2, 1, 0]]
    """
    keys = (-probability, probability, np.abs(probability - DECISION_THRESHOLD))
    positive, negative, uncertain = (np.argsort(key, kind="stable") for key in keys)
    split = int(np.sum(probability >= DECISION_THRESHOLD))
    return positive[:split], negative[: len(probability) - split], uncertain


class TimesSoFar:
    """Fits seconds per question to answers as they arrive; each is used once."""

    def __init__(self) -> None:
        self._fitted, self._done, self._last = OnlineCost(), 0, 0

    def cost(self, pairs: Sequence[tuple[Asked, Given]]) -> CostModel:
        """The paper's fits, updated with the times of ``pairs``: all answers that count, in the order of the log."""
        if self._done and (self._done > len(pairs) or pairs[self._done - 1][1].seq != self._last):
            self._fitted, self._done = OnlineCost(), 0  # an answer was undone
        for asked, given in pairs[self._done :]:
            timed = Timed(
                asked.question.kind,
                asked.question.size,
                given.active_ms / 1000,
                given.participant,
                _marks(asked.question, given.answer),
            )
            if fault(timed) is None:
                self._fitted = self._fitted.observe(timed)
            self._last = given.seq
        self._done = len(pairs)
        return self._fitted.cost


def fitted_cost(ledger: Ledger) -> CostModel:
    """Seconds per question: the paper's fits, updated with this project's times."""
    return TimesSoFar().cost(ledger.counting())
