"""The learner on unusual data: embeddings of any scale, origin and units, rare classes, odd pools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine

import tellmore as tm
from tellmore.errors import PoolError, SettingError
from tellmore.kinds import perceived
from tellmore.questions import answer_from

KINDS = ["label", "select", "rank", "tick"]


def items(n: int = 120, d: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def answered(learner: tm.Learner, score: np.ndarray, answers: int) -> list[tuple[str, ...]]:
    """Ask and answer by ``score``; returns the items of every question."""
    asked = []
    for number in range(answers):
        question = learner.ask()
        z = score[learner.pool.rows(question.items)]
        learner.tell(question, answer_from(question, perceived(z, np.random.default_rng(number))))
        asked.append(question.items)
    return asked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("factor", "shift"), [(100.0, 30.0), (1e-3, 0.0), (1.0, -500.0), (2e4, 1e6)])
def test_scale_and_origin_change_nothing(kind: str, factor: float, shift: float) -> None:
    """The same questions and probabilities, but for what float32 loses in a pool that lies far from the origin."""
    X = items().astype(np.float32).astype(float)
    score = X[:, 0] - X[:, 1]
    here, there = (tm.Learner(tm.Pool(each), kind, seed=3) for each in (X, factor * X + shift))
    assert answered(here, score, 8) == answered(there, score, 8)
    np.testing.assert_allclose(there.probabilities(), here.probabilities(), atol=2e-3)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), log_factor=st.floats(-6, 6), lengths=st.floats(0, 30))
def test_probabilities_are_those_of_any_scale_and_origin(seed: int, log_factor: float, lengths: float) -> None:
    X = items(60, 5, seed)
    shift = lengths * np.abs(X).max()
    other = 10**log_factor * (X + shift)
    here, there = (tm.Learner(tm.Pool(each)) for each in (X, other))
    for row in range(0, 24, 4):
        question = tm.Question("rank", [str(row + k) for k in range(4)], id=str(row))
        answer = tm.RankAnswer(question.items, 2)
        here.tell(question, answer)
        there.tell(question, answer)
    np.testing.assert_allclose(there.probabilities(), here.probabilities(), atol=2e-3)
    np.testing.assert_allclose(there.predict_proba(other)[:, 1], there.probabilities(), atol=2e-3)
    assert there.w == pytest.approx(here.w, rel=1e-3)


def test_units_of_columns_change_nothing_where_they_differ() -> None:
    X = items(300, 6) * np.array([1, 1, 1, 1, 1, 200])
    other = X * np.array([1000, 1, 1, 0.01, 1, 1])
    score = X[:, 0]
    here, there = (tm.Learner(tm.Pool(each), "rank") for each in (X, other))
    assert here.coordinates.standardised
    assert there.coordinates.standardised
    assert answered(here, score, 6) == answered(there, score, 6)
    np.testing.assert_allclose(there.probabilities(), here.probabilities(), atol=2e-3)


def test_what_is_seen_of_the_belief_is_in_the_users_coordinates() -> None:
    X = 7 * items() + 40
    learner = tm.Learner(tm.Pool(X), "rank", w=1.5)
    answered(learner, X[:, 2], 6)
    mean, variance = learner.scores()
    A = np.column_stack([np.ones(len(X)), X])
    belief = learner.posterior
    np.testing.assert_allclose(A @ belief.mean, mean, atol=1e-4)
    np.testing.assert_allclose(np.einsum("nd,de,ne->n", A, belief.cov, A), variance, rtol=1e-3)
    np.testing.assert_allclose(X @ learner.coef_[0] + learner.intercept_, mean, atol=1e-4)
    draws = belief.sample(40_000, np.random.default_rng(0))
    np.testing.assert_allclose(
        (1 / (1 + np.exp(-1.5 * A[:5] @ draws.T))).mean(axis=1), learner.probabilities()[:5], atol=0.01
    )
    assert (learner.predict() == (mean > 0)).all()
    assert "centred and divided by" in repr(learner)


def test_a_threshold_decides_instead_of_the_sign() -> None:
    X = items()
    learner = tm.Learner(tm.Pool(X), "rank")
    answered(learner, X[:, 0], 5)
    learner.threshold = 0.8
    assert (learner.predict() == (learner.probabilities() >= 0.8)).all()
    assert (learner.predict(X) == (learner.predict_proba(X)[:, 1] >= 0.8)).all()
    for wrong in (0.0, 1.0, -2, 3):
        with pytest.raises(SettingError, match="threshold must be a probability"):
            learner.threshold = wrong
    learner.threshold = None
    assert (learner.predict() == (learner.scores()[0] > 0)).all()


# Rare classes and raw data


@pytest.mark.parametrize("kind", ["rank", "tick"])
def test_one_digit_in_ten_is_learnt_from_raw_pixels(kind: str) -> None:
    X, digit = load_digits(return_X_y=True)
    learner = tm.Learner(tm.Pool(X), kind)
    answered(learner, np.where(digit == 8, 1.0, -1.0), 40)
    called, true = learner.predict(), digit == 8
    assert 2 * (called & true).sum() / (called.sum() + true.sum()) > 0.7  # 0.0 in version 0.1


@pytest.mark.parametrize(("kind", "answers", "most"), [("label", 15, 0.15), ("tick", 4, 0.075), ("rank", 6, 0.1)])
def test_probabilities_of_a_rare_class_are_soon_low(kind: str, answers: int, most: float) -> None:
    """With one belief that is sure of the bias they would be 0.22, 0.09 and 0.16 on average; 0.05 of the items are positive."""
    found = []
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(600, 20)) * np.linspace(1, 0.3, 20)
        score = X @ np.random.default_rng(9).normal(size=20)
        learner = tm.Learner(X, kind, seed=seed)
        answered(learner, score - np.quantile(score, 0.95), answers)
        found.append(learner.probabilities().mean())
    assert 0.02 < np.mean(found) < most


def test_columns_in_different_units_are_learnt_from() -> None:
    X, cultivar = load_wine(return_X_y=True)
    learner = tm.Learner(tm.Pool(X), "label")
    answered(learner, np.where(cultivar == 1, 1.0, -1.0), 40)
    assert np.mean(learner.predict() == (cultivar == 1)) > 0.95
    assert "each column divided by its standard deviation" in str(learner.coordinates)


# Random checks and stopping


def test_a_share_of_the_questions_is_random_and_measures() -> None:
    X = items(400, 5)
    learner = tm.Learner(tm.Pool(X), "label", check_share=0.3, seed=1)
    answered(learner, X[:, 0], 60)
    checks = [question for question, _ in learner.history if question.check]
    assert 8 <= len(checks) <= 30
    quality = learner.quality()
    assert quality is not None
    assert quality.checks == len(checks) == len(learner.tally.checks)
    assert quality.prevalence.low < np.mean(X[:, 0] > 0) < quality.prevalence.high


@pytest.mark.parametrize(
    ("kind", "checked_by"), [("label", "label"), ("select", "label"), ("rank", "rank"), ("auto", "label")]
)
def test_random_items_are_asked_by_the_same_kind_where_it_labels_all_of_them(kind: str, checked_by: str) -> None:
    learner = tm.Learner(tm.Pool(items()), kind, check_share=1.0)
    question = learner.ask()
    assert (question.kind, question.check) == (checked_by, True)


@pytest.mark.parametrize("kind", ["label", "rank"])
def test_it_stops_after_random_labels_agreed(kind: str) -> None:
    X = items(300, 4)
    learner = tm.Learner(tm.Pool(X), kind)
    while not learner.should_stop():
        answered(learner, X[:, 0] + 0.3, 1)
        assert len(learner.history) < 300, learner.should_stop().reason
    assert "random labels were as predicted" in learner.should_stop().reason
    assert len(learner.history) >= 20
    assert np.mean(learner.predict() == (X[:, 0] > -0.3)) > 0.95


def test_it_goes_on_and_warns_where_the_attribute_is_not_linear() -> None:
    """Inside or outside a circle: a line through it can become sure of itself, and is right half of the time."""
    X = np.random.default_rng(0).normal(size=(500, 2))
    learner = tm.Learner(tm.Pool(X), "label", check_share=0.3)
    ring = np.abs(np.linalg.norm(X, axis=1) - 1.18)
    answered(learner, np.median(ring) - ring, 120)
    assert not learner.should_stop()
    assert any("not be linear" in each for each in learner.warnings())


@pytest.mark.parametrize(("kind", "answers"), [("tick", 50), ("label", 300)])
def test_it_warns_of_a_misfit_without_random_checks(kind: str, answers: int) -> None:
    X = np.random.default_rng(1).normal(size=(600, 2))
    inside = np.median(np.linalg.norm(X, axis=1)) - np.linalg.norm(X, axis=1)
    curved, straight = tm.Learner(X, kind, stop=tm.AnswerBudget(1000)), tm.Learner(X, kind, stop=tm.AnswerBudget(1000))
    answered(curved, inside, answers)
    answered(straight, X[:, 0] - 0.5, answers)
    assert any("fit the classifier that has learnt them" in each for each in curved.warnings())
    assert straight.warnings() == []


def test_a_share_of_random_checks_as_in_projects_is_enough_to_warn() -> None:
    X = np.random.default_rng(0).normal(size=(600, 2))
    learner = tm.Learner(X, "label", check_share=0.1)
    ring = np.abs(np.linalg.norm(X, axis=1) - 1.18)
    answered(learner, np.median(ring) - ring, 300)
    assert any("not be linear" in each for each in learner.warnings())


def test_it_does_not_stop_while_every_answer_is_the_same() -> None:
    X = items(200, 4)
    learner = tm.Learner(tm.Pool(X), "label")
    answered(learner, np.ones(200), 80)
    assert learner.should_stop().reason.startswith("0 negative items found so far")


def test_a_small_pool_ends_when_every_item_has_a_label() -> None:
    X = items(12, 3)
    learner = tm.Learner(tm.Pool(X), "tick", 4)
    while not learner.should_stop():
        answered(learner, X[:, 0], 1)
        assert len(learner.history) < 40
    assert learner.should_stop().reason == "every item has a label"
    assert learner.labels() == {row: bool(X[row, 0] > 0) for row in range(12)}


# Odd pools


def test_equal_embeddings_with_opposite_labels_are_named() -> None:
    X = items(20, 3)
    X[7] = X[3]
    learner = tm.Learner(tm.Pool(X), "label")
    learner.tell(tm.Question("label", ["3"]), tm.LabelAnswer(True))
    assert learner.warnings() == []
    learner.tell(tm.Question("label", ["7"]), tm.LabelAnswer(False))
    assert ["3 and 7 have the same embedding and opposite labels" in each for each in learner.warnings()] == [True]


def test_labels_that_contradict_each_other_are_named() -> None:
    learner = tm.Learner(tm.Pool(items(30, 3)), "label")

    def told(item: str, positive: bool, person: str = "") -> list[str]:
        learner.tell(tm.Question("label", [item]), positive, person)
        return learner.warnings()

    assert told("5", True) == []
    assert told("5", False, "ann") == []  # people may differ: the app shows that as a conflict
    (warning,) = told("5", False)
    assert warning.startswith(
        "1 of 1 items that one person labelled more than once got labels of both sides, for example 5"
    )
    assert told("6", True) != []
    assert told("6", True) == []  # half of them: items may be hard
    learner.undo()
    assert learner.warnings() == [warning]


def test_items_that_hardly_differ_are_warned_of() -> None:
    learner = tm.Learner(tm.Pool(1000 + items(50, 3)))
    assert any("the items hardly differ" in each for each in learner.warnings())


def test_long_tails_are_warned_of_and_their_logarithms_help() -> None:
    logs = items(400, 6) * np.linspace(0.3, 1.6, 6)
    positive = logs @ np.array([2.0, -1.5, 1.0, 0.5, -0.5, 0.3]) > 0
    raw, better = (tm.Learner(tm.Pool(X), "tick") for X in (np.exp(logs), logs))
    for learner in (raw, better):
        for _ in range(8):
            question = learner.ask()
            learner.tell(question, tm.TickAnswer([item for item in question.items if positive[int(item)]]))
    assert any("use their logarithms" in each for each in raw.warnings())
    assert better.warnings() == []
    assert better.score(None, positive) > raw.score(None, positive)


@pytest.mark.parametrize(
    "X",
    [
        np.column_stack([items(80, 4), np.full(80, 3.0)]),  # a constant column
        np.column_stack([items(80, 4)] * 2),  # columns twice
        np.column_stack([items(80, 4), 1e30 * items(80, 1, 5)]),  # one of 10^30
        items(80, 1),
        items(10, 40),
        np.vstack([items(40, 4)] * 2),  # rows twice
    ],
    ids=["constant", "twice", "huge", "one", "wide", "rows twice"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_odd_pools_are_learnt_from(kind: str, X: np.ndarray) -> None:
    learner = tm.Learner(tm.Pool(X), kind, set_size=None if kind == "label" else 4)
    answered(learner, X[:, 0], 15)
    p = learner.probabilities()
    assert np.isfinite(p).all()
    assert ((p >= 0) & (p <= 1)).all()
    assert np.mean(learner.predict() == (X[:, 0] > 0)) > 0.6


def test_items_that_are_all_alike_are_refused() -> None:
    with pytest.raises(PoolError, match="same embedding"):
        tm.Learner(tm.Pool(np.ones((9, 3))))


def test_contradictions_leave_the_belief_in_between() -> None:
    learner = tm.Learner(tm.Pool(items(30, 3)), "label")
    answers: list[Any] = [tm.LabelAnswer(bool(turn % 2)) for turn in range(20)]
    for answer in answers:
        learner.tell(tm.Question("label", ["5"]), answer)
    assert learner.probabilities()[5] == pytest.approx(0.5, abs=0.1)
