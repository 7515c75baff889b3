"""Averages of the logistic function over a Gaussian, against adaptive quadrature for every spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.integrate import quad

from tellmore.core.logistic_normal import BLOCK, entropy_nats, mean_entropy_nats, mean_sigmoid, quick_mean_sigmoid
from tellmore.core.predict import MANY, probability
from tests.oracles import likelihoods

SPREADS = [0.0, 0.05, 0.5, 0.99, 1.0, 1.7, 5.0, 40.0, 300.0]


def entropy(a: float) -> float:
    p = likelihoods.sigmoid(a)
    return -sum(q * np.log(q) for q in (p, 1 - p) if q > 0)


def average(f: object, m: float, s: float) -> float:
    """E f(m + s e) by adaptive quadrature over the score, split where the logistic turns."""
    if s == 0:
        return float(f(m))  # type: ignore[operator]

    def integrand(a: float) -> float:
        return f(a) * np.exp(-0.5 * ((a - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))  # type: ignore[operator]

    low, high = m - 12 * s, m + 12 * s
    inside = [p for p in (-40.0, -5.0, 0.0, 5.0, 40.0, m) if low < p < high]
    return float(quad(integrand, low, high, points=inside, limit=400)[0])


@pytest.mark.parametrize("s", SPREADS)
@pytest.mark.parametrize("m", [-300.0, -6.0, -0.7, 0.0, 2.0, 30.0])
def test_averages_are_exact(m: float, s: float) -> None:
    assert mean_sigmoid(np.array(m), np.array(s)) == pytest.approx(average(likelihoods.sigmoid, m, s), abs=1e-8)
    assert mean_entropy_nats(np.array(m), np.array(s)) == pytest.approx(average(entropy, m, s), abs=1e-8)


def test_the_quick_average_is_within_5e_6() -> None:
    rng = np.random.default_rng(0)
    n = 2 * BLOCK + 5  # more than one block, and a rest
    m, s = rng.standard_normal(n) * np.exp(rng.uniform(-3, 4, n)), np.exp(rng.uniform(-6, 4, n))
    m[:40], s[:40] = np.linspace(-30, 30, 40), 0.0
    np.testing.assert_allclose(quick_mean_sigmoid(m, s), mean_sigmoid(m, s), rtol=0, atol=5e-6)


def test_few_probabilities_are_exact_and_many_quick() -> None:
    mean, variance = np.linspace(-2, 2, MANY + 1), np.linspace(0, 3, MANY + 1)
    exact = mean_sigmoid(mean, np.sqrt(variance))
    np.testing.assert_array_equal(probability(mean[:MANY], variance[:MANY], 1.0), exact[:MANY])
    assert 0 < np.abs(probability(mean, variance, 1.0) - exact).max() < 5e-6


def test_entropy_is_safe_and_symmetric() -> None:
    x = np.array([-800.0, -3.0, 0.0, 3.0, 800.0])
    values = entropy_nats(x)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values, values[::-1])
    assert values[2] == pytest.approx(np.log(2))


def test_probability_is_averaged_over_the_belief() -> None:
    """Uncertainty pulls a probability towards one half."""
    sure, unsure = probability(np.array([0.2, 0.2]), np.array([0.0, 1.0]), 12.0)
    assert sure == pytest.approx(likelihoods.sigmoid(2.4), abs=1e-9)
    assert 0.5 < unsure < sure


@given(st.floats(-1e4, 1e4), st.floats(0, 1e3))
@example(40.0, 1.0)
def test_a_probability_never_leaves_zero_to_one(m: float, s: float) -> None:
    p = float(mean_sigmoid(np.array([m]), np.array([s]))[0])
    assert 0.0 <= p <= 1.0
