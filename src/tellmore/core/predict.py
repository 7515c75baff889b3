"""Probabilities averaged over the belief: P(positive | x) = E[sigmoid(w z)], z Gaussian."""

from __future__ import annotations

import numpy as np

from tellmore.core.logistic_normal import mean_sigmoid
from tellmore.types import Array


def probability(mean: Array, variance: Array, w: float) -> Array:
    """Probability of positive for scores with this mean and variance; any shape."""
    return mean_sigmoid(w * np.asarray(mean), w * np.sqrt(variance))
