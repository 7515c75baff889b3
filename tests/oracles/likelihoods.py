"""The response models by direct definition (eqs. 1-6), one answer and one score vector at a time.

Scores z are the k inner products theta'(1, x) of the items shown. An outcome is written by position: label: y;
select and most_sure: (i, y); rank: (order, n_positive); tick: (y_1, ..., y_k); least_sure: i; y is +1 or -1. Plain loops and
Python floats: no shift, no vectorising.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from math import exp, log
from typing import Any

import numpy as np


def sigmoid(a: float) -> float:
    """1 / (1 + exp(-a)), written so that exp never overflows."""
    return 1 / (1 + exp(-a)) if a >= 0 else exp(a) / (1 + exp(a))


def log_sigmoid(a: float) -> float:
    """Log of the above; for very negative a the logarithm is a itself to machine precision."""
    return log(sigmoid(a)) if a > -30 else a - exp(a)


def log_softmax(scores: Sequence[float], chosen: int) -> float:
    """Log probability of ``chosen`` among ``scores`` (eq. 3): -log sum_j exp(s_j - s_i) by the largest term."""
    differences = [score - scores[chosen] for score in scores]
    largest = max(differences)
    return -largest - log(sum(exp(difference - largest) for difference in differences))


def label(z: Sequence[float], y: int, w: float) -> float:
    """Eq. 1 with its sign put right: P(y) = sigmoid(y w z)."""
    return log_sigmoid(y * w * z[0])


def select(z: Sequence[float], outcome: tuple[int, int], w: float, K: float, *, low: bool) -> float:
    """Eqs. 3 and 4, times the label of the chosen item."""
    chosen, y = outcome
    sign = -1 if low else 1
    return log_softmax([sign * K * score for score in z], chosen) + label([z[chosen]], y, w)


def ranking(z: Sequence[float], order: Sequence[int], K: float) -> float:
    """Plackett-Luce, eq. 5: choices among what remains."""
    total = 0.0
    for j in range(len(order) - 1):
        remaining = [K * z[item] for item in order[j:]]
        total += log_softmax(remaining, 0)
    return total


def threshold_labels(z: Sequence[float], order: Sequence[int], n_positive: int, w: float) -> float:
    """The first ``n_positive`` of the order are labelled positive, the others negative: k independent labels."""
    return sum(label([z[item]], 1 if j < n_positive else -1, w) for j, item in enumerate(order))


def normalised_threshold(z: Sequence[float], order: Sequence[int], n_positive: int, w: float) -> float:
    """log P(l | r): the labellings that a threshold can express, made to sum to one."""
    every = [threshold_labels(z, order, threshold, w) for threshold in range(len(order) + 1)]
    return log_softmax(every, n_positive)


def clarity(score: float, K: float) -> float:
    """How clear an item is: log(e^(K z) + e^(-K z)), by the larger of the two."""
    return K * abs(score) + log(1 + exp(-2 * K * abs(score)))


def most_sure(z: Sequence[float], outcome: tuple[int, int], w: float, K: float) -> float:
    """The clearest of the items by Luce's rule, and its label."""
    chosen, y = outcome
    return log_softmax([clarity(score, K) for score in z], chosen) + label([z[chosen]], y, w)


def least_sure(z: Sequence[float], chosen: int, K: float) -> float:
    """The least clear of the items by Luce's rule."""
    return log_softmax([-clarity(score, K) for score in z], chosen)


def update_log_likelihood(kind: str, z: Sequence[float], outcome: Any, w: float, K: float) -> float:
    """What an update conditions on: for a ranking, k-1 choices and k independent labels."""
    if kind == "rank":
        order, n_positive = outcome
        return ranking(z, order, K) + threshold_labels(z, order, n_positive, w)
    return answer_log_probability(kind, z, outcome, w, K)


def update_log_likelihoods(kind: str, z: np.ndarray, outcome: Any, w: float, K: float) -> np.ndarray:
    """The same at each row of scores z [n, k], for many of them."""
    k = z.shape[1]
    labels, choices = [], []
    if kind == "label":
        labels = [(0, outcome)]
    elif kind == "tick":
        labels = list(enumerate(outcome))
    elif kind == "rank":
        labels = [(item, 1 if place < outcome[1] else -1) for place, item in enumerate(outcome[0])]
        choices = [(item, list(outcome[0][place:])) for place, item in enumerate(outcome[0])]
    else:
        labels, choices = [outcome], [(outcome[0], list(range(k)))]
    sign = -1 if kind == "select_low" else 1
    total = -sum(np.logaddexp(0, -y * w * z[:, item]) for item, y in labels)
    for item, rivals in choices:
        total = total - np.log(np.exp(sign * K * (z[:, rivals] - z[:, [item]])).sum(axis=1))
    return np.asarray(total)


def answer_log_probability(kind: str, z: Sequence[float], outcome: Any, w: float, K: float) -> float:
    """Log probability of an answer; over all outcomes of a kind these sum to one (threshold normalised)."""
    if kind == "label":
        return label(z, outcome, w)
    if kind in ("select_high", "select_low"):
        return select(z, outcome, w, K, low=kind == "select_low")
    if kind == "tick":
        return sum(label([score], y, w) for score, y in zip(z, outcome, strict=True))
    if kind == "most_sure":
        return most_sure(z, outcome, w, K)
    if kind == "least_sure":
        return least_sure(z, outcome, K)
    order, n_positive = outcome
    return ranking(z, order, K) + normalised_threshold(z, order, n_positive, w)


def outcomes(kind: str, size: int) -> list[Any]:
    """Every possible answer: 2, 2k or (k+1)! of them (Table I), 2^k of a grid, k if one item is chosen without a label."""
    if kind == "label":
        return [-1, 1]
    if kind == "tick":
        return list(product((-1, 1), repeat=size))
    if kind == "least_sure":
        return list(range(size))
    if kind in ("select_high", "select_low", "most_sure"):
        return [(chosen, y) for chosen in range(size) for y in (-1, 1)]
    return [(order, positive) for order in permutations(range(size)) for positive in range(size + 1)]


def consequences(kind: str, outcome: Any, k: int) -> list[tuple[int, int]]:
    """Labels of other items that follow from a selection: if even the highest item is negative, all are; if even the lowest is
    positive, all are."""
    extreme = {"select_high": -1, "select_low": 1}.get(kind)
    if extreme is None or outcome[1] != extreme:
        return []
    return [(item, extreme) for item in range(k) if item != outcome[0]]


def consistent_log_likelihood_at(
    kind: str, thetas: np.ndarray, items: np.ndarray, outcome: Any, w: float, K: float
) -> np.ndarray:
    """The same as below, with the labels that follow from the answer."""
    told = consequences(kind, outcome, len(items))
    more = [sum(label([z[item]], y, w) for item, y in told) for z in thetas @ items.T]
    return np.asarray(log_likelihood_at(kind, thetas, items, outcome, w, K) + more)


def log_likelihood_at(kind: str, thetas: np.ndarray, items: np.ndarray, outcome: Any, w: float, K: float) -> np.ndarray:
    """Update log-likelihood at each row of ``thetas`` [n, D]; ``items`` [k, D] with the constant column."""
    return np.array([update_log_likelihood(kind, list(z), outcome, w, K) for z in thetas @ items.T])
