"""The likely answers to a question under a belief: what to prepare for while a person thinks."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.questions import Question
from tellmore.types import Answer, Array

SAMPLES = 200
SMALLEST_SHARE = 0.08
"""Answers rarer than this are not worth preparing for."""


def likely_answers(
    question: Question, mean: Array, cov: Array, w: float, K: float, *, rng: np.random.Generator, limit: int
) -> list[Answer]:
    """At most ``limit`` answers, the most frequent first, of simulated people; rare ones are left out.

    ``mean`` [k] and ``cov`` [k, k] are those of the items' scores; w and K are label and choice sharpness (eqs. 1, 3).
    """
    jitter = 1e-12 * (1.0 + np.trace(cov)) * np.eye(len(mean))
    z = mean + rng.standard_normal((SAMPLES, len(mean))) @ np.linalg.cholesky(cov + jitter).T
    drawn = Counter(_one_answer(question, scores, w, K, rng) for scores in z)
    return [answer for answer, count in drawn.most_common(limit) if count >= SMALLEST_SHARE * SAMPLES]


def _one_answer(question: Question, z: Array, w: float, K: float, rng: np.random.Generator) -> Answer:
    """Choices by the Gumbel trick, which samples the softmax; labels by the logistic."""
    noise = rng.gumbel(size=len(z))
    positive = rng.logistic(size=len(z)) < w * z
    items = question.items
    if question.kind == "label":
        return LabelAnswer(bool(positive[0]))
    if question.kind == "rank":
        order = np.argsort(-(K * z + noise))
        return RankAnswer([items[i] for i in order], _threshold(w * z[order], rng))
    sign = 1.0 if question.kind == "select_high" else -1.0
    chosen = int(np.argmax(sign * K * z + noise))
    return SelectAnswer(items[chosen], bool(positive[chosen]))


def _threshold(wz: Array, rng: np.random.Generator) -> int:
    """A threshold l in 0..k with P(l) proportional to prod_{j<=l} sigmoid(wz_j) prod_{j>l} sigmoid(-wz_j)."""
    # Moving item j above the threshold multiplies the odds by exp(wz_j).
    logits = np.concatenate([[0.0], np.cumsum(wz)])
    return int(np.argmax(logits + rng.gumbel(size=len(logits))))
