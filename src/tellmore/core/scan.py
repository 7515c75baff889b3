"""Mean and variance of the score of every item of a pool, refreshed after each answer by one thin matrix product.

An answer changes the belief along a few directions [D, r]: see `Step`. With P = Z directions, the means change by P ``moved``
and the variances by -P^2 ``lost``. That costs O(n d r), limited by memory bandwidth, while Z cov Z' would cost O(n d^2).
Projections run in the pool's own precision (float32), so a regular exact rescan keeps rounding errors from adding up.

A pool may be spread over other machines: what needs all of its items is a function of `Part`, and runs there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import Rows
from tellmore.core.gaussian import Gaussian, Step
from tellmore.types import Array

RESCAN_EVERY = 200
LOOK_ROWS = 131_072  # items visited together, few enough for the results to stay in the processor's cache
T = TypeVar("T")
Scores: TypeAlias = tuple[Array, Array]
"""Mean and variance of the scores of some items under one belief."""
See: TypeAlias = Callable[[Array], object]


@dataclass(frozen=True, eq=False)
class Part:
    """A run of consecutive items of a pool: the number of the first, their rows, and their scores under each belief."""

    first: int
    rows: Rows
    scores: Sequence[Scores]


Look: TypeAlias = Callable[[Part], T]


class Scan(Protocol):
    """The scores of all items under one belief, on this machine or others."""

    @property
    def rows(self) -> PoolRows:
        """The items."""

    @property
    def mean(self) -> Array:
        """Mean of each score [n]."""

    @property
    def variance(self) -> Array:
        """Variance of each score [n]."""

    @property
    def refreshes(self) -> int:
        """Answers since the scores were last computed from scratch."""

    def __len__(self) -> int:
        """How many items there are."""

    def look(self, look: Look[T]) -> Sequence[T]:
        """What ``look`` returns for each part of the pool."""

    def take(self, rows: NDArray[np.int64]) -> PoolScan:
        """The scan of some items, in this order, in this process."""

    def whole(self) -> PoolScan:
        """The scan of all items, in this process."""


class Elsewhere(Protocol):
    """The rows of a pool that this process does not hold."""

    def __len__(self) -> int:
        """How many items there are."""

    def __getitem__(self, rows: NDArray[np.int64]) -> Array:
        """Some rows z [..., d], in float64."""

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """Some rows, in this process."""

    def scans_of(self, beliefs: Sequence[Gaussian]) -> tuple[Scan, ...]:
        """The exact scans of several beliefs."""

    def refreshed(self, scans: Sequence[Scan], changes: Sequence[Step]) -> tuple[Scan, ...]:
        """The scans after a change of each belief."""

    def visit(self, scans: Sequence[Scan], look: Look[T]) -> Sequence[T]:
        """What ``look`` returns for each part, given its scores in ``scans``."""


PoolRows: TypeAlias = Rows | Elsewhere


@dataclass(frozen=True, eq=False)
class PoolScan:
    """The rows of a pool with the mean [n] and variance [n] of each item's score under a belief."""

    rows: Rows
    mean: Array
    variance: Array
    refreshes: int = 0

    def __len__(self) -> int:
        return len(self.mean)

    @classmethod
    def of(cls, rows: Rows, belief: Gaussian) -> PoolScan:
        """The exact scan, chunk by chunk, so that no copy of the pool is allocated."""
        return _scans_here(rows, (belief,))[0]

    def refreshed(self, steps: tuple[Step, ...], belief: Gaussian) -> PoolScan:
        """The scan after an update that took ``steps`` and led to ``belief``."""
        return refreshed((self,), (steps,), (belief,))[0].whole()

    def look(self, look: Look[T]) -> Sequence[T]:
        """What ``look`` returns for each part of the pool."""
        return visit(self.rows, (self,), look)

    def take(self, rows: NDArray[np.int64]) -> PoolScan:
        """The scan of some items, in this order."""
        return PoolScan(self.rows.take(rows), self.mean[rows], self.variance[rows], self.refreshes)

    def whole(self) -> PoolScan:
        """This scan itself, which is in this process already."""
        return self

    def covariance_with(self, belief: Gaussian, z: Array) -> Array:
        """Covariance [n] of every item's score with the score of the item at z [d]."""
        reach = belief.cov[:, 1:] @ z + belief.cov[:, 0]
        covariance = np.empty(len(self.rows))
        for part, projected in self.rows.times(reach[:, None]):
            covariance[part] = projected[:, 0]
        return covariance


