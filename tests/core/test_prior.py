"""Beliefs before the first answer."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.core.prior import isotropic_prior, pool_prior, seeded_prior
from tellmore.errors import SettingError


def items(n: int = 60, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.arange(1, d + 1) + 0.5


def test_isotropic_is_the_papers_prior() -> None:
    prior = isotropic_prior(4)
    np.testing.assert_allclose(prior.cov, np.eye(5) / 5)
    assert prior.logdet == pytest.approx(np.linalg.slogdet(prior.cov)[1])
    assert (prior.mean == 0).all()


def test_pool_prior_follows_the_centred_covariance() -> None:
    X = items()
    prior = pool_prior(X, shrinkage=1e-9)
    C = np.cov(X.T, bias=True)
    np.testing.assert_allclose(prior.cov[1:, 1:], C / np.trace(C), atol=1e-8)
    assert np.trace(prior.cov[1:, 1:]) / 5 == pytest.approx(1 / 5)


def test_centring_is_folded_into_the_covariance() -> None:
    """The score at the pool's centre is the bias alone: a small variance, uncorrelated with differences between items."""
    X = items()
    prior = pool_prior(X, bias_variance=0.1)
    centre = np.concatenate([[1.0], X.mean(axis=0)])
    assert centre @ prior.cov @ centre == pytest.approx(0.1 / 5)
    direction = np.concatenate([[0.0], X[0] - X[1]])
    assert centre @ prior.cov @ direction == pytest.approx(0, abs=1e-10)


def test_moving_the_whole_pool_moves_only_the_bias() -> None:
    X = items()
    one, two = pool_prior(X), pool_prior(X + 3.0)
    mean_1, variance_1 = one.scores(X)
    mean_2, variance_2 = two.scores(X + 3.0)
    np.testing.assert_allclose(variance_1, variance_2, atol=1e-10)
    np.testing.assert_allclose(mean_1, mean_2)


def test_gamma_is_a_matrix_power() -> None:
    X = items()
    flat = pool_prior(X, gamma=0.0)
    np.testing.assert_allclose(flat.cov[1:, 1:], np.eye(5) / 5, atol=1e-12)
    half = pool_prior(X, gamma=0.5, shrinkage=1e-9).cov[1:, 1:]
    C = np.cov(X.T, bias=True)
    np.testing.assert_allclose(half @ half / np.trace(half @ half), C / np.trace(C), atol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(4, 20), (2, 3), (30, 30)])
def test_positive_definite_with_fewer_items_than_dimensions(n: int, d: int) -> None:
    X = items(n, d)
    X[1] = X[0] + 1e-9 if n > 2 else X[1]
    prior = pool_prior(X)
    assert np.linalg.eigvalsh(prior.cov).min() > 0
    assert np.isfinite(prior.logdet)


def test_scale_multiplies() -> None:
    X = items()
    np.testing.assert_allclose(pool_prior(X, scale=3.0).cov, 3 * pool_prior(X).cov)
    np.testing.assert_allclose(isotropic_prior(3, scale=2.0).cov, 2 * isotropic_prior(3).cov)


def test_seeds_give_a_mean_that_tells_them_apart() -> None:
    X = items()
    prior = seeded_prior(pool_prior(X), X[:3], X[3:6], Behaviour(w=3.0))
    mean, _ = prior.scores(X)
    assert mean[:3].mean() > 0 > mean[3:6].mean()
    np.testing.assert_array_equal(seeded_prior(pool_prior(X), X[:0], X[:0], Behaviour()).mean, np.zeros(6))


def test_refuses_what_cannot_be_a_prior() -> None:
    with pytest.raises(SettingError, match="same embedding"):
        pool_prior(np.ones((5, 3)))
    for shrinkage in (0.0, -1.0, 1.5):
        with pytest.raises(SettingError, match="shrinkage"):
            pool_prior(items(), shrinkage=shrinkage)
