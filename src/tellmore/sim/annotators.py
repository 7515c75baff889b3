"""Simulated annotators: people who answer any question from one perceived score per item (Section III-B).

A score source gives an item its score, drawn anew each time; a respondent turns scores into an answer; an annotator is a
respondent who takes time. All of them are immutable: the random number generator, and the number of answers given before, on
which drift and fatigue depend, are passed as a ``Moment``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tellmore import kinds
from tellmore.core.evidence import Behaviour
from tellmore.kinds import perceived
from tellmore.policy.cost import CostModel
from tellmore.questions import Question, answer_from
from tellmore.sim.people import Person, by_chance
from tellmore.types import Answer, Array

IntArray: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class Moment:
    """When a question is answered: the random number generator, how many answers this person gave before, and the items [k] of
    the last of them."""

    rng: np.random.Generator
    n_answered: int = 0
    before: IntArray | None = None


class ScoreSource(Protocol):
    """The perceived score of each of some items, drawn anew at every question."""

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        """Scores [k] of the pool rows ``rows`` [k]."""
        ...


class Respondent(Protocol):
    """A person who answers questions."""

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        """The answer to ``question``, whose items are the pool rows ``rows`` [k], in the order shown."""
        ...


@dataclass(frozen=True)
class GaussianScores:
    """The score of item i ~ N(mean_i, sd_i^2): the paper's word task. ``sd=None`` makes scores certain."""

    mean: Array
    sd: Array | None = None

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        centre = np.asarray(self.mean[rows], dtype=float)
        noise = now.rng.standard_normal(len(rows))
        return centre if self.sd is None else centre + np.asarray(self.sd[rows], dtype=float) * noise


@dataclass(frozen=True)
class HistogramScores:
    """The score of item i, drawn from its ratings: ``histogram`` [n, b] counts the ``values`` [b] (the image task)."""

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
    """A person whose standards move: every answer shifts the scores by another ``step``."""

    source: ScoreSource
    step: float

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        return self.source.sample(rows, now=now) + self.step * now.n_answered


@dataclass(frozen=True)
class TiredScores:
    """A person who tires: the scores get noise whose standard deviation grows by ``growth`` per answer."""

    source: ScoreSource
    growth: float

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        clear = self.source.sample(rows, now=now)
        return clear + self.growth * now.n_answered * now.rng.standard_normal(len(rows))


@dataclass(frozen=True)
class ScoreRespondent:
    """Answers from the sampled scores: labels by ``threshold``, chooses and ranks by sorting, with ties broken at random."""

    source: ScoreSource
    threshold: float

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        scores = self.source.sample(rows, now=now)
        return answer_from(question, perceived(scores - self.threshold, now.rng))


@dataclass(frozen=True)
class ModelRespondent:
    """Answers exactly by the response models of Section II-A, for calibration.

    ``z`` [n] is the true score theta'(1, x) of every pool row.
    """

    z: Array
    w: float
    K: float

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        kind = kinds.named(question.kind)
        drawn = kind.sample(np.asarray(self.z[rows], dtype=float), Behaviour(self.w, self.K), now.rng)
        return kind.answer(question.items, drawn)


@dataclass(frozen=True)
class LapsingRespondent:
    """A mixture: with probability ``lapse`` the answer is random, else it is that of ``attentive``."""

    attentive: Respondent
    lapse: float

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        answer = self.attentive.respond(question, rows, now=now)
        random = by_chance(question, now.rng)
        return random if now.rng.random() < self.lapse else answer


@dataclass(frozen=True)
class CampScores:
    """The scores of a person with other views: correlated by ``share`` with the usual ones; the rest is ``lean`` [n]."""

    source: ScoreSource
    threshold: float
    share: float
    lean: Array

    def sample(self, rows: IntArray, *, now: Moment) -> Array:
        above = self.source.sample(rows, now=now) - self.threshold
        rest = float(np.sqrt(1 - self.share**2))
        return self.threshold + self.share * above + rest * np.asarray(self.lean[rows], dtype=float)


@dataclass(frozen=True)
class PersonRespondent:
    """A simulated person with habits, who sees scores from ``source``. ``mean`` [n]: the expected scores."""

    person: Person
    source: ScoreSource
    threshold: float
    mean: Array

    def respond(self, question: Question, rows: IntArray, *, now: Moment) -> Answer:
        above = self.source.sample(rows, now=now) - self.threshold
        before = 0.0 if now.before is None else float(np.mean(self.mean[now.before])) - self.threshold
        unit = float(np.std(self.mean))
        return self.person.answer(question, above, unit=unit, before=before, n_answered=now.n_answered, rng=now.rng)


@dataclass(frozen=True)
class Annotator:
    """A respondent who takes ``pace`` times the seconds drawn from ``cost``, slower by the fraction ``slowing`` per answer."""

    respondent: Respondent
    cost: CostModel
    slowing: float = 0.0
    pace: float = 1.0

    def reply(
        self, question: Question, rows: IntArray, *, now: Moment, clock: np.random.Generator
    ) -> tuple[Answer, float]:
        """The answer about the pool rows [k], and its seconds; these come from ``clock``, so that they never change an answer."""
        answer = self.respondent.respond(question, rows, now=now)
        marks = kinds.named(question.kind).marks(answer)
        seconds = self.cost.sample(question.kind, question.size, clock, marks=marks)
        return answer, seconds * self.pace * (1.0 + self.slowing * now.n_answered)
