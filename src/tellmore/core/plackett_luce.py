"""Rankings with a threshold: Plackett-Luce orders times a threshold, drawn, enumerated and compared in bulk."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tellmore.core.evidence import Behaviour
from tellmore.types import Array

MAX_ENUMERATED = 5
MAX_ENTRIES = 20_000  # draws times orders computed at a time, few enough to stay in the cache
EXPONENT_FLOOR = -600.0  # exp of this is still positive


def levels_of(ranked: Array) -> Array:
    """Log weights of the k + 1 thresholds: cumulative sums of w z in rank order, from 0; [..., k] -> [..., k + 1]."""
    start = np.zeros((*ranked.shape[:-1], 1))
    return np.concatenate([start, np.cumsum(ranked, axis=-1)], axis=-1)


@lru_cache(maxsize=8)
def _prefixes(k: int) -> Array:
    """[2^k, k!]: 1 if the set with this bit mask is a prefix of this order, from the empty set to all k items."""
    chains = [list(accumulate((1 << i for i in order), initial=0)) for order in permutations(range(k))]
    prefixes = np.zeros((1 << k, len(chains)))
    for order, chain in enumerate(chains):
        prefixes[chain, order] = 1.0
    return prefixes


def _subset_sums(values: Array) -> Array:
    """Sums over all 2^k subsets of the last axis, indexed by bit mask: [..., k] -> [..., 2^k]."""
    sums = np.zeros((*values.shape[:-1], 1))
    for one in range(values.shape[-1]):
        sums = np.concatenate([sums, sums + values[..., one : one + 1]], axis=-1)
    return sums


def enumerated_gains(z: Array, behaviour: Behaviour) -> Array:
    """Gains [B] in nats from N joint draws z [B, N, k] over all (k + 1)! outcomes."""
    pairs = max(1, MAX_ENTRIES // factorial(z.shape[-1]) // z.shape[1])
    blocks = [_enumerated_block(z[start : start + pairs], behaviour) for start in range(0, len(z), pairs)]
    return np.concatenate(blocks)


def _enumerated_block(z: Array, behaviour: Behaviour) -> Array:
    """Gains of some sets. The tails of Plackett-Luce and the weights of thresholds depend on *sets* of items, not on orders:
    2^k exponentials and logarithms per draw are summed over the prefixes of every order by matrix products.
    """
    n, k = z.shape[1:]
    prefixes = _prefixes(k)
    x = np.maximum(behaviour.K * (z - z.max(axis=-1, keepdims=True)), EXPONENT_FLOOR)
    log_tail = np.log(np.maximum(_subset_sums(np.exp(x)), 1e-300))
    log_tail[..., 0] = 0.0  # no item is left to choose
    level = _subset_sums(behaviour.w * z)
    level = np.maximum(level - level.max(axis=-1, keepdims=True), EXPONENT_FLOOR)
    weight = np.exp(level)  # [B, N, 2^k]
    # The items left after a prefix are its complement, whose mask counts from the other end.
    log_order = x.sum(axis=-1, keepdims=True) - log_tail[..., ::-1] @ prefixes  # [B, N, k!]
    sums = weight @ prefixes
    p_order = np.exp(log_order)
    per_sum = p_order / sums
    conditional = np.einsum("bno,bno->b", p_order, np.log(sums) - log_order)
    conditional -= np.einsum("bno,bno->b", per_sum, (level * weight) @ prefixes)
    pmf = (weight.swapaxes(1, 2) @ per_sum) / n  # [B, 2^k, k!]; the outcomes are the prefixes
    return np.asarray(entr(pmf * prefixes).sum(axis=(1, 2)) - conditional / n)


def sample_outcomes(
    z: Array, behaviour: Behaviour, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One outcome for each row of z [N, k]: orders [N, k] and thresholds [N]."""
    orders = np.argsort(-(behaviour.K * z + rng.gumbel(size=z.shape)), axis=1)
    levels = levels_of(behaviour.w * np.take_along_axis(z, orders, axis=1))
    thresholds = np.argmax(levels + rng.gumbel(size=levels.shape), axis=1)
    return orders, thresholds


def pairwise_log_likelihood(
    z: Array, orders: NDArray[np.int64], thresholds: NDArray[np.int64], behaviour: Behaviour
) -> Array:
    """log p(outcome i | z_j) for all pairs [N, M]; z [M, k], orders [N, k]."""
    x = np.maximum(behaviour.K * (z - z.max(axis=1, keepdims=True)), EXPONENT_FLOOR).T
    by_place = orders.T  # [k, N]
    tails = _running_sums(np.exp(x)[by_place[::-1]])  # [k, N, M]
    log_order = x.sum(axis=0) - np.log(tails).sum(axis=0)
    levels = np.zeros((len(by_place) + 1, *log_order.shape))
    levels[1:] = (behaviour.w * z.T)[by_place]
    _running_sums(levels)
    chosen = levels[thresholds, np.arange(len(orders))]
    peak = levels.max(axis=0)
    levels -= peak
    return np.asarray(log_order + chosen - peak - np.log(np.exp(levels, out=levels).sum(axis=0)))


def _running_sums(values: Array) -> Array:
    """Cumulative sums along the first axis, in place; for few long rows this is far faster than np.cumsum."""
    for place in range(1, len(values)):
        values[place] += values[place - 1]
    return values
