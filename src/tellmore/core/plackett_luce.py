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
SAFE_EXPONENT = 200.0  # a product of three exponentials of at most this neither overflows nor vanishes


def levels_of(ranked: Array) -> Array:
    """Log weights of the k + 1 thresholds: cumulative sums of w z in rank order, from 0; [..., k] -> [..., k + 1]."""
    start = np.zeros((*ranked.shape[:-1], 1))
    return np.concatenate([start, np.cumsum(ranked, axis=-1)], axis=-1)


@lru_cache(maxsize=8)
def _prefixes(k: int) -> tuple[Array, NDArray[np.intp]]:
    """[k!, 2^k]: 1 if the set with this bit mask is a prefix of this order, from the empty set to all k items; and the positions
    of these ones in the flattened transpose."""
    chains = [list(accumulate((1 << i for i in order), initial=0)) for order in permutations(range(k))]
    prefixes = np.zeros((len(chains), 1 << k))
    for order, chain in enumerate(chains):
        prefixes[order, chain] = 1.0
    return prefixes, np.flatnonzero(prefixes.T)


def _subset_sums(values: Array) -> Array:
    """Sums over all 2^k subsets of the first axis, indexed by bit mask: [k, ...] -> [2^k, ...]."""
    sums = np.zeros((1 << len(values), *values.shape[1:]))
    for one, value in enumerate(values):
        np.add(sums[: 1 << one], value, out=sums[1 << one : 2 << one])
    return sums


def enumerated_gains(z: Array, behaviour: Behaviour) -> Array:
    """Gains [B] in nats from N joint draws z [B, N, k] over all (k + 1)! outcomes."""
    pairs = max(1, MAX_ENTRIES // factorial(z.shape[-1]) // z.shape[1])
    # [k, B, N]: sums over the few items are then sums of long rows.
    scores = np.ascontiguousarray(np.moveaxis(z, -1, 0))
    blocks = [_enumerated_block(scores[:, start : start + pairs], behaviour) for start in range(0, len(z), pairs)]
    return np.concatenate(blocks)


def _enumerated_block(z: Array, behaviour: Behaviour) -> Array:
    """Gains of some sets, from scores z [k, B, N]. The tails of Plackett-Luce and the weights of thresholds depend on *sets* of
    items, not on orders: 2^k exponentials and logarithms per draw are summed over the prefixes of every order by matrix
    products.
    """
    k, b, n = z.shape
    prefixes, possible = _prefixes(k)
    z = z.reshape(k, b * n)
    x = np.maximum(behaviour.K * (z - z.max(axis=0)), EXPONENT_FLOOR)
    tail = _subset_sums(np.exp(x))
    tail[0] = 1.0  # no item is left to choose
    level = _subset_sums(behaviour.w * z)
    level = np.maximum(level - level.max(axis=0), EXPONENT_FLOOR)
    weight = np.exp(level)  # [2^k, B N]
    # The items left after a prefix are its complement, whose mask counts from the other end.
    log_order = x.sum(axis=0) - prefixes @ np.log(tail[::-1])  # [k!, B N]
    sums = prefixes @ weight
    p_order = np.exp(log_order)
    per_sum = p_order / sums
    surprise = np.log(sums) - log_order
    level *= weight
    surprise *= p_order
    surprise -= per_sum * (prefixes @ level)
    conditional = surprise.sum(axis=0).reshape(b, n).mean(axis=1)
    pmf = weight.reshape(-1, b, n).transpose(1, 0, 2) @ per_sum.reshape(-1, b, n).transpose(1, 2, 0)  # [B, 2^k, k!]
    return np.asarray(entr(pmf.reshape(b, -1)[:, possible] / n).sum(axis=1) - conditional)


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
    level = behaviour.w * z.T
    by_place = orders.T  # [k, N]
    tails = np.exp(x)[by_place[::-1]]  # [k, N, M]
    _running(np.add, tails)
    if max(-x.sum(axis=0).min(), np.abs(level).sum(axis=0).max()) < SAFE_EXPONENT:
        # exp of sums as products of exp, and one logarithm of them all: the same, in a third of the time.
        weight = np.ones((len(by_place) + 1, *tails.shape[1:]))
        weight[1:] = np.exp(level)[by_place]
        _running(np.multiply, weight)
        chosen = weight[thresholds, np.arange(len(orders))]
        return np.asarray(x.sum(axis=0) + np.log(chosen / (weight.sum(axis=0) * tails.prod(axis=0))))
    levels = np.zeros((len(by_place) + 1, *tails.shape[1:]))
    levels[1:] = level[by_place]
    _running(np.add, levels)
    levels -= levels.max(axis=0)
    chosen = levels[thresholds, np.arange(len(orders))]
    return np.asarray(x.sum(axis=0) - np.log(tails).sum(axis=0) + chosen - np.log(np.exp(levels).sum(axis=0)))


def _running(combine: np.ufunc, values: Array) -> None:
    """Cumulative sums or products along the first axis, in place; for few long rows this is far faster than np.cumsum."""
    for place in range(1, len(values)):
        combine(values[place], values[place - 1], out=values[place])
