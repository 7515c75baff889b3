"""Posterior moments by elliptical slice sampling (Murray, Adams and MacKay 2010), exact in the limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import likelihoods


def elliptical_slice(
    mean: np.ndarray, cov: np.ndarray, log_likelihood: Any, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Chain [draws, D] with prior N(mean, cov) and any log-likelihood of theta."""
    factor = np.linalg.cholesky(cov)
    state = np.zeros(len(mean))
    current = log_likelihood(mean + state)
    chain = np.empty((draws, len(mean)))
    for step in range(draws):
        direction = factor @ rng.standard_normal(len(mean))
        level = current + np.log(rng.uniform())
        angle = rng.uniform(0, 2 * np.pi)
        low, high = angle - 2 * np.pi, angle
        while True:
            proposal = state * np.cos(angle) + direction * np.sin(angle)
            proposed = log_likelihood(mean + proposal)
            if proposed > level:
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = rng.uniform(low, high)
        state, current = proposal, proposed
        chain[step] = mean + state
    return chain


def posterior_chain(
    mean: np.ndarray,
    cov: np.ndarray,
    answers: list[tuple[np.ndarray, str, Any]],
    w: float,
    K: float,
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Chain after several answers, each (items [k, D] with the constant column, kind, outcome)."""

    def log_likelihood(theta: np.ndarray) -> float:
        return sum(
            likelihoods.update_log_likelihood(kind, (items @ theta).tolist(), outcome, w, K)
            for items, kind, outcome in answers
        )

    return elliptical_slice(mean, cov, log_likelihood, draws, rng)
