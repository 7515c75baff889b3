"""Several beliefs about one classifier, each updated with every answer and weighted by how well it predicted the answers.

They differ in their priors: that a start is right, more or less, or that nothing is known; in how rare a side may be; and in how
sharp answers are expected to be. The answers decide between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.predict import MANY, probability
from tellmore.core.update import UpdateInfo
from tellmore.types import Array

NEGLIGIBLE = 1e-7
"""Weights below this change probabilities by less than the error of the fast computation for many items."""
LOG_HALF = float(np.log(0.5))
FREED = 0.04
"""The share of its weight that each belief passes on to the next freer one after an answer. A belief close to the start predicts
the first answers best and the later ones worse; without this, its early success would count for ever."""
ARRAYS = ("mean", "cov", "logdet", "log_weights")
SHARPNESS, STARTED = "sharpness", "started"


@dataclass(frozen=True, eq=False)
class Weighing:
    """Averages over beliefs with these weights [m], given the values under each."""

    weights: Array

    def moments_of(self, scores: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
        """Mean [n] and variance [n] over all beliefs, given those of each."""
        if len(scores) == 1:
            return scores[0]
        mean = sum(weight * one for weight, (one, _) in zip(self.weights, scores, strict=True))
        variance = sum(
            weight * (spread + (one - mean) ** 2) for weight, (one, spread) in zip(self.weights, scores, strict=True)
        )
        return np.asarray(mean), np.asarray(variance)

    def mean_of(self, scores: Sequence[tuple[Array, Array]]) -> Array:
        """Mean [n] over all beliefs, given mean and variance under each."""
        if len(scores) == 1:
            return scores[0][0]
        return np.asarray(sum(weight * mean for weight, (mean, _) in zip(self.weights, scores, strict=True)))

    def probability_of(self, scores: Sequence[tuple[Array, Array]], w: float, *, of: int = 0) -> Array:
        """Probability of positive over all beliefs, given mean and variance of the scores under each; any shape. ``of``: the
        number of items in all, if these are some of them."""
        counted = self.weights > (NEGLIGIBLE if of > MANY else 0.0)
        each = (probability(*one, w, of=of) for one, counts in zip(scores, counted, strict=True) if counts)
        averaged = sum(weight * one for weight, one in zip(self.weights[counted], each, strict=True))
        return np.asarray(np.clip(averaged, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Mixture:
    """``beliefs`` with the logarithms [m] of their weights, which sum to one. ``sharpness``: how sharply each learns answers, as
    a factor; above 1 it is for labels only, because choices are predicted better by sharper beliefs even where these learn less
    from them. The last ``started`` ones begin from a start, from the closest to the freest; those with the same sharpness are
    next to each other, from the closest to the freest again. The others, at least one, have no start."""

    beliefs: tuple[Gaussian, ...]
    log_weights: Array
    sharpness: tuple[float, ...]
    started: int = 0

    @classmethod
    def of(
        cls, *beliefs: Gaussian, odds: tuple[float, ...] = (), sharpness: tuple[float, ...] = (), started: int = 0
    ) -> Mixture:
        """Beliefs with these prior odds, equal by default, and this sharpness, 1 by default."""
        usual = (1.0,) * len(beliefs)
        log_odds = np.log(np.array(odds or usual))
        return cls(beliefs, log_odds - np.logaddexp.reduce(log_odds), sharpness or usual, started)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str = "") -> Mixture:
        """The inverse of `arrays`."""
        mean, cov, logdet, log_weights = (arrays[f"{prefix}{name}"] for name in ARRAYS)
        beliefs = tuple(Gaussian(*each) for each in zip(mean, cov, logdet.tolist(), strict=True))
        # Files of earlier versions have neither; there, all beliefs but the first began from a start.
        sharpness = arrays.get(f"{prefix}{SHARPNESS}", np.ones(len(beliefs)))
        started = arrays.get(f"{prefix}{STARTED}", len(beliefs) - 1)
        return cls(beliefs, log_weights, tuple(sharpness.tolist()), int(started))

    def arrays(self, prefix: str = "") -> dict[str, Array]:
        """mean [m, D], cov [m, D, D], logdet [m], log_weights [m], sharpness [m] and started, to be saved in a file."""
        parts = zip(*((belief.mean, belief.cov, belief.logdet) for belief in self.beliefs), strict=True)
        values = [*(np.array(part) for part in parts), self.log_weights]
        values += [np.array(self.sharpness), np.array(self.started)]
        return {f"{prefix}{name}": value for name, value in zip((*ARRAYS, SHARPNESS, STARTED), values, strict=True)}

    @property
    def weights(self) -> Array:
        """The probability of each belief now [m]."""
        return np.exp(self.log_weights)

    @property
    def asking(self) -> int:
        """Which belief chooses questions: the first, unless beliefs that begin from a start are more probable, then the most
        probable of these without the closest ones, which would not ask what could change them."""
        others = len(self.beliefs) - self.started
        if not self.started or np.logaddexp.reduce(self.log_weights[:others]) > LOG_HALF:
            return 0
        free = [freer for _, freer in self._neighbours] or [others]
        return max(free, key=lambda one: float(self.log_weights[one]))

    @property
    def _neighbours(self) -> list[tuple[int, int]]:
        """Each belief that begins from the start with the next freer one of the same sharpness."""
        first, last = len(self.beliefs) - self.started, len(self.beliefs) - 1
        return [(at, at + 1) for at in range(first, last) if self.sharpness[at] == self.sharpness[at + 1]]

    @property
    def mean(self) -> Array:
        """The mean [D] of the mixture."""
        return np.asarray(self.weights @ np.array([belief.mean for belief in self.beliefs]))

    @cached_property
    def moments(self) -> Gaussian:
        """The Gaussian with the mean and covariance of the mixture."""
        if len(self.beliefs) == 1:
            return self.beliefs[0]
        mean, cov = self.mean, np.zeros_like(self.beliefs[0].cov)
        for weight, belief in zip(self.weights, self.beliefs, strict=True):
            cov += weight * (belief.cov + np.outer(belief.mean - mean, belief.mean - mean))
        return Gaussian.from_moments(mean, (cov + cov.T) / 2)

    def updated(
        self, behaviour: Behaviour, update: Callable[[Gaussian, Behaviour], tuple[Gaussian, UpdateInfo]]
    ) -> tuple[tuple[Gaussian, ...], tuple[UpdateInfo, ...]]:
        """Each belief after an ``update`` with an answer of a person with this ``behaviour``, expected to be as sharp as the
        belief expects, and what the update did."""
        each = (
            update(belief, behaviour.sharper(own, choices=min(own, 1.0)))
            for belief, own in zip(self.beliefs, self.sharpness, strict=True)
        )
        beliefs, infos = zip(*each, strict=True)
        return beliefs, infos

    def told(self, beliefs: tuple[Gaussian, ...], evidence: Array) -> Mixture:
        """The mixture after an answer: the updated ``beliefs``, reweighted by the log evidence [m] of each, in nats, after which
        those that begin from a start pass on a share of their weight."""
        log_weights = self.log_weights + evidence
        log_weights -= np.logaddexp.reduce(log_weights)
        for closer, freer in reversed(self._neighbours):  # the freest first, so that nothing is passed on twice
            log_weights[freer] = np.logaddexp(log_weights[freer], log_weights[closer] + np.log(FREED))
            log_weights[closer] += np.log1p(-FREED)
        return replace(self, beliefs=beliefs, log_weights=log_weights)

    def mapped(self, change: Callable[[Gaussian], Gaussian]) -> Mixture:
        """The same weights with each belief changed."""
        return replace(self, beliefs=tuple(map(change, self.beliefs)))

    def scores(self, X: Array) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of the score of each row of X [n, d], over all beliefs."""
        return self.moments_of([belief.scores(X) for belief in self.beliefs])

    def probability(self, X: Array, w: float) -> Array:
        """Probability [n] of positive for each row of X [n, d], averaged over all beliefs."""
        return self.probability_of([belief.scores(X) for belief in self.beliefs], w)

    def start_left(self, before: Mixture, X: Array) -> Array:
        """How much the start still counts in the score of each row of X [n, d], from 1 ``before`` any answer to 0 [n].

        Under a Gaussian belief, the mean after answers is that before them times the share of the variance that is left, plus
        what the answers say. Beliefs without the start count as 0; if there are no others, they began from it.
        """
        own = slice(len(self.beliefs) - self.started if self.started else 0, None)
        left = [
            np.minimum(1.0, now.scores(X)[1] / was.scores(X)[1])
            for now, was in zip(self.beliefs[own], before.beliefs[own], strict=True)
        ]
        share = self.weights[own] / before.weights[own].sum()
        return np.asarray(np.minimum(1.0, share @ np.array(left)))

    @property
    def weighing(self) -> Weighing:
        """The weights alone, which are enough if the scores under each belief are known."""
        return Weighing(self.weights)

    def moments_of(self, scores: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
        """Mean [n] and variance [n] over all beliefs, given those of each."""
        return self.weighing.moments_of(scores)

    def probability_of(self, scores: Sequence[tuple[Array, Array]], w: float, *, of: int = 0) -> Array:
        """Probability of positive over all beliefs, given mean and variance of the scores under each; see `Weighing`."""
        return self.weighing.probability_of(scores, w, of=of)
