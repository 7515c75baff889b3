"""Prediction-powered inference: a share in a whole pool, from a few random answers and a prediction of every item.

The estimator is that of Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023), for a mean.
Here the pool is the whole population, so the mean of its predictions is known exactly and adds no uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tellmore.types import Array

Z = float(ndtri(0.975))
"""Half the width of a 95 % interval, in standard errors."""
MADE_UP_LABELS = np.array([0.0, 0.0, 1.0, 1.0])
MADE_UP_PREDICTIONS = np.array([0.0, 1.0, 0.0, 1.0])
"""Four made-up answers, one of each combination, added to those given as Agresti and Coull do for a plain share: without them,
a dozen answers without an error would look like certainty."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error. ``weight``: how far the predictions are trusted, from 0 (not at all) to 1."""

    value: float
    se: float
    weight: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, within 0 to 1."""
        return max(0.0, self.value - Z * self.se), min(1.0, self.value + Z * self.se)


def powered_mean(labels: Array, predicted: Array, pool: Array) -> Estimate:
    """The mean label of the pool, from labels [n] and predictions [n] of randomly drawn items and predictions of all, pool [N].

    With the weight v, the mean of v f over the pool is corrected by the mean of y - v f over the answers; the v that minimises
    the variance is cov(y, f) / var(f).
    """
    labels, predicted, pool = (np.asarray(values, dtype=float) for values in (labels, predicted, pool))
    spread = float(np.var(pool)) if np.ptp(pool) > 0 else 0.0  # rounding must not make equal predictions differ
    together = float(np.mean((labels - labels.mean()) * (predicted - predicted.mean())))
    weight = min(1.0, max(0.0, together / spread)) if spread > 0 else 0.0
    corrections = labels - weight * predicted
    return Estimate(
        value=weight * float(pool.mean()) + float(corrections.mean()),
        se=float(np.std(corrections)) / math.sqrt(len(labels)),
        weight=weight,
    )


def powered_share(labels: Array, predicted: Array, pool: Array) -> Estimate:
    """The share of positives in the pool: `powered_mean` with the four made-up answers; predictions are from 0 to 1."""
    return powered_mean(
        np.concatenate([np.asarray(labels, dtype=float), MADE_UP_LABELS]),
        np.concatenate([np.asarray(predicted, dtype=float), MADE_UP_PREDICTIONS]),
        pool,
    )


def more_to_halve(n: int) -> int:
    """How many random answers beyond ``n`` halve the interval of `powered_share`, if they are like those given.

    >>> more_to_halve(50)
    162
    """
    return 3 * (n + len(MADE_UP_LABELS))
