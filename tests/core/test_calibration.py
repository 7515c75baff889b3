"""The slope on the log odds: against a slow posterior, on labels drawn from a known slope, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from tellmore.core.calibration import SPREAD, SURE, UNCHECKED, calibrated, tempered


def drawn(slope: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and labels whose log odds are ``slope`` times theirs."""
    p = expit(2 * rng.normal(size=n))
    return p, rng.random(n) < expit(slope * logit(p))


def slow(p: np.ndarray, told: np.ndarray) -> float:
    """The most probable slope among 40,001, from the likelihood as it is written."""
    logs = np.linspace(-2, 1, 40_001)
    near = (p + SURE) / (1 + 2 * SURE)
    posterior = -(logs**2) / (2 * SPREAD**2)
    for odds, label in zip(near / (1 - near), told, strict=True):
        raised = odds ** np.exp(logs)
        posterior += np.log(raised / (1 + raised) if label else 1 / (1 + raised))
    return float(np.exp(logs[np.argmax(posterior)]))


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("slope", [0.3, 1.0, 2.5])
def test_the_slope_is_the_most_probable_one(n: int, slope: float) -> None:
    p, told = drawn(slope, n, np.random.default_rng(n))
    found = calibrated(p, told)
    assert found.slope == pytest.approx(slow(p, told), abs=2e-4)
    assert found.low < found.slope < found.high
    assert found.checks == n


def test_the_interval_covers_the_slope_as_often_as_it_says() -> None:
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        slope = float(np.exp(SPREAD * rng.normal()))
        found = calibrated(*drawn(slope, 50, rng))
        covered += found.low <= slope <= found.high
    assert 0.92 < covered / 400 < 0.98


def test_many_labels_find_it_and_none_leave_it_alone() -> None:
    rng = np.random.default_rng(1)
    assert calibrated(*drawn(0.6, 20_000, rng)).slope == pytest.approx(0.6, abs=0.02)
    assert calibrated(np.array([]), np.array([])) == UNCHECKED
    assert UNCHECKED.slope == 1
    assert "no random checks" in str(UNCHECKED)


@pytest.mark.parametrize("told", [True, False])
def test_sure_predictions_right_or_wrong_keep_it_finite(told: bool) -> None:
    found = calibrated(np.ones(100), np.full(100, told))
    assert 0 < found.low < found.slope < found.high < 10
    assert found.slope > 1 if told else found.slope < 0.3


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0.1, 2.7))
def test_order_and_sides_stay(values: list[float], slope: float) -> None:
    p = np.sort(values)
    after = tempered(p, slope)
    assert (np.diff(after) >= 0).all()
    assert ((after >= 0) & (after <= 1)).all()
    assert np.array_equal(after > 0.5, p > 0.5) or np.abs(p - 0.5).min() < 1e-9
    assert tempered(np.array([0.5]), slope)[0] == pytest.approx(0.5, abs=1e-15)
    assert tempered(p, 1.0) is p


def test_odds_are_raised_to_the_power() -> None:
    p = np.array([0.2, 0.9])
    raised = (p / (1 - p)) ** 1.7
    assert tempered(p, 1.7) == pytest.approx(raised / (1 + raised), abs=2e-6)
