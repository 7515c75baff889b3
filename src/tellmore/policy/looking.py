"""Looking for the rarer side first.

The most informative questions are not those that find the first positive items among many negative ones. Until there are a few
labels of each side, every second label is therefore about the item most likely to be on the side with fewer. If one side stays
rare, the other labels are about the items nearest to the boundary, which among many negative items are also the likeliest
positive ones. As long as one side has no label at all, nothing is known about where its items are, and every second label is
about a random item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tellmore.core.acquire import random_set
from tellmore.core.candidates import within
from tellmore.core.scan import Part, Scan
from tellmore.policy.tally import Tally
from tellmore.types import Array

ENOUGH = 5
RARE = 1 / 3
BEFORE = 3  # the first labels are chosen by information alone

Rows = NDArray[np.int64]


def sought(
    scan: Scan,
    tally: Tally,
    count: int,
    turn: int,
    *,
    rng: np.random.Generator,
    exclude: NDArray[np.intp] | Sequence[int] = (),
) -> Rows:
    """Rows of at most ``count`` items to label now because there are few labels of one side; none if there are enough.

    ``turn``: the number of earlier questions; if questions ask for one label, every second one looks for that side.
    """
    fewer = min(tally.positive, tally.negative)
    found: Rows = np.empty(0, dtype=np.int64)
    if tally.labels < BEFORE:
        return found
    out = np.unique(np.asarray(exclude, dtype=np.int64))
    out = out if len(scan) - len(out) >= count else out[:0]
    odd = turn % 2
    if not fewer:
        found, odd = random_set(len(scan), (count + odd) // 2, rng=rng, exclude=out), 1
    if fewer < ENOUGH:
        likely = _rising if tally.positive <= tally.negative else _falling
        more = _best(scan, likely, np.union1d(out, found), (count - len(found) + odd) // 2)
        found = np.concatenate([found, more])
    if fewer < RARE * tally.labels:
        more = _best(scan, _near, np.union1d(out, found), count - len(found))
        found = np.concatenate([found, more])
    return found


def _rising(mean: Array) -> Array:
    return mean


def _falling(mean: Array) -> Array:
    return -mean


def _near(mean: Array) -> Array:
    return -np.abs(mean)


def _best(scan: Scan, value: Callable[[Array], Array], out: Rows, count: int) -> Rows:
    """The ``count`` rows with the largest ``value`` of the mean score, without those in ``out``; of equal ones the first."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    parts = scan.look(partial(_leading, value=value, out=out, count=count))
    falling, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.asarray(rows[np.argsort(falling, kind="stable")[:count]])


def _leading(part: Part, *, value: Callable[[Array], Array], out: Rows, count: int) -> tuple[Array, Rows]:
    """The best rows of one part: their negated values, smallest first, and their numbers."""
    falling = -value(part.scores[0][0])
    falling[within(out, part)] = np.inf
    last = np.partition(falling, count - 1)[count - 1] if count < len(falling) else np.inf
    leading = np.flatnonzero((falling <= last) & (falling < np.inf))
    leading = leading[np.argsort(falling[leading], kind="stable")[:count]]
    return falling[leading], part.first + leading


def labels_are_few(tally: Tally) -> bool:
    """Whether labels of one side are few, by number or by share."""
    fewer = min(tally.positive, tally.negative)
    return fewer < max(ENOUGH, RARE * tally.labels)
