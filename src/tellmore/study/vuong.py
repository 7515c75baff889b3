"""Vuong's closeness test between two non-nested models, from the log likelihood of each observation.

Q. H. Vuong, Likelihood ratio tests for model selection and non-nested hypotheses, Econometrica 57 (1989): under the
hypothesis that both models are equally close to the truth, sqrt(n) mean(m) / sd(m) is standard normal, with
m_i = log f1(y_i) - log f2(y_i). If each person gives several observations, sums over each person replace single observations in
the spread, and Student's t with people - 1 degrees of freedom replaces the normal distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tellmore.errors import InputError
from tellmore.types import Array


@dataclass(frozen=True)
class VuongTest:
    """``z`` above 0 favours the first model; ``p`` is two-sided. ``clusters``: the number of people, if clustered by person."""

    z: float
    p: float
    n: int
    clusters: int | None = None


def gaussian_loglik(residuals: Array) -> Array:
    """Log likelihood [n] of each observation under a normal regression with the maximum-likelihood variance."""
    residuals = np.asarray(residuals, dtype=float)
    variance = float(np.mean(residuals**2))
    return np.asarray(-0.5 * np.log(2 * np.pi * variance) - residuals**2 / (2 * variance))


def vuong(loglik_first: Array, loglik_second: Array, clusters: NDArray[np.int64] | None = None) -> VuongTest:
    """Compare two models by their log likelihoods [n] of the same observations.

    clusters: the person [n] who gave each observation, counted from 0; None treats all observations as independent.
    """
    first, second = np.asarray(loglik_first, dtype=float), np.asarray(loglik_second, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"Vuong's test needs two vectors of one length, not shapes {first.shape} and {second.shape}")
    n = len(first)
    units = np.arange(n) if clusters is None else clusters
    count = int(units.max(initial=-1)) + 1
    if count < 3:
        what = "observations" if clusters is None else "participants"
        raise InputError(f"Vuong's test needs at least 3 {what}, not {count}")
    difference = first - second
    sums = np.bincount(units, difference - difference.mean())
    spread = float(np.sqrt(count / (count - 1) * np.sum(sums**2)))
    if spread <= 1e-12 * np.sqrt(n) * max(1.0, float(np.abs(first).max())):
        raise InputError("the two models make the same predictions, so Vuong's test cannot compare them")
    z = float(np.sum(difference)) / spread
    tail = stats.norm.sf(abs(z)) if clusters is None else stats.t.sf(abs(z), count - 1)
    return VuongTest(z, float(2 * tail), n, None if clusters is None else count)
