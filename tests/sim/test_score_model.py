"""Assumption 1: recovering the constants from scores made with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tellmore.sim.score_model import fit_score_model, signed_labels, unit_least_squares


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


GUMBEL = [pytest.param(1.0, id="max"), pytest.param(-1.0, id="min")]


def with_noise(sign: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X [n, 4], the true z [n] and scores 3 z + 0.4 + Gumbel-max (sign 1) or Gumbel-min (-1) noise of scale 0.5 and mean 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    z = X @ np.array([0.6, -0.8, 0.0, 0.0])
    return X, z, 3.0 * z + 0.4 + sign * 0.5 * (rng.gumbel(size=n) - np.euler_gamma)


@pytest.mark.parametrize("sign", GUMBEL)
def test_recovers_every_constant_within_its_standard_error(sign: float) -> None:
    """Over 25 seeds, both extreme-value laws. The norm of theta is 1 with its bias, which shares the level with b.

    So a and K are compared per unit of the weights without the bias, and the level as a theta_0 + b.
    """
    found = []
    for seed in range(25):
        X, _, scores = with_noise(sign, 3000, seed)
        model = fit_score_model(X, scores + 7.0, 7.0)
        weights = model.theta[1:] / np.linalg.norm(model.theta[1:])
        unit = np.linalg.norm(model.theta[1:])
        level = model.a * model.theta[0] + model.b
        found.append([*weights[:2], model.a * unit, level, model.sigma, model.K * unit])
    error = np.std(found, axis=0, ddof=1) / 5
    # The last term: a direction found from 3,000 labels is 1.5 degrees off, which costs a 0.04 %.
    np.testing.assert_array_less(np.abs(np.mean(found, axis=0) - [0.6, -0.8, 3.0, 0.4, 0.5, 6.0]), 3.5 * error + 1e-3)


@pytest.mark.parametrize("sign", GUMBEL)
def test_label_sharpness_under_either_noise(sign: float) -> None:
    """w is the logistic slope that labels have along the classifier found; a plain fit of many more labels gives the same."""
    found = []
    for seed in range(25):
        X, _, scores = with_noise(sign, 3000, seed)
        found.append(fit_score_model(X, scores, 0.4).w)
    _, z, scores = with_noise(sign, 400_000, 99)
    y = np.where(scores > 0.4, 1.0, -1.0)
    reference = minimize_scalar(lambda w: np.logaddexp(0, -w * y * z).mean(), bounds=(0, 100), method="bounded").x
    assert np.mean(found) == pytest.approx(reference, abs=3.5 * np.std(found, ddof=1) / 5 + 0.05)


@pytest.mark.parametrize("sign", GUMBEL)
def test_the_sharpness_found_from_scores_is_that_of_choices(sign: float) -> None:
    """Who takes the highest of three noisy scores (the lowest, under Gumbel-min) chooses by softmax(+-K z), K = a / sigma."""
    X, z, scores = with_noise(sign, 30_000, 3)
    triples, shown = z.reshape(-1, 3), scores.reshape(-1, 3)
    chosen = np.argmax(sign * shown, axis=1)

    def loss(K: float) -> float:
        logits = sign * K * triples
        picked = np.take_along_axis(logits, chosen[:, None], axis=1)[:, 0]
        return float((np.logaddexp.reduce(logits, axis=1) - picked).mean())

    likeliest = minimize_scalar(loss, bounds=(0, 100), method="bounded").x
    information = (loss(likeliest + 0.1) - 2 * loss(likeliest) + loss(likeliest - 0.1)) / 0.01 * len(chosen)
    assert likeliest == pytest.approx(3.0 / 0.5, abs=3.5 / information**0.5)
    # Measured from the level where z is 0, so that theta has no bias and K is that of z.
    assert pytest.approx(likeliest, abs=3.5 / information**0.5) == fit_score_model(X, scores, 0.4).K


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


def test_the_authors_sharpness_leaves_out_peoples_spread_and_takes_minima() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 3)) / np.sqrt(3)
    noise = -rng.gumbel(scale=0.2, size=4000)
    model = fit_score_model(X, 2.0 * X @ np.array([1.0, 0.0, 0.0]) + noise, 0.0, np.full(4000, 3.0))
    assert model.a / model.K_of_means == pytest.approx(0.2, rel=0.05)
    assert model.K_of_means / 5 > model.K
