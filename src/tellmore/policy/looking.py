"""Looking for the rarer side first.

What tells most about a classifier is not what finds the first positive items among many negative ones. Until there are a few
labels of either side, every second label is therefore of the item most likely to be of the side that has fewer. Where one side
stays rare, the other labels are of the items nearest to the boundary, which among many negative items are the likeliest too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tellmore.core.acquire import available_rows
from tellmore.core.scan import PoolScan
from tellmore.policy.tally import Tally
from tellmore.types import Array

ENOUGH = 5
RARE = 1 / 3
BEFORE = 3  # labels at first, by information alone

Rows = NDArray[np.int64]


def sought(
    scan: PoolScan, tally: Tally, count: int, turn: int, *, exclude: NDArray[np.intp] | Sequence[int] = ()
) -> Rows:
    """Rows of at most ``count`` items to label now, because labels of one side are few; none where they are not.

    ``turn``: questions before, of which every second one is to find items of that side where it asks for one label.
    """
    fewer = min(tally.positive, tally.negative)
    if tally.labels < BEFORE:
        return np.empty(0, dtype=np.int64)
    found: Rows = np.empty(0, dtype=np.int64)
    left = available_rows(len(scan.mean), exclude, count)
    if fewer < ENOUGH:
        towards = scan.mean if tally.positive <= tally.negative else -scan.mean
        found = _best(towards, left, (count + turn % 2) // 2)
        left[found] = False
    if fewer < RARE * tally.labels:
        found = np.concatenate([found, _best(-np.abs(scan.mean), left, count - len(found))])
    return found


def _best(value: Array, among: NDArray[np.bool_], count: int) -> Rows:
    """Rows of the largest values, the first of equal ones."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    falling = np.where(among, -value, np.inf)
    leading = np.flatnonzero(falling <= np.partition(falling, count - 1)[count - 1])
    return leading[np.argsort(falling[leading], kind="stable")[:count]]


def labels_are_few(tally: Tally) -> bool:
    """Whether labels of one side are few, by number or by share."""
    fewer = min(tally.positive, tally.negative)
    return fewer < max(ENOUGH, RARE * tally.labels)
