"""Candidates: the few items of a large pool among which a question is searched, chosen without reading the embeddings.

The search itself compares sets of items and needs their embeddings. Which items are worth comparing follows from the mean and
variance of each item's score alone: those with the most informative labels, a random draw of those nearly as informative (the
best are often near-duplicates), those with the largest variance, and a random draw of the whole pool. Draws use a hash of the
row, so that a pool in several parts gives the same candidates as a pool in one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Protocol

import numpy as np

from tellmore.core.acquire import TIE_TOLERANCE, Acquired, Rows, random_set
from tellmore.core.coordinates import Rows as PoolRows
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.index import from_index
from tellmore.core.scan import Look, Part, PoolScan, Scan, T
from tellmore.types import Array

SEARCHED_WHOLE = 16_384
"""In pools of up to this many items, every item is a candidate."""
CANDIDATES = 4_096
NEARLY = 0.7
"""Items that promise at least this share of the best one count as nearly as informative."""
SHARES = (2, 4, 8, 8)
"""Half of the candidates are the most promising items, a quarter are drawn from those nearly as promising, an eighth have the
largest variance, and an eighth are drawn from all."""
SAMPLED = 64


class Source(Protocol):
    """A pool from which candidates are taken: in memory, mapped from a file, or held by other machines."""

    def __len__(self) -> int:
        """How many items there are."""

    def look(self, look: Look[T]) -> Sequence[T]:
        """What ``look`` returns for each part of the pool, on this machine or others."""

    def take(self, rows: Rows) -> PoolScan:
        """These items, in this order, with their embeddings."""


class Searching(Protocol):
    """What is needed from a kind of question."""

    def search(
        self,
        scan: PoolScan,
        belief: Gaussian,
        size: int,
        behaviour: Behaviour,
        *,
        rng: np.random.Generator,
        exclude: Rows | Sequence[int] = (),
    ) -> Acquired:
        """The most informative items in ``scan`` to ask about."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Some ``rows`` of a ``pool`` with their ``scan``; those in ``exclude`` are not to be asked about."""

    pool: Scan
    scan: PoolScan
    rows: Rows
    exclude: Rows | Sequence[int] = ()

    def search(
        self, kind: Searching, belief: Gaussian, size: int, behaviour: Behaviour, *, rng: np.random.Generator
    ) -> Acquired:
        """The most informative items to ask about, as rows of the pool."""
        found = kind.search(self.scan, belief, size, behaviour, rng=rng, exclude=self.exclude)
        return Acquired(self.rows[found.rows], found.bits)


def candidates(
    pool: Scan,
    size: int,
    behaviour: Behaviour,
    *,
    rng: np.random.Generator,
    exclude: Rows | Sequence[int] = (),
    belief: Gaussian,
    drawn: int | None = None,
) -> Candidates:
    """The items among which to search for a question on ``size`` items: this many ``drawn`` at random, or all of them unless
    the pool is large; or all those that the user's index finds under ``belief``, mostly other ones for each question."""
    if isinstance(pool.rows, PoolRows) and pool.rows.index is not None:
        found = from_index(pool.rows.index, pool.rows, belief, min(CANDIDATES, len(pool)), rng=rng)
        rows = np.setdiff1d(found, np.asarray(exclude, dtype=np.int64))
        if len(rows) < size:
            rows = np.setdiff1d(np.arange(len(pool)), exclude) if len(pool) - len(exclude) >= size else found
        return Candidates(pool, pool.take(rows), rows)
    if drawn is not None and size <= drawn < len(pool) - len(exclude):
        rows = np.sort(random_set(len(pool), drawn, rng=rng, exclude=exclude))
        return Candidates(pool, pool.take(rows), rows)
    if len(pool) <= SEARCHED_WHOLE:
        return Candidates(pool, pool.whole(), np.arange(len(pool)), exclude)
    rows = shortlist(pool, size, behaviour, seed=int(rng.integers(2**63)), exclude=exclude, count=CANDIDATES)
    return Candidates(pool, pool.take(rows), rows)


def shortlist(
    source: Source,
    size: int,
    behaviour: Behaviour,
    *,
    seed: int,
    exclude: Rows | Sequence[int] = (),
    count: int,
) -> Rows:
    """At most ``count`` rows of a pool, in its order; exclusions are ignored if they would leave fewer than ``size``."""
    excluded = np.unique(np.asarray(exclude, dtype=np.int64))
    if len(source) - excluded.size < size:
        excluded = excluded[:0]
    shares = tuple(max(count // part, 1) for part in SHARES)
    unit = 4 * log(2) / behaviour.w**2  # the variance at which a label of a score with mean 0 gives half a bit
    best = max(source.look(partial(_best_promise, unit=unit, excluded=excluded)))
    look = partial(_leaders, unit=unit, excluded=excluded, seed=seed, enough=NEARLY * best, counts=shares)
    by_key = zip(*source.look(look), strict=True)
    return np.unique(np.concatenate([_merged(parts, n) for parts, n in zip(by_key, shares, strict=True)]))


Leaders = tuple[Array, Rows]
"""The largest values by one key, and the rows that have them."""


def _best_promise(part: Part, *, unit: float, excluded: Rows) -> float:
    promise = _promise(*part.scores[0], unit)
    promise[within(excluded, part)] = 0.0
    return float(promise.max())


def _leaders(
    part: Part, *, unit: float, excluded: Rows, seed: int, enough: float, counts: Sequence[int]
) -> list[Leaders]:
    """The leaders of one part: by promise, by random draw among the promising, by variance, and by random draw."""
    (mean, variance), first = part.scores[0], part.first
    promise, lot = _promise(mean, variance, unit), _lots(first, len(mean), seed)
    ties = 1.0 + TIE_TOLERANCE * lot
    keys = promise * ties, np.where(promise >= enough, lot, 0.0), variance * ties, lot
    out = within(excluded, part)
    found = []
    for key, count in zip(keys, counts, strict=True):
        key[out] = -1.0
        rows = _largest(key, count)
        rows = rows[key[rows] > 0]
        found.append((key[rows], first + rows))
    return found


def _promise(mean: Array, variance: Array, unit: float) -> Array:
    """Roughly the information of a label: variance / (variance + unit), reduced if the mean is far from 0."""
    wide = variance + unit
    return np.asarray(variance / wide * np.exp(mean**2 / (-2.0 * wide)))


def _lots(first: int, count: int, seed: int) -> Array:
    """A random number from 0 to 1 for each row, the same however the pool is divided: splitmix64 of row and seed."""
    x = np.arange(first, first + count, dtype=np.uint64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return (x >> np.uint64(11)) * 2.0**-53


def _largest(values: Array, count: int) -> Rows:
    """Positions of the ``count`` largest values, or of all."""
    if count >= len(values):
        return np.arange(len(values))
    among = np.arange(len(values))
    sample = values[::SAMPLED]
    # If this many values of the sample reach a level, more than ``count`` of all values very probably do.
    likely = 2 * count // SAMPLED + SAMPLED
    if likely < len(sample):
        level = np.partition(sample, len(sample) - likely)[len(sample) - likely]
        above = np.flatnonzero(values >= level)
        among = above if len(above) >= count else among
    return among[np.argpartition(values[among], len(among) - count)[len(among) - count :]]


def _merged(parts: Sequence[Leaders], count: int) -> Rows:
    values, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.asarray(rows[_largest(values, count)])


def within(rows: Rows, part: Part) -> Rows:
    """Positions within ``part`` of those of the sorted ``rows`` that it contains."""
    first, last = np.searchsorted(rows, (part.first, part.first + len(part.rows)))
    return rows[first:last] - part.first
