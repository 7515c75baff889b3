"""The belief: marginals, sampling, low-rank conditioning and the log-determinant tracked along."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from tellmore.core.evidence import Behaviour, label_evidence
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import learn
from tellmore.errors import NumericalError
from tellmore.kinds import named
from tests.oracles.plain import prior_of


def random_belief(D: int, seed: int) -> Gaussian:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(D, D))
    return Gaussian.from_moments(rng.normal(size=D), A @ A.T + 0.1 * np.eye(D))


def test_marginals_are_those_of_the_full_gaussian() -> None:
    belief = random_belief(4, 0)
    X = np.random.default_rng(1).normal(size=(6, 3))
    items = np.column_stack([np.ones(6), X])
    mean, variance = belief.scores(X)
    np.testing.assert_allclose(mean, items @ belief.mean, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(items @ belief.cov @ items.T), atol=1e-12)


def test_samples_have_the_moments() -> None:
    belief = random_belief(3, 2)
    draws = belief.sample(200_000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(axis=0), belief.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), belief.cov, atol=0.06)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 5))
def test_conditioning_is_bayes_rule_in_precision_form(seed: int, k: int) -> None:
    belief, rng = random_belief(4, seed), np.random.default_rng(seed)
    A = rng.normal(size=(k, 4))
    root = rng.normal(size=(k, k))
    precision, shift = root @ root.T, rng.normal(size=k)
    _, gram, reach = belief.project(A)
    after, step = belief.conditioned(reach, gram, precision, shift)
    np.testing.assert_allclose(
        np.linalg.inv(after.cov), np.linalg.inv(belief.cov) + A.T @ precision @ A, rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(after.mean, belief.mean + belief.cov @ A.T @ shift, atol=1e-10)
    assert after.logdet == pytest.approx(np.linalg.slogdet(after.cov)[1], abs=1e-7)
    np.testing.assert_array_equal(after.cov, after.cov.T)
    np.testing.assert_allclose(belief.cov - step.loss, after.cov, atol=1e-12)
    np.testing.assert_allclose(belief.mean + step.move, after.mean, atol=1e-12)


def test_logdet_is_that_of_the_density() -> None:
    belief = random_belief(3, 5)
    peak = multivariate_normal(belief.mean, belief.cov).logpdf(belief.mean)
    assert belief.logdet == pytest.approx(-2 * peak - 3 * np.log(2 * np.pi))


@pytest.mark.parametrize(
    ("mean", "cov"), [(np.zeros(2), np.diag([1.0, 0.0])), (np.zeros(2), np.diag([1.0, -1.0])), (np.zeros(3), np.eye(2))]
)
def test_refuses_what_is_no_covariance(mean: np.ndarray, cov: np.ndarray) -> None:
    with pytest.raises(NumericalError):
        Gaussian.from_moments(mean, cov)


@pytest.mark.parametrize(
    ("n", "answers"),
    [(20, 20_000), pytest.param(200, 100_000, marks=pytest.mark.slow)],
)
def test_covariance_stays_positive_definite_after_100_000_answers(n: int, answers: int) -> None:
    """d = 32, updates of all kinds, copies in the pool, also n < d: the eigenvalues only fall, and none below zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 32))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[1] = X[0]
    belief = prior_of(X)
    truth = belief.sample(1, rng)[0]
    z = truth[0] + X @ truth[1:]
    questions = [("label", 1)] * 6 + [("select_high", 3)] * 2 + [("select_low", 3), ("rank", 3)]
    for step in range(answers):
        kind, k = questions[step % len(questions)]
        rows = rng.choice(n, size=k, replace=False)
        outcome = named(kind).sample(z[rows], Behaviour(), rng)
        belief, _ = named(kind).update(belief, X[rows], outcome, Behaviour())
        if step == answers // 100:
            early = np.linalg.eigvalsh(belief.cov)
    late = np.linalg.eigvalsh(belief.cov)
    np.testing.assert_array_equal(belief.cov, belief.cov.T)
    assert late.min() > 0
    assert (late <= early * (1 + 1e-9)).all()
    assert belief.logdet == pytest.approx(np.linalg.slogdet(belief.cov)[1], abs=1e-6)


@pytest.mark.parametrize("kind", ["select_high", "rank"])
def test_fewer_items_than_dimensions_and_duplicates(kind: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 20))
    X[3] = X[2]
    belief = prior_of(X)
    for _ in range(200):
        rows = rng.choice(6, size=3, replace=False)
        outcome = (int(rng.integers(3)), 1) if kind == "select_high" else (tuple(map(int, rng.permutation(3))), 2)
        belief, _ = named(kind).update(belief, X[rows], outcome, Behaviour())
    assert np.linalg.eigvalsh(belief.cov).min() > 0
    assert belief.logdet == pytest.approx(np.linalg.slogdet(belief.cov)[1], abs=1e-6)


def test_evidence_on_a_single_label_equals_the_update() -> None:
    belief = random_belief(3, 7)
    x = np.array([[0.3, -0.4]])
    by_kind, _ = named("label").update(belief, x, 1, Behaviour())
    by_part, _ = learn(belief, x, [label_evidence(np.ones(1))], Behaviour())
    np.testing.assert_array_equal(by_kind.mean, by_part.mean)
