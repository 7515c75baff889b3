"""Theorem 1 and the constants of its proof, against definitions and reference values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tellmore.errors import SettingError
from tellmore.sim import theory
from tests.oracles import likelihoods


@pytest.mark.parametrize(
    ("kind", "size", "expected"), [("label", 1, 1184.67), ("select_high", 4, 394.89), ("rank", 4, 171.52)]
)
def test_lower_bound_at_the_papers_dimension(kind: str, size: int, expected: float) -> None:
    n = theory.outcome_count(kind, size)
    assert theory.lower_bound(301, n, 1e-3, M=1.0) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "size"), [("label", 1), ("select_high", 4), ("select_low", 3), ("rank", 2), ("rank", 4)]
)
def test_outcome_count_is_the_number_of_answers(kind: str, size: int) -> None:
    assert theory.outcome_count(kind, size) == len(likelihoods.outcomes(kind, size))


def test_lower_bound_is_the_entropy_argument() -> None:
    """(prior entropy - Gaussian entropy at epsilon) / bits per answer, eqs. 12 and 13."""
    d, epsilon, M = 7, 0.01, 1.3
    at_start, at_stop = d * math.log2(2 * M), d / 2 * math.log2(2 * math.pi * math.e * epsilon)
    expected = (at_start - at_stop) / math.log2(8)
    assert theory.lower_bound(d, 8, epsilon, M) == pytest.approx(expected, rel=1e-12)


def test_the_corrected_upper_bound_exceeds_the_printed_one() -> None:
    constants = theory.lemma_constants(3, 4, K=9, w=12)
    printed = theory.upper_bound_printed(3, 0.4, 0.01)
    corrected = theory.upper_bound_corrected(3, 0.4, 0.01, constants.gamma_bits)
    assert corrected - printed == pytest.approx(1 + constants.gamma_bits / 0.8)
    assert printed == pytest.approx(3 / 0.8 * math.log2(math.e**4 * 9 / (2 * math.sqrt(2) * 5 * 0.01)) - 1)


def test_lemma_constants_as_defined() -> None:
    d, k, K, w, M, power = 2, 3, 1.5, 2.0, 1.2, 1.7
    reach = M * math.sqrt(power * d)
    gamma_1 = math.exp(-K * reach) / (math.exp(-K * reach) + (k - 1) * math.exp(K * reach))
    gamma_2 = 1 / (1 + math.exp(w * reach))
    constants = theory.lemma_constants(d, k, K=K, w=w, M=M, power=power)
    assert constants.log2_gamma_1 == pytest.approx(math.log2(gamma_1), rel=1e-12)
    assert constants.log2_gamma_2 == pytest.approx(math.log2(gamma_2), rel=1e-12)
    assert constants.gamma_l_bits == pytest.approx(math.log2(gamma_1**2 * gamma_2**3), rel=1e-12)
    gamma = 16 * d + d * math.log2(2 * math.pi * math.e * d) - 2 * constants.gamma_l_bits
    assert constants.gamma_bits == pytest.approx(gamma, rel=1e-12)


def test_a_label_has_no_choice_factor() -> None:
    assert theory.lemma_constants(4, 1, K=9, w=3).log2_gamma_1 == 0


@pytest.mark.parametrize("kind", ["label", "select_high", "select_low", "rank"])
def test_no_answer_is_less_likely_than_corollary_b3_says(kind: str) -> None:
    """Worst theta and items on the boundary of their sets; both signs of w for the corrected constant."""
    rng = np.random.default_rng(0)
    d, k, K, w, M = 2, 3 if kind != "label" else 1, 1.1, 1.4, 1.0
    floor = theory.lemma_constants(d, k, K=K, w=w, M=M).gamma_l_bits * math.log(2)
    for _ in range(300):
        theta = rng.choice([-M, M], size=d)
        X = rng.normal(size=(k, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        z = (X @ theta).tolist()
        worst = min(likelihoods.answer_log_probability(kind, z, o, w, K) for o in likelihoods.outcomes(kind, k))
        assert worst >= floor
    assert theory.lemma_constants(d, k, K=K, w=-w) == theory.lemma_constants(d, k, K=K, w=w)


def test_constants_survive_where_probabilities_underflow() -> None:
    constants = theory.lemma_constants(301, 10, K=1000, w=1000)
    assert math.isfinite(constants.gamma_bits)
    assert math.exp2(constants.log2_gamma_1) == 0.0


def test_smallest_gain() -> None:
    assert theory.smallest_gain([0.4, 0.2, 0.3]) == 0.2
    with pytest.raises(SettingError, match="at least one"):
        theory.smallest_gain([])


@pytest.mark.parametrize("bad", [{"d": 0}, {"epsilon": 0.0}, {"M": -1.0}, {"n_outcomes": 1}])
def test_bad_settings_are_named(bad: dict[str, float]) -> None:
    good = {"d": 3, "n_outcomes": 8, "epsilon": 0.1, "M": 1.0}
    with pytest.raises(SettingError):
        theory.lower_bound(**{**good, **bad})
