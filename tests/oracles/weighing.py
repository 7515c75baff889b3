"""Moments of Gaussian scores after an answer by importance sampling from any wide enough Gaussian, with a million draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import multivariate_normal

from . import grid


def weighed_moments(
    prior: tuple[np.ndarray, np.ndarray],
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    proposal: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    draws: int = 1_000_000,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean [k], covariance [k, k], and how many draws count; any proposal (mean, covariance) is right, a poor one counts few."""
    z = rng.multivariate_normal(*proposal, size=draws, method="cholesky")
    log_weight = log_likelihood(z) + multivariate_normal(*prior).logpdf(z) - multivariate_normal(*proposal).logpdf(z)
    weight = np.exp(log_weight - log_weight.max())
    return *grid.moments(z, log_weight), float(weight.sum() ** 2 / (weight**2).sum())
