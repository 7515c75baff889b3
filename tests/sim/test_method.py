"""The laboratory's learner: the paper's statistics, whole or in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import tellmore as tm
from tellmore.core.gaussian import Gaussian
from tellmore.errors import SettingError
from tellmore.kinds import named
from tellmore.sim.method import METHODS, PARTS, Method, MethodLearner
from tests.test_learner import POOL, make_pool, teach


def test_all_parts_are_the_papers_statistics() -> None:
    learner = MethodLearner(POOL, "rank", 3, method=Method.paper(scale=1.0), seed=3)
    assert np.linalg.norm(learner.posterior.mean) == pytest.approx(1)
    np.testing.assert_allclose(learner.posterior.cov, np.eye(6) / 6)
    assert (learner.bound, learner.asking) == ("paper", learner.behaviour)
    teach(learner, 3)
    assert np.linalg.norm(learner.posterior.mean) == pytest.approx(1)
    np.testing.assert_allclose(learner.scores()[0], learner.posterior.scores(POOL.X)[0], atol=1e-5)
    other = MethodLearner(POOL, "rank", 3, method=Method.paper(), seed=4)
    assert not np.allclose(other.posterior.mean, MethodLearner(POOL, method=Method.paper(), seed=3).posterior.mean)


def test_without_parts_it_is_the_learner() -> None:
    same, plain = MethodLearner(POOL, "rank", 3, method=Method(), seed=1), tm.Learner(POOL, "rank", 3, seed=1)
    assert teach(same, 4) == teach(plain, 4)
    np.testing.assert_array_equal(same.posterior.mean, plain.posterior.mean)


@pytest.mark.parametrize("part", [part for part in PARTS if part != "sharpness"])
def test_every_part_alone_changes_something(part: str) -> None:
    pool = make_pool(60, 8)

    def state(method: Method) -> tuple[bytes, object]:
        acquisition = "particles" if part == "particles" else "greedy"
        learner = MethodLearner(pool, "rank", 4, method=method, seed=5, acquisition=acquisition)
        question = tm.Question("rank", pool.ids[:4])
        learner.tell(question, tm.RankAnswer(pool.ids[:4], 1))
        return learner.posterior.mean.tobytes(), learner.ask().items

    assert state(Method(frozenset({part}))) != state(Method())


def test_options_of_the_prior_are_heard_and_unknown_parts_refused() -> None:
    wide = MethodLearner(POOL, method=Method(prior_options={"bias_sd": 1.0}))
    assert wide.posterior.logdet > tm.Learner(POOL).posterior.logdet
    with pytest.raises(SettingError, match="parts must be one of prior"):
        Method(frozenset({"speed"}))


def test_copies_and_undo_keep_the_method(tmp_path: Path) -> None:
    learner = MethodLearner(POOL, "rank", 3, method=Method.paper(), seed=3)
    teach(learner, 2)
    before = learner.posterior.mean.copy()
    twin = learner.copy()
    teach(twin, 1)
    twin.undo()
    np.testing.assert_array_equal(twin.posterior.mean, before)
    assert np.linalg.norm(twin.posterior.mean) == pytest.approx(1)


def test_an_unknown_option_of_the_prior_is_named() -> None:
    with pytest.raises(SettingError, match="prior_options must be one of gamma, scale, bias_sd, shrinkage, not 'gama'"):
        Method(prior_options={"gama": 1.0})


def test_paper_mode_chooses_labels_by_information_alone() -> None:
    pool = make_pool(80, 5)
    learner = MethodLearner(pool, "label", method=Method.paper(), exclude_last=0)
    for number in range(12):
        expected = (
            named("label")
            .search(learner.scan, learner.belief, 1, learner.behaviour, rng=np.random.default_rng(number))
            .bits
        )
        question = learner.ask()
        assert learner.information_gain(question) == pytest.approx(expected[0], rel=0.02)
        learner.tell(question, tm.LabelAnswer(False))


def test_as_printed_adds_nothing_to_the_algorithms() -> None:
    """A zero mean that no step scales: exactly what the update of one factor after another gives, under the paper's bound."""
    learner = MethodLearner(POOL, "rank", 3, method=METHODS["as-printed"], seed=3)
    np.testing.assert_array_equal(learner.posterior.mean, np.zeros(6))
    np.testing.assert_allclose(learner.posterior.cov, 2 * np.eye(6) / 6)
    order = POOL.ids[:3]
    learner.tell(tm.Question("rank", order), tm.RankAnswer(order, 1))
    belief = Gaussian.from_moments(np.zeros(6), 2 * np.eye(6) / 6)
    A = np.column_stack([np.ones(3), np.asarray(POOL.X[:3], dtype=float)])
    for label, choice in ((0, [0, 1, 2]), (1, [1, 2]), (2, [])):
        belief = one_label(belief, learner.behaviour.w * A[label], 1 if label == 0 else -1)
        if choice:
            belief = one_choice(belief, learner.behaviour.K * A, label, choice)
    np.testing.assert_allclose(learner.posterior.mean, belief.mean, atol=1e-5)
    np.testing.assert_allclose(learner.posterior.cov, belief.cov, atol=1e-5)


