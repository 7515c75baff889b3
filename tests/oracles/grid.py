"""Exact posterior moments at two or three dimensions: prior times likelihood on a grid, summed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

from . import likelihoods


def gaussian_grid(mean: np.ndarray, cov: np.ndarray, points: int, reach: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    """Grid [points**D, D] aligned with the prior's axes, +-reach standard deviations, and its log prior weights."""
    values, vectors = np.linalg.eigh(cov)
    axis = np.linspace(-reach, reach, points)
    units = np.stack(np.meshgrid(*[axis] * len(mean), indexing="ij"), axis=-1).reshape(-1, len(mean))
    thetas = mean + (units * np.sqrt(values)) @ vectors.T
    return thetas, multivariate_normal(mean, cov).logpdf(thetas)


def moments(thetas: np.ndarray, log_weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean [D] and covariance [D, D] of a discrete distribution."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ thetas
    centred = thetas - mean
    return mean, (weights[:, None] * centred).T @ centred


def posterior_moments(
    mean: np.ndarray, cov: np.ndarray, items: np.ndarray, kind: str, outcome: Any, w: float, K: float, points: int
) -> tuple[np.ndarray, np.ndarray]:
    """Moments after one answer. ``items`` [k, D] with the constant column."""
    thetas, log_prior = gaussian_grid(mean, cov, points)
    return moments(thetas, log_prior + likelihoods.log_likelihood_at(kind, thetas, items, outcome, w, K))


def tilted(
    mean: np.ndarray,
    cov: np.ndarray,
    items: np.ndarray,
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    points: int,
    reach: float = 7.0,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean, covariance and log evidence after an answer of any likelihood, given as a function of scores [n, k]."""
    thetas, log_prior = gaussian_grid(mean, cov, points, reach)
    joint = log_prior + log_likelihood(thetas @ items.T)
    return *moments(thetas, joint), float(np.logaddexp.reduce(joint) - np.logaddexp.reduce(log_prior))


def log_evidence(
    mean: np.ndarray, cov: np.ndarray, items: np.ndarray, kind: str, outcome: Any, w: float, K: float, points: int
) -> float:
    """log p(answer), nats: what every evidence lower bound must stay under."""
    thetas, log_prior = gaussian_grid(mean, cov, points)
    joint = log_prior + likelihoods.log_likelihood_at(kind, thetas, items, outcome, w, K)
    return float(np.logaddexp.reduce(joint) - np.logaddexp.reduce(log_prior))
