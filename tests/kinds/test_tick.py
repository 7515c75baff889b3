"""Grids: gains against enumeration and long runs, the update against labels learnt together, answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core.evidence import Behaviour, label_evidence
from tellmore.core.gaussian import Gaussian
from tellmore.core.update import learn
from tellmore.errors import AnswerError
from tellmore.kinds import Perception, Words
from tellmore.kinds.tick import TICK, TickAnswer
from tellmore.questions import Question, check_answer, labels_in
from tests.oracles import cases, elbo, information, likelihoods

BEHAVIOUR = Behaviour(9.0, 6.75)


def moments(k: int, seed: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of k items that share a few directions."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, 8))
    return rng.normal(size=k) * 0.1, A @ A.T * scale / 8 + 1e-4 * np.eye(k)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 24), w=st.floats(0.1, 500))
def test_the_likelihood_is_that_of_k_labels(seed: int, k: int, w: float) -> None:
    rng = np.random.default_rng(seed)
    z, outcome = rng.normal(size=(3, k)), cases.random_outcome("tick", k, rng)
    fast = TICK.log_likelihood(z, outcome, Behaviour(w, 1.0))
    slow = [likelihoods.answer_log_probability("tick", list(row), outcome, w, 1.0) for row in z]
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_samples_of_a_large_grid_are_as_frequent_as_each_label() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=24) * 0.2
    drawn = np.array([TICK.sample(z, BEHAVIOUR, rng) for _ in range(20_000)])
    p = 1 / (1 + np.exp(-9.0 * z))
    np.testing.assert_allclose((drawn > 0).mean(axis=0), p, atol=0.016)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(24)).max() < 0.04, "each by itself"


@pytest.mark.parametrize("k", range(2, 7))
@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0])
def test_the_gain_is_within_one_per_cent_of_enumeration(k: int, scale: float) -> None:
    mean, cov = moments(k, k, scale)
    slow = information.information_gain(mean, cov, "tick", 9.0, 6.75, np.random.default_rng(0), samples=400_000)
    fast = TICK.gain(mean, cov, BEHAVIOUR, rng=np.random.default_rng(1))
    assert fast.bits == pytest.approx(slow, rel=0.01)


@pytest.mark.parametrize(("k", "scale"), [(8, 0.003), (12, 0.03), (24, 0.003)])
def test_the_gain_of_large_grids_is_within_its_stated_error(k: int, scale: float) -> None:
    mean, cov = moments(k, k, scale)
    fast = TICK.gain(mean, cov, BEHAVIOUR, rng=np.random.default_rng(1))
    bits, error = information.long_run(mean, cov, "tick", 9.0, 6.75, outcomes=1500, inner=5_000)
    assert fast.se < 0.1 * fast.bits
    assert fast.bits == pytest.approx(bits, abs=3 * np.hypot(fast.se, error))


@pytest.mark.parametrize("k", [8, 12, 24])
def test_the_bounds_of_large_grids_are_those_of_the_definition(k: int) -> None:
    """log p(o_i | z_j) of all pairs by one matrix product, against a loop over them."""
    z = np.random.default_rng(k).normal(size=(6, k))
    fast = TICK.pairwise(z, BEHAVIOUR, np.random.default_rng(0))
    drawn = np.where(np.random.default_rng(0).random(z.shape) < 1 / (1 + np.exp(-9.0 * z)), 1, -1)
    slow = [
        [likelihoods.answer_log_probability("tick", list(row), tuple(signs), 9.0, 1.0) for row in z] for signs in drawn
    ]
    np.testing.assert_allclose(fast, slow, atol=1e-9)


@pytest.mark.parametrize("k", [2, 12, 24])
def test_the_update_is_k_labels_learnt_together(k: int) -> None:
    rng = np.random.default_rng(k)
    prior, X = Gaussian.from_moments(rng.normal(size=9) * 0.2, np.eye(9) * 0.2), rng.normal(size=(k, 8)) / 3
    outcome = cases.random_outcome("tick", k, rng)
    after, info = TICK.update(prior, X, outcome, BEHAVIOUR)
    labels, _ = learn(prior, X, [label_evidence(np.array(outcome, dtype=float))], BEHAVIOUR)
    np.testing.assert_array_equal(after.mean, labels.mean)
    np.testing.assert_array_equal(after.cov, labels.cov)
    assert len(info.steps) == 1


def test_a_grid_of_two_reaches_the_optimum_of_a_generic_optimiser() -> None:
    """Both labels at once: the best Gaussian under the bound of each, by BFGS over mean and Cholesky factor."""
    case = cases.easy_case("tick", 2, 1, np.random.default_rng(3))
    best = elbo.maximise(case.mean, case.cov, case.items, "tick", case.outcome, case.w, case.K, "centred")
    after, info = TICK.update(
        Gaussian.from_moments(case.mean, case.cov), case.X, case.outcome, Behaviour(case.w, case.K)
    )
    np.testing.assert_allclose(after.mean, best.mean, atol=1e-9)
    np.testing.assert_allclose(after.cov, best.cov, atol=1e-9)
    assert info.elbo_nats == pytest.approx(best.elbo, abs=1e-9)


def test_labels_and_marks_are_what_is_ticked() -> None:
    question, answer = Question("tick", ["a", "b", "c"]), TickAnswer(["c", "a"])
    check_answer(question, answer)
    assert labels_in(question, answer) == {"a": True, "b": False, "c": True}
    assert TICK.marks(answer) == 2
    assert TICK.outcome(question.items, answer) == (1, -1, 1)
    assert TICK.tell(question.items, answer, str, Words()) == "a, c | b"
    assert TICK.tell(question.items, TickAnswer(()), str, Words()) == "none | a, b, c"
    seen = Perception(np.array([1.0, -1.0]), np.array([0, 1]), np.array([True, False]))
    assert TICK.respond(seen) == (1, -1)


@pytest.mark.parametrize(
    ("ticked", "says"),
    [(["d"], "'d' was not shown"), (["a", "a"], "twice"), ("ab", "list of ids"), ([1.5], "by its id")],
)
def test_impossible_ticks_are_refused(ticked: object, says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        check_answer(Question("tick", ["a", "b", "c"]), TickAnswer(ticked))  # type: ignore[arg-type]
