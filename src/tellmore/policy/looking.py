"""Looking for the rarer side first.

What tells most about a classifier is not what finds the first positive items among many negative ones. Until there are a few
labels of either side, every second label is therefore of the item most likely to be of the side that has fewer. Where one side
stays rare, every second label is of the item nearest to the boundary, which with few positive items is the likeliest of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tellmore.core.acquire import available_rows
from tellmore.core.scan import PoolScan
from tellmore.policy.tally import Tally

ENOUGH = 5
RARE = 0.2
BEFORE = 3  # labels at first, by information alone


def one_side_is_short(tally: Tally) -> bool:
    """Whether labels of one side are few, by number or by share."""
    fewer, labels = min(tally.positive, tally.negative), tally.positive + tally.negative
    return labels >= BEFORE and fewer < max(ENOUGH, RARE * labels)


def sought(
    scan: PoolScan, tally: Tally, count: int, *, exclude: NDArray[np.intp] | Sequence[int] = ()
) -> NDArray[np.int64]:
    """The rows of ``count`` items to label in order to have enough of the side that is short."""
    sign = 1.0 if tally.positive <= tally.negative else -1.0
    found_some = min(tally.positive, tally.negative) >= ENOUGH
    wanted = -np.abs(scan.mean) if found_some else sign * scan.mean
    available = available_rows(len(wanted), exclude, count)
    return np.argsort(np.where(available, -wanted, np.inf), kind="stable")[:count]
