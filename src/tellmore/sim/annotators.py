"""Simulated annotators: people who answer any question from one perceived score per item (Section III-B).

A score source says which score an item gets this time; a respondent turns scores into an answer; an annotator is a
respondent who takes time. All of them are frozen values: randomness and the number of answers given before,
on which drift and fatigue depend, come in as a ``Moment``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tellmore.policy.cost import CostModel
from tellmore.types import Answer, Array, LabelAnswer, Question, RankAnswer, SelectAnswer

IntArray: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class Moment:
    """When a question is answered: the source of chance, and how many answers were given before."""

    rng: np.random.Generator
    n_answered: int = 0


class ScoreSource(Protocol):
    """The score perceived for each of some items, drawn anew at every question."""

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        """Scores [k] of the pool rows ``rows`` [k]."""
        ...


class Respondent(Protocol):
    """Somebody who answers questions."""

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        """The answer to ``question``, whose items are the pool rows ``rows`` [k], in the order shown."""
        ...


@dataclass(frozen=True)
class GaussianScores:
    """Score of item i ~ N(mean_i, sd_i^2): the paper's word task. ``sd=None`` makes the score certain."""

    mean: Array
    sd: Array | None = None

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        centre = np.asarray(self.mean[rows], dtype=float)
        noise = now.rng.standard_normal(len(rows))
        return centre if self.sd is None else centre + np.asarray(self.sd[rows], dtype=float) * noise


@dataclass(frozen=True)
class HistogramScores:
    """Score of item i drawn from its ratings: ``histogram`` [n, b] counts of the ``values`` [b] (the image task)."""

    histogram: Array
    values: Array

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        cumulative = np.cumsum(np.asarray(self.histogram[rows], dtype=float), axis=1)
        draw = now.rng.random(len(rows)) * cumulative[:, -1]
        chosen = (cumulative <= draw[:, None]).sum(axis=1)
        scores: Array = np.asarray(self.values, dtype=float)[chosen]
        return scores


@dataclass(frozen=True)
class DriftingScores:
    """Somebody whose standards move: every answer shifts the scores by ``step`` more."""

    source: ScoreSource
    step: float

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        return self.source.sample(rows, now=now) + self.step * now.n_answered


@dataclass(frozen=True)
class TiredScores:
    """Somebody who tires: noise is added whose standard deviation grows by ``growth`` per answer."""

    source: ScoreSource
    growth: float

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        clear = self.source.sample(rows, now=now)
        return clear + self.growth * now.n_answered * now.rng.standard_normal(len(rows))


@dataclass(frozen=True)
class ScoreRespondent:
    """Answers from the sampled scores: labels by ``threshold``, chooses and ranks by sorting; ties at random."""

    source: ScoreSource
    threshold: float

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        scores = self.source.sample(rows, now=now)
        coin = now.rng.random((2, len(rows)))
        positive = np.where(scores == self.threshold, coin[0] < 0.5, scores > self.threshold)
        # Lexicographic: the score first, then the label (a tie at the threshold must not split the order), then chance.
        highest_first = np.lexsort((coin[1], positive, scores))[::-1]
        return answer_by_position(question, highest_first, positive)


@dataclass(frozen=True)
class ModelRespondent:
    """Answers exactly as the response models of Section II-A say, for calibration: Gumbel noise on K z, eqs. 3 to 5.

    ``z`` [n] is the true score theta'(1, x) of every pool row; labels are independent logistic draws (eq. 1), the
    threshold of a ranking follows the normalised product of its labels' probabilities.
    """

    z: Array
    w: float
    K: float

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        z = np.asarray(self.z[rows], dtype=float)
        # Gumbel-max noise for "highest" and rankings, Gumbel-min (its mirror image) for "lowest".
        sign = -1.0 if question.kind == "select_low" else 1.0
        perturbed = self.K * z + sign * now.rng.gumbel(size=len(z))
        highest_first = np.argsort(-perturbed)
        if question.kind == "rank":
            n_positive = self._threshold(z[highest_first], now.rng)
            positive = np.zeros(len(z), dtype=bool)
            positive[highest_first[:n_positive]] = True
        else:
            positive = now.rng.logistic(size=len(z)) < self.w * z
        return answer_by_position(question, highest_first, positive)

    def _threshold(self, z_ordered: Array, rng: np.random.Generator) -> int:
        """Draw l in 0..k with P(l | r) proportional to prod_{j<=l} s(w z_j) prod_{j>l} s(-w z_j)."""
        # log s(t) - log s(-t) = t, so every step of l adds w z_j to the logarithm.
        log_weight = np.concatenate([[0.0], np.cumsum(self.w * z_ordered)])
        return int(np.argmax(log_weight + rng.gumbel(size=len(log_weight))))


@dataclass(frozen=True)
class LapsingRespondent:
    """A mixture: with probability ``lapse`` the answer is random, else it is that of ``attentive``."""

    attentive: Respondent
    lapse: float

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        answer = self.attentive.respond(question, rows, now=now)
        order = now.rng.permutation(len(rows))
        n_positive = int(now.rng.integers(len(rows) + 1))
        label = bool(now.rng.random() < 0.5)
        if now.rng.random() >= self.lapse:
            return answer
        positive = np.full(len(rows), label)
        if question.kind == "rank":
            positive = np.isin(np.arange(len(rows)), order[:n_positive])
        return answer_by_position(question, order, positive)


def answer_by_position(question: Question, highest_first: IntArray, positive: NDArray[np.bool_]) -> Answer:
    """The answer to ``question`` of somebody who orders its items so [k] and sees these as positive [k]."""
    if question.kind == "label":
        return LabelAnswer(bool(positive[0]))
    if question.kind == "rank":
        return RankAnswer([question.items[i] for i in highest_first], int(np.count_nonzero(positive)))
    chosen = highest_first[-1] if question.kind == "select_low" else highest_first[0]
    return SelectAnswer(question.items[chosen], bool(positive[chosen]))


@dataclass(frozen=True)
class Reply:
    """An answer and the seconds it took."""

    answer: Answer
    seconds: float


@dataclass(frozen=True)
class Annotator:
    """A respondent who takes the time that ``cost`` draws, slower by the fraction ``slowing`` per answer given."""

    respondent: Respondent
    cost: CostModel
    slowing: float = 0.0

    def reply(self, question: Question, rows: IntArray, *, now: Moment, clock: np.random.Generator) -> Reply:
        """Answer ``question`` on the pool rows [k]; ``clock`` draws the time apart, so it never moves an answer."""
        answer = self.respondent.respond(question, rows, now=now)
        seconds = self.cost.sample(question.kind, question.size, clock) * (1.0 + self.slowing * now.n_answered)
        return Reply(answer, seconds)
