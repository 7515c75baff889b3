"""Expected information gain of a question, in bits (eqs. 10-11), without any d-dimensional particles.

An answer depends on theta only through the scores of the k items shown, which are jointly Gaussian. So scores are drawn, from
scrambled Sobol points in k dimensions, and not classifiers. The gain of a single item is integrated exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import entr, expit

from tellmore.core.evidence import Behaviour
from tellmore.core.logistic_normal import entropy_nats, mean_entropy_nats, mean_sigmoid
from tellmore.core.sampling import normal_points, score_root
from tellmore.types import Array

DRAWS = 1024
REPEATS = 4
LARGEST_RATIO = 600.0  # exp of this is still finite


@dataclass(frozen=True)
class Gain:
    """Expected information in bits, and its standard error, which includes the remaining bias (0 if exact)."""

    bits: float
    se: float = 0.0


def label_gain_bits(mean: Array, variance: Array, behaviour: Behaviour) -> Array:
    """Exact gain of labelling items whose scores have this mean and variance; any shape."""
    m, s = behaviour.w * np.asarray(mean), behaviour.w * np.sqrt(variance)
    p = mean_sigmoid(m, s)
    marginal = -p * np.log(np.maximum(p, 1e-300)) - (1 - p) * np.log(np.maximum(1 - p, 1e-300))
    return np.maximum(marginal - mean_entropy_nats(m, s), 0.0) / log(2)


def label_gain_nats(z: Array, behaviour: Behaviour) -> Array:
    """H[mean p] - mean H[p] of a label (eq. 11), from N draws of its score z [B, N] -> [B]."""
    x = behaviour.w * z
    p = expit(x).mean(axis=1)
    return np.asarray(entr(p) + entr(1 - p) - entropy_nats(x).mean(axis=1))


def sampled_gain(
    gains_nats: Callable[[Array], Array], mean: Array, cov: Array, *, rng: np.random.Generator, draws: int | None = None
) -> Gain:
    """The gain of a set whose items' scores are N(mean [k], cov [k, k]), from joint draws z [B, N, k] -> gains [B] in nats.

    Uses ``draws`` Sobol points in each of four scramblings; the error follows from how these differ and from how much the gain
    rises when they are pooled.
    """
    k, root, n = len(mean), score_root(cov), draws or DRAWS
    z = mean + np.stack([normal_points(n, k, rng) for _ in range(REPEATS)]) @ root.T
    apart, pooled = gains_nats(z), gains_nats(z.reshape(1, REPEATS * n, k))
    # The entropy of an average over n draws is too small by about 1/n, so a third of the rise by pooling is still missing.
    missing = (pooled[0] - apart.mean()) / (REPEATS - 1)
    error = np.hypot(apart.std(ddof=1) / REPEATS**0.5, missing)
    return Gain(max(float(pooled[0]) / log(2), 0.0), float(error) / log(2))


def enumerated_gain_nats(log_pmf: Array) -> Array:
    """H[mean pmf] - mean H[pmf], from log P(outcome | draw) [B, N, O] over all outcomes -> gains [B]."""
    pmf = np.exp(log_pmf)
    conditional = -(pmf * np.where(pmf > 0, log_pmf, 0.0)).sum(axis=2).mean(axis=1)
    mean = pmf.mean(axis=1)
    return np.asarray(-(mean * np.log(np.maximum(mean, 1e-300))).sum(axis=1) - conditional)


def contrastive_gain_nats(log_p: Array, surprise: Array | None = None) -> tuple[float, float]:
    """Gain and its error from log p(o_i | z_j) [N, N], with each outcome o_i drawn from its own z_i.

    The mean over i of log p(o_i | z_i) - log mean_j p(o_i | z_j) is a lower bound on the gain in expectation if the mean
    includes j = i, and an upper bound if it does not (prior contrastive and nested Monte Carlo estimation). The estimate is
    their midpoint; the error adds half the gap to the sampling error. ``surprise`` [N] is an optional control variate with
    mean zero given each z_i, such as log p(o_i | z_i) plus the entropy at z_i.
    """
    n = len(log_p)
    ratio = np.exp(np.minimum(log_p - np.diag(log_p)[:, None], LARGEST_RATIO))
    total = ratio.sum(axis=1)
    lower = np.log(n) - np.log(total)
    upper = np.log(n - 1) - np.log(np.maximum(total - 1.0, 1e-300))
    middle = (lower + upper) / 2
    if surprise is not None:
        middle = middle - surprise * (np.mean(surprise * (middle - middle.mean())) / max(np.mean(surprise**2), 1e-300))
    error = np.hypot(middle.std() / np.sqrt(n), (upper.mean() - lower.mean()) / 2)
    return float(middle.mean()), float(error)
