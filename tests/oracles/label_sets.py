"""Items to label together, searched over the whole pool: every item at every step, all covariances, labels as if known."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

NODES, WEIGHTS = hermegauss(60)


def label_bits(mean: np.ndarray, variance: np.ndarray, w: float) -> np.ndarray:
    """Gain of each label in bits, by quadrature over its score."""
    p = 1 / (1 + np.exp(-w * (mean[:, None] + np.sqrt(variance)[:, None] * NODES)))
    weights = WEIGHTS / WEIGHTS.sum()
    return np.asarray(_entropy(p @ weights) - _entropy(p) @ weights)


def greedy_labels(X: np.ndarray, mean: np.ndarray, cov: np.ndarray, size: int, w: float) -> np.ndarray:
    """Rows of X [n, d] added one by one: the most informative label, and then as if it were known by its curvature."""
    items = np.column_stack([np.ones(len(X)), X]).astype(float)
    m, V = items @ mean, items @ cov @ items.T
    chosen: list[int] = []
    for _ in range(size):
        gains = label_bits(m, np.maximum(np.diag(V), 0), w)
        gains[chosen] = -1
        best = int(np.argmax(gains))
        chosen.append(best)
        p = 1 / (1 + np.exp(-w * (m[best] + np.sqrt(V[best, best]) * NODES))) @ (WEIGHTS / WEIGHTS.sum())
        curvature = w**2 * p * (1 - p)
        V = V - np.outer(V[:, best], V[:, best]) * curvature / (1 + curvature * V[best, best])
    return np.array(chosen)


def _entropy(p: np.ndarray) -> np.ndarray:
    """Of a label, in bits."""
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return np.asarray(-p * np.log2(p) - (1 - p) * np.log2(1 - p))
