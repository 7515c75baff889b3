"""What is taken away: a belief over a linear classifier, and how raw embeddings go through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.errors import PoolError
from tellmore.types import Array

TINY_NORM = 1e-12
"""Vectors shorter than this are left as they are, as when the project was made."""


@dataclass(frozen=True)
class Predictions:
    """For N items: probability [N] of positive, averaged over the belief; score [N] and its standard deviation [N]."""

    probability: Array
    score: Array
    score_sd: Array


@dataclass(frozen=True)
class Classifier:
    """``mixture``: beliefs over (bias, weights) of the score; ``w`` the sharpness of labels.

    ``normalised``: embeddings are scaled to length 1 before they are scored, as they were when the project was made.
    """

    mixture: Mixture
    w: float
    normalised: bool

    @property
    def belief(self) -> Gaussian:
        """One Gaussian over (bias, weights): the moments, where there are several beliefs."""
        return self.mixture.moments

    @property
    def d(self) -> int:
        """Dimensions of an embedding."""
        return self.mixture.beliefs[0].dim - 1

    def apply(self, X: Array) -> Predictions:
        """Predictions for raw embeddings X [N, d]."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.d:
            raise PoolError(f"the classifier takes embeddings of {self.d} dimensions, not of shape {list(X.shape)}")
        if self.normalised:
            norms = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(norms > TINY_NORM, norms, 1.0)
        scores = [belief.scores(X) for belief in self.mixture.beliefs]
        score, variance = self.mixture.moments_of(scores)
        return Predictions(self.mixture.probability_of(scores, self.w), score, np.sqrt(variance))