def visit(rows: PoolRows, scans: Sequence[Scan], look: Look[T]) -> Sequence[T]:
    """What ``look`` returns for each part of a pool, in order, given the part's scores in each of ``scans``."""
    if not isinstance(rows, Rows):
        return rows.visit(scans, look)
    parts = ((start, slice(start, start + LOOK_ROWS)) for start in range(0, len(rows), LOOK_ROWS))
    return [
        look(Part(start, rows.part(part), [(scan.mean[part], scan.variance[part]) for scan in scans]))
        for start, part in parts
    ]


def scans_of(rows: PoolRows, beliefs: Sequence[Gaussian]) -> tuple[Scan, ...]:
    """The exact scans of several beliefs, in one pass over the pool."""
    return _scans_here(rows, beliefs) if isinstance(rows, Rows) else rows.scans_of(beliefs)


def _scans_here(rows: Rows, beliefs: Sequence[Gaussian]) -> tuple[PoolScan, ...]:
    return tuple(PoolScan(rows, *scores) for scores in scores_of(rows, beliefs))


def scores_of(rows: Rows, beliefs: Sequence[Gaussian]) -> list[Scores]:
    """Mean and variance of every item's score under each belief, exactly."""
    scores: list[Scores] = [(np.empty(len(rows)), np.empty(len(rows))) for _ in beliefs]
    for part, z in rows.chunks():
        for (mean, variance), belief in zip(scores, beliefs, strict=True):
            centre, cov = belief.mean[1:].astype(z.dtype), belief.cov.astype(z.dtype)
            mean[part] = z @ centre + belief.mean[0]
            spread = np.einsum("nd,nd->n", z @ cov[1:, 1:], z) + 2.0 * (z @ cov[1:, 0]) + belief.cov[0, 0]
            variance[part] = np.maximum(spread, 0.0)
    return scores


def refreshed(
    scans: Sequence[Scan], steps: Sequence[tuple[Step, ...]], beliefs: Sequence[Gaussian]
) -> tuple[Scan, ...]:
    """The scans of several beliefs after the ``steps`` of each, in one pass over the pool."""
    rows, refreshes = scans[0].rows, scans[0].refreshes + 1
    if refreshes >= RESCAN_EVERY:
        return scans_of(rows, beliefs)
    changes = [Step.joined(taken) for taken in steps]
    if not isinstance(rows, Rows):
        return rows.refreshed(scans, changes)
    scores = changed_scores(rows, [(scan.mean, scan.variance) for scan in scans], changes)
    return tuple(PoolScan(rows, *each, refreshes) for each in scores)


def followed(
    scans: Sequence[Scan], steps: Sequence[tuple[Step, ...]], beliefs: Sequence[Gaussian], means: Array
) -> tuple[tuple[Scan, ...], NDArray[np.int64]]:
    """The same, and how many items changed sides from each of ``means`` [D, c] to the next: in the same pass, if the pool is in
    this process."""
    rows, refreshes = scans[0].rows, scans[0].refreshes + 1
    if not isinstance(rows, Rows) or refreshes >= RESCAN_EVERY:
        return refreshed(scans, steps, beliefs), sides_changed(rows, means)
    changed = np.zeros(means.shape[1] - 1, dtype=np.int64)

    def see(products: Array) -> None:
        np.add(changed, _sides_changed(products), out=changed)

    changes = [Step.joined(taken) for taken in steps]
    scores = changed_scores(rows, [(scan.mean, scan.variance) for scan in scans], changes, means, see)
    return tuple(PoolScan(rows, *each, refreshes) for each in scores), changed


