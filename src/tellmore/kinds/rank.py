"""Rank k items and mark where positive ends: Plackett-Luce (eqs. 5-6) times a threshold.

Independent logistic labels would also allow label patterns that no threshold can express, so the pairs (order, threshold)
would not sum to one. The likelihood here normalises the threshold given the order,

    P(l | r) = softmax_l( w (z_r1 + ... + z_rl) ),

which is the same product of logistic labels restricted to the k + 1 patterns a threshold can express. The update learns
from the k labels as k logistic observations, as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logsumexp

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.types import Answer, Array, Question, RankAnswer

MAX_ENUMERATED = 5
MAX_ENTRIES = 20_000  # of draws times orders held at a time: what stays in the cache
EXPONENT_FLOOR = -600.0  # exp of it is still a positive number
UNMARKED = -1  # an order without a threshold, as collected elsewhere
RankOutcome = tuple[tuple[int, ...], int] | tuple[tuple[int, ...], int, tuple[int, ...]]
"""(order, n_positive), and where items are level the places that tie with the next one."""


@dataclass(frozen=True)
class RankKind:
    """The ranking question; outcomes are (order of positions, highest first; how many are positive)."""

    name: str = "rank"

    def n_outcomes(self, k: int) -> int:
        """k! orders times k + 1 thresholds."""
        return factorial(k + 1)

    def outcomes(self, k: int) -> Iterator[RankOutcome]:
        """Every order with every threshold."""
        yield from ((order, n) for order in permutations(range(k)) for n in range(k + 1))

    def log_likelihood(self, z: Array, outcome: RankOutcome, behaviour: Behaviour) -> Array:
        """log P(order | z) + log P(threshold | order, z), z [..., k] -> [...]."""
        order, n_positive = outcome[:2]
        ranked = np.asarray(z, dtype=np.float64)[..., list(order)]
        x = behaviour.K * ranked
        tails = np.logaddexp.accumulate(x[..., ::-1], axis=-1)[..., ::-1]
        levels = _levels(behaviour.w * ranked)
        return np.asarray((x - tails).sum(axis=-1) + levels[..., n_positive] - logsumexp(levels, axis=-1))

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> RankOutcome:
        """Sort under Gumbel noise, then draw the threshold."""
        orders, thresholds = sample_outcomes(np.asarray(z)[None], behaviour, rng)
        return tuple(int(i) for i in orders[0]), int(thresholds[0])

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """By enumeration to k = 5, by contrastive bounds beyond; z [B, N, k]."""
        if z.shape[-1] <= MAX_ENUMERATED:
            gains = _enumerated_gains(z, behaviour)
            return gains, np.zeros_like(gains)
        bounds = np.array([_contrastive_gain(one, behaviour, rng) for one in z])
        return bounds[:, 0], bounds[:, 1]

    def evidence(self, outcome: RankOutcome, k: int) -> Evidence:
        """k labels (none where n_positive is UNMARKED) and k - 1 choices on shrinking sets.

        An item that is level with others was chosen over those below all of them, and says nothing about its equals.
        """
        order, n_positive = np.array(outcome[0]), outcome[1]
        labels = np.zeros(k)
        if n_positive != UNMARKED:
            labels[order] = np.where(np.arange(k) < n_positive, 1.0, -1.0)
        place = np.empty(k, dtype=int)
        place[order] = np.arange(k)
        last = _last_of_level(k, outcome[2] if len(outcome) > 2 else ())  # last place level with each place
        rivals = place[None, :] > last[:, None]
        candidates = rivals | (place[None, :] == np.arange(k)[:, None])
        chosen = rivals.any(axis=1)
        return Evidence(labels, order[chosen], candidates[chosen])

    def outcome(self, question: Question, answer: Answer) -> RankOutcome:
        """(order of positions, n_positive)."""
        assert isinstance(answer, RankAnswer)
        n_positive = UNMARKED if answer.n_positive is None else answer.n_positive
        order = tuple(question.items.index(item) for item in answer.order)
        return (order, n_positive, answer.ties) if answer.ties else (order, n_positive)

    def answer(self, question: Question, outcome: RankOutcome) -> RankAnswer:
        """The ids, highest first."""
        n_positive = None if outcome[1] == UNMARKED else outcome[1]
        return RankAnswer([question.items[i] for i in outcome[0]], n_positive, outcome[2] if len(outcome) > 2 else ())


def _last_of_level(k: int, ties: tuple[int, ...]) -> NDArray[np.int64]:
    """For every place the last place that is level with it."""
    last = np.arange(k)
    for place in sorted(ties, reverse=True):
        last[place] = last[place + 1]
    return last


def _levels(ranked: Array) -> Array:
    """log-weights of the k + 1 thresholds: cumulative sums of w z in rank order, from 0; [..., k] -> [..., k + 1]."""
    start = np.zeros((*ranked.shape[:-1], 1))
    return np.concatenate([start, np.cumsum(ranked, axis=-1)], axis=-1)


@lru_cache(maxsize=8)
def _prefixes(k: int) -> Array:
    """[2^k, k!]: 1 where the set with this bit mask is a prefix of this order, from the empty set to all k items."""
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


def _enumerated_gains(z: Array, behaviour: Behaviour) -> Array:
    """Gains [B] in nats from N joint draws z [B, N, k] over all (k + 1)! outcomes."""
    pairs = max(1, MAX_ENTRIES // factorial(z.shape[-1]) // z.shape[1])
    blocks = [_enumerated_block(z[start : start + pairs], behaviour) for start in range(0, len(z), pairs)]
    return np.concatenate(blocks)


def _enumerated_block(z: Array, behaviour: Behaviour) -> Array:
    """The tails of Plackett-Luce and the weights of thresholds depend on *sets* of items, not on orders: 2^k exponentials
    and logarithms a draw, summed over the prefixes of every order by matrix products.
    """
    n, k = z.shape[1:]
    prefixes = _prefixes(k)
    x = np.maximum(behaviour.K * (z - z.max(axis=-1, keepdims=True)), EXPONENT_FLOOR)
    log_tail = np.log(np.maximum(_subset_sums(np.exp(x)), 1e-300))
    log_tail[..., 0] = 0.0  # nobody is left to choose
    level = _subset_sums(behaviour.w * z)
    level = np.maximum(level - level.max(axis=-1, keepdims=True), EXPONENT_FLOOR)
    weight = np.exp(level)  # [B, N, 2^k]
    # What is left after a prefix is its complement, whose mask counts from the other end.
    log_order = x.sum(axis=-1, keepdims=True) - log_tail[..., ::-1] @ prefixes  # [B, N, k!]
    sums = weight @ prefixes
    p_order = np.exp(log_order)
    per_sum = p_order / sums
    conditional = np.einsum("bno,bno->b", p_order, np.log(sums) - log_order)
    conditional -= np.einsum("bno,bno->b", per_sum, (level * weight) @ prefixes)
    pmf = (weight.swapaxes(1, 2) @ per_sum) / n  # [B, 2^k, k!], of which the prefixes are outcomes
    return np.asarray(entr(pmf * prefixes).sum(axis=(1, 2)) - conditional / n)


def _contrastive_gain(z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[float, float]:
    """Gain from N draws of k scores and its error, in nats.

    With one outcome o_n drawn for each z_n, the mean over n of log p(o_n | z_n) - log mean_m p(o_n | z_m) is a lower bound
    of the gain in expectation if the mean contains m = n, and an upper bound if it does not (prior contrastive and nested
    Monte-Carlo estimation). The estimate is their midpoint; the error adds half the gap to the sampling error.
    """
    n = len(z)
    orders, thresholds = sample_outcomes(z, behaviour, rng)
    log_p = _pairwise_log_likelihood(z, orders, thresholds, behaviour)  # [outcome, draw]
    own = np.diag(log_p)
    ratio = np.exp(np.minimum(log_p - own[:, None], -EXPONENT_FLOOR))
    total = ratio.sum(axis=1)
    lower = np.log(n) - np.log(total)
    upper = np.log(n - 1) - np.log(np.maximum(total - 1.0, 1e-300))
    middle = (lower + upper) / 2
    error = np.hypot(middle.std() / np.sqrt(n), (upper.mean() - lower.mean()) / 2)
    return float(middle.mean()), float(error)


def sample_outcomes(
    z: Array, behaviour: Behaviour, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One outcome for each row of z [N, k]: orders [N, k] and thresholds [N]."""
    orders = np.argsort(-(behaviour.K * z + rng.gumbel(size=z.shape)), axis=1)
    levels = _levels(behaviour.w * np.take_along_axis(z, orders, axis=1))
    thresholds = np.argmax(levels + rng.gumbel(size=levels.shape), axis=1)
    return orders, thresholds


def _pairwise_log_likelihood(
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
    """Cumulative sums along the first axis, in place: for few long rows far faster than np.cumsum."""
    for place in range(1, len(values)):
        values[place] += values[place - 1]
    return values


RANK = RankKind()
