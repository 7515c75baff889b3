"""How far the beliefs still predict a pool as the classifier of a start did.

The share of items on the same side depends on how many items each calls positive: a start of words or examples calls about half
of them positive, so answers that find a rare class change many sides although they order the items in the same way. Therefore the
order is compared, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tellmore.core.mixture import Weighing
from tellmore.core.scan import Part, PoolRows, Scan, visit
from tellmore.types import Array


@dataclass(frozen=True)
class Kept:
    """``agreement``: the share of items on the same side as under the start. ``order``: what this share would be for scores with
    the same correlation if both called half of the items positive: 1 for the same order, about one half if it has nothing to do
    with that of the start, 0 for the opposite order. ``before`` and ``now``: the share called positive."""

    agreement: float
    order: float
    before: float
    now: float


def kept(rows: PoolRows, scans: Sequence[Scan], *, mean: Array, mixture: Weighing) -> Kept:
    """What is kept of a start with this mean [D], given the scores of all items under each belief."""
    sums = np.sum(visit(rows, scans, partial(_sums, mean=mean, mixture=mixture)), axis=0)
    first, second, first_square, second_square, product, same, before, now = (sums / len(rows)).tolist()
    spread = (first_square - first**2) * (second_square - second**2)
    correlation = (product - first * second) / math.sqrt(spread) if spread > 0 else 0.0
    # For two Gaussian scores, the chance of being on the same side of both medians.
    return Kept(same, 1 - math.acos(min(max(correlation, -1.0), 1.0)) / math.pi, before, now)


def _sums(part: Part, *, mean: Array, mixture: Weighing) -> Array:
    """Sums over the items: both scores, their squares and their product, the items on the same side, those positive in each."""
    first = np.concatenate([scores[:, 0] for _, scores in part.rows.times(mean[:, None])]).astype(float)
    second = mixture.mean_of(part.scores)
    sides = first > 0, second > 0
    parts = first, second, first**2, second**2, first * second, sides[0] == sides[1], *sides
    return np.array([np.sum(each, dtype=float) for each in parts])
