"""Many choices learnt at once, whatever their order: the mode of the exact posterior, and its curvature there (Laplace).

A ranking is a chain of choices among the items left (Plackett-Luce), and a pair is one choice of two. The log posterior is
concave, so Newton's method finds its only mode. A step costs one product with the rows in d dimensions, however many items a
choice is made from; the bounds used to learn single answers would cost the cube of the number of candidates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from tellmore.core.gaussian import Gaussian
from tellmore.core.update import with_constant
from tellmore.types import Array

MAX_STEPS = 100
CLOSE = 1e-10  # gain promised by a Newton step, in nats, at which the search ends
SHORTER = 0.5


def learn_choices(
    prior: Gaussian, X: Array, chosen: NDArray[np.int64], candidates: NDArray[np.bool_], K: float
) -> Gaussian:
    """The belief after J choices: each of row ``chosen`` [J] of X [n, d], as the highest among ``candidates`` [J, n], with
    probability softmax(K z)."""
    A = K * with_constant(X)
    precision = np.linalg.inv(prior.cov)
    each = np.arange(len(chosen))

    def log_p(theta: Array) -> Array:
        return np.asarray(log_softmax(np.where(candidates, A @ theta, -np.inf), axis=1))

    def log_posterior(theta: Array) -> float:
        away = theta - prior.mean
        return float(log_p(theta)[each, chosen].sum() - away @ precision @ away / 2)

    theta, reached = prior.mean, log_posterior(prior.mean)
    for _ in range(MAX_STEPS):
        p = np.exp(log_p(theta))
        expected = p @ A
        pull = (A[chosen] - expected).sum(axis=0) - precision @ (theta - prior.mean)
        curvature = precision + (A.T * p.sum(axis=0)) @ A - expected.T @ expected
        step = np.linalg.solve(curvature, pull)
        if pull @ step <= CLOSE:
            break
        length = 1.0
        while (found := log_posterior(theta + length * step)) < reached and length > CLOSE:
            length *= SHORTER
        theta, reached = theta + length * step, found
    cov = np.linalg.inv(curvature)
    return Gaussian.from_moments(theta, (cov + cov.T) / 2)
