"""Black-box variational inference reaches the optimum that the closed form approximates, at d = 20."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.errors import NumericalError, SettingError
from tellmore.kinds import named
from tellmore.sim.bbvi import black_box_posterior
from tests.oracles import mcmc

D, W, K = 20, 12.0, 9.0


def problem(seed: int = 0) -> tuple[Gaussian, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(D, D))
    cov = A @ A.T / D**2 + 0.02 * np.eye(D)
    X = rng.normal(size=(4, D - 1))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Gaussian.from_moments(np.zeros(D), cov / np.trace(cov)), X, np.column_stack([np.ones(4), X])


def log_likelihood(z: np.ndarray) -> np.ndarray:
    """The second of four items is chosen as the highest and labelled positive."""
    return np.asarray(K * z[:, 1] - np.logaddexp.reduce(K * z, axis=1) + log_expit(W * z[:, 1]))


def true_elbo(belief: Gaussian, prior: Gaussian, items: np.ndarray) -> float:
    """-KL + E log p(answer), the expectation by 200,000 draws of the four scores."""
    gap = belief.mean - prior.mean
    ratio = np.linalg.solve(prior.cov, belief.cov)
    divergence = 0.5 * (np.trace(ratio) - D - np.linalg.slogdet(ratio)[1] + gap @ np.linalg.solve(prior.cov, gap))
    scores = np.random.default_rng(9).multivariate_normal(
        items @ belief.mean, items @ belief.cov @ items.T, size=200_000, method="cholesky"
    )
    return float(log_likelihood(scores).mean() - divergence)


def test_converges_at_20_dimensions_against_the_closed_form() -> None:
    prior, X, items = problem()
    closed, _ = named("select_high").update(prior, X, (1, 1), Behaviour(W, K))
    found = black_box_posterior(prior, X, log_likelihood, rng=np.random.default_rng(1), iterations=2000)
    by_sampling, by_formula = true_elbo(found, prior, items), true_elbo(closed, prior, items)
    assert by_formula == pytest.approx(by_sampling, abs=0.15)
    assert by_sampling >= by_formula - 0.005, "it maximises the ELBO itself, the closed form a lower bound of it"
    root = np.linalg.cholesky(prior.cov)
    assert np.linalg.norm(np.linalg.solve(root, found.mean - closed.mean)) < 0.15
    assert found.logdet == pytest.approx(np.linalg.slogdet(found.cov)[1], abs=1e-8)


def test_finds_the_moments_of_the_posterior() -> None:
    prior, X, items = problem(1)
    found = black_box_posterior(prior, X, log_likelihood, rng=np.random.default_rng(2), iterations=1500)
    gram = items @ prior.cov @ items.T
    rng = np.random.default_rng(3)
    chain = mcmc.elliptical_slice(np.zeros(4), gram, lambda z: float(log_likelihood(z[None])[0]), 6000, rng)[500:]
    spread = chain.std(axis=0)
    np.testing.assert_allclose(items @ found.mean / spread, chain.mean(axis=0) / spread, atol=0.12)
    np.testing.assert_allclose(np.sqrt(np.diag(items @ found.cov @ items.T)) / spread, 1, atol=0.12)


def test_without_evidence_the_prior_stays() -> None:
    prior, X, _ = problem()
    found = black_box_posterior(prior, X, lambda z: np.zeros(len(z)), rng=np.random.default_rng(0), iterations=400)
    np.testing.assert_allclose(found.mean, prior.mean, atol=0.02)
    assert found.logdet == pytest.approx(prior.logdet, abs=0.1)


def test_the_same_seed_gives_the_same_belief() -> None:
    prior, X, _ = problem()
    one, two = (
        black_box_posterior(prior, X, log_likelihood, rng=np.random.default_rng(5), iterations=50) for _ in range(2)
    )
    np.testing.assert_array_equal(one.mean, two.mean)


def test_says_when_it_diverges_or_is_set_wrongly() -> None:
    prior, X, _ = problem()
    with pytest.raises(NumericalError, match="lower `rate`"):
        black_box_posterior(prior, X, lambda z: np.full(len(z), np.nan), rng=np.random.default_rng(0))
    with pytest.raises(SettingError, match="samples >= 8"):
        black_box_posterior(prior, X, log_likelihood, rng=np.random.default_rng(0), samples=2)
