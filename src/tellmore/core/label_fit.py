"""Many labels learnt at once: the joint optimum of their Jaakkola-Jordan bounds, whatever the order of the rows.

Given weights c of the labels, the belief is Gaussian in closed form, and its scores give each label a new c; both steps raise
the bound. Every step treats all rows alike, so their order does not matter, and a label counted s times equals s copies of it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from tellmore.core.gaussian import Gaussian
from tellmore.core.update import with_constant
from tellmore.core.variational import jaakkola_jordan_weights
from tellmore.types import Array

MAX_ROUNDS = 500
CLOSE = 1e-9  # change of log c at which the iteration has converged
FARTHEST = 3.0  # largest extrapolation of log c


def learn_labels(prior: Gaussian, X: Array, y: Array, times: Array, w: float) -> Gaussian:
    """The belief after labels y [n] = +-1 of rows X [n, d], each counted ``times`` [n] times, whole or not."""
    A = with_constant(X)
    precision = np.linalg.inv(prior.cov)
    pull = precision @ prior.mean + A.T @ (times * w * y / 2)

    def belief(log_c: Array) -> Gaussian:
        factor = cho_factor(precision + (A.T * (times * np.exp(log_c))) @ A)
        cov = cho_solve(factor, np.eye(prior.dim))
        return Gaussian(cov @ pull, (cov + cov.T) / 2, -2.0 * float(np.log(np.diag(factor[0])).sum()))

    def renewed(log_c: Array) -> Array:
        return np.log(jaakkola_jordan_weights(w, *belief(log_c).scores(X)))

    log_c = np.log(jaakkola_jordan_weights(w, *prior.scores(X)))
    change = renewed(log_c) - log_c
    for _ in range(MAX_ROUNDS):
        if np.abs(change).max() <= CLOSE:
            break
        log_c, before = log_c + change, change
        change = renewed(log_c) - log_c
        # Changes shrink by a nearly constant factor, so Aitken's rule sums those still to come, if they do shrink.
        shrunk = float(change @ before) / float(before @ before)
        if 0 < shrunk < 1:
            log_c = log_c + min(1 / (1 - shrunk), FARTHEST) * change
            change = renewed(log_c) - log_c
    return belief(log_c + change)
