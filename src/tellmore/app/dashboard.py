"""The numbers of the owner's dashboard: pure functions of the log and of what the learner believes.

Whatever is shown can be computed again from the exported log: nothing here reads a clock or a counter of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import median

import numpy as np
from scipy.stats import binomtest

from tellmore.app.wire import AccuracyOut, ItemOut
from tellmore.app.wire_board import (
    AccuracyPoint,
    AnnotatorOut,
    CurvePoint,
    HistogramOut,
    LogRow,
    ScoredItem,
)
from tellmore.pool import Pool
from tellmore.store.events import answer_to_json
from tellmore.store.fold import DECISION_THRESHOLD, Told, labels_given
from tellmore.store.ledger import Given, Ledger
from tellmore.types import Answer, Array, LabelAnswer, Question, RankAnswer, SelectAnswer, Skip

WINDOW = 100
"""The accuracy shown is that of the newest check questions with at least this many items: old faults are forgiven."""

HISTOGRAM_BINS = 20
LISTED_ITEMS = 10
SMALLEST_FIT = 8
CALIBRATION_ITEMS = 4
FARTHEST_MINUTES = 10_000.0


def wilson(correct: int, n: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share.

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    interval = binomtest(correct, n).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def accuracy(told: Sequence[Told]) -> AccuracyOut | None:
    """Honest accuracy over the newest check questions; None before the first."""
    correct = scored = 0
    for each in reversed(told):
        if scored >= WINDOW:
            break
        correct, scored = correct + each.correct, scored + each.scored
    if scored == 0:
        return None
    low, high = wilson(correct, scored)
    return AccuracyOut(estimate=correct / scored, low=low, high=high, n=scored, correct=correct)


def accuracy_curve(told: Sequence[Told]) -> list[AccuracyPoint]:
    """The accuracy after each check question."""
    points = []
    minutes = np.cumsum([each.seconds / 60 for each in told])
    for position, each in enumerate(told):
        now = accuracy(told[: position + 1]) if each.scored else None
        if now is not None:
            points.append(AccuracyPoint(**now.model_dump(), answers=position + 1, minutes=float(minutes[position])))
    return points


def curve(told: Sequence[Told]) -> list[CurvePoint]:
    """What each answer did."""
    minutes = np.cumsum([each.seconds / 60 for each in told])
    return [
        CurvePoint(
            answers=position + 1,
            minutes=float(minutes[position]),
            logdet_per_dim=each.logdet_per_dim,
            bits=each.bits,
            expected_accuracy=each.expected_accuracy,
            check=each.check,
            question_id=each.question_id,
            kind=each.kind,
            size=each.size,
        )
        for position, each in enumerate(told)
    ]


def minutes_left(told: Sequence[Told], target: float) -> float | None:
    """Estimated minutes to ``target`` accuracy; 0 where it is reached, None where the answers do not tell.

    The belief's own expected error, corrected by how it did on the check questions, falls as a power of the minutes
    spent; that power is fitted to the newer half of the answers and continued.
    """
    if len(told) < SMALLEST_FIT:
        return None
    minutes = np.cumsum([each.seconds / 60 for each in told])
    error = np.array([1 - each.expected_accuracy for each in told]) * _calibration(told)
    if error[-1] <= 1 - target:
        return 0.0
    half = len(told) // 2
    if minutes[half] <= 0 or minutes[-1] <= minutes[half] or error[half:].min() <= 0:
        return None
    slope = float(np.polyfit(np.log(minutes[half:]), np.log(error[half:]), 1)[0])
    if slope >= 0:
        return None
    log_ratio = math.log(error[-1] / (1 - target)) / -slope
    if log_ratio > math.log1p(FARTHEST_MINUTES / minutes[-1]):
        return None
    return float(minutes[-1] * math.expm1(log_ratio))


def _calibration(told: Sequence[Told]) -> float:
    """Wrong predictions of random items against those the belief expected, shrunk towards 1 while they are few."""
    wrong = expected = 0.0
    for before, each in pairwise(told):
        wrong += each.scored - each.correct
        expected += each.scored * (1 - before.expected_accuracy)
    return (wrong + CALIBRATION_ITEMS) / (expected + CALIBRATION_ITEMS)


def histogram(probability: Array) -> HistogramOut:
    """The pool's probabilities in equal bins from 0 to 1."""
    counts, edges = np.histogram(probability, bins=HISTOGRAM_BINS, range=(0.0, 1.0))
    return HistogramOut(edges=edges.tolist(), counts=counts.tolist())


