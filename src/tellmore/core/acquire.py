"""Choosing the items of a question: greedily (eq. 11, Algorithm 5) over the whole pool, with random baselines.

Each greedy step adds the item that makes the set most informative. The scores of a candidate c and of the set S are drawn
jointly from common Sobol points e: z_S = m_S + L e, and z_c = m_c + l_c'e + r_c e', where l_c = L^-1 cov(z_S, z_c) is stored
for every item of the pool and grows by one number per step. A closed-form surrogate, the gain of comparing c with the members
of S, shortlists the pool; the shortlist is then scored by its gain from few draws, and the best of it again from many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, pi
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, ndtr

from tellmore.core.evidence import Behaviour
from tellmore.core.gain import label_gain_bits, label_gain_nats
from tellmore.core.gaussian import Gaussian
from tellmore.core.sampling import normal_points
from tellmore.core.scan import PoolScan
from tellmore.core.update import with_constant
from tellmore.errors import SettingError
from tellmore.types import Array

Rows = NDArray[np.int64]
LABEL_SHORTLIST = 256
ROUNDING = 1e-6  # share of a variance that float32 projections cannot tell from zero
TIE_TOLERANCE = 1e-6  # items whose gains differ by less are ties, broken at random


@dataclass(frozen=True, eq=False)
class Acquired:
    """Rows of the pool [k] in the order added, and the gain in bits [k] of the nested sets of size 1 to k (size 1: a label)."""

    rows: Rows
    bits: Array


@dataclass(frozen=True)
class Effort:
    """How much one greedy step scores.

    The best ``shortlist`` items by the surrogate are scored by their gain from ``rough`` joint draws, and the best
    ``finalists`` of those again from ``draws``. Without finalists, the whole shortlist is scored from ``draws``.
    """

    shortlist: int
    draws: int
    finalists: int | None = None
    rough: int = 32


class Scored(Protocol):
    """What the search needs from a kind of question."""

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """Information gain of B sets from N joint draws of their scores z [B, N, k]: gains [B] and their errors [B]."""

    def effort(self, k: int) -> Effort:
        """How much to score when choosing the k-th item."""


def greedy_set(
    scan: PoolScan,
    belief: Gaussian,
    kind: Scored,
    size: int,
    behaviour: Behaviour,
    *,
    rng: np.random.Generator,
    exclude: Rows | Sequence[int] = (),
    effort: Callable[[int], Effort] | None = None,
) -> Acquired:
    """The greedily most informative set of ``size`` items for a question of ``kind``; ``effort`` replaces the kind's own."""
    effort = effort or kind.effort
    available = available_rows(len(scan.mean), exclude, size)
    first, first_bits = _first(scan, available, behaviour, rng)
    rows, bits = [first], [first_bits]
    points = normal_points(max(effort(k).draws for k in range(1, size + 1)), size, rng)
    tracks = _Tracks(scan, belief, size)
    while len(rows) < size:
        available[rows[-1]] = False
        tracks.add(rows[-1])
        k = len(rows) + 1
        budget = effort(k)
        candidates = _shortlist(tracks, rows, available, behaviour, budget.shortlist, rng)
        if budget.finalists is not None and budget.finalists < candidates.size:
            rough = kind.gain_nats(tracks.joint_scores(rows, candidates, points[: budget.rough]), behaviour, rng)[0]
            candidates = candidates[top(rough, budget.finalists, rng)]
        joint = tracks.joint_scores(rows, candidates, points[: budget.draws])
        gains = kind.gain_nats(joint, behaviour, rng)[0] / log(2)
        best = argmax(gains, rng)
        rows.append(int(candidates[best]))
        bits.append(max(float(gains[best]), 0.0))
    return Acquired(np.array(rows), np.array(bits))


def random_set(n: int, size: int, *, rng: np.random.Generator, exclude: Rows | Sequence[int] = ()) -> Rows:
    """``size`` different rows of n, drawn uniformly."""
    available = np.flatnonzero(available_rows(n, exclude, size))
    return rng.choice(available, size=size, replace=False)


def particles_set(
    scan: PoolScan,
    belief: Gaussian,
    kind: Scored,
    size: int,
    behaviour: Behaviour,
    *,
    rng: np.random.Generator,
    exclude: Rows | Sequence[int] = (),
    particles: int = 1000,
) -> Acquired:
    """Algorithm 5 to the letter, for comparison: fresh unit-norm classifiers at each step score every item of the pool."""
    available = available_rows(len(scan.mean), exclude, size)
    X = with_constant(scan.rows[:])
    rows: list[int] = []
    bits: list[float] = []
    while len(rows) < size:
        theta = belief.sample(particles, rng)
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        scores = X @ theta.T  # [n, N]
        candidates = np.flatnonzero(available)
        gains = np.empty(candidates.size)
        for start in range(0, candidates.size, 256):
            part = candidates[start : start + 256]
            z = np.concatenate(
                [np.broadcast_to(scores[rows].T, (part.size, particles, len(rows))), scores[part][:, :, None]], axis=-1
            )
            gains[start : start + 256] = (
                kind.gain_nats(z, behaviour, rng)[0] if rows else label_gain_nats(z[..., 0], behaviour)
            ) / log(2)
        best = argmax(gains, rng)
        rows.append(int(candidates[best]))
        bits.append(max(float(gains[best]), 0.0))
        available[rows[-1]] = False
    return Acquired(np.array(rows), np.array(bits))


