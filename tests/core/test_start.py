"""Directions from examples and from scores: against plain Bayesian regression and against scikit-learn's ridge."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tellmore.core.coordinates import Rows
from tellmore.core.frame import Frame, pool_frame
from tellmore.core.start import (
    OF_EXAMPLES,
    OF_SCORES,
    STRENGTHS,
    Bank,
    direction_of_examples,
    direction_of_scores,
    started,
)
from tellmore.pool import Pool


def framed(seed: int, n: int = 300, d: int = 6) -> tuple[Pool, Frame, np.ndarray, np.ndarray]:
    """A pool, its frame, its rows in the frame's coordinates, and their covariance."""
    rng = np.random.default_rng(seed)
    pool = Pool(rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d) + 3)
    frame = pool_frame(pool.moments)
    return pool, frame, frame.coordinates.into(pool.X), frame.coordinates.covariance(pool.moments)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), p=st.integers(0, 4), q=st.integers(0, 4))
def test_examples_are_a_bayesian_regression_with_the_pools_prior(seed: int, p: int, q: int) -> None:
    if p + q == 0:
        return
    _, frame, Z, C = framed(seed)
    rows, sides = Z[: p + q], np.repeat([1.0, -1.0], [p, q])
    theta = direction_of_examples(rows, sides, frame.prior, C)
    # The posterior mean of weights N(0, S) given sides with Gaussian noise: each side has the same precision in all.
    share = np.where(sides > 0, p, q) / (p + q)
    noise = 2 * share if p and q else np.ones(p + q)
    S = frame.prior.cov[1:, 1:]
    weights = np.linalg.solve(np.linalg.inv(S) + (rows.T / noise) @ rows, (rows.T / noise) @ sides)
    np.testing.assert_allclose(theta[1:] / np.linalg.norm(theta[1:]), weights / np.linalg.norm(weights), atol=1e-8)
    assert theta[0] == 0
    assert theta[1:] @ C @ theta[1:] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_a_ridge_regression_with_its_strength_cross_validated(seed: int) -> None:
    """Against the hat matrix of every strength, written out."""
    pool, frame, Z, C = framed(seed)
    rng = np.random.default_rng(seed)
    scores = Z @ rng.normal(size=6) + rng.normal(size=len(Z)) * 0.5 + 2
    missing = rng.random(len(Z)) < 0.2
    theta = direction_of_scores(Rows(pool.X, frame.coordinates), np.where(missing, np.nan, scores), frame.prior, C)
    S, known, y = frame.prior.cov[1:, 1:], Z[~missing], scores[~missing] - scores[~missing].mean()
    errors, found = [], []
    for noise in STRENGTHS:
        weights = S @ known.T @ np.linalg.inv(known @ S @ known.T + noise * np.eye(len(y)))
        hat = known @ weights
        errors.append(len(y) * np.sum((y - hat @ y) ** 2) / (len(y) - np.trace(hat)) ** 2)
        found.append(weights @ y)
    best = found[int(np.argmin(errors))]
    np.testing.assert_allclose(theta[1:] / np.linalg.norm(theta[1:]), best / np.linalg.norm(best), atol=1e-6)


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        (lambda z: (z > 0.8).astype(float), 0.2),  # verdicts
        (lambda z: 1 / (1 + np.exp(0.8 - z)), 0.2),  # probabilities
        (lambda z: z - 0.8, 0.2),  # of both signs
        (lambda z: z + 10, 0.5),  # ratings: above their mean
    ],
)
def test_as_many_are_called_positive_as_the_scores_say(scores, share: float) -> None:
    pool, frame, Z, C = framed(0, n=4000)
    u = Z @ np.array([1, -1, 0.5, 0, 0, 0])
    theta = direction_of_scores(Rows(pool.X, frame.coordinates), scores(u / u.std()), frame.prior, C)
    assert np.mean(theta[0] + Z @ theta[1:] > 0) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("right", [0.7, 0.85])
