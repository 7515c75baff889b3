"""Mean and variance of the score of every item of a pool, refreshed after each answer by one thin matrix product.

An answer changes the belief by mean + move, cov - loss loss' with loss [D, k]; the scores change by Z move and the variances
by the row sums of (Z loss)^2. That is O(n d k) and bound by memory bandwidth, where Z cov Z' costs O(n d^2). Projections run in
the pool's own precision (float32), so an exact rescan on a schedule keeps rounding from adding up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellmore.core.coordinates import Rows
from tellmore.core.gaussian import Gaussian, Step
from tellmore.types import Array

RESCAN_EVERY = 200


@dataclass(frozen=True, eq=False)
class PoolScan:
    """The rows of a pool with the mean [n] and variance [n] of each item's score under a belief."""

    rows: Rows
    mean: Array
    variance: Array
    refreshes: int = 0

    @classmethod
    def of(cls, rows: Rows, belief: Gaussian) -> PoolScan:
        """The exact scan, chunk by chunk so that nothing of the size of the pool is allocated."""
        mean, variance = np.empty(len(rows)), np.empty(len(rows))
        centre, cov = belief.mean[1:].astype(rows.X.dtype), belief.cov.astype(rows.X.dtype)
        weights, row, corner = cov[1:, 1:], cov[1:, 0], belief.cov[0, 0]
        for part, z in rows.chunks():
            mean[part] = z @ centre + belief.mean[0]
            variance[part] = np.einsum("nd,nd->n", z @ weights, z) + 2.0 * (z @ row) + corner
        return cls(rows, mean, np.maximum(variance, 0.0))

    def refreshed(self, steps: tuple[Step, ...], belief: Gaussian) -> PoolScan:
        """The scan after an update that took ``steps`` and led to ``belief``."""
        if self.refreshes + 1 >= RESCAN_EVERY:
            return PoolScan.of(self.rows, belief)
        change = np.column_stack([sum(step.move for step in steps), *(step.loss for step in steps)])
        signs = np.concatenate([np.ones(step.loss.shape[1]) if step.signs is None else step.signs for step in steps])
        shrunk_only = bool((signs > 0).all())
        mean, variance = self.mean.copy(), self.variance.copy()
        for part, projected in self.rows.times(change):
            mean[part] += projected[:, 0]
            losses = projected[:, 1:]
            variance[part] -= np.einsum("nk,nk->n", losses if shrunk_only else losses * signs, losses)
        return replace(self, mean=mean, variance=np.maximum(variance, 0.0), refreshes=self.refreshes + 1)

    def scaled(self, factor: float) -> PoolScan:
        """The scan of a belief whose mean was multiplied by ``factor``."""
        return replace(self, mean=self.mean * factor)

    def covariance_with(self, belief: Gaussian, z: Array) -> Array:
        """Covariance [n] of every item's score with that of the item at z [d]."""
        reach = belief.cov[:, 1:] @ z + belief.cov[:, 0]
        covariance = np.empty(len(self.rows))
        for part, projected in self.rows.times(reach[:, None]):
            covariance[part] = projected[:, 0]
        return covariance
