"""Standard normal points of low discrepancy, and roots of covariances to transform them."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from tellmore.types import Array


def normal_points(n: int, k: int, rng: np.random.Generator) -> Array:
    """n scrambled Sobol points as standard normal draws [n, k]; n is a power of two."""
    points = qmc.Sobol(k, scramble=True, rng=rng).random(n)
    return np.asarray(ndtri(np.clip(points, 1e-12, 1 - 1e-12)))


def score_root(cov: Array) -> Array:
    """L with L L' = cov [k, k], even if items repeat and cov is singular."""
    eigenvalues, vectors = np.linalg.eigh((cov + cov.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
