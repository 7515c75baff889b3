"""A simulated person who answers a learning run from scores, so that a study's strata come from real learning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellmore.kinds import perceived
from tellmore.pool import Pool
from tellmore.questions import Question, answer_from
from tellmore.types import Answer


def simulated_scorer(pool: Pool, rng: np.random.Generator) -> Callable[[Question], Answer]:
    """A function that answers from the pool's scores with their spread, or, if it has none, from a random direction of the pool.

    The direction is drawn from the pool's covariance, so that it separates items; its scores are standardised and perceived
    with noise of half their spread.
    """
    if pool.scores is not None:
        centred = np.asarray(pool.scores.mean - pool.scores.threshold, dtype=float)
        noise = np.asarray(pool.scores.spread(), dtype=float)
    else:
        X = np.asarray(pool.X, dtype=float)
        X = X - X.mean(axis=0)
        direction = X.T @ rng.standard_normal(len(X))
        centred = X @ direction
        centred = centred / max(float(np.std(centred)), 1e-12)
        noise = np.full_like(centred, 0.5)

    def answer(question: Question) -> Answer:
        rows = pool.rows(question.items)
        return answer_from(question, perceived(centred[rows] + noise[rows] * rng.standard_normal(len(rows)), rng))

    return answer
