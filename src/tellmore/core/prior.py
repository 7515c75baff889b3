"""Beliefs before the first answer, over (1, z) in a learner's coordinates, and the sharpness that goes with them."""

from __future__ import annotations

import numpy as np

from tellmore.core.evidence import Behaviour, label_evidence
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import learn
from tellmore.errors import SettingError
from tellmore.types import Array

SHRINKAGE = 0.05
BIAS_SD = 0.3  # in units of the typical standard deviation of an item's score
SHARPNESS = 18.0  # of labels, per square root of a pool's effective dimensions
CHOICE_SHARPNESS = 0.375  # of choices, relative to labels
THRESHOLD_SHARPNESS = 0.54  # of the labels that a ranking's threshold gives, relative to labels given one by one
LAPSE = 0.01  # expected share of answers given by chance
CLASSIC_BIAS_VARIANCE = 0.03


def paper_prior(d: int, *, scale: float = 1.0) -> Gaussian:
    """The paper's prior over (1, x): N(0, scale I / D) with D = d + 1, so that the classifier has a norm of about 1."""
    D = d + 1
    return Gaussian(np.zeros(D), np.eye(D) * (scale / D), D * float(np.log(scale / D)))


def pool_prior(
    C: Array, *, gamma: float = 1.0, scale: float = 1.0, bias_sd: float = BIAS_SD, shrinkage: float = SHRINKAGE
) -> Gaussian:
    """A prior that expects classifiers along the directions in which a pool with the covariance C [d, d] varies.

    The covariance of the weights is proportional to C^gamma, with C shrunk towards its mean eigenvalue so that it is positive
    definite even if n <= d; gamma = 0 makes all directions alike. The mean variance of an item's score is ``scale`` without the
    bias, which is independent and has the standard deviation ``bias_sd``.
    """
    if not 0 < shrinkage <= 1:
        raise SettingError(f"shrinkage must be above 0 and at most 1, not {shrinkage}")
    weights = _shrunk(C, shrinkage)
    if gamma != 1.0:
        eigenvalues, vectors = np.linalg.eigh(weights)
        weights = (vectors * eigenvalues**gamma) @ vectors.T
    return _independent(weights * (scale / float(np.sum(weights * C))), bias_sd**2)


def classic_prior(C: Array) -> Gaussian:
    """The pool prior of version 0.1, for unit-norm embeddings that are centred but not scaled; its weights have norm about 1."""
    weights = _shrunk(C, SHRINKAGE)
    return _independent(weights / float(np.trace(weights)), CLASSIC_BIAS_VARIANCE / len(C))


def usual_sharpness(C: Array, score_variance: float = 1.0) -> Behaviour:
    """How sharply people are expected to answer about items with covariance C, whose scores have this variance.

    If a pool varies equally in d directions, a random direction shows only 1 / sqrt(d) of the differences between items, so the
    more directions a pool varies in, the less sharp answers are along the score. (tr C)^2 / tr C^2 counts the directions.
    """
    dimensions = float(np.trace(C)) ** 2 / float(np.sum(C * C))
    w = SHARPNESS / float(np.sqrt(dimensions * score_variance))
    return Behaviour(w, CHOICE_SHARPNESS * w, THRESHOLD_SHARPNESS, LAPSE)


def seeded_prior(prior: Gaussian, positive: Array, negative: Array, behaviour: Behaviour) -> Gaussian:
    """The prior after a few items known to be positive [p, d] and negative [q, d], which give it a mean."""
    for Z, y in ((positive, 1), (negative, -1)):
        for z in np.asarray(Z, dtype=np.float64):
            prior, _ = learn(prior, z[None], [label_evidence(np.array([float(y)]))], behaviour)
    return prior


def _shrunk(C: Array, shrinkage: float) -> Array:
    d = len(C)
    return (1 - shrinkage) * C + shrinkage * float(np.trace(C)) / d * np.eye(d)


def _independent(weights: Array, bias_variance: float) -> Gaussian:
    d = len(weights)
    cov = np.zeros((d + 1, d + 1))
    cov[0, 0] = bias_variance
    cov[1:, 1:] = (weights + weights.T) / 2
    return Gaussian.from_moments(np.zeros(d + 1), cov)
