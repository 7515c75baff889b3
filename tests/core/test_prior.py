"""Beliefs before the first answer."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.core.prior import BIAS_SD, classic_prior, paper_prior, pool_prior, seeded_prior, usual_sharpness
from tellmore.errors import SettingError


def items(n: int = 60, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)) * np.arange(1, d + 1)
    return Z - Z.mean(axis=0)


def covariance(Z: np.ndarray) -> np.ndarray:
    return Z.T @ Z / len(Z)


def test_the_papers_prior() -> None:
    prior = paper_prior(4)
    np.testing.assert_allclose(prior.cov, np.eye(5) / 5)
    assert prior.logdet == pytest.approx(np.linalg.slogdet(prior.cov)[1])
    assert (prior.mean == 0).all()


def test_pool_prior_follows_the_covariance() -> None:
    C = covariance(items())
    weights = pool_prior(C, shrinkage=1e-9).cov[1:, 1:]
    np.testing.assert_allclose(weights / np.trace(weights), C / np.trace(C), atol=1e-8)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_the_mean_variance_of_a_score_is_one_but_for_the_bias(gamma: float) -> None:
    Z = items()
    prior = pool_prior(covariance(Z), gamma=gamma)
    variances = [np.r_[1.0, z] @ prior.cov @ np.r_[1.0, z] for z in Z]
    assert np.mean(variances) == pytest.approx(1 + BIAS_SD**2)


def test_gamma_is_a_matrix_power() -> None:
    C = covariance(items())
    flat = pool_prior(C, gamma=0.0).cov[1:, 1:]
    np.testing.assert_allclose(flat / flat[0, 0], np.eye(5), atol=1e-12)
    half = pool_prior(C, gamma=0.5, shrinkage=1e-9).cov[1:, 1:]
    np.testing.assert_allclose(half @ half / np.trace(half @ half), C / np.trace(C), atol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(4, 20), (2, 3), (30, 30)])
def test_positive_definite_with_fewer_items_than_dimensions(n: int, d: int) -> None:
    Z = items(n, d)
    Z[1] = Z[0] + 1e-9 if n > 2 else Z[1]
    prior = pool_prior(covariance(Z))
    assert np.linalg.eigvalsh(prior.cov).min() > 0
    assert np.isfinite(prior.logdet)


def test_options_of_the_prior() -> None:
    C = covariance(items())
    np.testing.assert_allclose(pool_prior(C, scale=3.0).cov[1:], 3 * pool_prior(C).cov[1:])
    assert pool_prior(C, bias_sd=0.7).cov[0, 0] == pytest.approx(0.49)
    np.testing.assert_allclose(paper_prior(3, scale=2.0).cov, 2 * paper_prior(3).cov)
    for shrinkage in (0.0, -1.0, 1.5):
        with pytest.raises(SettingError, match="shrinkage"):
            pool_prior(C, shrinkage=shrinkage)


def test_the_prior_of_the_first_version_has_weights_of_norm_one() -> None:
    C = covariance(items())
    prior = classic_prior(C)
    assert np.trace(prior.cov[1:, 1:]) == pytest.approx(1.0)
    assert prior.cov[0, 0] == pytest.approx(0.03 / 5)


def test_sharpness_falls_with_the_directions_that_a_pool_varies_in() -> None:
    """d equal directions count d, one that dwarfs the others counts one."""
    assert usual_sharpness(np.eye(81)).w == pytest.approx(usual_sharpness(np.eye(1)).w / 9)
    lopsided = np.diag([1.0, *np.full(80, 1e-9)])
    assert usual_sharpness(lopsided).w == pytest.approx(usual_sharpness(np.eye(1)).w, rel=1e-6)
    assert usual_sharpness(np.eye(4), 4.0).w == pytest.approx(usual_sharpness(np.eye(4)).w / 2)


def test_seeds_give_a_mean_that_tells_them_apart() -> None:
    Z = items()
    prior = seeded_prior(pool_prior(covariance(Z)), Z[:3], Z[3:6], Behaviour(w=3.0))
    mean, _ = prior.scores(Z)
    assert mean[:3].mean() > 0 > mean[3:6].mean()
    np.testing.assert_array_equal(seeded_prior(pool_prior(covariance(Z)), Z[:0], Z[:0], Behaviour()).mean, np.zeros(6))
