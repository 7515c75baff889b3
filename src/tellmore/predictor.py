"""What a learner knows now: the belief, and what follows from it for the items of its pool and for others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tellmore.core.coordinates import Coordinates, Rows
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.core.scan import PoolScan, refreshed, scans_of
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.errors import SettingError
from tellmore.policy.quality import Quality, quality_of
from tellmore.policy.tally import NOTHING, Tally
from tellmore.pool import Pool
from tellmore.types import Array


@dataclass(frozen=True, eq=False)
class State:
    """What the answers so far amount to; the beliefs are over (1, z), z in the learner's coordinates, each with its scan."""

    mixture: Mixture
    scans: tuple[PoolScan, ...]
    tally: Tally = NOTHING

    @property
    def belief(self) -> Gaussian:
        """The belief from which questions are chosen."""
        return self.mixture.beliefs[self.mixture.asking]

    @property
    def scan(self) -> PoolScan:
        """The scan of that belief."""
        return self.scans[self.mixture.asking]

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of every item's score over all beliefs; they cannot be written to."""
        mean, variance = (
            each.view() for each in self.mixture.moments_of([(scan.mean, scan.variance) for scan in self.scans])
        )
        mean.flags.writeable = variance.flags.writeable = False
        return mean, variance

    def probabilities(self, w: float, rows: Any = slice(None)) -> Array:
        """Probability of positive of some items, averaged over all beliefs."""
        return self.mixture.probability_of([(scan.mean[rows], scan.variance[rows]) for scan in self.scans], w)

    def told(self, update: Callable[[Gaussian], tuple[Gaussian, UpdateInfo]]) -> tuple[State, UpdateInfo]:
        """The state after every belief learnt an answer by ``update``, and what it did to the one that is asked from."""
        beliefs, infos = zip(*(update(belief) for belief in self.mixture.beliefs), strict=True)
        mixture = self.mixture.told(beliefs, np.array([info.elbo_nats for info in infos]))
        scans = refreshed(self.scans, [info.steps for info in infos], beliefs)
        return State(mixture, scans, self.tally), infos[self.mixture.asking]


class Predictor:
    """Beliefs over a pool. ``coordinates`` say how embeddings are centred and scaled, ``behaviour`` how sharp answers are
    learnt, ``w`` how sharp probabilities are: P(positive) = sigmoid(w score)."""

    pool: Pool
    coordinates: Coordinates
    behaviour: Behaviour
    w: float
    _prior: Mixture
    _now: State
    _threshold: float | None = None

    @property
    def posterior(self) -> Gaussian:
        """The belief over (bias, weights), in coordinates (1, x) with x as the pool holds it: the moments, where there are
        several beliefs."""
        return self.coordinates.outward(self._now.mixture.moments)

    @property
    def posteriors(self) -> Mixture:
        """All beliefs with their weights, in coordinates (1, x); one, where there is no start."""
        return self._now.mixture.mapped(self.coordinates.outward)

    @property
    def belief(self) -> Gaussian:
        """The belief from which questions are chosen, in coordinates (1, z), z the items in the learner's own ``coordinates``;
        what `scan` goes with."""
        return self._now.belief

    @property
    def start_weight(self) -> float | None:
        """How far the answers bear out the start now, from 0 (not at all) to 1; None without one."""
        weights = self._now.mixture.weights
        return None if len(weights) == 1 else float(weights[1:].sum())

    def start_agreement(self) -> float | None:
        """The share of the pool that is called now as the start alone called it; None without one."""
        if len(self._prior.beliefs) == 1:
            return None
        first = np.concatenate(
            [p[:, 0] for _, p in Rows(self.pool.X, self.coordinates).times(self._prior.mean[:, None])]
        )
        return float(np.mean((first > 0) == (self._now.scores[0] > 0)))

    @property
    def beliefs(self) -> Mixture:
        """All beliefs with their weights, in coordinates (1, z)."""
        return self._now.mixture

    @property
    def scan(self) -> PoolScan:
        """Mean and variance of every item's score under `belief`."""
        return self._now.scan

    @property
    def tally(self) -> Tally:
        """What was counted while answers were told."""
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
        """The probability from which `predict` says positive; None: by the sign of the mean score."""
        return self._threshold

    @threshold.setter
    def threshold(self, probability: float | None) -> None:
        if probability is not None and not 0 < probability < 1:
            raise SettingError(f"threshold must be a probability between 0 and 1, or None, not {probability!r}")
        self._threshold = probability

    def scores(self) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of the score of every item of the pool; they cannot be written to."""
        return self._now.scores

    def probabilities(self) -> Array:
        """Probability of positive [n] of every item of the pool, averaged over the belief."""
        return self._now.probabilities(self.w)

    def predict(self, X: Array | None = None) -> NDArray[np.bool_]:
        """Whether embeddings X [n, d] are positive [n], the pool's items where X is None: by the sign of the mean score, or by
        their probability where a ``threshold`` is set."""
        if self._threshold is None:
            return np.asarray((self._now.scores[0] if X is None else self.decision_function(X)) > 0)
        return np.asarray((self.probabilities() if X is None else self.predict_proba(X)[:, 1]) >= self._threshold)

    def decision_function(self, X: Array) -> Array:
        """Mean score [n] of embeddings X [n, d]; positive above 0."""
        return self._now.mixture.scores(self._into(X))[0]

    def predict_proba(self, X: Array) -> Array:
        """Probabilities [n, 2] of negative and positive for embeddings X [n, d], averaged over the belief."""
        positive = self._now.mixture.probability(self._into(X), self.w)
        return np.column_stack([1 - positive, positive])

    def joint_scores(self, items: Collection[str]) -> tuple[Array, Array]:
        """Mean [k] and covariance [k, k] of the scores of some items of the pool, under `belief`."""
        mean, cov, _ = self._now.belief.project(with_constant(self._z(items)))
        return mean, cov

    def undecided(self) -> float:
        """The share of the pool that is expected to be on the wrong side of the boundary for want of answers: the mean over
        the items of P(score < 0) where its mean is above 0, and the other way round."""
        side = np.where(self.scores()[0] > 0, 1.0, -1.0)
        doubt = (
            ndtr(-side * scan.mean / np.sqrt(np.maximum(scan.variance, 1e-300))).mean() for scan in self._now.scans
        )
        return float(sum(weight * one for weight, one in zip(self._now.mixture.weights, doubt, strict=True)))

    def quality(self) -> Quality | None:
        """Accuracy, precision, recall, average precision and prevalence on the random checks told; None before the first."""
        return quality_of(self._now.tally.checks, 0.5 if self.threshold is None else self.threshold)

    def _z(self, items: Collection[str]) -> Array:
        """Items in the learner's coordinates [k, d]."""
        return self.coordinates.into(self.pool.X[self.pool.rows(items)])

    def _into(self, X: Array) -> Array:
        return self.coordinates.into(self.pool.checked(X))

    def _scanned(self, mixture: Mixture, tally: Tally = NOTHING) -> State:
        return State(mixture, scans_of(Rows(self.pool.X, self.coordinates), mixture.beliefs), tally)