class _Tracks:
    """For every item of the pool: its coordinates on the Sobol axes of the set so far, and its remaining variance."""

    def __init__(self, scan: PoolScan, belief: Gaussian, size: int) -> None:
        self.scan, self.belief = scan, belief
        self.coordinates = np.zeros((len(scan.mean), size))  # l_c
        self.remaining = scan.variance.copy()  # r_c^2
        self.used = 0

    def add(self, row: int) -> None:
        """Condition every item on the score of ``row``, in O(n d)."""
        left = self.remaining[row]
        if left > ROUNDING * self.scan.variance[row]:  # else the set already determines this score: no new axis
            covariance = self.scan.covariance_with(self.belief, self.scan.rows[row])
            known = self.coordinates[:, : self.used] @ self.coordinates[row, : self.used]
            column = (covariance - known) / np.sqrt(left)
            column[row] = np.sqrt(left)
            self.coordinates[:, self.used] = column
            self.remaining = np.maximum(self.remaining - column**2, 0.0)
        self.remaining[row] = 0.0
        self.used += 1

    def joint_scores(self, rows: list[int], candidates: Rows, points: Array) -> Array:
        """Joint draws [B, N, k] of the scores of the set and each of B candidates."""
        axes = points[:, : self.used]
        own = self.scan.mean[rows] + axes @ self.coordinates[rows, : self.used].T  # [N, k - 1]
        candidate = (
            self.scan.mean[candidates, None]
            + self.coordinates[candidates, : self.used] @ axes.T
            + np.sqrt(self.remaining[candidates])[:, None] * points[:, self.used]
        )
        z = np.empty((len(rows) + 1, candidates.size, len(points)))
        z[:-1] = own.T[:, None]
        z[-1] = candidate
        return np.moveaxis(z, 0, -1)


def _first(
    scan: PoolScan, available: NDArray[np.bool_], behaviour: Behaviour, rng: np.random.Generator
) -> tuple[int, float]:
    """The single item with the most informative label: shortlisted by a closed form, then integrated exactly."""
    rough = np.where(available, logistic_gain(behaviour.w * scan.mean, behaviour.w**2 * scan.variance), -1.0)
    candidates = top(rough, min(LABEL_SHORTLIST, int(available.sum())), rng)
    exact = label_gain_bits(scan.mean[candidates], scan.variance[candidates], behaviour)
    best = argmax(exact, rng)
    return int(candidates[best]), float(exact[best])


def _shortlist(
    tracks: _Tracks,
    rows: list[int],
    available: NDArray[np.bool_],
    behaviour: Behaviour,
    count: int,
    rng: np.random.Generator,
) -> Rows:
    """The candidates whose comparison with the members of the set promises the largest gain.

    Given the scores of the set, the score of c has variance r_c^2 left; comparing c with a member s is a logistic question
    on z_c - z_s, whose gain has a closed form.
    """
    scan = tracks.scan
    promise = np.zeros(len(scan.mean))
    for row in rows:
        gap = behaviour.K * (scan.mean - scan.mean[row])
        apart = tracks.coordinates[:, : tracks.used] - tracks.coordinates[row, : tracks.used]
        variance = (apart**2).sum(axis=1) + tracks.remaining
        promise += logistic_gain(gap, behaviour.K**2 * variance)
    promise[~available] = -1.0
    return top(promise, min(count, int(available.sum())), rng)


def logistic_gain(mean: Array, variance: Array) -> Array:
    """Gain in bits of a logistic answer on N(mean, variance), by the probit approximation (within a few per cent)."""
    m2, v = mean**2 * (pi / 8), variance * (pi / 8)
    p = ndtr(np.sqrt(m2 / (v + 1)))
    c2 = pi * log(2) / 2
    return np.asarray((entr(p) + entr(1 - p)) / log(2) - np.sqrt(c2 / (v + c2)) * np.exp(-m2 / (2 * (v + c2))))


def available_rows(n: int, exclude: Rows | Sequence[int], size: int) -> NDArray[np.bool_]:
    """Which rows may be shown; all of them if the exclusions would leave too few."""
    if size > n:
        raise SettingError(f"a question on {size} items needs a pool of at least {size}, and this one has {n}")
    available = np.ones(n, dtype=bool)
    available[np.asarray(exclude, dtype=np.int64)] = False
    return available if int(available.sum()) >= size else np.ones(n, dtype=bool)


def top(values: Array, count: int, rng: np.random.Generator) -> Rows:
    """Indices of the ``count`` largest values, with ties broken at random."""
    scale = max(float(np.abs(values).max()), 1e-300)
    jittered = values + TIE_TOLERANCE * scale * rng.random(len(values))
    return np.argpartition(-jittered, count - 1)[:count] if count < len(values) else np.arange(len(values))


def argmax(values: Array, rng: np.random.Generator) -> int:
    """Index of the largest value, with ties broken at random."""
    top = float(values.max())
    return int(rng.choice(np.flatnonzero(values >= top - TIE_TOLERANCE * max(abs(top), 1e-12))))
