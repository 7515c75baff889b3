"""How probable an answer was before it was given, compared with how probable answers to that question are on average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.moments import fixed_points
from tellmore.core.sampling import score_root
from tellmore.kinds import Kind, Outcome
from tellmore.types import Array

POINTS = 64
"""Draws of the scores over which the probability of an answer is averaged."""
ENUMERATED = 24
"""With up to this many possible answers, ``expected`` is exact; with more, it is estimated from DRAWS of them."""
DRAWS = 64


@dataclass(frozen=True)
class AnswerProbability:
    """The log predictive probability of the answer given in nats (``log_score``), and its mean (``expected``) and standard
    deviation (``spread``) over all answers."""

    log_score: float
    expected: float
    spread: float


def answer_probability(
    mean: Array, cov: Array, kind: Kind, outcome: Outcome, behaviour: Behaviour, *, rng: np.random.Generator
) -> AnswerProbability:
    """How probable ``outcome`` is if the scores of the items have this mean [k] and covariance [k, k], from a person with this
    ``behaviour``; ``rng`` draws other answers if there are too many to enumerate."""
    behaviour, k = kind.learnt_with(behaviour), len(mean)
    z = mean + fixed_points(k, POINTS) @ score_root(cov).T

    def log_probability(answer: Outcome) -> float:
        return float(_log_mean(kind.log_likelihood(z, answer, behaviour)[None])[0])

    if kind.n_outcomes(k) <= ENUMERATED:
        each = np.array([log_probability(answer) for answer in kind.outcomes(k)])
        weights = np.exp(each) / np.exp(each).sum()
    else:
        pairs = kind.pairwise(z[:DRAWS], behaviour, rng)
        np.fill_diagonal(pairs, -np.inf)  # the scores that an answer was drawn from predict it too well
        each = _log_mean(pairs) + np.log(DRAWS / (DRAWS - 1))
        weights = np.full(DRAWS, 1 / DRAWS)
    expected = float(weights @ each)
    spread = float(np.sqrt(weights @ (each - expected) ** 2))
    return AnswerProbability(log_probability(outcome), expected, spread)


def _log_mean(logs: Array) -> Array:
    """The logarithm of the mean of exp(logs) [m, n] over n; SciPy's own function is slow for few numbers."""
    top = logs.max(axis=1)
    return np.asarray(top + np.log(np.exp(logs - top[:, None]).mean(axis=1)))
