"""Looking for the rarer side first.

The most informative questions are not those that find the first positive items among many negative ones. Until there are a few
labels of each side, every second label is therefore about the item most likely to be on the side with fewer. If one side stays
rare, the other labels are about the items nearest to the boundary, which among many negative items are also the likeliest
positive ones. The items of a selection are compared with each other, so they are still chosen by information, but among those
most likely to be on the rarer side. As long as one side has no label at all, nothing is known about where its items are, but
it is known where they are less likely to be: near items that have been shown. Items are then from parts of the pool of which
nothing has been shown yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tellmore.core.acquire import random_set
from tellmore.core.candidates import CANDIDATES, within
from tellmore.core.parts import parts_of
from tellmore.core.scan import Part, Scan
from tellmore.policy.tally import Tally
from tellmore.types import Array

ENOUGH = 5
RARE = 1 / 3
QUARTER, FIFTH = 1 / 4, 1 / 5
"""If one side has at most a quarter of the labels, selections look for it: with a third, they would do so too often on balanced
pools. As long as it has at most a fifth, they are at its end; for longer, that side would seem too common."""
SURELY, MANY = 12, 100
"""From so many labels on, a rare side also changes how answers are learnt: first the labels of rankings, because with fewer a
common side often looks rare; then all labels, because the few of a rare side are outweighed only if there are many others."""
BEFORE = 3  # the first labels are chosen by information alone
MOST_LABELS = 3
"""An item with this many labels is not asked about again while others have fewer. Asking twice helps if people make mistakes or
positive items are rare; asking again and again annoys."""
DRAWN, MOST_PARTS = 2_000, 200
"""A pool is divided into parts by this many of its items, drawn at random, and into at most so many parts."""
LEAST_CHOICE = 10  # for each item of a question, at least this many are searched

Rows = NDArray[np.int64]


def sought(
    scan: Scan,
    tally: Tally,
    count: int,
    turn: int,
    *,
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
    if fewer < ENOUGH:
        side = 1 if tally.positive <= tally.negative else -1
        found = _best(scan, _toward(side), out, (count + turn % 2) // 2)
    if fewer < RARE * tally.labels:
        more = _best(scan, _near, np.union1d(out, found), count - len(found))
        found = np.concatenate([found, more])
    return found


def side_is_missing(tally: Tally) -> bool:
    """Whether there are some labels, and all of them are of one side."""
    return tally.labels >= BEFORE and not min(tally.positive, tally.negative)


def from_new_parts(scan: Scan, shown: Rows, count: int, *, rng: np.random.Generator, exclude: Rows) -> Rows:
    """``count`` rows outside of ``exclude``, each a random item of another part of the pool of which nothing was ``shown``. If
    there are too few such parts, the other rows are random. Were it the most typical item of a part, a few rare ones among
    others that are like them would hardly ever be found."""
    if not count:  # then perhaps no item is left to divide into parts
        return np.empty(0, dtype=np.int64)
    drawn = random_set(len(scan), min(DRAWN, len(scan) - len(exclude)), rng=rng, exclude=exclude)
    shown = shown if len(shown) <= DRAWN else rng.choice(shown, DRAWN, replace=False)
    many = min(len(shown) + count, MOST_PARTS, len(drawn))
    part = parts_of(scan.take(np.concatenate([drawn, shown])).rows[:], many, rng=rng)
    new = rng.permutation(np.flatnonzero(~np.isin(part[: len(drawn)], part[len(drawn) :])))
    _, first = np.unique(part[new], return_index=True)
    found = drawn[new[np.sort(first)[:count]]]
    rest = random_set(len(scan), count - len(found), rng=rng, exclude=np.union1d(exclude, found))
    return np.concatenate([found, rest])


def rarer_side(tally: Tally, share: float = QUARTER) -> int:
    """+1 if at most this ``share`` of the labels is positive, -1 if negative, 0 if neither is or labels are too few to say."""
    fewer = min(tally.positive, tally.negative)
    if tally.labels < ENOUGH or fewer > share * tally.labels:
        return 0
    return 1 if fewer == tally.positive else -1


def likely_rows(
    scan: Scan,
    side: int,
    share: float,
    count: int,
    *,
    rng: np.random.Generator,
    exclude: NDArray[np.intp] | Sequence[int] = (),
) -> Rows:
    """Rows to search for a question on ``count`` items: this ``share`` of the pool, the items most likely to be on ``side``, in
    the pool's order. If these would be many, the same share of every second, third, … item, from a random one on."""
    out, least = np.unique(np.asarray(exclude, dtype=np.int64)), LEAST_CHOICE * count
    likely = int(share * len(scan))
    step = max(likely // max(CANDIDATES, least), 1)
    enough = min(max(likely // step, least), len(scan) - len(out))
    return np.sort(_best(scan, _toward(side), out, enough, step, int(rng.integers(step))))


def _toward(side: int) -> Callable[[Array], Array]:
    return _rising if side > 0 else _falling


def _rising(mean: Array) -> Array:
    return mean


def _falling(mean: Array) -> Array:
    return -mean


def _near(mean: Array) -> Array:
    return -np.abs(mean)


def _best(scan: Scan, value: Callable[[Array], Array], out: Rows, count: int, step: int = 1, offset: int = 0) -> Rows:
    """The ``count`` rows with the largest ``value`` of the mean score, without those in ``out``; of equal ones the first. Only
    every ``step``-th row is considered, from ``offset`` on."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    parts = scan.look(partial(_leading, value=value, out=out, count=count, step=step, offset=offset))
    falling, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.asarray(rows[np.argsort(falling, kind="stable")[:count]])


def _leading(
    part: Part, *, value: Callable[[Array], Array], out: Rows, count: int, step: int, offset: int
) -> tuple[Array, Rows]:
    """The best rows of one part: their negated values, smallest first, and their numbers."""
    start = (offset - part.first) % step
    falling = -value(part.scores[0][0][start::step])
    left_out = within(out, part) - start
    falling[left_out[left_out % step == 0] // step] = np.inf
    last = np.partition(falling, count - 1)[count - 1] if count < len(falling) else np.inf
    leading = np.flatnonzero((falling <= last) & (falling < np.inf))
    leading = leading[np.argsort(falling[leading], kind="stable")[:count]]
    return falling[leading], part.first + start + step * leading


def labels_are_few(tally: Tally) -> bool:
    """Whether labels of one side are few, by number or by share."""
    fewer = min(tally.positive, tally.negative)
    return fewer < max(ENOUGH, RARE * tally.labels)