def test_noisy_verdicts_on_a_rare_class_do_not_call_too_many_positive(right: float) -> None:
    """With 10 % positive items and 70 % right verdicts, 34 % of the verdicts are positive."""
    pool, frame, Z, C = framed(3, n=4000)
    u = Z @ np.array([1, -1, 0.5, 0, 0, 0])
    positive = u > np.quantile(u, 0.9)
    verdicts = np.where(np.random.default_rng(0).random(len(u)) < right, positive, ~positive)
    theta = direction_of_scores(Rows(pool.X, frame.coordinates), verdicts.astype(float), frame.prior, C)
    called = theta[0] + Z @ theta[1:] > 0
    assert 0.02 < called.mean() < 0.2 < verdicts.mean() + 0.02
    assert np.mean(called == positive) > 0.93


def test_the_border_is_the_middle_of_what_scores_call_and_what_is_predicted() -> None:
    """Against least squares along the same direction, and normal quantiles."""
    pool, frame, Z, C = framed(5, n=2000)
    rng = np.random.default_rng(5)
    scores = Z @ rng.normal(size=6) + rng.normal(size=len(Z)) - 1.5
    theta = direction_of_scores(Rows(pool.X, frame.coordinates), scores, frame.prior, C)
    along = Z @ theta[1:]
    # The direction is that of the regression; its length follows from the covariance of scores and predictions.
    predicted = along * (np.cov(along, scores)[0, 1] / np.var(along, ddof=1))
    called = norm.ppf((np.sum(scores > 0) + 0.5) / (len(scores) + 1))
    level = (called + scores.mean() / predicted.std()) / 2
    assert theta[0] / along.std() == pytest.approx(level, rel=0.02)


@pytest.mark.parametrize("bank", [OF_EXAMPLES, OF_SCORES])
def test_the_beliefs_of_a_start_begin_at_it_and_differ_in_how_free_they_are(bank: Bank) -> None:
    _, frame, Z, C = framed(1)
    theta = direction_of_examples(Z[:2], np.array([1.0, -1.0]), frame.prior, C)
    known = frame.beliefs
    mixture = started(known, theta, bank)
    assert mixture.beliefs[:2] == known.beliefs
    assert mixture.started == len(mixture.beliefs) - 2 == len(bank.trusts)
    assert mixture.sharpness == (*known.sharpness, *(trust.sharpness for trust in bank.trusts))
    np.testing.assert_allclose(mixture.weights[:2] / mixture.weights[:2].sum(), known.weights)
    without, with_start = mixture.weights[:2].sum(), mixture.weights[2:]
    found: dict[float, list[tuple[float, float]]] = {}
    for belief, weight, sharpness in zip(mixture.beliefs[2:], with_start, mixture.sharpness[2:], strict=True):
        np.testing.assert_allclose(belief.mean, theta)
        found.setdefault(sharpness, []).append((float(belief.scores(Z)[1].mean()), weight))
    for close, free in (pair for group in found.values() for pair in pairwise(group)):
        assert close[0] < free[0]
        assert close[1] > 1.5 * free[1]  # with equal weights the first answers spoil a right start
    assert 0 < without < with_start[1] / 1.5
    assert found[1.0][-1][0] > frame.prior.scores(Z)[1].mean()
    assert all(sum(weight for _, weight in group) < found[1.0][0][1] for at, group in found.items() if at < 1)


def test_the_beliefs_without_a_start_differ_in_the_bias_and_in_sharpness() -> None:
    _, frame, _, _ = framed(2)
    known = frame.beliefs
    prior, bolder = known.beliefs
    assert prior is frame.prior
    np.testing.assert_allclose(bolder.mean, prior.mean)
    np.testing.assert_allclose(bolder.cov[1:, 1:], prior.cov[1:, 1:])
    assert bolder.cov[0, 0] == pytest.approx(4 * prior.cov[0, 0])
    assert (known.sharpness, known.started, known.asking) == ((1.0, 2.0), 0, 0)
    assert known.weights[0] > known.weights[1]
    for one in (frame.sharpened(3.0, None), frame.sharpened(None, 3.0)):
        assert one.beliefs.beliefs == (frame.prior,)  # people who say how sharp answers are get one belief
