"""Mean and variance of the score of every item of a pool, refreshed after each answer by one thin matrix product.

An answer changes the belief by mean + move, cov - loss loss' with loss [D, k]; the scores change by Z move and the variances
by the row sums of (Z loss)^2. That is O(n d k) and bound by memory bandwidth, where Z cov Z' costs O(n d^2). Projections run in
the pool's own precision (float32), so an exact rescan on a schedule keeps rounding from adding up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import Rows
from tellmore.core.gaussian import Gaussian, Step
from tellmore.types import Array

RESCAN_EVERY = 200
LOOK_ROWS = 131_072  # items looked at together, so that what is computed of them stays in the processor's cache
T = TypeVar("T")


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
        """The exact scan, chunk by chunk so that nothing of the size of the pool is allocated."""
        return scans_of(rows, (belief,))[0]

    def refreshed(self, steps: tuple[Step, ...], belief: Gaussian) -> PoolScan:
        """The scan after an update that took ``steps`` and led to ``belief``."""
        return refreshed((self,), (steps,), (belief,))[0]

    def look(self, look: Callable[[int, Array, Array], T]) -> Sequence[T]:
        """What ``look`` finds in each part of the pool: the number of its first item, and mean and variance of all in it."""
        starts = range(0, len(self), LOOK_ROWS)
        parts = ((start, slice(start, start + LOOK_ROWS)) for start in starts)
        return [look(start, self.mean[part], self.variance[part]) for start, part in parts]

    def take(self, rows: NDArray[np.int64]) -> PoolScan:
        """The scan of some items alone, in this order."""
        return PoolScan(self.rows.take(rows), self.mean[rows], self.variance[rows], self.refreshes)

    def covariance_with(self, belief: Gaussian, z: Array) -> Array:
        """Covariance [n] of every item's score with that of the item at z [d]."""
        reach = belief.cov[:, 1:] @ z + belief.cov[:, 0]
        covariance = np.empty(len(self.rows))
        for part, projected in self.rows.times(reach[:, None]):
            covariance[part] = projected[:, 0]
        return covariance


def scans_of(rows: Rows, beliefs: Sequence[Gaussian]) -> tuple[PoolScan, ...]:
    """The exact scans of several beliefs, in one pass over the pool."""
    scans = tuple(PoolScan(rows, np.empty(len(rows)), np.empty(len(rows))) for _ in beliefs)
    for part, z in rows.chunks():
        for scan, belief in zip(scans, beliefs, strict=True):
            centre, cov = belief.mean[1:].astype(z.dtype), belief.cov.astype(z.dtype)
            scan.mean[part] = z @ centre + belief.mean[0]
            variance = np.einsum("nd,nd->n", z @ cov[1:, 1:], z) + 2.0 * (z @ cov[1:, 0]) + belief.cov[0, 0]
            scan.variance[part] = np.maximum(variance, 0.0)
    return scans


def refreshed(
    scans: Sequence[PoolScan], steps: Sequence[tuple[Step, ...]], beliefs: Sequence[Gaussian]
) -> tuple[PoolScan, ...]:
    """The scans of several beliefs after the steps that each of them took, in one pass over the pool."""
    rows, refreshes = scans[0].rows, scans[0].refreshes + 1
    if refreshes >= RESCAN_EVERY:
        return scans_of(rows, beliefs)
    changes = [_Change.of(taken) for taken in steps]
    after = tuple(
        replace(one, mean=one.mean.copy(), variance=one.variance.copy(), refreshes=refreshes) for one in scans
    )
    ends = np.cumsum([change.columns.shape[1] for change in changes])
    for part, projected in rows.times(np.column_stack([change.columns for change in changes])):
        for scan, change, columns in zip(after, changes, np.split(projected, ends[:-1], axis=1), strict=True):
            scan.mean[part] += columns[:, 0]
            losses = columns[:, 1:]
            lost = np.einsum("nk,nk->n", losses if change.signs is None else losses * change.signs, losses)
            scan.variance[part] = np.maximum(scan.variance[part] - lost, 0.0)
    return after


@dataclass(frozen=True, eq=False)
class _Change:
    """All steps of an update: what the mean moved by, then the losses [D, 1 + k], and their signs where any grew."""

    columns: Array
    signs: Array | None

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> _Change:
        columns = np.column_stack([sum(step.move for step in steps), *(step.loss for step in steps)])
        signs = [np.ones(step.loss.shape[1]) if step.signs is None else step.signs for step in steps]
        return cls(columns, None if all(bool((each > 0).all()) for each in signs) else np.concatenate(signs))
