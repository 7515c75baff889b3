"""What a trial is measured against: human labels, the items counted, and the reference classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tellmore.data.bundled import load_pool
from tellmore.errors import PoolError
from tellmore.pool import Pool, Scores
from tellmore.sim.score_model import ScoreModel, fit_score_model, unit_least_squares
from tellmore.types import Array


@dataclass(frozen=True)
class Truth:
    """Human scores of a pool, and the classifiers [D] that a learner is compared with. Learners never see any of it."""

    pool: Pool
    scores: Scores
    theta_labels: Array  # unit-norm least squares of the labels +-1
    theta_scores: Array  # unit-norm least squares of the scores, measured from the threshold

    @cached_property
    def labels(self) -> NDArray[np.bool_]:
        """Whether each item is positive [n]."""
        return self.scores.labels()

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """The non-neutral items [n], on which accuracy is counted; all where no spread is known."""
        return self.scores.non_neutral()

    @cached_property
    def model(self) -> ScoreModel:
        """Assumption 1 fitted to the scores."""
        scores = self.scores
        return fit_score_model(self.pool.X, scores.mean, scores.threshold, scores.spread())

    def accuracy(self, z: Array) -> float:
        """Share of the counted items whose estimated score z [n] has the sign of the human label."""
        return float(np.mean((z[self.counted] > 0) == self.labels[self.counted]))

    def mse(self, theta: Array) -> tuple[float, float]:
        """Squared distances of theta [D], scaled to unit norm, from the classifier of the labels and of the scores."""
        norm = float(np.linalg.norm(theta))
        unit = theta / norm if norm > 0 else theta
        return float(np.sum((unit - self.theta_labels) ** 2)), float(np.sum((unit - self.theta_scores) ** 2))


def truth_of(pool: Pool) -> Truth:
    """The truth of a scored pool; PoolError where there are no scores."""
    if pool.scores is None:
        raise PoolError(
            f"the pool {pool.name!r} has no human scores, so nobody can be simulated on it; "
            "give a file with `mean` and `threshold` (and `sd` or `histogram`), or use the pool 'words'"
        )
    scores = pool.scores
    centred = scores.mean - scores.threshold
    return Truth(
        pool=pool,
        scores=scores,
        theta_labels=unit_least_squares(pool.X, np.where(centred > 0, 1.0, -1.0)),
        theta_scores=unit_least_squares(pool.X, centred),
    )


@lru_cache(maxsize=4)
def load_truth(pool: str, matrix: str) -> Truth:
    """The scored pool by name or path, loaded once per process."""
    return truth_of(load_pool(pool, matrix=matrix))
