"""What a trial is compared with: human labels, the items counted, and the reference classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import PoolError
from tellmore.pool import Pool
from tellmore.ratings import Scores
from tellmore.sim.pools import open_pool
from tellmore.sim.rows import Quality
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
        """The non-neutral items [n], on which accuracy is measured; all items if no spread is known."""
        return self.scores.non_neutral()

    @cached_property
    def model(self) -> ScoreModel:
        """Assumption 1 fitted to the scores."""
        scores = self.scores
        return fit_score_model(self.pool.X, scores.mean, scores.threshold, scores.spread())

    def quality(self, z: Array, *, ranked: bool = True) -> Quality:
        """How well estimated scores z [n] separate the counted items.

        An item is predicted positive if its score is above 0; a score of exactly 0 counts as half of each side. Without
        ``ranked`` the average precision, for which items have to be sorted, is NaN.
        """
        score, label = z[self.counted], self.labels[self.counted]
        called = np.heaviside(score, 0.5)
        called_or_positive = float(called.sum() + label.sum())
        return Quality(
            accuracy=float(1 - np.abs(called - label).mean()),
            f1=2 * float(called[label].sum()) / called_or_positive if called_or_positive else 0.0,
            average_precision=average_precision(score, label) if ranked else float("nan"),
        )

    def mse(self, theta: Array) -> tuple[float, float]:
        """Squared distances of theta [D], scaled to unit norm, from the classifiers of the labels and of the scores."""
        norm = float(np.linalg.norm(theta))
        unit = theta / norm if norm > 0 else theta
        return float(np.sum((unit - self.theta_labels) ** 2)), float(np.sum((unit - self.theta_scores) ** 2))


def average_precision(score: Array, label: NDArray[np.bool_]) -> float:
    """Mean over the positive items of the precision among items with at least their score; 0 if no item is positive."""
    if not label.any():
        return 0.0
    order = np.argsort(-score, kind="stable")
    last_of_ties = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    found = np.cumsum(label[order])[last_of_ties]
    precision = found / (last_of_ties + 1)
    return float(np.sum(np.diff(found, prepend=0) * precision) / found[-1])


def truth_of(pool: Pool) -> Truth:
    """The truth of a scored pool; PoolError if there are no scores."""
    if pool.scores is None:
        raise PoolError(
            f"the pool {pool.name!r} has no human scores, so no one can be simulated on it; "
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
    return truth_of(open_pool(pool, matrix))
