"""Beliefs before the first answer, in coordinates (1, x) with the bias first."""

from __future__ import annotations

import numpy as np

from tellmore.core.evidence import Behaviour, label_evidence
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import learn
from tellmore.errors import SettingError
from tellmore.types import Array

MAX_ROWS = 50_000  # rows of a pool that estimate its covariance well enough
CHUNK_ROWS = 2_048
SHRINKAGE = 0.05
BIAS_VARIANCE = 0.03  # in units of the mean variance of a weight; looser, early answers go into the bias alone


def isotropic_prior(d: int, *, scale: float = 1.0) -> Gaussian:
    """The paper's prior: N(0, scale I / D), D = d + 1, so that the classifier has a norm of about 1."""
    D = d + 1
    return Gaussian(np.zeros(D), np.eye(D) * (scale / D), D * float(np.log(scale / D)))


def pool_prior(
    X: Array,
    *,
    gamma: float = 1.0,
    scale: float = 1.0,
    bias_variance: float = BIAS_VARIANCE,
    shrinkage: float = SHRINKAGE,
) -> Gaussian:
    """A prior that expects classifiers along the directions in which the pool X [n, d] varies.

    Weights: scale C^gamma with mean eigenvalue 1/d, C the covariance of X shrunk towards its mean eigenvalue, so that it is
    positive definite also where n <= d. Bias: variance ``bias_variance`` / d for the *centred* pool. Centring is folded in:
    score = b + beta'(x - xbar) has intercept b - beta'xbar in coordinates (1, x), a linear map of determinant 1.
    """
    if not 0 < shrinkage <= 1:
        raise SettingError(f"shrinkage must be above 0 and at most 1, not {shrinkage}")
    centre, C = _moments(X if len(X) <= MAX_ROWS else X[:: -(-len(X) // MAX_ROWS)])
    d = centre.size
    level = float(np.trace(C)) / d
    if level <= 0:
        raise SettingError("all items have the same embedding; there is nothing to tell apart")
    C = (1 - shrinkage) * C + shrinkage * level * np.eye(d)
    if gamma != 1.0:
        eigenvalues, vectors = np.linalg.eigh(C)
        C = (vectors * eigenvalues**gamma) @ vectors.T
    C *= scale / float(np.trace(C))
    cov = np.empty((d + 1, d + 1))
    cov[1:, 1:] = (C + C.T) / 2
    cov[0, 1:] = cov[1:, 0] = -C @ centre
    cov[0, 0] = scale * bias_variance / d + centre @ C @ centre
    return Gaussian.from_moments(np.zeros(d + 1), cov)


def seeded_prior(prior: Gaussian, positive: Array, negative: Array, behaviour: Behaviour) -> Gaussian:
    """The prior after a few items known to be positive [p, d] and negative [q, d]: they give it a mean."""
    for X, y in ((positive, 1), (negative, -1)):
        for x in np.asarray(X, dtype=np.float64):
            prior, _ = learn(prior, x[None], [label_evidence(np.array([float(y)]))], behaviour)
    return prior


def _moments(X: Array) -> tuple[Array, Array]:
    """Mean [d] and covariance [d, d] of the rows, chunk by chunk so that no copy of the pool is made."""
    chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, len(X), CHUNK_ROWS)]
    centre = np.sum([np.asarray(X[part], dtype=np.float64).sum(axis=0) for part in chunks], axis=0) / len(X)
    C = np.zeros((centre.size, centre.size))
    for part in chunks:
        spread = np.asarray(X[part], dtype=np.float64) - centre
        C += spread.T @ spread
    return centre, C / len(X)
