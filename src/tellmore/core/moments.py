"""Mean and covariance of k Gaussian scores after an answer with any likelihood: moment matching by quasi-Monte Carlo.

Scores are z = m0 + L e, with e standard normal in the r directions in which they vary. Sobol points are drawn from a Gaussian
fitted to the posterior of e: first the prior, or a given start, then in each round the moments of the round before, slightly
widened. If the answer is so unlikely that few points have any weight, a power of the likelihood is used first, and a larger one
in each round. The likelihood is only ever evaluated, so it may have any shape; if it has several peaks, the moments cover them
all. The points are the same at every call, so the same answer always has the same effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tellmore.core.sampling import normal_points
from tellmore.core.small import eigen
from tellmore.errors import NumericalError
from tellmore.types import Array

POINTS = 8192
POINTS_FROM_START = 2048  # fewer, because a start near the posterior gives most of them weight
ROUNDS = 12  # at most, with a power of the likelihood; and as many again with the whole likelihood
WIDER = 1.15  # factor on the width of the fitted Gaussian, so that no importance weight is huge
BETTER = 1.05  # factor by which the effective points must grow for another round
ENOUGH = 0.5  # share of effective points with which a round is good enough
FEWEST = 0.02  # share of effective points needed to fit moments to them
BISECTIONS = 12
FLOOR = 1e-12  # added to variances, so that the Cholesky factor exists
LOWEST = -1e300  # log of a zero likelihood, as a number that can be multiplied by 0
SINGULAR = 1e-12  # share of the largest variance below which a direction counts as constant


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean [r] and cov [r, r] of e after the answer; ``axes`` [k, r] turn cov(theta, z) into cov(theta, e).

    ``log_evidence``: log P(answer) in nats. ``error``: standard error of the mean, in prior standard deviations.
    ``effective``: the effective number of points.
    """

    mean: Array
    cov: Array
    axes: Array
    log_evidence: float
    error: float
    effective: float
    rounds: int


def tilted_moments(
    m0: Array, G: Array, log_likelihood: Callable[[Array], Array], start: tuple[Array, Array] | None = None
) -> Moments:
    """The moments of scores N(m0 [k], G [k, k]) times the likelihood, z [N, k] -> [N].

    start: mean [k] and covariance [k, k] of a Gaussian near the posterior of the scores, if one is known.
    """
    root, axes = whitened(G)
    mean, cov = np.zeros(root.shape[1]), np.eye(root.shape[1])
    if start is not None:
        mean, cov = axes.T @ (start[0] - m0), axes.T @ start[1] @ axes
    points = fixed_points(root.shape[1], POINTS if start is None else POINTS_FROM_START)
    power, before = 0.0, np.inf  # power of the likelihood; effective points of the last round with all of it
    for round_ in range(1, 2 * ROUNDS + 1):
        factor = np.linalg.cholesky(cov)
        widen = 1.0 if round_ == 1 and start is None else WIDER
        e = mean + widen * points @ factor.T
        log_q = -(points**2).sum(axis=1) / 2 - np.log(widen * np.diag(factor)).sum()
        log_prior = -(e**2).sum(axis=1) / 2 - log_q
        log_answer = log_likelihood(m0 + e @ root.T)
        if not np.isfinite(log_answer.max()):
            raise NumericalError("the likelihood of the answer is zero or not a number for every score")
        log_answer = np.maximum(log_answer, LOWEST)
        power = 1.0 if round_ > ROUNDS else _power(log_answer, log_prior, power)
        weight, log_total = _weights(power * log_answer + log_prior)
        mean = weight @ e
        spread = e - mean
        cov = (spread * weight[:, None]).T @ spread
        cov = (cov + cov.T) / 2 + FLOOR * np.eye(len(mean))
        effective = 1 / float((weight**2).sum())
        if power == 1.0:
            if before < np.inf and (effective >= ENOUGH * len(points) or effective < BETTER * before):
                break
            before = effective
    error = float(np.sqrt(np.diag(cov).max() / effective))
    return Moments(mean, cov, axes, log_total - float(np.log(len(points))), error, effective, round_)


def whitened(G: Array) -> tuple[Array, Array]:
    """root [k, r] and axes [k, r] of scores with covariance G [k, k], in the r directions in which they vary: z = m0 + root e,
    with e = axes'(z - m0) standard normal."""
    eigenvalues, vectors = eigen((G + G.T) / 2)
    kept = eigenvalues > SINGULAR * max(float(eigenvalues[-1]), 0.0)
    if not kept.any():
        raise NumericalError("the scores of the items shown are known already; nothing can be learnt from an answer")
    # The signs do not depend on the order in which the items are shown.
    vectors = vectors * np.where((vectors**3).sum(axis=0) < 0, -1, 1)
    if not kept.all():
        vectors, eigenvalues = vectors[:, kept], eigenvalues[kept]
    deviations = np.sqrt(eigenvalues)
    return vectors * deviations, vectors / deviations


def _weights(log_weight: Array) -> tuple[Array, float]:
    """Weights normalised to sum to one, and the logarithm of their sum before."""
    top = float(log_weight.max())
    weight = np.exp(log_weight - top)
    total = float(weight.sum())
    return weight / total, top + float(np.log(total))


def _power(log_answer: Array, log_prior: Array, reached: float) -> float:
    """The largest power of the likelihood, from ``reached`` to 1, that leaves enough effective points: 1 unless the answer is
    unlikely."""

    def enough(power: float) -> bool:
        weight, _ = _weights(power * log_answer + log_prior)
        return 1 / float((weight**2).sum()) >= FEWEST * len(weight)

    low, high = reached, 1.0
    if enough(high):
        return high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


@lru_cache(maxsize=32)
def fixed_points(r: int, count: int) -> Array:
    """Standard normal points [count, r], the same at every call; ``count`` is a power of two."""
    return normal_points(count, r, np.random.default_rng(0x3E))
