"""The exported result: a belief over a linear classifier, and its use on raw embeddings."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore import tabular
from tellmore.core.calibration import tempered
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.errors import DataFileError, NumericalError
from tellmore.files import reading_npz
from tellmore.types import Array

TINY_NORM = 1e-12
"""Vectors shorter than this are not scaled, as in the project."""


@dataclass(frozen=True)
class Predictions:
    """For N items: probability [N] of positive, averaged over the belief and calibrated; mean score [N]; and standard deviation
    of the score [N]."""

    probability: Array
    score: Array
    score_sd: Array


@dataclass(frozen=True)
class Classifier:
    """The exported result: a linear classifier with its uncertainty. A project has one, and `load` reads one from a file.

    mixture: beliefs over (bias, weights) of the score.
    w: the sharpness of labels, P(positive) = sigmoid(w score), averaged over the beliefs.
    normalised: whether embeddings are scaled to length 1 before they are scored, as they were when the project was made.
    slope: the factor by which random checks corrected the log odds; 1 without checks.
    columns: the names of the dimensions, if the items came from a DataFrame; other DataFrames are matched by them.

    Parameters of the methods:

    path: a file that ``export`` wrote in the format npz.
    X: raw embeddings [N, d], from the same embedding model as the items, or a DataFrame with the same columns; PoolError if
        they are not finite numbers.

    >>> belief = Gaussian.from_moments(np.array([0.0, 1.0]), np.eye(2) / 100)
    >>> Classifier(Mixture.of(belief), w=4.0, normalised=False).predict([[-1.0], [2.0]])
    array([False,  True])
    """

    mixture: Mixture
    w: float
    normalised: bool
    slope: float = 1.0
    columns: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> Classifier:
        """The classifier in the file ``path`` that ``export`` wrote in the format npz."""
        try:
            with reading_npz(Path(path)) as arrays:
                moments = zip(arrays["means"], arrays["covs"], strict=True)
                beliefs, odds = [Gaussian.from_moments(*each) for each in moments], tuple(arrays["weights"].tolist())
                slope = float(arrays["slope"]) if "slope" in arrays else 1.0  # not in files of version 0.1
                columns = tuple(arrays["columns"].tolist()) if "columns" in arrays else ()
                mixture = Mixture.of(*beliefs, odds=odds)
                return cls(mixture, float(arrays["w"]), bool(arrays["normalised"]), slope, columns)
        except FileNotFoundError:
            raise DataFileError(f"{path}: no such file; `tellmore export --format npz` writes one") from None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NumericalError) as problem:
            raise DataFileError(
                f"{path}: not a classifier as `tellmore export --format npz` writes it: {problem}"
            ) from None

    @property
    def belief(self) -> Gaussian:
        """One Gaussian over (bias, weights); with several beliefs, the one with their mean and covariance."""
        return self.mixture.moments

    @property
    def d(self) -> int:
        """The number of dimensions of an embedding."""
        return self.mixture.beliefs[0].dim - 1

    def decision_function(self, X: ArrayLike) -> Array:
        """Mean score [N] of raw embeddings X [N, d]; positive above 0."""
        return self.apply(X).score

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities [N, 2] of negative and positive for raw embeddings X [N, d], averaged over the belief."""
        positive = self.apply(X).probability
        return np.column_stack([1 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Whether raw embeddings X [N, d] are predicted positive [N]."""
        return np.asarray(self.decision_function(X) > 0)

    def apply(self, X: ArrayLike) -> Predictions:
        """Predictions for raw embeddings X [N, d]."""
        X = tabular.embeddings(X, self.d, f"those of {self.d} dimensions that the classifier learnt from", self.columns)
        if self.normalised:
            norms = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(norms > TINY_NORM, norms, 1.0)
        scores = [belief.scores(X) for belief in self.mixture.beliefs]
        score, variance = self.mixture.moments_of(scores)
        probability = tempered(self.mixture.probability_of(scores, self.w), self.slope)
        return Predictions(probability, score, np.sqrt(variance))
