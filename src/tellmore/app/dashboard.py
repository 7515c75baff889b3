"""The owner's dashboard: numbers from the log and the belief, in the form in which they are sent.

Everything shown can be computed again from the exported log: nothing here reads a clock or keeps a counter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from urllib.parse import quote

import numpy as np

from tellmore.app import wire_board as board
from tellmore.app.view import FullView
from tellmore.app.wire import ItemOut
from tellmore.pool import Pool
from tellmore.store.agreement import NOTHING_TO_COMPARE, reliability
from tellmore.store.fold import DECISION_THRESHOLD, AnswerEffect
from tellmore.store.ledger import Ledger
from tellmore.store.people import NO_ANSWERS, NOT_COMPARED, manners
from tellmore.store.statistics import Mistake, accuracy, contributions, extreme_rows, minutes_spent
from tellmore.store.steady import in_words
from tellmore.types import Array

HISTOGRAM_BINS = 20
LISTED_ITEMS = 10


def accuracy_curve(effects: Sequence[AnswerEffect]) -> list[board.AccuracyPoint]:
    """The accuracy after each check question."""
    points = []
    minutes = minutes_spent(effects)
    for position, each in enumerate(effects):
        now = accuracy(effects[: position + 1]) if each.scored else None
        if now is not None:
            points.append(board.AccuracyPoint(**vars(now), answers=position + 1, minutes=float(minutes[position])))
    return points


def curve(effects: Sequence[AnswerEffect]) -> list[board.CurvePoint]:
    """What each answer changed."""
    minutes = minutes_spent(effects).tolist()
    shown = ("logdet_per_dim", "bits", "expected_accuracy", "check", "question_id", "kind", "size")
    return [
        board.CurvePoint(answers=answers, minutes=spent, **{name: getattr(each, name) for name in shown})
        for answers, (spent, each) in enumerate(zip(minutes, effects, strict=True), start=1)
    ]


def histogram(probability: Array) -> board.HistogramOut:
    """The pool's probabilities in equal bins from 0 to 1."""
    counts, edges = np.histogram(probability, bins=HISTOGRAM_BINS, range=(0.0, 1.0))
    return board.HistogramOut(edges=edges.tolist(), counts=counts.tolist())


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
    return f"/api/items/{quote(item, safe='')}/image"


def extremes(
    pool: Pool, mean: Array, sd: Array, probability: Array, n: int = LISTED_ITEMS
) -> tuple[list[board.ScoredItem], list[board.ScoredItem], list[board.ScoredItem]]:
    """The most positive, the most negative and the most uncertain items; ties are in the order of the pool."""

    def listed(rows: Iterable[int]) -> list[board.ScoredItem]:
        return [
            board.ScoredItem(
                **item_out(pool, pool.ids[row]).model_dump(),
                probability=float(probability[row]),
                score=float(mean[row]),
                score_sd=float(sd[row]),
            )
            for row in rows
        ]

    most_positive, most_negative, most_uncertain = (listed(rows[:n]) for rows in extreme_rows(probability))
    return most_positive, most_negative, most_uncertain


def mistakes_out(pool: Pool, mistakes: Iterable[Mistake]) -> list[board.MistakeOut]:
    """Mistakes, with their items as they are shown."""
    return [
        board.MistakeOut(**item_out(pool, each.item).model_dump(), probability=each.probability, told=each.told)
        for each in mistakes
    ]


def annotators_out(ledger: Ledger, view: FullView, at_work: Collection[str]) -> list[board.AnnotatorOut]:
    """One row per person; those in ``at_work`` have an open question."""
    compared, found = reliability(ledger), manners(ledger, view.learner)
    changed = {who: own.now for who, own in view.steady.items()}
    return [
        board.AnnotatorOut(
            **vars(person),
            open=person.participant in at_work,
            reliability=compared.get(person.participant, NOTHING_TO_COMPARE),
            manner=found.get(person.participant, NOT_COMPARED if person.answers else NO_ANSWERS),
            lately=None if (seen := changed.get(person.participant)) is None else in_words(seen),
        )
        for person in contributions(ledger, view.learner.pool, view.probability)
    ]
