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
from scipy.special import ndtr

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

    def gains_with(self, own: Array, candidates: Array, behaviour: Behaviour, rng: np.random.Generator) -> Array:
        """Information gain [B] of one set with each of B candidates, from joint draws: own [k - 1, N], candidates [B, N]."""

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
    if size == 1:
        return Acquired(np.array([first]), np.array([first_bits]))
    rows, bits = [first], [first_bits]
    points = normal_points(max(effort(k).draws for k in range(1, size + 1)), size, rng).T
    tracks = _Tracks(scan, belief, size, behaviour.K)
    while len(rows) < size:
        available[rows[-1]] = False
        tracks.add(rows[-1])
        budget = effort(len(rows) + 1)
        promise = np.where(available, tracks.promise, -1.0)
        candidates = top(promise, min(budget.shortlist, int(available.sum())), rng)
        if budget.finalists is not None and budget.finalists < candidates.size:
            draws = tracks.joint_scores(rows, candidates, points[:, : budget.rough])
            candidates = candidates[top(kind.gains_with(*draws, behaviour, rng), budget.finalists, rng)]
        draws = tracks.joint_scores(rows, candidates, points[:, : budget.draws])
        gains = kind.gains_with(*draws, behaviour, rng) / log(2)
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
    unit: bool = False,
) -> Acquired:
    """Algorithm 5 to the letter, for comparison: fresh classifiers, drawn from the belief at each step, score every item of the
    pool. ``unit``: they are scaled to length 1, as in the authors' code."""
    available = available_rows(len(scan.mean), exclude, size)
    X = with_constant(scan.rows[:])
    rows: list[int] = []
    bits: list[float] = []
    while len(rows) < size:
        theta = belief.sample(particles, rng)
        if unit:
            theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        scores = X @ theta.T  # [n, N]
        candidates = np.flatnonzero(available)
        gains = np.empty(candidates.size)
        for start in range(0, candidates.size, 256):
            part = scores[candidates[start : start + 256]]  # [B, N]
            gains[start : start + 256] = (
                kind.gains_with(scores[rows], part, behaviour, rng) if rows else label_gain_nats(part, behaviour)
            ) / log(2)
        best = argmax(gains, rng)
        rows.append(int(candidates[best]))
        bits.append(max(float(gains[best]), 0.0))
        available[rows[-1]] = False
    return Acquired(np.array(rows), np.array(bits))


class _Tracks:
    """For every item of the pool: its coordinates on the Sobol axes of the set so far, its remaining variance, and the gain that
    comparing it with each member of the set promises: a logistic question on z_c - z_s, whose gain has a closed form."""

    def __init__(self, scan: PoolScan, belief: Gaussian, size: int, K: float) -> None:
        self.scan, self.belief, self.K = scan, belief, K
        self.coordinates = np.zeros((size, len(scan.mean)))  # l_c
        self.remaining = scan.variance.copy()  # r_c^2
        self.promise = np.zeros(len(scan.mean))
        self.used = 0

    def add(self, row: int) -> None:
        """Condition every item on the score of ``row``, in O(n d), and compare it with ``row``."""
        left = self.remaining[row]
        if left > ROUNDING * self.scan.variance[row]:  # else the set already determines this score: no new axis
            covariance = self.scan.covariance_with(self.belief, self.scan.rows[row])
            known = self.coordinates[: self.used, row] @ self.coordinates[: self.used]
            column = (covariance - known) / np.sqrt(left)
            column[row] = np.sqrt(left)
            self.coordinates[self.used] = column
            self.remaining = np.maximum(self.remaining - column**2, 0.0)
        self.remaining[row] = 0.0
        self.used += 1
        # The variance of z_c - z_s is the same whatever joins the set later, so each member is compared once.
        apart = self.coordinates[: self.used] - self.coordinates[: self.used, row, None]
        variance = np.einsum("un,un->n", apart, apart) + self.remaining
        self.promise += logistic_gain(self.K * (self.scan.mean - self.scan.mean[row]), self.K**2 * variance)

    def joint_scores(self, rows: list[int], candidates: Rows, points: Array) -> tuple[Array, Array]:
        """Joint draws of the scores of the set [k - 1, N] and of each of B candidates [B, N], from points [size, N]."""
        coordinates = self.coordinates[: self.used + 1, candidates]
        coordinates[self.used] = np.sqrt(self.remaining[candidates])
        mean, used = self.scan.mean, points[: self.used]
        own = mean[rows, None] + self.coordinates[: self.used, rows].T @ used
        return own, mean[candidates, None] + coordinates.T @ points[: self.used + 1]


def _first(
    scan: PoolScan, available: NDArray[np.bool_], behaviour: Behaviour, rng: np.random.Generator
) -> tuple[int, float]:
    """The single item with the most informative label: shortlisted by a closed form, then integrated exactly."""
    rough = np.where(available, logistic_gain(behaviour.w * scan.mean, behaviour.w**2 * scan.variance), -1.0)
    candidates = top(rough, min(LABEL_SHORTLIST, int(available.sum())), rng)
    exact = label_gain_bits(scan.mean[candidates], scan.variance[candidates], behaviour)
    best = argmax(exact, rng)
    return int(candidates[best]), float(exact[best])


def logistic_gain(mean: Array, variance: Array) -> Array:
    """Gain in bits of a logistic answer on N(mean, variance), by the probit approximation (within a few per cent)."""
    m2, v = mean**2 * (pi / 8), variance * (pi / 8)
    less = ndtr(-np.sqrt(m2 / (v + 1)))  # the chance of the less likely answer
    marginal = -less * np.log2(np.maximum(less, 1e-300)) - (1 - less) * np.log2(1 - less)
    wider = v + pi * log(2) / 2
    return np.asarray(marginal - np.sqrt((pi * log(2) / 2) / wider) * np.exp(m2 / (-2 * wider)))


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
