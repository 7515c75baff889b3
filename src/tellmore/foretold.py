"""How probable an answer was before it was given, beside how probable answers to that question were expected to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.moments import fixed_points
from tellmore.core.sampling import score_root
from tellmore.core.update import with_constant
from tellmore.kinds import Kind, Outcome
from tellmore.types import Array

POINTS = 64
"""Scores over which answers are averaged."""
ENUMERATED = 24
"""Up to so many possible answers, what is expected is exact; beyond, by DRAWS of them."""
DRAWS = 64


@dataclass(frozen=True)
class Foretold:
    """Log probabilities in nats: of the answer given (``log_score``), what that was ``expected`` to be and its standard deviation
    (``spread``), and of the same answer by chance."""

    log_score: float
    expected: float
    spread: float
    chance: float


def foretold(
    belief: Gaussian, Z: Array, kind: Kind, outcome: Outcome, behaviour: Behaviour, *, rng: np.random.Generator
) -> Foretold:
    """``outcome`` on items Z [k, d] as this ``belief`` foretold it, of somebody who behaves so; ``rng`` draws other answers,
    where too many are possible to go through all."""
    behaviour, k = kind.learnt_with(behaviour), len(Z)
    mean, cov, _ = belief.project(with_constant(Z))
    z = mean + fixed_points(k, POINTS) @ score_root(cov).T

    def log_probability(answer: Outcome, scores: Array = z) -> float:
        return float(_log_mean(kind.log_likelihood(scores, answer, behaviour)[None])[0])

    if kind.n_outcomes(k) <= ENUMERATED:
        each = np.array([log_probability(answer) for answer in kind.outcomes(k)])
        weights = np.exp(each) / np.exp(each).sum()
    else:
        pairs = kind.pairwise(z[:DRAWS], behaviour, rng)
        np.fill_diagonal(pairs, -np.inf)  # the scores that an answer was drawn from would foretell it too well
        each = _log_mean(pairs) + np.log(DRAWS / (DRAWS - 1))
        weights = np.full(DRAWS, 1 / DRAWS)
    expected = float(weights @ each)
    spread = float(np.sqrt(weights @ (each - expected) ** 2))
    return Foretold(log_probability(outcome), expected, spread, log_probability(outcome, np.zeros((1, k))))


def _log_mean(logs: Array) -> Array:
    """The logarithm of the mean of exp(logs) [m, n] over n; by hand, as SciPy's own function takes long for few numbers."""
    top = logs.max(axis=1)
    return np.asarray(top + np.log(np.exp(logs - top[:, None]).mean(axis=1)))
