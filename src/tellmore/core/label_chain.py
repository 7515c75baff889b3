"""How probable labels are, one after another: each is predicted from the belief in its score, and then learnt.

A label changes the mean and variance of its own score, by quadrature; the other scores follow as Gaussian ones do. For many
labels of one person this takes a fraction of the time of learning each as an answer.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from tellmore.types import Array

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
SMALLEST = 1e-12
"""Variance below which a score is known."""


def label_log_probabilities(mean: Array, cov: Array, labels: Array, w: Array) -> Array:
    """log P [n] of each label (+1, -1, 0: none, which is certain) given those before it, on scores N(mean [n], cov [n, n]).

    w: how sharp each of them is [n].

    >>> label_log_probabilities(np.zeros(1), np.eye(1), np.ones(1), np.ones(1)).round(3)
    array([-0.693])
    """
    mean, cov, found = mean.copy(), cov.copy(), np.zeros(len(mean))
    for at in np.flatnonzero(labels):
        variance = max(float(cov[at, at]), SMALLEST)
        z = np.sqrt(variance) * NODES
        weights = WEIGHTS * expit(w[at] * labels[at] * (mean[at] + z))
        total = float(weights.sum())
        found[at] = np.log(total)
        moved = float(weights @ z) / total
        left = float(weights @ z**2) / total - moved**2
        reach = cov[:, at] / variance
        mean += reach * moved
        cov -= np.outer(reach, reach * (variance - left))
    return found
