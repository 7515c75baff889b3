"""The likely answers to a question under a belief, to prepare for while a person thinks."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tellmore import kinds
from tellmore.core.sampling import score_root
from tellmore.learner import Learner
from tellmore.questions import Question
from tellmore.types import Answer

SAMPLES = 200
SMALLEST_SHARE = 0.08
"""Answers rarer than this are not worth preparing for."""


def likely_answers(learner: Learner, question: Question, *, limit: int) -> list[Answer]:
    """At most ``limit`` answers that simulated people give, the most frequent first; rare ones are left out."""
    kind, rng = kinds.named(question.kind), np.random.default_rng(len(learner.history))
    mean, cov = learner.joint_scores(question.items)
    z = mean + rng.standard_normal((SAMPLES, len(mean))) @ score_root(cov).T
    drawn = Counter(kind.sample(scores, learner.behaviour, rng) for scores in z)
    common = [outcome for outcome, count in drawn.most_common(limit) if count >= SMALLEST_SHARE * SAMPLES]
    return [kind.answer(question.items, outcome) for outcome in common]
