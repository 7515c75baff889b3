"""Assumption 1: recovering the constants from scores made with them."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.score_model import fit_score_model, signed_labels, unit_least_squares


def scored_items(n: int = 20_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    theta = np.array([0.0, 0.6, -0.8, 0.0, 0.0, 0.0])
    z = theta[0] + X @ theta[1:]
    scores = 3.0 * z + 0.5 * (rng.gumbel(size=n) - np.euler_gamma)
    return X, scores, theta


def test_recovers_the_constants_that_made_the_scores() -> None:
    X, scores, theta = scored_items()
    model = fit_score_model(X, scores + 7.0, 7.0)
    assert np.linalg.norm(model.theta) == pytest.approx(1.0)
    assert model.theta @ theta > 0.99
    assert model.a == pytest.approx(3.0, rel=0.03)
    assert model.b == pytest.approx(0.0, abs=0.05)
    assert model.sigma == pytest.approx(0.5, rel=0.05)
    assert pytest.approx(6.0, rel=0.06) == model.K
    assert model.r2 == pytest.approx(1 - np.var(model.residuals) / np.var(scores))


def test_the_spread_between_people_blurs_choices_and_labels() -> None:
    X, scores, _ = scored_items(4000)
    certain = fit_score_model(X, scores, 0.0)
    blurred = fit_score_model(X, scores, 0.0, np.full(len(scores), 2.0))
    assert blurred.K < 0.5 * certain.K
    assert blurred.w < 0.5 * certain.w
    assert blurred.a == certain.a


def test_label_sharpness_is_the_likeliest() -> None:
    """P(y = +1) made as sigmoid(w z) by a logistic spread is recovered as w."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50_000, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    z = X @ np.array([1.0, 0.0])
    scores = z + rng.logistic(scale=1 / 8.0, size=len(z))
    assert fit_score_model(X, scores, 0.0).w == pytest.approx(8.0, rel=0.05)


def test_directions_without_variation_do_not_blow_up_the_classifier() -> None:
    X, scores, theta = scored_items(2000)
    idle = np.column_stack([X, 1e-6 * np.random.default_rng(2).standard_normal((len(X), 3))])
    found = unit_least_squares(idle, signed_labels(scores, 0.0))
    assert np.abs(found[6:]).max() < 1e-3
    assert found[:6] @ theta > 0.95
