"""Warnings to read before trusting the classifier: signs that a linear classifier on these embeddings cannot work."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tellmore.core.coordinates import Moments
from tellmore.policy.stopping import agreement, disagree
from tellmore.policy.tally import Tally
from tellmore.pool import Pool

ENOUGH_CHECKS = 10
RECENT_ANSWERS = 60
ALIKE = 0.01  # items are alike if they differ from their mean by less than this share of its length


def warnings_of(pool: Pool, tally: Tally, labels: Mapping[str, bool]) -> list[str]:
    """Warnings that say what was seen and what to do; none if all seems well."""
    found = [_items_alike(pool.moments), _not_linear(tally), _twins_apart(pool, labels)]
    return [each for each in found if each is not None]


def _items_alike(moments: Moments) -> str | None:
    length, spread = float(np.linalg.norm(moments.mean)), float(np.linalg.norm(moments.sd))
    if spread > ALIKE * length:
        return None
    return (
        f"the items hardly differ: typically by {spread / length:.1%} of their length. Check that the embeddings are of "
        "different items; otherwise use embeddings that tell them apart"
    )


def _not_linear(tally: Tally) -> str | None:
    recent = [one for one in tally.checks if one.answers >= tally.answers - RECENT_ANSWERS]
    if len(recent) < ENOUGH_CHECKS or not disagree(recent):
        return None
    right, expected = agreement(recent)
    return (
        f"only {right} of {len(recent)} random labels were as predicted, and {expected:.0f} were expected. The attribute may "
        "not be linear in these embeddings, or the answers contradict each other: look at the answers, or try other embeddings"
    )


def _twins_apart(pool: Pool, labels: Mapping[str, bool]) -> str | None:
    side: dict[bytes, str] = {}
    for item, told in labels.items():
        row = pool.X[pool.rows([item])[0]].tobytes()
        twin = side.setdefault(row, item)
        if labels[twin] != told:
            return (
                f"{twin!r} and {item!r} have the same embedding and opposite labels, which no classifier of these embeddings "
                "can learn: correct one of them, or embed them so that they differ"
            )
    return None
