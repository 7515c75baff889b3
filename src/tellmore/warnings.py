"""Warnings to read before trusting the classifier: signs that a linear classifier on these embeddings cannot work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tellmore.core.coordinates import Moments
from tellmore.policy.stopping import agreement, disagree
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.types import Array

ENOUGH_CHECKS, NEWEST_CHECKS = 10, 20
ENOUGH_LABELS, NEWEST_LABELS = 40, 300
MISFIT_SD, MISFIT_SHARE = 4.0, 0.85
"""Labels do not fit if fewer are as the classifier predicts than it expects, by this many standard deviations and by more than
this share: on pools where a linear classifier works, more fit than it expects, because it has learnt from them."""
ALIKE = 0.01  # items are alike if they differ from their mean by less than this share of its length


def warnings_of(
    pool: Pool,
    tally: Tally,
    told: Sequence[tuple[str, Mapping[Any, bool]]],
    probability: Callable[[Sequence[Any]], Array],
    tails: float = 0.0,
) -> list[str]:
    """Warnings that say what was seen and what to do; none if all seems well. ``told``: for each answer, who gave it and the
    labels in it; ``probability``: that of positive now, for some items; ``tails``: the share of items in long tails."""
    labels = {item: label for _, given in told for item, label in given.items()}
    not_linear = _not_linear(tally) or _misfit(dict(list(labels.items())[-NEWEST_LABELS:]), probability)
    found = [_items_alike(pool.moments), long_tails(tails), not_linear, _twins_apart(pool, labels), _contradicted(told)]
    return [each for each in found if each is not None]


def _items_alike(moments: Moments) -> str | None:
    length, spread = float(np.linalg.norm(moments.mean)), float(np.linalg.norm(moments.sd))
    if spread > ALIKE * length:
        return None
    share = "less than 0.1" if spread < 0.001 * length else f"{100 * spread / length:.1f}"
    return (
        f"the items hardly differ: typically by {share} % of their length. Check that the embeddings are of "
        "different items; otherwise use embeddings that tell them apart"
    )


def long_tails(far: float) -> str | None:
    """What to do if this share of the items is in long tails; None if none is."""
    if not far:
        return None
    return (
        f"{100 * far:.0f} % of the items are far from the others, as happens if columns have long tails. If yours are amounts or "
        "counts, use their logarithms: a linear classifier usually works better with them"
    )


def _not_linear(tally: Tally) -> str | None:
    recent = list(tally.checks[-NEWEST_CHECKS:])
    if len(recent) < ENOUGH_CHECKS or not disagree(recent):
        return None
    right, expected = agreement(recent)
    return (
        f"only {right} of {len(recent)} random labels were as predicted, and {expected:.0f} were expected. The attribute may "
        "not be linear in these embeddings, or the answers contradict each other: look at the answers, or try other embeddings"
    )


def _misfit(labels: Mapping[Any, bool], probability: Callable[[Sequence[Any]], Array]) -> str | None:
    """Without random checks, only the labels that were learnt can show that no line divides them."""
    if len(labels) < ENOUGH_LABELS:
        return None
    p = probability(list(labels))
    right = int(np.sum((p >= 0.5) == np.array(list(labels.values()))))
    expected, sd = float(np.maximum(p, 1 - p).sum()), float(np.sqrt(np.sum(p * (1 - p))))
    if right >= MISFIT_SHARE * expected or right >= expected - MISFIT_SD * max(sd, 0.5):
        return None
    return (
        f"only {right} of the last {len(labels)} labels fit the classifier that has learnt them, and {expected:.0f} were "
        "expected. The attribute may not be linear in these embeddings, or the answers contradict each other: look at the "
        "answers, or try other embeddings"
    )


def _twins_apart(pool: Pool, labels: Mapping[Any, bool]) -> str | None:
    side: dict[bytes, Any] = {}
    for item, told in labels.items():
        row = pool.X[pool.rows([item])[0]].tobytes()
        twin = side.setdefault(row, item)
        if labels[twin] != told:
            return (
                f"{twin!r} and {item!r} have the same embedding and opposite labels, which no classifier of these embeddings "
                "can learn: correct one of them, or embed them so that they differ"
            )
    return None


def _contradicted(told: Iterable[tuple[str, Mapping[Any, bool]]]) -> str | None:
    """Whether most items that one person labelled more than once got labels of both sides. Some do if items are hard."""
    given: dict[tuple[str, Any], list[bool]] = {}
    for person, labels in told:
        for item, label in labels.items():
            given.setdefault((person, item), []).append(label)
    again = {key: each for key, each in given.items() if len(each) > 1}
    both = [item for (_, item), each in again.items() if len(set(each)) > 1]
    if 2 * len(both) <= len(again):
        return None
    return (
        f"{len(both)} of {len(again)} items that one person labelled more than once got labels of both sides, for example "
        f"{both[0]!r}. Such labels cancel each other: take back the wrong ones, or say more exactly what counts as positive"
    )
