"""Algorithm 1, the ideal human-in-the-loop learner, run exactly on a grid of classifiers in 1 to 3 dimensions.

The belief is a weight on every cell of the hypercube [-M, M]^d (Assumption 5). Every step computes the exact information gain
of every candidate set, asks the best one, draws the answer of a true classifier and applies Bayes' rule. The grid is the only
approximation. Here theta has d weights and no separate bias: items are rows of X [n, d].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from tellmore import kinds
from tellmore.core.evidence import Behaviour
from tellmore.errors import SettingError, StateError
from tellmore.types import Array


@dataclass(frozen=True, eq=False)
class IdealRun:
    """One run: ``gains_bits`` [T] of the questions asked; ``entropies_bits`` and ``volumes`` [T + 1], starting with the prior.

    ``volumes`` are |Sigma_t|^(1/d); ``stopping_time`` is T_epsilon of Theorem 1.
    """

    stopping_time: int
    gains_bits: Array
    entropies_bits: Array
    volumes: Array


@dataclass(frozen=True, eq=False)
class IdealProblem:
    """The tables that all runs of one setting share: cells, candidate sets and the probabilities of answers."""

    cells: Array  # [g, d] centres
    cell_width: float
    sets: NDArray[np.int64]  # [m, k] rows of X
    X: Array  # [n, d]
    kind: str
    behaviour: Behaviour
    probabilities: Array  # [m, o, g] of answer o to set m under cell g
    noise_bits: Array  # [m, g] entropy of the answer under cell g


def hypercube_cells(d: int, M: float, per_axis: int) -> tuple[Array, float]:
    """Centres [per_axis**d, d] of the cells of [-M, M]^d, and their width."""
    width = 2 * M / per_axis
    axis = -M + width * (np.arange(per_axis) + 0.5)
    return np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d), width


def candidate_sets(n: int, size: int, limit: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """All sets of ``size`` of n items [m, size], or ``limit`` different ones at random if there are more."""
    if size > n:
        raise SettingError(f"a set of {size} needs at least {size} items, not {n}")
    if comb(n, size) <= limit:
        return np.array(list(combinations(range(n), size)), dtype=np.int64)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < limit:
        drawn.add(tuple(sorted(rng.choice(n, size=size, replace=False).tolist())))
    return np.array(sorted(drawn), dtype=np.int64)


def ideal_problem(
    X: Array,
    kind: str,
    size: int,
    behaviour: Behaviour,
    *,
    M: float = 1.0,
    per_axis: int | None = None,
    max_sets: int = 64,
    rng: np.random.Generator,
) -> IdealProblem:
    """Prepare Algorithm 1 for items X [n, d], d = 1, 2 or 3. Default grids: 2048, 64 x 64, 24 x 24 x 24 cells."""
    d = X.shape[1]
    if d not in (1, 2, 3):
        raise SettingError(f"the ideal algorithm runs on a grid in 1 to 3 dimensions, not {d}; project the items first")
    cells, width = hypercube_cells(d, M, per_axis or {1: 2048, 2: 64, 3: 24}[d])
    sets = candidate_sets(len(X), min(size, kinds.named(kind).most), max_sets, rng)
    tables = [_answer_probabilities(kind, cells @ X[rows].T, behaviour).T for rows in sets]
    probabilities = np.stack(tables)
    noise = -xlogy(probabilities, probabilities).sum(axis=1) / np.log(2)
    return IdealProblem(cells, width, sets, X, kind, behaviour, probabilities, noise)


def set_gains(problem: IdealProblem, weights: Array) -> Array:
    """Exact information gain [m], in bits, of every candidate set under cell weights [g]: H[E p] - E H[p]."""
    marginal = problem.probabilities @ weights
    return np.asarray(-xlogy(marginal, marginal).sum(axis=1) / np.log(2) - problem.noise_bits @ weights)


def run_ideal(
    problem: IdealProblem,
    epsilon: float,
    *,
    rng: np.random.Generator,
    theta: Array | None = None,
    max_answers: int = 10_000,
) -> IdealRun:
    """Run Algorithm 1 until |Sigma|^(1/d) < epsilon. The true theta [d] is drawn from the prior unless given."""
    if np.sqrt(epsilon) < 1.5 * problem.cell_width:
        raise SettingError(
            f"epsilon {epsilon:g} asks for less than 1.5 cells of width {problem.cell_width:g}; raise per_axis or epsilon"
        )
    d = problem.cells.shape[1]
    half = problem.cell_width / 2
    reach = float(problem.cells.max()) + half
    truth = np.asarray(rng.uniform(-reach, reach, size=d) if theta is None else theta, dtype=np.float64)
    weights = np.full(len(problem.cells), 1.0 / len(problem.cells))
    gains: list[float] = []
    entropies, volumes = [_entropy_bits(problem, weights)], [_volume(problem, weights)]
    while volumes[-1] >= epsilon:
        if len(gains) == max_answers:
            raise StateError(f"no stop within {max_answers} answers; raise epsilon, or give more diverse items")
        every = set_gains(problem, weights)
        best = rng.choice(np.flatnonzero(every >= every.max() - 1e-12))
        answer = _draw_answer(problem, int(best), truth, rng)
        weights = weights * problem.probabilities[best, answer]
        weights /= weights.sum()
        gains.append(float(every[best]))
        entropies.append(_entropy_bits(problem, weights))
        volumes.append(_volume(problem, weights))
    return IdealRun(len(gains), np.array(gains), np.array(entropies), np.array(volumes))


def stopping_times(problem: IdealProblem, epsilon: float, runs: int, *, rng: np.random.Generator) -> Sequence[IdealRun]:
    """Independent runs, each with its own true classifier drawn from the prior."""
    return [run_ideal(problem, epsilon, rng=rng) for _ in range(runs)]


def _answer_probabilities(kind: str, z: Array, behaviour: Behaviour) -> Array:
    """P(o | z) [g, o] of every outcome o, for scores z [g, k]."""
    model = kinds.named(kind)
    return np.exp(np.stack([model.log_likelihood(z, o, behaviour) for o in model.outcomes(z.shape[1])], axis=1))


def _draw_answer(problem: IdealProblem, which: int, truth: Array, rng: np.random.Generator) -> int:
    z = (problem.X[problem.sets[which]] @ truth)[None]
    probabilities = _answer_probabilities(problem.kind, z, problem.behaviour)[0]
    return int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))


def _entropy_bits(problem: IdealProblem, weights: Array) -> float:
    """Differential entropy of the piecewise constant density."""
    d = problem.cells.shape[1]
    return float(-xlogy(weights, weights).sum() / np.log(2) + d * np.log2(problem.cell_width))


def _volume(problem: IdealProblem, weights: Array) -> float:
    """|Sigma|^(1/d); a cell's own variance, width^2 / 12, is part of the covariance."""
    d = problem.cells.shape[1]
    centred = problem.cells - weights @ problem.cells
    cov = (weights[:, None] * centred).T @ centred + np.eye(d) * problem.cell_width**2 / 12
    return float(np.exp(np.linalg.slogdet(cov)[1] / d))
