"""Answers that may be chance: the mixture on a grid, its moments written out, and how far any answer can move a belief."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import Rule, UpdateInfo
from tellmore.kinds import named
from tests.oracles import cases, grid, likelihoods

LAPSE, NEVER = 0.2, 1e-300
SIZES = [("label", 1), ("select_high", 3), ("select_low", 2), ("rank", 3), ("tick", 3)]


def told(case: cases.Case, lapse: float, bound: Rule = "centred") -> tuple[Gaussian, Gaussian, UpdateInfo]:
    """The belief before and after."""
    prior, behaviour = Gaussian.from_moments(case.mean, case.cov), Behaviour(case.w, case.K, lapse=lapse)
    return prior, *named(case.kind).update(prior, case.X, case.outcome, behaviour, bound=bound)


@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_moments_are_those_of_the_mixture_on_a_grid(kind: str, k: int) -> None:
    """In two dimensions: prior times ((1 - lapse) P(answer | scores) + lapse P(answer | all scores 0)), summed."""
    case = cases.easy_case(kind, k, 1, np.random.default_rng(k))

    def log_likelihood(thetas: np.ndarray) -> np.ndarray:
        return likelihoods.consistent_log_likelihood_at(kind, thetas, case.items, case.outcome, case.w, case.K)

    chance = float(log_likelihood(np.zeros((1, 2)))[0])
    thetas, log_prior = grid.gaussian_grid(case.mean, case.cov, 201, reach=7.0)
    joint = log_prior + np.logaddexp(log(1 - LAPSE) + log_likelihood(thetas), log(LAPSE) + chance)
    mean, cov = grid.moments(thetas, joint)
    _, after, info = told(case, LAPSE, "moments")
    np.testing.assert_allclose(after.mean, mean, atol=0.01)
    np.testing.assert_allclose(after.cov, cov, atol=0.01)
    assert info.elbo_nats == pytest.approx(float(np.logaddexp.reduce(joint) - np.logaddexp.reduce(log_prior)), abs=0.01)


@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_step_and_determinant_are_those_of_two_beliefs_mixed(kind: str, k: int) -> None:
    case = cases.easy_case(kind, k, 5, np.random.default_rng(10 + k))
    prior, after, info = told(case, LAPSE)
    _, learnt, _ = told(case, NEVER)
    chance = likelihoods.consistent_log_likelihood_at(kind, np.zeros((1, 6)), case.items, case.outcome, case.w, case.K)[
        0
    ]
    evidence = np.exp(info.elbo_nats) - LAPSE * np.exp(chance)
    r, apart = evidence / np.exp(info.elbo_nats), learnt.mean - prior.mean
    assert info.meant == pytest.approx(r)
    assert np.log(evidence / (1 - LAPSE)) == pytest.approx(lower_bound(case, learnt), abs=0.02)
    np.testing.assert_allclose(after.mean, r * learnt.mean + (1 - r) * prior.mean, atol=1e-10)
    mixed = r * learnt.cov + (1 - r) * prior.cov + r * (1 - r) * np.outer(apart, apart)
    np.testing.assert_allclose(after.cov, mixed, atol=1e-10)
    assert after.logdet == pytest.approx(np.linalg.slogdet(mixed)[1])
    (step,) = info.steps
    np.testing.assert_allclose(prior.cov - step.loss, after.cov, atol=1e-10)
    np.testing.assert_allclose(prior.mean + step.move, after.mean)


def lower_bound(case: cases.Case, learnt: Gaussian) -> float:
    """E[log P(answer | scores)] under a belief, from many draws, less its divergence from the one before."""
    draws = learnt.sample(100_000, np.random.default_rng(0))
    log_likelihood = likelihoods.consistent_log_likelihood_at(
        case.kind, draws, case.items, case.outcome, case.w, case.K
    ).mean()
    inverse, apart = np.linalg.inv(case.cov), learnt.mean - case.mean
    ratio = inverse @ learnt.cov
    divergence = (np.trace(ratio) - len(ratio) - np.linalg.slogdet(ratio)[1] + apart @ inverse @ apart) / 2
    return float(log_likelihood - divergence)


@given(st.integers(0, 2**32), st.floats(1e-6, 0.5), st.floats(0.0, 30.0), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_answer_moves_the_mean_far(seed: int, lapse: float, sureness: float, sharp: bool) -> None:
    """However sharp the answer, and however sure the belief was of the opposite."""
    rng = np.random.default_rng(seed)
    kind, k = SIZES[seed % len(SIZES)]
    case = cases.easy_case(kind, k, 3, rng)
    case = replace(case, mean=sureness * case.mean, w=case.w * (100 if sharp else 1), K=case.K * (100 if sharp else 1))
    prior, after, info = told(case, lapse)
    chance = likelihoods.consistent_log_likelihood_at(kind, np.zeros((1, 4)), case.items, case.outcome, case.w, case.K)[
        0
    ]
    assert 0 <= info.meant <= 1
    moved = after.mean - prior.mean
    deviations = sqrt(float(moved @ np.linalg.solve(prior.cov, moved)))
    assert deviations <= sqrt(2 * max(log((1 - lapse) / lapse) - chance, 0.5)) + 1e-6
    assert np.linalg.eigvalsh(after.cov)[0] > 0
    assert after.logdet == pytest.approx(np.linalg.slogdet(after.cov)[1], abs=1e-3)


def test_without_lapses_an_answer_can_move_it_as_far_as_one_likes() -> None:
    """What the bound above is good for: a sharp label against a belief that is 30 deviations sure of the opposite."""
    case = cases.Case(np.array([0.0, 30.0]), np.eye(2), np.array([[1.0]]), "label", -1, 500.0, 1.0)
    moved = {lapse: float(np.linalg.norm(told(case, lapse)[1].mean - case.mean)) for lapse in (0.0, 0.05)}
    assert moved[0.0] > 20
    assert moved[0.05] < 1e-6


def test_the_papers_bound_and_single_factors_allow_for_none() -> None:
    case = cases.easy_case("rank", 3, 4, np.random.default_rng(3))
    prior = Gaussian.from_moments(case.mean, case.cov)
    for options in ({"bound": "paper"}, {"joint": False}):
        usual, lapsing = (
            named("rank").update(prior, case.X, case.outcome, Behaviour(case.w, case.K, lapse=lapse), **options)[0]
            for lapse in (0.0, 0.3)
        )
        np.testing.assert_array_equal(usual.cov, lapsing.cov)
