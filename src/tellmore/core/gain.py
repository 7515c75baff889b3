"""Expected information of a question, in bits (eqs. 10-11), without a single d-dimensional particle.

A question sees theta only through the k scores it shows, which are jointly Gaussian; so k-dimensional scores are drawn, by
scrambled Sobol points, and not classifiers. One item is integrated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from tellmore.core.evidence import Behaviour
from tellmore.core.kinds import KINDS_BY_NAME
from tellmore.core.logistic_normal import mean_entropy_nats, mean_sigmoid
from tellmore.types import Array

DRAWS = 512
PAIRED_DRAWS = 512  # where each outcome is weighed against every draw
REPEATS = 4


@dataclass(frozen=True)
class Gain:
    """Expected information in bits, with its standard error (0 where exact)."""

    bits: float
    se: float = 0.0


def label_gain_bits(mean: Array, variance: Array, behaviour: Behaviour) -> Array:
    """Gain of labelling items whose scores have this mean and variance, exact; any shape."""
    m, s = behaviour.w * np.asarray(mean), behaviour.w * np.sqrt(variance)
    p = mean_sigmoid(m, s)
    marginal = -p * np.log(np.maximum(p, 1e-300)) - (1 - p) * np.log(np.maximum(1 - p, 1e-300))
    return np.maximum(marginal - mean_entropy_nats(m, s), 0.0) / log(2)


def normal_points(n: int, k: int, rng: np.random.Generator) -> Array:
    """n scrambled Sobol points as standard normal draws [n, k]; n a power of two."""
    points = qmc.Sobol(k, scramble=True, rng=rng).random(n)
    return np.asarray(ndtri(np.clip(points, 1e-12, 1 - 1e-12)))


def score_root(cov: Array) -> Array:
    """L with L L' = cov [k, k], also where items repeat and cov is singular."""
    eigenvalues, vectors = np.linalg.eigh((cov + cov.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))


def information_gain(
    mean: Array, cov: Array, kind: str, behaviour: Behaviour, *, rng: np.random.Generator, draws: int | None = None
) -> Gain:
    """Expected information of a question whose items' scores are N(mean [k], cov [k, k]).

    Labels: exact. Selections and rankings to 5: Sobol draws, the error from independent scramblings. Larger rankings: the
    midpoint of a lower and an upper bound, whose gap is part of the error.
    """
    if kind == "label":
        return Gain(float(label_gain_bits(mean, np.diag(cov), behaviour)[0]))
    question_kind = KINDS_BY_NAME[kind]
    k = len(mean)
    paired = kind == "rank" and k > 5
    n = draws or (PAIRED_DRAWS if paired else DRAWS)
    root = score_root(cov)
    runs = []
    for _ in range(REPEATS):
        z = mean + normal_points(n, k, rng) @ root.T
        gains, errors = question_kind.gain_nats(z[None], behaviour, rng)
        runs.append((gains[0], errors[0]))
    values, errors = np.array(runs).T / log(2)
    spread = float(values.std(ddof=1)) / REPEATS**0.5
    # Independent runs average the sampling error out, but not the gap between the two bounds.
    return Gain(max(float(values.mean()), 0.0), max(spread, float(errors.mean()) if paired else 0.0))
