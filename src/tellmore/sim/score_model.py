"""Assumption 1 on scored items: the reference classifier, and score = a theta'(1, x) + b + Gumbel noise along it.

Only the laboratory uses this: a learner never sees scores, except in the paper's methods, whose w and K are fitted here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, ndtr
from scipy.stats import gumbel_l

from tellmore.types import Array

# Singular values below this fraction of the largest are noise (some face embeddings have hundreds of them).
SINGULAR_CUTOFF = 1e-3
# Sharper labels are a step function for unit-norm embeddings.
SHARPEST = 1000.0


@dataclass(frozen=True)
class ScoreModel:
    """Assumption 1 fitted to a pool. Scores are measured from the threshold."""

    theta: Array  # [D] unit norm, bias first
    a: float
    b: float
    sigma: float  # scale of the Gumbel noise, including the spread between people
    w: float  # label sharpness, eq. 1
    K: float  # choice sharpness, a / sigma
    r2: float
    residuals: Array  # [n] mean score - (a z + b)

    @property
    def K_of_means(self) -> float:
        """The choice sharpness as in the authors' code: from the residuals of the mean scores alone, without the spread between
        people, by maximum likelihood under a Gumbel distribution of minima, which MATLAB's ``fitdist(…, 'ev')`` fits."""
        return self.a / float(gumbel_l.fit(self.residuals)[1])


def unit_least_squares(X: Array, target: Array) -> Array:
    """The unit-norm least-squares classifier [D] of ``target`` [n] on (1, X [n, d])."""
    design = np.column_stack([np.ones(len(X)), np.asarray(X, dtype=float)])
    theta = np.linalg.lstsq(design, np.asarray(target, dtype=float), rcond=SINGULAR_CUTOFF)[0]
    return np.asarray(theta / np.linalg.norm(theta))


def signed_labels(mean: Array, threshold: float) -> Array:
    """+1 if the mean score is above the threshold, else -1; [n]."""
    return np.where(np.asarray(mean) > threshold, 1.0, -1.0)


def fit_score_model(X: Array, mean: Array, threshold: float, sd: Array | None = None) -> ScoreModel:
    """Fit Assumption 1 along the unit-norm least-squares classifier of the labels.

    a and b come from least squares of the mean scores [n]; sigma from the residual variance plus the spread between people
    ``sd`` [n] (a Gumbel distribution of scale sigma has the standard deviation pi sigma / sqrt 6); w from maximum likelihood
    of P(score > threshold) under eq. 1.
    """
    theta = unit_least_squares(X, signed_labels(mean, threshold))
    z = theta[0] + np.asarray(X, dtype=float) @ theta[1:]
    centred = np.asarray(mean, dtype=float) - threshold
    spread = np.zeros_like(centred) if sd is None else np.asarray(sd, dtype=float)
    a, b = np.polyfit(z, centred, 1)
    residuals = centred - (a * z + b)
    sigma = math.sqrt(float(np.mean(residuals**2) + np.mean(spread**2)) * 6.0) / math.pi
    return ScoreModel(
        theta=theta,
        a=float(a),
        b=float(b),
        sigma=sigma,
        w=_label_sharpness(z, centred, spread),
        K=float(a) / sigma,
        r2=1.0 - float(np.var(residuals) / np.var(centred)),
        residuals=residuals,
    )


def _label_sharpness(z: Array, centred: Array, spread: Array) -> float:
    """The w that maximises the likelihood of people's labels, P = Phi(mean / sd), under sigmoid(w z)."""
    certain = (centred > 0).astype(float)
    safe = np.where(spread > 0, spread, 1.0)
    positive = np.where(spread > 0, ndtr(centred / safe), certain)

    def loss(w: float) -> float:
        return -float(np.mean(positive * log_expit(w * z) + (1 - positive) * log_expit(-w * z)))

    return float(minimize_scalar(loss, bounds=(0.0, SHARPEST), method="bounded").x)