def test_as_authors_renormalises_after_every_label_and_choice_labels_first() -> None:
    method = Method(METHODS["as-authors"].parts, {"scale": 1.0})
    learner = MethodLearner(POOL, "rank", 3, method=method, seed=3)
    belief = Gaussian.from_moments(learner.posterior.mean, learner.posterior.cov)
    assert np.linalg.norm(belief.mean) == pytest.approx(1)
    order = POOL.ids[:3]
    learner.tell(tm.Question("rank", order), tm.RankAnswer(order, 1))
    A = np.column_stack([np.ones(3), np.asarray(POOL.X[:3], dtype=float)])
    for row, y in ((0, 1), (1, -1), (2, -1)):
        belief = unit(one_label(belief, learner.behaviour.w * A[row], y))
    for row, among in ((0, [0, 1, 2]), (1, [1, 2])):
        belief = unit(one_choice(belief, learner.behaviour.K * A, row, among))
    np.testing.assert_allclose(learner.posterior.mean, belief.mean, atol=1e-5)
    np.testing.assert_allclose(learner.posterior.cov, belief.cov, atol=1e-5)


def unit(belief: Gaussian) -> Gaussian:
    return belief.with_mean(belief.mean / np.linalg.norm(belief.mean))


def one_label(belief: Gaussian, x: np.ndarray, y: int) -> Gaussian:
    """Algorithm 1 to the letter: Jaakkola and Jordan's bound at its own best xi, iterated until nothing moves."""
    inverse = np.linalg.inv(belief.cov)
    xi = np.sqrt(x @ belief.cov @ x + (x @ belief.mean) ** 2)
    for _ in range(500):
        cov = np.linalg.inv(inverse + np.tanh(xi / 2) / (2 * xi) * np.outer(x, x))
        mean = cov @ (inverse @ belief.mean + y / 2 * x)
        xi = np.sqrt(x @ cov @ x + (x @ mean) ** 2)
    return Gaussian.from_moments(mean, cov)


def one_choice(belief: Gaussian, A: np.ndarray, chosen: int, among: list[int]) -> Gaussian:
    """The paper's bound of one choice, maximised over mean and Cholesky factor by a general optimiser."""
    D, rows = len(belief.mean), A[among]
    inverse, lower = np.linalg.inv(belief.cov), np.tril_indices(D)

    def loss(packed: np.ndarray) -> float:
        mean, L = packed[:D], np.zeros((D, D))
        L[lower] = packed[D:]
        gap = mean - belief.mean
        bound = A[chosen] @ mean - logsumexp(rows @ mean + 0.5 * ((rows @ L) ** 2).sum(axis=1))
        divergence = 0.5 * (gap @ inverse @ gap + np.sum(L * (inverse @ L))) - np.log(np.abs(np.diag(L))).sum()
        return float(divergence - bound)

    start = np.concatenate([belief.mean, np.linalg.cholesky(belief.cov)[lower]])
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000}).x
    L = np.zeros((D, D))
    L[lower] = found[D:]
    return Gaussian.from_moments(found[:D], L @ L.T)
