"""Vuong's closeness test between two non-nested models, from the log-likelihood of each observation.

Q. H. Vuong, Likelihood ratio tests for model selection and non-nested hypotheses, Econometrica 57 (1989): under the
hypothesis that both models are equally close to the truth, sqrt(n) mean(m) / sd(m) is standard normal, with
m_i = log f1(y_i) - log f2(y_i).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from tellmore.errors import InputError
from tellmore.types import Array


@dataclass(frozen=True)
class VuongTest:
    """``z`` above 0 favours the first model; ``p`` is two-sided."""

    z: float
    p: float
    n: int


def gaussian_loglik(residuals: Array) -> Array:
    """Log-likelihood [n] of each observation under a normal regression at its maximum-likelihood variance."""
    residuals = np.asarray(residuals, dtype=float)
    variance = float(np.mean(residuals**2))
    return np.asarray(-0.5 * np.log(2 * np.pi * variance) - residuals**2 / (2 * variance))


def vuong(loglik_first: Array, loglik_second: Array) -> VuongTest:
    """Compare two models by their log-likelihoods [n] of the same observations."""
    first, second = np.asarray(loglik_first, dtype=float), np.asarray(loglik_second, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"Vuong's test needs two vectors of one length, not shapes {first.shape} and {second.shape}")
    n = len(first)
    if n < 3:
        raise InputError(f"Vuong's test needs at least 3 observations, not {n}")
    difference = first - second
    spread = float(np.std(difference, ddof=1))
    if spread <= 1e-12 * max(1.0, float(np.abs(first).max())):
        raise InputError("the two models predict the same: Vuong's test cannot tell them apart")
    z = float(np.sum(difference)) / (np.sqrt(n) * spread)
    return VuongTest(float(z), float(2 * stats.norm.sf(abs(z))), n)