def positive_share(probability: Array) -> float:
    """Share of the pool that is called positive."""
    return float(np.mean(probability >= DECISION_THRESHOLD))


def item_out(pool: Pool, item: str) -> ItemOut:
    """An item as it is shown: its text, and the address of its image."""
    row = int(pool.rows([item])[0])
    text = pool.text[row] if pool.text is not None else None
    image = image_address(item) if pool.images is not None and pool.images[row] else None
    return ItemOut(id=item, text=item if text is None and image is None else text, image=image)


def image_address(item: str) -> str:
    """Where an item's image is served.

    >>> image_address("a b/c")
    '/api/items/a%20b%2Fc/image'
    """
    from urllib.parse import quote

    return f"/api/items/{quote(item, safe='')}/image"


def extremes(
    pool: Pool, mean: Array, sd: Array, probability: Array, n: int = LISTED_ITEMS
) -> tuple[list[ScoredItem], list[ScoredItem], list[ScoredItem]]:
    """The most positive, the most negative and the most uncertain items; equal ones in the order of the pool."""

    def listed(rows: Iterable[int]) -> list[ScoredItem]:
        return [
            ScoredItem(
                **item_out(pool, pool.ids[row]).model_dump(),
                probability=float(probability[row]),
                score=float(mean[row]),
                score_sd=float(sd[row]),
            )
            for row in rows
        ]

    order = np.argsort(probability, kind="stable")
    unsure = np.argsort(np.abs(probability - 0.5), kind="stable")[:n]
    return listed(np.argsort(-probability, kind="stable")[:n]), listed(order[:n]), listed(unsure)


def labels_in(question: Question, answer: Answer) -> dict[str, bool]:
    """All labels that an answer contains, by item."""
    match answer:
        case LabelAnswer():
            return {question.items[0]: bool(answer.positive)}
        case SelectAnswer():
            return {} if answer.positive is None else {answer.chosen: bool(answer.positive)}
        case RankAnswer():
            return labels_given(answer)
        case Skip():
            return {}


def annotators(
    ledger: Ledger, pool: Pool, probability: Array, is_open: Callable[[str], bool] = lambda _: False
) -> list[AnnotatorOut]:
    """One row a person who was invited or answered, in the order of their first appearance."""
    people: dict[str, list[Given]] = {participant: [] for participant in ledger.names}
    for given in ledger.given.values():
        if given.void not in ("deleted", "reset"):
            people.setdefault(given.participant, []).append(given)
    return [
        _annotator(participant, work, ledger, pool, probability, is_open(participant))
        for participant, work in people.items()
    ]


def _annotator(
    participant: str, work: list[Given], ledger: Ledger, pool: Pool, probability: Array, busy: bool
) -> AnnotatorOut:
    valid = [given for given in work if not given.void]
    times = [given.active_ms / 1000 for given in valid if given.counts and given.timing is not None]
    return AnnotatorOut(
        participant=participant,
        name=ledger.names.get(participant, participant),
        answers=sum(given.counts for given in valid),
        skips=sum(isinstance(given.answer, Skip) for given in valid),
        undone=sum(given.void == "undo" for given in work),
        median_s=median(times) if times else None,
        minutes=sum(given.active_ms for given in valid) / 60_000,
        agreement=_agreement(valid, ledger, pool, probability),
        last_utc=max((given.t_utc for given in work), default=None),
        open=busy,
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


def log_rows(ledger: Ledger, pool: Pool, *, limit: int, offset: int = 0) -> list[LogRow]:
    """The answer log, newest first. What was deleted with its participant is not shown."""
    kept = [given for given in ledger.given.values() if given.void != "deleted" and given.question_id in ledger.asked]
    return [_log_row(given, ledger, pool) for given in kept[::-1][offset : offset + limit]]


def _log_row(given: Given, ledger: Ledger, pool: Pool) -> LogRow:
    asked = ledger.asked[given.question_id]
    return LogRow(
        seq=given.seq,
        t_utc=given.t_utc,
        participant=given.participant,
        question_id=given.question_id,
        kind=asked.question.kind,
        items=[item_out(pool, item) for item in asked.question.items],
        answer=None if given.answer is None else answer_to_json(given.answer),
        rt_ms=given.rt_ms,
        stale=asked.stale,
        check=asked.check,
        late=given.late,
        undone=bool(given.void),
    )
