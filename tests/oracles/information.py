"""Information gain by enumerating the answers under sampled classifiers, and greedy sets by trying every item."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.stats import norm, qmc

from . import likelihoods


def log_probabilities(kind: str, z: np.ndarray, w: float, K: float) -> np.ndarray:
    """log p(o | z) for scores [n, k]: [n, outcomes]. The definitions again, one column per outcome."""
    every = likelihoods.outcomes(kind, z.shape[1])
    labels = {y: -np.logaddexp(0, -y * w * z) for y in (-1, 1)}
    if kind == "label":
        return np.stack([labels[y][:, 0] for y in every], axis=1)
    if kind in ("select_high", "select_low"):
        utilities = (-K if kind == "select_low" else K) * z
        choice = utilities - np.logaddexp.reduce(utilities, axis=1, keepdims=True)
        return np.stack([choice[:, i] + labels[y][:, i] for i, y in every], axis=1)
    if kind == "tick":
        return np.stack([sum(labels[y][:, i] for i, y in enumerate(signs)) for signs in every], axis=1)
    if kind in ("most_sure", "least_sure"):
        clear = np.logaddexp(K * z, -K * z)
        if kind == "least_sure":
            return np.asarray(-clear - np.logaddexp.reduce(-clear, axis=1, keepdims=True))
        choice = clear - np.logaddexp.reduce(clear, axis=1, keepdims=True)
        return np.stack([choice[:, i] + labels[y][:, i] for i, y in every], axis=1)
    orders = dict.fromkeys(order for order, _ in every)
    return np.concatenate([_ranking_columns(z, order, labels, K) for order in orders], axis=1)


def _ranking_columns(z: np.ndarray, order: tuple[int, ...], labels: dict[int, np.ndarray], K: float) -> np.ndarray:
    """log P(r) + log P(l | r) of one order with each of its k + 1 thresholds, for every row of z."""
    total = np.zeros(len(z))
    for j in range(len(order) - 1):
        total += K * z[:, order[j]] - np.logaddexp.reduce(K * z[:, order[j:]], axis=1)
    thresholds = np.stack(
        [
            sum(labels[1 if j < threshold else -1][:, item] for j, item in enumerate(order))
            for threshold in range(len(order) + 1)
        ],
        axis=1,
    )
    return np.asarray(total[:, None] + thresholds - np.logaddexp.reduce(thresholds, axis=1, keepdims=True))


def gain_of_scores(kind: str, z: np.ndarray, w: float, K: float) -> float:
    """H[mean of p] - mean of H[p], in bits, over score samples z [n, k] (Section II-C2)."""
    logs = log_probabilities(kind, z, w, K)
    mean = np.exp(logs).mean(axis=0)
    mixture = -sum(p * np.log2(p) for p in mean if p > 0)
    return float(mixture + (np.exp(logs) * logs).sum(axis=1).mean() / np.log(2))


def information_gain(
    mean: np.ndarray, cov: np.ndarray, kind: str, w: float, K: float, rng: np.random.Generator, samples: int = 100_000
) -> float:
    """Gain in bits for score moments mean [k], cov [k, k], by plain Monte Carlo."""
    return gain_of_scores(kind, rng.multivariate_normal(mean, cov, size=samples, method="svd"), w, K)


def long_run(
    mean: np.ndarray, cov: np.ndarray, kind: str, w: float, K: float, *, outcomes: int, inner: int
) -> tuple[float, float]:
    """Gain in bits and its error, by definition: E log p(o | z) / p(o), p(o) averaged over scores that had no part in o."""
    rng = np.random.default_rng(11)
    own, others = (rng.multivariate_normal(mean, cov, size=n, method="svd") for n in (outcomes, inner))
    terms = np.empty(outcomes)
    for n, z in enumerate(own):
        every = _log_probability_of_a_draw(kind, np.vstack([z, others]), w, K, rng)
        terms[n] = every[0] - (np.logaddexp.reduce(every[1:]) - np.log(inner))
    return float(terms.mean() / np.log(2)), float(terms.std() / outcomes**0.5 / np.log(2))


def _log_probability_of_a_draw(kind: str, z: np.ndarray, w: float, K: float, rng: np.random.Generator) -> np.ndarray:
    """log p(o | z_j) [n] for all rows of z [n, k], of one answer o that is drawn from the first of them."""
    k = z.shape[1]
    if kind == "tick":
        signs = np.where(rng.random(k) < 1 / (1 + np.exp(-w * z[0])), 1, -1)
        return np.asarray(-np.logaddexp(0, -w * z * signs).sum(axis=1))
    order = np.argsort(-(K * z[0] + rng.gumbel(size=k)))
    threshold = int(np.argmax(np.concatenate([[0.0], np.cumsum(w * z[0, order])]) + rng.gumbel(size=k + 1)))
    x = K * z[:, order]
    highest = x.max(axis=1, keepdims=True)
    tails = np.log(np.cumsum(np.exp(x - highest)[:, ::-1], axis=1)[:, ::-1]) + highest
    levels = np.column_stack([np.zeros(len(z)), np.cumsum(w * z[:, order], axis=1)])
    top = levels.max(axis=1)
    return np.asarray(
        (x - tails).sum(axis=1) + levels[:, threshold] - top - np.log(np.exp(levels - top[:, None]).sum(axis=1))
    )


def greedy_set(
    items: np.ndarray, thetas: np.ndarray, kind: str, size: int, w: float, K: float
) -> tuple[list[int], list[float]]:
    """Algorithm 5 with every item of the pool tried at every step, classifiers ``thetas`` [n, D] given."""
    chosen: list[int] = []
    bits: list[float] = []
    for _ in range(size):
        gains = {
            row: gain_of_scores(_kind_so_far(kind, len(chosen) + 1), thetas @ items[[*chosen, row]].T, w, K)
            for row in range(len(items))
            if row not in chosen
        }
        best = max(gains, key=gains.__getitem__)
        chosen.append(best)
        bits.append(gains[best])
    return chosen, bits


def step_ratios(
    items: np.ndarray, thetas: np.ndarray, kind: str, rows: Sequence[int], w: float, K: float
) -> list[float]:
    """For each item that a greedy search added: the gain it gave, over the most that any item would have given at that step."""
    ratios = []
    for place, row in enumerate(rows):
        before = list(rows[:place])
        gains = {
            other: gain_of_scores(_kind_so_far(kind, place + 1), thetas @ items[[*before, other]].T, w, K)
            for other in range(len(items))
            if other not in before
        }
        ratios.append(gains[row] / max(gains.values()))
    return ratios


def sobol_thetas(mean: np.ndarray, cov: np.ndarray, n: int) -> np.ndarray:
    """Classifiers [n, D] from N(mean, cov) by scrambled Sobol points."""
    points = qmc.Sobol(len(mean), scramble=True, rng=123).random(n)
    return np.asarray(mean + norm.ppf(points) @ np.linalg.cholesky(cov).T)


def best_set(
    items: np.ndarray, thetas: np.ndarray, kind: str, size: int, w: float, K: float
) -> tuple[list[int], float]:
    """The best of all sets of one size."""
    scored = {
        rows: gain_of_scores(kind, thetas @ items[list(rows)].T, w, K) for rows in combinations(range(len(items)), size)
    }
    best = max(scored, key=scored.__getitem__)
    return list(best), scored[best]


def _kind_so_far(kind: str, size: int) -> str:
    """A choice or a ranking of one item is its label."""
    return "label" if size == 1 else kind
