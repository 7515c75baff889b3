"""Vuong's test: a published example, its size and its power, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.errors import InputError
from tellmore.study.vuong import gaussian_loglik, vuong
from tellmore.types import Array


def residuals(y: Array, *columns: Array) -> Array:
    design = np.column_stack([np.ones(len(y)), *columns])
    return np.asarray(y - design @ np.linalg.lstsq(design, y, rcond=None)[0])


def test_published_example() -> None:
    """Greene, Econometric Analysis: US consumption 1950-2000 on income and lagged income, against income and lagged
    consumption; the statistic is given there as -13.604."""
    path = Path(__file__).parent / "us_consumption.csv"
    consumption, income = np.loadtxt(path, delimiter=",", skiprows=1).T
    with_lagged_income = residuals(consumption[1:], income[1:], income[:-1])
    with_lagged_consumption = residuals(consumption[1:], income[1:], consumption[:-1])
    test = vuong(gaussian_loglik(with_lagged_income), gaussian_loglik(with_lagged_consumption))
    assert test.z == pytest.approx(-13.604, abs=0.0005)
    assert test.p < 1e-30
    assert test.n == 203


def statistics(share: float, n: int, repeats: int) -> Array:
    """z of "x1 alone" against "x2 alone" where y = share x1 + (1 - share) x2 + noise."""
    rng = np.random.default_rng(11)
    z = []
    for _ in range(repeats):
        x1, x2, noise = rng.standard_normal((3, n))
        y = share * x1 + (1 - share) * x2 + noise
        z.append(vuong(gaussian_loglik(residuals(y, x1)), gaussian_loglik(residuals(y, x2))).z)
    return np.array(z)


def test_size_under_equally_close_models() -> None:
    z = statistics(0.5, 300, 1500)
    rejected = np.mean(np.abs(z) > 1.96)
    assert 0.03 < rejected < 0.08
    assert abs(np.mean(z)) < 0.1


def test_power_grows_with_the_difference_and_the_data() -> None:
    weak, strong, more = statistics(0.55, 300, 300), statistics(0.7, 300, 300), statistics(0.55, 3000, 300)
    power = [float(np.mean(z > 1.96)) for z in (weak, strong, more)]
    assert power[0] < 0.5 < power[2]
    assert power[1] > 0.9


def test_swapping_the_models_turns_the_sign() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((2, 50))
    test, swapped = vuong(first, second), vuong(second, first)
    assert swapped.z == pytest.approx(-test.z)
    assert swapped.p == pytest.approx(test.p)


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (np.zeros(3), np.zeros(4), "one length"),
        (np.zeros(2), np.zeros(2), "at least 3"),
        (np.ones(9), np.ones(9), "make the same predictions"),
    ],
)
def test_refusals(first: Array, second: Array, says: str) -> None:
    with pytest.raises(InputError, match=says):
        vuong(first, second)
