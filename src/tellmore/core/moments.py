"""Mean and covariance of k Gaussian scores after an answer of any likelihood: moment matching by quasi-Monte-Carlo.

Scores z = m0 + L e, e standard normal in the r directions in which they vary, are drawn by Sobol points from a Gaussian that is
fitted to the posterior of e: first the prior, then in each round the moments that the last round found, slightly widened.
A likelihood is only ever evaluated, so it may be of any shape; where it has several peaks the moments cover them all.
The points are the same at every call: the same answer always teaches the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tellmore.core.sampling import normal_points
from tellmore.errors import NumericalError
from tellmore.types import Array

POINTS = 8192
ROUNDS = 8
WIDER = 1.15  # than the moments found, so that no weight is huge
ENOUGH = 0.5  # share of the points that count, from which on a round is good enough
SINGULAR = 1e-12  # share of the largest variance below which scores do not vary


@dataclass(frozen=True, eq=False)
class Moments:
    """Of e after the answer: mean [r], cov [r, r]; ``axes`` [k, r] turn cov(theta, z) into cov(theta, e).

    ``log_evidence``: log P(answer) in nats. ``error``: standard error of the mean, in prior standard deviations.
    """

    mean: Array
    cov: Array
    axes: Array
    log_evidence: float
    error: float
    rounds: int


def tilted_moments(m0: Array, G: Array, log_likelihood: Callable[[Array], Array]) -> Moments:
    """The moments of scores N(m0 [k], G [k, k]) times the likelihood, z [N, k] -> [N]."""
    eigenvalues, vectors = np.linalg.eigh((G + G.T) / 2)
    kept = eigenvalues > SINGULAR * max(float(eigenvalues[-1]), 0.0)
    if not kept.any():
        raise NumericalError("the scores of the items shown are known already; nothing can be learnt from an answer")
    root = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    axes = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    mean, cov = np.zeros(root.shape[1]), np.eye(root.shape[1])
    points = _points(root.shape[1])
    for round_ in range(1, ROUNDS + 1):
        factor = np.linalg.cholesky(cov)
        widen = 1.0 if round_ == 1 else WIDER
        e = mean + widen * points @ factor.T
        log_q = -(points**2).sum(axis=1) / 2 - np.log(widen * np.diag(factor)).sum()
        log_weight = log_likelihood(m0 + e @ root.T) - (e**2).sum(axis=1) / 2 - log_q
        top = float(log_weight.max())
        if not np.isfinite(top):
            raise NumericalError("the likelihood of the answer is zero or not a number for every score")
        weight = np.exp(log_weight - top)
        total = float(weight.sum())
        weight /= total
        mean = weight @ e
        spread = e - mean
        cov = (spread * weight[:, None]).T @ spread
        # A floor for the first rounds of a sharp answer, in which one point may hold all the weight.
        cov = (cov + cov.T) / 2 + 1e-9 * np.eye(len(mean))
        effective = 1 / float((weight**2).sum())
        if round_ > 2 and effective >= ENOUGH * len(points):
            break
    error = float(np.sqrt(np.diag(cov).max() / effective))
    return Moments(mean, cov, axes, top + float(np.log(total / len(points))), error, round_)


@lru_cache(maxsize=32)
def _points(r: int) -> Array:
    return normal_points(POINTS, r, np.random.default_rng(0x3E))
