"""What is seen of each simulated person while a trial runs: whether they tire, and whether context changes their answers.

    first   how much more often than predicted the person chooses what is shown first
    before  how much more often than predicted an item is called positive after a question on positive items than after one on
            negative items

Both are differences of probabilities with standard errors; 0 means that context has no effect on the person.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax

from tellmore import kinds
from tellmore.core.moments import fixed_points
from tellmore.core.sampling import score_root
from tellmore.core.steadiness import STEADY, Answered, Steadiness
from tellmore.learner import Learner
from tellmore.policy.cost import PAPER_COST
from tellmore.questions import Question, labels_in
from tellmore.types import Answer, Array, Skip

POINTS = 64
FEWEST = 10
"""Answers needed to estimate an effect."""


@dataclass
class Person:
    """One person so far, with the residuals for the effect ``first``, and pairs of residual and cause for ``before``."""

    steady: Steadiness = STEADY
    noticed: tuple[str, int] | None = None
    first: list[float] = field(default_factory=list)
    before: list[tuple[float, float]] = field(default_factory=list)
    last: float | None = None


class Watched:
    """Records every answer before it is learnt."""

    def __init__(self) -> None:
        self._people: dict[str, Person] = defaultdict(Person)

    def record(self, learner: Learner, question: Question, answer: Answer, name: str, seconds: float) -> None:
        """Record one answer of the person of this ``name``, which took this many ``seconds``."""
        if isinstance(answer, Skip):
            return
        person, kind = self._people[name], kinds.named(question.kind)
        known = learner.answer_probability(question, answer)
        usual = PAPER_COST.seconds(kind.name, question.size, marks=kind.marks(answer))
        one = Answered(kind.family, math.log(seconds / usual), known.log_score - known.expected, known.spread)
        person.steady = person.steady.after(one)
        if person.steady.seen is not None and person.noticed is None:
            person.noticed = person.steady.seen.change, person.steady.answers
        evidence = kind.evidence(kind.outcome(question.names, answer), question.size)
        if evidence is not None and evidence.chosen.size:
            predicted = _first_chosen(learner, question, int(evidence.ends[0]))
            person.first.append(float(evidence.chosen[0] == 0) - predicted)
        labels = labels_in(question, answer)
        if person.last is not None and labels:
            off = float(np.mean(np.array(list(labels.values())) - _probability(learner, list(labels))))
            person.before.append((off, person.last))
        person.last = float(np.mean(_probability(learner, question.items)))

    def report(self) -> list[dict[str, Any]]:
        """Plain values, one row per person."""
        return [
            {
                "person": name,
                "answers": person.steady.answers,
                "noticed": None if person.noticed is None else person.noticed[0],
                "at": None if person.noticed is None else person.noticed[1],
                "first": effect(np.array(person.first)),
                "before": effect(*np.array(person.before).reshape(-1, 2).T),
            }
            for name, person in self._people.items()
        ]


def effect(residuals: Array, causes: Array | None = None) -> list[float] | None:
    """The mean of ``residuals`` [n], or their slope on ``causes`` [n], and its standard error, which holds for any variances;
    None if there are too few.

    >>> effect(np.tile([1.0, 0.0], 10))
    [0.5, 0.1118033988749895]
    """
    if len(residuals) < FEWEST:
        return None
    cause = np.ones(len(residuals)) if causes is None else causes - causes.mean()
    total = float(cause @ cause)
    if not total:
        return None
    slope = float(cause @ residuals) / total
    fitted = slope * cause + (0.0 if causes is None else residuals.mean())
    return [slope, float(np.sqrt(np.sum((cause * (residuals - fitted)) ** 2))) / total]


def _probability(learner: Learner, items: Sequence[Any]) -> Array:
    """Probability of positive [k] of some items."""
    pool = learner.pool
    return learner.predict_proba(pool.X[pool.rows(items)])[:, 1]


def _first_chosen(learner: Learner, question: Question, end: int) -> float:
    """The probability that the item shown first is chosen."""
    mean, cov = learner.joint_scores(question.items)
    z = mean + fixed_points(len(mean), POINTS) @ score_root(cov).T
    sharp = learner.behaviour.K * learner.w / learner.behaviour.w
    return float(softmax(end * sharp * z, axis=1)[:, 0].mean())
