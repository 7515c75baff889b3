"""Probabilities averaged over the belief: P(positive | x) = E[sigmoid(w z)], with z Gaussian."""

from __future__ import annotations

import numpy as np

from tellmore.core.logistic_normal import mean_sigmoid, quick_mean_sigmoid
from tellmore.types import Array

MANY = 1_000
"""More probabilities than this are computed by a fast method, to 5e-6; fewer are computed to 1e-8."""


def probability(mean: Array, variance: Array, w: float, *, of: int = 0) -> Array:
    """Probability of positive for scores with this mean and variance; any shape. ``of``: the number in all."""
    average = quick_mean_sigmoid if max(np.size(mean), of) > MANY else mean_sigmoid
    return average(w * np.asarray(mean), w * np.sqrt(variance))