def sides_changed(rows: PoolRows, means: Array) -> NDArray[np.int64]:
    """How many items change sides from each of ``means`` [D, c] to the next, in one pass over the pool."""
    return np.asarray(sum(visit(rows, (), partial(_changed_in, means=means))))


def _changed_in(part: Part, *, means: Array) -> NDArray[np.int64]:
    return np.asarray(sum(_sides_changed(products) for _, products in part.rows.times(means)))


def _sides_changed(products: Array) -> NDArray[np.int64]:
    positive = products > 0
    return np.asarray((positive[:, 1:] != positive[:, :-1]).sum(axis=0))


def refreshed_in_turn(
    scans: Sequence[PoolScan], steps: Sequence[Sequence[tuple[Step, ...]]], beliefs: Sequence[Sequence[Gaussian]]
) -> list[tuple[PoolScan, ...]]:
    """The scans after each of several updates, one after another, with one product for many of them. ``steps`` and ``beliefs``:
    for each update the steps of every belief, and where they led."""
    rows, refreshes = scans[0].rows, scans[0].refreshes
    found: list[tuple[PoolScan, ...]] = []
    together = max(min(RESCAN_EVERY - 1 - refreshes, len(steps)), 0)
    changes = [Step.joined(taken) for one in steps[:together] for taken in one]
    if changes:
        ends = np.cumsum([change.moved.size for change in changes]).tolist()
        products = [along for _, along in rows.times(np.column_stack([change.directions for change in changes]))]
        along = np.concatenate(products) if len(products) > 1 else products[0]
        squared, now = along * along, [(scan.mean, scan.variance) for scan in scans]
        for at, (end, change) in enumerate(zip(ends, changes, strict=True)):
            own, belief = slice(end - change.moved.size, end), at % len(scans)
            mean, variance = now[belief]
            lost = squared[:, own] @ change.lost.astype(along.dtype)
            now[belief] = mean + along[:, own] @ change.moved.astype(along.dtype), np.maximum(variance - lost, 0.0)
            if belief == len(scans) - 1:
                found.append(tuple(PoolScan(rows, *each, refreshes + len(found) + 1) for each in now))
    if together == len(steps):
        return found
    again = _scans_here(rows, beliefs[together])
    return [*found, again, *refreshed_in_turn(again, steps[together + 1 :], beliefs[together + 1 :])]


def changed_scores(
    rows: Rows,
    scores: Sequence[Scores],
    changes: Sequence[Step],
    beside: Array | None = None,
    see: See = lambda _: None,
) -> list[Scores]:
    """The scores under several beliefs after the change of each, in one pass over the rows. ``see`` is called with the products
    of (1, z) with ``beside`` [D, c], some rows at a time."""
    after = [(np.empty_like(mean), np.empty_like(variance)) for mean, variance in scores]
    ends = list(accumulate(change.moved.size for change in changes))
    moved, lost = np.zeros((2, ends[-1], len(changes)))  # one column per belief, zero outside its own directions
    for number, (end, change) in enumerate(zip(ends, changes, strict=True)):
        own = slice(end - change.moved.size, end)
        moved[own, number], lost[own, number] = change.moved, change.lost
    directions = [each.directions for each in changes] + ([] if beside is None else [beside])
    for part, products in rows.times(directions[0] if len(directions) == 1 else np.column_stack(directions)):
        along = products[:, : ends[-1]]
        see(products[:, ends[-1] :])
        moves = along @ moved.astype(along.dtype)
        losses = np.multiply(along, along, out=along) @ lost.astype(along.dtype)
        for (was, spread), (mean, rest), move, loss in zip(scores, after, moves.T, losses.T, strict=True):
            np.add(was[part], move, out=mean[part])
            np.subtract(spread[part], loss, out=rest[part])
            np.maximum(rest[part], 0.0, out=rest[part])
    return after
