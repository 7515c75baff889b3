"""Predictions of a learner for the items of its pool and for other items, from its state."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore import kinds as question_kinds
from tellmore.core.calibration import UNCHECKED, Calibration, tempered
from tellmore.core.coordinates import Coordinates
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import ALONE, Team
from tellmore.core.kept import kept
from tellmore.core.mixture import Mixture
from tellmore.core.scan import Scan
from tellmore.core.update import Rule as Learning
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.errors import QuestionError, SettingError
from tellmore.kinds import Kind, Outcome, perceived
from tellmore.policy.cost import CostModel
from tellmore.policy.quality import Quality, quality_of
from tellmore.policy.stopping import Progress, Rule, Stop
from tellmore.policy.tally import NOTHING, Tally
from tellmore.pool import Pool
from tellmore.questions import Question, labels_in
from tellmore.start import index_of, rows_of_index
from tellmore.state import State
from tellmore.types import Answer, Array


class Predictor:
    """Beliefs about a pool. ``coordinates``: how embeddings are centred and scaled. ``behaviour``: the sharpness with which
    answers are learnt. ``w``: the sharpness of probabilities, P(positive) = sigmoid(w score), averaged over the beliefs.
    ``calibrate``: whether random checks then correct them.

    X: embeddings [n, d], or a DataFrame with the pool's columns; if None is allowed, it means the pool's items.
    y: whether each is positive [n], as True and False or 1 and 0.
    items: ids of items of the pool.
    """

    pool: Pool
    coordinates: Coordinates
    behaviour: Behaviour
    w: float
    calibrate: bool
    seed: int
    stop: Rule
    cost: CostModel
    bound: Learning
    _prior: Mixture
    _now: State
    _history: list[tuple[Question, Answer]]
    _threshold: float | None = None

    @property
    def posterior(self) -> Gaussian:
        """The belief over (bias, weights), in coordinates (1, x) with x as in the pool; with several beliefs, the
        Gaussian with their mean and covariance."""
        return self.coordinates.outward(self._now.mixture.moments)

    @property
    def posteriors(self) -> Mixture:
        """All beliefs with their weights, in coordinates (1, x)."""
        return self._now.mixture.mapped(self.coordinates.outward)

    @property
    def belief(self) -> Gaussian:
        """The belief with which questions are chosen, in coordinates (1, z), where z are the items in the learner's
        ``coordinates``; see `scan`."""
        return self._now.belief

    @property
    def start_weight(self) -> float | None:
        """The weight of the beliefs that begin from the start, from 0 to 1, however much answers have corrected them since;
        None without a start."""
        mixture = self._now.mixture
        return float(mixture.weights[-mixture.started :].sum()) if mixture.started else None

    def start_agreement(self) -> float | None:
        """The share of the pool that is now predicted as the start alone predicted it; None without a start."""
        if not self._prior.started:
            return None
        now = self._now
        return kept(now.rows, now.scans, mean=self._prior.mean, mixture=now.mixture.weighing).agreement

    @property
    def beliefs(self) -> Mixture:
        """All beliefs with their weights, in coordinates (1, z)."""
        return self._now.mixture

    @property
    def begun(self) -> Mixture:
        """All beliefs before the first answer, in coordinates (1, z)."""
        return self._prior

    @property
    def scan(self) -> Scan:
        """Mean and variance of every item's score under `belief`."""
        return self._now.scan

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The same for each of `beliefs`."""
        return self._now.scans

    @property
    def tally(self) -> Tally:
        """Counts of labels and random checks so far."""
        return self._now.tally

    @property
    def coef_(self) -> Array:
        """Mean weights [1, d]."""
        return self.posterior.mean[None, 1:]

    @property
    def intercept_(self) -> Array:
        """Mean bias [1]."""
        return self.posterior.mean[:1]

    @property
    def classes_(self) -> NDArray[np.bool_]:
        """The two classes, in the order of predict_proba's columns."""
        return np.array([False, True])

    @property
    def threshold(self) -> float | None:
        """The probability at or above which `predict` calls an item positive; None: by the sign of the mean score."""
        return self._threshold

    @threshold.setter
    def threshold(self, probability: float | None) -> None:
        number = isinstance(probability, int | float | np.number) and 0 < probability < 1
        if probability is not None and not number:
            raise SettingError(f"threshold must be a probability between 0 and 1, or None, not {probability!r}")
        self._threshold = probability

    @property
    def calibration(self) -> Calibration:
        """The slope by which the random checks so far correct the log odds of every probability; 1 before the first check."""
        return self.calibration_at(self._now)

    def calibration_at(self, state: State) -> Calibration:
        """The calibration in another state.

        state: an earlier state of the learner.
        """
        return state.calibration if self.calibrate else UNCHECKED

    def scores(self) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of the score of every item of the pool, read-only."""
        return self._now.scores

    def probabilities(self) -> Array:
        """Probability [n] that each item of the pool is positive, averaged over the belief and corrected by the random checks."""
        return tempered(self._now.probabilities(self.w), self.calibration.slope)

    def predict(self, X: ArrayLike | Any | None = None) -> NDArray[np.bool_]:
        """Whether embeddings X [n, d], by default the pool's items, are predicted positive [n]: by the sign of the mean
        score, or by their probability if a ``threshold`` is set."""
        if self._threshold is None:
            return np.asarray((self._now.scores[0] if X is None else self.decision_function(X)) > 0)
        return np.asarray((self.probabilities() if X is None else self.predict_proba(X)[:, 1]) >= self._threshold)

    def decision_function(self, X: ArrayLike | Any) -> Array:
        """Mean score [n] of embeddings X [n, d]; positive above 0."""
        return self._now.mixture.scores(self._into(X))[0]

    def predict_proba(self, X: ArrayLike | Any | None = None) -> Array:
        """Probabilities [n, 2] of negative and positive for embeddings X [n, d], by default the pool's items, averaged
        over the belief and corrected by the random checks."""
        positive = self.probabilities() if X is None else self._probability(self._now, self._into(X))
        return np.column_stack([1 - positive, positive])

    def score(self, X: ArrayLike | Any | None, y: ArrayLike) -> float:
        """The share of embeddings X [n, d] (the pool's items if None) for which `predict` agrees with y [n]. For the pool's
        items, y may be a Series of pandas in any order whose index has the ids."""
        called, truth = self.predict(X), np.asarray(y)
        rows = rows_of_index(self.pool, index_of(y, "labels"), "labels") if X is None else None
        if rows is not None and len(rows) == len(called):
            called = called[rows]
        if truth.shape != called.shape or not np.isin(truth, (0, 1)).all():
            raise SettingError(f"y must hold {len(called)} values True or False (or 1 or 0), one per item")
        return float(np.mean(called == truth.astype(bool)))

    def joint_scores(self, items: Collection[Any]) -> tuple[Array, Array]:
        """Mean [k] and covariance [k, k] of the scores of some items of the pool, under `belief`."""
        mean, cov, _ = self._now.belief.project(with_constant(self._z(items)))
        return mean, cov

    def undecided(self) -> float:
        """The expected share of the pool on the wrong side of the boundary for lack of answers: the mean over the items
        of P(score < 0) if the item's mean score is above 0, and of P(score > 0) otherwise."""
        return self._now.standing[0]

    def rarer(self) -> float:
        """The share of the pool on the side that is predicted less often."""
        positive = self._now.standing[1]
        return min(positive, 1 - positive)

    def quality(self) -> Quality | None:
        """Accuracy, precision, recall, average precision, prevalence and how often probabilities came true, measured on
        the random checks; None before the first."""
        threshold = 0.5 if self.threshold is None else self.threshold
        return quality_of(self._now.tally.checks, threshold, self.calibration)

    @property
    def history(self) -> tuple[tuple[Question, Answer], ...]:
        """All answered or skipped questions with their answers, oldest first."""
        return tuple(self._history)

    @property
    def prior(self) -> Gaussian:
        """The belief before the first answer, in coordinates (1, x); with several, the Gaussian with their mean and
        covariance."""
        return self.coordinates.outward(self._prior.moments)

    def labels(self) -> dict[Any, bool]:
        """Every item that an answer of any kind labelled, with its last label."""
        return {item: told for question, answer in self._history for item, told in labels_in(question, answer).items()}

    def information_gain(self, question: Question) -> float:
        """Expected information gain of a question, in bits.

        question: one about items of the pool.
        """
        if not isinstance(question, Question):
            raise QuestionError(f"information is that of a Question, not of {question!r}")
        mean, cov = self.joint_scores(question.items)
        rng = np.random.default_rng([self.seed, 0x6A1, len(self._history)])
        return question_kinds.named(question.kind).gain(mean, cov, self.behaviour, rng=rng).bits

    def should_stop(self) -> Stop:
        """Whether the stopping rule says to stop, and why; true in an ``if`` when it does."""
        return self.stop.check(self.progress)

    @property
    def progress(self) -> Progress:
        """The numbers that stopping rules use."""
        now, n = self._now, len(self.pool)
        logdets = now.belief.logdet, self._prior.beliefs[now.asking].logdet
        unlabelled = n - len(self.labels()) if now.tally.labels >= n else None
        return Progress(now.belief.dim, *logdets, now.tally, self.undecided(), unlabelled, self.rarer(), n)

    def _shown(self, question: Question) -> Question:
        """The question with the pool's own ids, and with the texts and images that people see."""
        rows, pool = self.pool.rows(question.items), self.pool
        ids, texts, images = (
            None if each is None else [each[row] for row in rows] for each in (pool.ids, pool.text, pool.images)
        )
        return Question(question.kind, ids or (), question.id, check=question.check, texts=texts, images=images)

    def _z(self, items: Collection[Any]) -> Array:
        """Items in the learner's coordinates [k, d]."""
        return self.coordinates.into(self.pool.X[self.pool.rows(items)])

    def _probability(self, state: State, Z: Array) -> Array:
        """Probability of positive [n] in a state, of items Z [n, d] in the learner's coordinates."""
        return tempered(state.mixture.probability(Z, self.w), self.calibration_at(state).slope)

    def _into(self, X: ArrayLike | Any) -> Array:
        return self.coordinates.into(self.pool.checked(X))

    def _update(
        self, belief: Gaussian, Z: Array, kind: Kind, outcome: Outcome, behaviour: Behaviour
    ) -> tuple[Gaussian, UpdateInfo]:
        """One of the beliefs after an outcome on items Z, given by a person with this ``behaviour``."""
        return kind.update(belief, Z, outcome, behaviour, bound=self.bound)

    def _supposing(self, question: Question) -> State:
        """The state if the question has been answered but the answer is not known."""
        kind, Z = question_kinds.named(question.kind), self._z(question.items)
        expected = kind.respond(perceived(self.joint_scores(question.items)[0], np.random.default_rng(self.seed)))
        return self._now.supposing(self.behaviour, lambda belief, own: self._update(belief, Z, kind, expected, own))

    def _about_pool(self, mixture: Mixture, tally: Tally = NOTHING, team: Team = ALONE) -> State:
        return State(mixture, self.pool.placed(self.coordinates), tally, team=team)
