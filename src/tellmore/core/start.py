"""A start: what somebody expects of the classifier before the first answer, as beliefs that the answers then confirm or not.

A few examples, or another model's scores of many items, give a direction theta: the weights of a linear regression whose own
prior is the pool's. It is scaled so that the scores of the pool vary along it as much as scores are expected to. Two
beliefs stay close to theta, one closer than the other. A third begins there and may move as far as without a start; the fourth
ignores it. While a close one is right, it predicts the answers best and keeps its weight; if not, the others soon predict better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tellmore.core.coordinates import MAX_ROWS, Rows
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.errors import SettingError
from tellmore.types import Array

STRENGTHS = 10.0 ** np.arange(-1, 5.5, 0.5)
"""Variances of a score's error that are tried, in units of what scores vary by beforehand."""
NOTHING = 1e-12
"""Part of what scores vary by that is only rounding: sides of +1 and -1 make a direction of about their own size."""
WITHOUT = 0.1
"""Odds of the belief without the start."""


@dataclass(frozen=True)
class Trust:
    """How a belief takes a start: mean and standard deviation of how much of it is right, and how far everything else and the
    bias may be from it, as parts of what they may be without one."""

    mean: float
    sd: float
    rest: float
    bias: float


TRUSTS = (Trust(1.0, 0.5, 0.3, 1 / 3), Trust(1.0, 0.5, 0.6, 1 / 3), Trust(1.0, 0.5, 1.0, 1.0))
"""From close to free. A close bias is what keeps the first answers from moving the boundary away from a good start."""


def started(prior: Gaussian, theta: Array) -> Mixture:
    """``prior`` and the beliefs that begin from theta [D] instead, in each of the ways of TRUSTS."""
    with_start = (trusting(prior, theta, trust) for trust in TRUSTS)
    return Mixture.of(prior, *with_start, odds=(WITHOUT, *(1.0,) * len(TRUSTS)))


def trusting(prior: Gaussian, theta: Array, trust: Trust) -> Gaussian:
    """The belief that theta is right so far."""
    part = np.full(prior.dim, trust.rest)
    part[0] = trust.bias
    cov = prior.cov * np.outer(part, part) + trust.sd**2 * np.outer(theta, theta)
    return Gaussian.from_moments(prior.mean + trust.mean * theta, (cov + cov.T) / 2)


def direction_of_examples(Z: Array, sides: Array, prior: Gaussian, C: Array) -> Array:
    """theta [D] from examples Z [m, d] with sides [m] of +1 and -1; the items have the covariance C.

    Each side counts alike, however many examples it has, and an example as much as what is expected without it.
    """
    weights = prior.cov[1:, 1:]
    share = np.where(sides > 0, np.mean(sides > 0), np.mean(sides < 0))
    noise = _typical(weights, C) * np.where(np.ptp(sides) > 0, 2 * share, 1.0)
    reach = weights @ Z.T
    return _scaled(reach @ np.linalg.solve(Z @ reach + np.diag(noise), sides), prior, C)


def direction_of_scores(rows: Rows, scores: Array, prior: Gaussian, C: Array, border: float | None = None) -> Array:
    """theta [D] from another model's scores [n] of the items, NaN if there is none; as many items are above 0 as the scores
    call positive, those above ``border`` if it is known. The strength of the regression is the one that generalised
    cross-validation finds best."""
    known = np.flatnonzero(np.isfinite(scores))
    used = known[:: -(-known.size // MAX_ROWS)]
    y = scores[used] - scores[used].mean()
    root = np.linalg.cholesky(prior.cov[1:, 1:])
    gram, pull = np.zeros_like(root), np.zeros(len(root))
    for part in np.array_split(used, -(-used.size // 4096)):
        features = rows[part] @ root
        gram += features.T @ features
        pull += features.T @ (scores[part] - scores[used].mean())
    values, vectors = np.linalg.eigh(gram)
    along = vectors.T @ pull
    best = min(STRENGTHS, key=lambda noise: _cross_validated(values, along, float(y @ y), used.size, noise))
    theta = _scaled(root @ (vectors @ (along / (values + best))), prior, C)
    theta[0] = np.sqrt(_typical(prior.cov[1:, 1:], C)) * _level(scores[known], border)
    return theta


def _cross_validated(values: Array, along: Array, total: float, n: int, noise: float) -> float:
    """The generalised cross-validation error of a ridge regression, from the eigenvalues of its Gram matrix."""
    kept = values / (values + noise)
    residual = total - float(np.sum(along**2 * (2 - kept) / (values + noise)))
    return n * residual / (n - float(kept.sum())) ** 2 if n > kept.sum() else np.inf


def _level(scores: Array, boundary: float | None) -> float:
    """How many standard deviations the boundary lies below the average item, if scores are normal. Without a ``boundary``, scores
    above 1/2 are positive if all are between 0 and 1, those above 0 if both signs occur, else those above their mean."""
    if boundary is None and scores.min() >= 0 and scores.max() <= 1:
        boundary = 0.5
    elif boundary is None:
        boundary = 0.0 if scores.min() < 0 < scores.max() else float(scores.mean())
    positive = (np.sum(scores > boundary) + 0.5) / (scores.size + 1)
    return float(ndtri(positive))


def _typical(weights: Array, C: Array) -> float:
    """How much the scores of the items vary beforehand."""
    return float(np.sum(weights * C))


def _scaled(u: Array, prior: Gaussian, C: Array) -> Array:
    """(0, u), so long that the scores of the items vary along it as much as they do beforehand."""
    varies = float(u @ C @ u)
    if not varies > NOTHING * _typical(prior.cov[1:, 1:], C):
        raise SettingError("the start says nothing: its two sides are the same for these embeddings; name others")
    return np.concatenate([[0.0], u * np.sqrt(_typical(prior.cov[1:, 1:], C) / varies)])
