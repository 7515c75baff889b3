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
from tellmore.core.logistic_normal import mean_entropy_nats, mean_sigmoid
from tellmore.kinds import KINDS_BY_NAME
from tellmore.kinds.rank import MAX_ENUMERATED
from tellmore.kinds.rank_gain import ranking_gain_nats
from tellmore.types import Array

DRAWS = 1024
RANKING_DRAWS = 2048  # outcomes of a ranking too large to enumerate; a third of a second for ten items
REPEATS = 4


@dataclass(frozen=True)
class Gain:
    """Expected information in bits, with its standard error (0 where exact), what is left of the bias included."""

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

    Labels: exact. Selections and rankings to 5: ``draws`` Sobol points in each of four scramblings, the error from how they
    differ and from what pooling them gains. Larger rankings: ``draws`` outcomes and the midpoint of two bounds, whose gap is
    part of the error (`core.rank_gain`): 1 to 3 % of the gain, more where answers are all but certain (a deviation of K z
    above thirty).
    """
    if kind == "label":
        return Gain(float(label_gain_bits(mean, np.diag(cov), behaviour)[0]))
    k, root = len(mean), score_root(cov)
    if kind == "rank" and k > MAX_ENUMERATED:
        points = normal_points(draws or RANKING_DRAWS, k, rng)
        bits, error = np.array(ranking_gain_nats(mean, root, points, behaviour, rng)) / log(2)
        return Gain(max(float(bits), 0.0), float(error))
    n = draws or DRAWS
    z = mean + np.stack([normal_points(n, k, rng) for _ in range(REPEATS)]) @ root.T
    apart, _ = KINDS_BY_NAME[kind].gain_nats(z, behaviour, rng)
    pooled, _ = KINDS_BY_NAME[kind].gain_nats(z.reshape(1, REPEATS * n, k), behaviour, rng)
    # The entropy of an average over n draws is too small by about 1/n, so a third of what pooling gained is still missing.
    missing = (pooled[0] - apart.mean()) / (REPEATS - 1)
    error = np.hypot(apart.std(ddof=1) / REPEATS**0.5, missing)
    return Gain(max(float(pooled[0]) / log(2), 0.0), float(error) / log(2))
