"""Random questions and beliefs, easy and hard, that several tests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import likelihoods

KINDS = ("label", "select_high", "select_low", "rank")


@dataclass(frozen=True)
class Case:
    """A belief (mean [D], cov [D, D]), items X [k, d], and an answer."""

    mean: np.ndarray
    cov: np.ndarray
    X: np.ndarray
    kind: str
    outcome: Any
    w: float
    K: float

    @property
    def items(self) -> np.ndarray:
        """Rows (1, x) [k, D]."""
        return np.column_stack([np.ones(len(self.X)), self.X])


def random_outcome(kind: str, k: int, rng: np.random.Generator) -> Any:
    """One of the possible answers, without listing them all."""
    y = int(rng.choice([-1, 1]))
    if kind == "label":
        return y
    if kind == "rank":
        return tuple(int(i) for i in rng.permutation(k)), int(rng.integers(k + 1))
    if kind == "tick":
        return tuple(int(y) for y in rng.choice([-1, 1], size=k))
    if kind == "least_sure":
        return int(rng.integers(k))
    return int(rng.integers(k)), y


def easy_case(kind: str, k: int, d: int, rng: np.random.Generator) -> Case:
    """Moderate belief and sharpness: every method agrees to rounding."""
    A = rng.normal(size=(d + 1, d + 1))
    cov = A @ A.T / (d + 1) * 0.3 + 1e-3 * np.eye(d + 1)
    outcome = likelihoods.outcomes(kind, k)[rng.integers(len(likelihoods.outcomes(kind, k)))]
    w, K = rng.uniform(0.5, 6, size=2)
    return Case(rng.normal(size=d + 1) * 0.3, cov, rng.normal(size=(k, d)), kind, outcome, float(w), float(K))


def hard_case(rng: np.random.Generator) -> Case:
    """K and w to 1000, duplicate items, spectra over eight decades, beliefs up to three deviations from the answer."""
    kind = str(rng.choice(KINDS, p=[0.1, 0.3, 0.2, 0.4]))
    k = 1 if kind == "label" else int(rng.integers(2, 7))
    D = int(rng.integers(2, 12))
    X = rng.normal(size=(k, D - 1))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    if k > 1 and rng.random() < 0.4:
        X[1] = X[0]
    axes = np.linalg.qr(rng.normal(size=(D, D)))[0]
    spectrum = 10.0 ** rng.uniform(-8, 0, D)
    cov = (axes * spectrum) @ axes.T
    mean = axes @ (np.sqrt(spectrum) * rng.normal(size=D)) * rng.choice([0, 1, 3])
    K, w = 10.0 ** rng.uniform(0, 3, 2)
    return Case(mean, (cov + cov.T) / 2, X, kind, random_outcome(kind, k, rng), float(w), float(K))
