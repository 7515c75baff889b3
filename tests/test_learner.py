"""The learner: ask and tell, undo, repeatability, bad input, saving; and that it learns."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellmore as tm
from tellmore.core.evidence import Behaviour
from tellmore.core.prior import usual_sharpness
from tellmore.kinds import named

THETA = np.array([0.1, 0.8, -0.5, 0.3, 0.0, 0.0])


def make_pool(n: int = 40, d: int = 5, seed: int = 0, prefix: str = "item") -> tm.Pool:
    X = np.random.default_rng(seed).normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return tm.Pool(X, ids=[f"{prefix}{i}" for i in range(n)])


POOL = make_pool()


def answer_of(pool: tm.Pool, question: tm.Question, rng: np.random.Generator, sharp: float = 30.0) -> tm.Answer:
    """What a person with the classifier THETA answers."""
    z = THETA[0] + pool.X[pool.rows(question.items)] @ THETA[1:]
    kind = named(question.kind)
    return kind.answer(question.items, kind.sample(z, Behaviour(sharp, sharp), rng))


def teach(learner: tm.Learner, answers: int, seed: int = 0) -> list[tm.Question]:
    rng = np.random.default_rng(seed)
    questions = []
    for _ in range(answers):
        question = learner.ask()
        learner.tell(question, answer_of(learner.pool, question, rng))
        questions.append(question)
    return questions


def fingerprint(learner: tm.Learner) -> tuple[Any, ...]:
    """Everything a caller can see of the learner's state."""
    belief = learner.posterior
    mean, variance = learner.scores()
    return (
        belief.mean.tobytes(),
        belief.cov.tobytes(),
        belief.logdet,
        mean.tobytes(),
        variance.tobytes(),
        learner.history,
        learner.should_stop(),
    )


@pytest.mark.parametrize(
    ("question", "answers"), [("label", 80), ("select", 40), ("rank", 20), ("tick", 15), ("auto", 40)]
)
def test_learns_what_the_person_means(question: Any, answers: int) -> None:
    learner = tm.Learner(POOL, question, None if question == "auto" else 4, seed=1)
    teach(learner, answers)
    truth = THETA[0] + POOL.X @ THETA[1:] > 0
    probabilities = learner.probabilities()
    assert np.mean((probabilities > 0.5) == truth) >= 0.85
    new = make_pool(300, seed=9).X
    assert np.mean((learner.predict_proba(new)[:, 1] > 0.5) == (THETA[0] + new @ THETA[1:] > 0)) >= 0.8


def test_the_belief_is_the_fold_of_the_core_updates() -> None:
    learner = tm.Learner(POOL, "rank", 3, seed=2)
    beliefs, log_weights = list(learner.posteriors.beliefs), learner.posteriors.log_weights.copy()
    rng = np.random.default_rng(0)
    for kind in ("rank", "select_high", "label", "select_low", "tick"):
        question = learner.ask(kind=kind, size=3)
        answer = answer_of(POOL, question, rng)
        learner.tell(question, answer)
        rows = POOL.rows(question.items)
        outcome = named(kind).outcome(question.items, answer)
        for at, factor in enumerate((1.0, 2.0)):
            behaviour = replace(learner.behaviour, w=factor * learner.behaviour.w)
            beliefs[at], info = named(kind).update(beliefs[at], POOL.X[rows], outcome, behaviour, bound="moments")
            log_weights[at] += info.elbo_nats
    for found, belief in zip(learner.posteriors.beliefs, beliefs, strict=True):
        np.testing.assert_allclose(found.mean, belief.mean, atol=1e-12)
        np.testing.assert_allclose(found.cov, belief.cov, atol=1e-12)
    weights = np.exp(log_weights) / np.exp(log_weights).sum()
    mean = weights @ np.array([belief.mean for belief in beliefs])
    apart = np.array([belief.mean - mean for belief in beliefs])
    cov = sum(weight * belief.cov for weight, belief in zip(weights, beliefs, strict=True))
    np.testing.assert_allclose(learner.posterior.mean, mean, atol=1e-10)
    np.testing.assert_allclose(learner.posterior.cov, cov + (apart.T * weights) @ apart, atol=1e-10)


def test_what_is_shown_agrees_with_the_posterior() -> None:
    learner = tm.Learner(POOL, "select", 4)
    teach(learner, 5)
    mean, variance = learner.posterior.scores(POOL.X)
    np.testing.assert_allclose(learner.scores()[0], mean, atol=1e-5)
    np.testing.assert_allclose(learner.scores()[1], variance, atol=1e-5)
    np.testing.assert_allclose(learner.decision_function(POOL.X), mean, atol=1e-6)
    np.testing.assert_allclose(learner.predict_proba(POOL.X)[:, 1], learner.probabilities(), atol=1e-4)
    np.testing.assert_allclose(learner.predict_proba(POOL.X).sum(axis=1), 1)
    np.testing.assert_array_equal(learner.coef_, learner.posterior.mean[None, 1:])
    np.testing.assert_array_equal(learner.intercept_, learner.posterior.mean[:1])
    assert learner.coef_.shape == (1, 5)
    assert learner.classes_.tolist() == [False, True]


@pytest.mark.parametrize("question", ["label", "select", "rank", "auto"])
def test_the_same_seed_gives_the_same_questions(question: Any) -> None:
    size = None if question == "auto" else 3
    one, two, other = (tm.Learner(POOL, question, size, seed=s) for s in (5, 5, 6))
    asked = [teach(learner, 6) for learner in (one, two, other)]
    assert asked[0] == asked[1]
    assert [q.id for q in asked[0]] == [q.id for q in asked[1]]
    assert asked[0] != asked[2]


def test_select_alternates_at_random_between_high_and_low() -> None:
    kinds = [q.kind for q in teach(tm.Learner(POOL, "select", 3), 24)]
    assert 4 <= kinds.count("select_high") <= 20
    assert set(kinds) == {"select_high", "select_low"}


@pytest.mark.parametrize("acquisition", ["greedy", "random", "particles"])
def test_no_item_twice_and_none_asked_lately(acquisition: Any) -> None:
    learner = tm.Learner(POOL, "rank", 4, acquisition=acquisition)
    questions = teach(learner, 8)
    for before, after in itertools.pairwise(questions):
        assert len(set(after.items)) == 4
        assert not set(before.items) & set(after.items)


def test_avoided_items_are_left_out() -> None:
    avoid = set(POOL.ids[:30])
    question = tm.Learner(POOL, "rank", 4).ask(avoid=avoid)
    assert not set(question.items) & avoid


def test_takes_a_question_that_was_never_asked() -> None:
    learner = tm.Learner(POOL)
    before = learner.belief.logdet
    info = learner.tell(tm.Question("select_high", ["item3", "item9"]), tm.SelectAnswer("item9", positive=True))
    assert info is not None
    assert learner.belief.logdet < before
    assert info.logdet_drop_nats == pytest.approx(before - learner.belief.logdet)
    mean = dict(zip(POOL.ids, learner.scores()[0], strict=True))
    assert mean["item9"] > mean["item3"]


def test_the_order_shown_does_not_change_what_is_learnt() -> None:
    one, two = tm.Learner(POOL), tm.Learner(POOL)
    answer = tm.RankAnswer(["item4", "item1", "item7"], 1)
    one.tell(tm.Question("rank", ["item1", "item4", "item7"]), answer)
    two.tell(tm.Question("rank", ["item7", "item1", "item4"]), answer)
    np.testing.assert_allclose(one.posterior.mean, two.posterior.mean, atol=1e-10)
    np.testing.assert_allclose(one.posterior.cov, two.posterior.cov, atol=1e-10)


@pytest.mark.parametrize("reason", ["skip", "cant_tell"])
def test_a_skip_is_remembered_and_teaches_nothing(reason: Any) -> None:
    learner = tm.Learner(POOL)
    question = learner.ask()
    before = learner.belief
    assert learner.tell(question, tm.Skip(reason)) is None
    assert learner.belief is before
    assert learner.history == ((question, tm.Skip(reason)),)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), told=st.integers(0, 14), undone=st.integers(1, 13))
def test_undo_equals_never_told(seed: int, told: int, undone: int) -> None:
    """Even beyond the states that are kept, when all answers are learnt again."""
    learner, plain = (tm.Learner(POOL, "select", 3, seed=seed) for _ in range(2))
    teach(learner, told, seed)
    teach(plain, told, seed)
    state = fingerprint(plain)
    rng = np.random.default_rng(seed + 1)
    extra = []
    for _ in range(undone):
        question = learner.ask()
        learner.tell(question, answer_of(POOL, question, rng))
        extra.append(question)
    taken_back = [learner.undo()[0] for _ in range(undone)]
    assert taken_back == extra[::-1]
    np.testing.assert_array_equal(learner.posterior.mean, plain.posterior.mean)
    np.testing.assert_array_equal(learner.posterior.cov, plain.posterior.cov)
    np.testing.assert_array_equal(learner.probabilities(), plain.probabilities())
    assert fingerprint(learner) == state


def test_nothing_to_undo() -> None:
    with pytest.raises(tm.StateError, match="no answer to undo"):
        tm.Learner(POOL).undo()


def test_information_gain_of_a_question_in_bits() -> None:
    learner = tm.Learner(POOL)
    asked = learner.information_gain(learner.ask())
    random = [
        learner.information_gain(tm.Question("rank", np.random.default_rng(s).choice(POOL.ids, 4, replace=False)))
        for s in range(10)
    ]
    assert max(random) < asked + 0.1
    assert 0 < np.mean(random) < asked <= np.log2(120)
    question = tm.Question("rank", POOL.ids[:4])
    assert learner.information_gain(question) == learner.information_gain(question)
    with pytest.raises(tm.QuestionError, match="that of a Question, not of 'rank'"):
        learner.information_gain("rank")  # type: ignore[arg-type]


def test_stopping_rules_reach_the_learner() -> None:
    learner = tm.Learner(POOL, "rank", 3, stop=tm.AnswerBudget(3))
    assert not learner.should_stop()
    teach(learner, 2)
    learner.tell(learner.ask(), tm.Skip())
    assert not learner.should_stop(), "a skip is no answer"
    teach(learner, 1)
    assert learner.should_stop()
    assert "3 of 3 answers" in learner.should_stop().reason
    timed = tm.Learner(POOL, "rank", 4, stop=tm.TimeBudget(30))
    teach(timed, 2)
    assert timed.should_stop()
    sure = tm.Learner(POOL, "rank", 4)
    teach(sure, 60)
    assert sure.should_stop().reason


def test_bound_prior_and_sharpness_are_heard() -> None:
    question, answer = tm.Question("rank", POOL.ids[:3]), tm.RankAnswer(POOL.ids[:3], 1)
    dets = set()
    for options in (
        {},
        {"bound": "paper"},
        {"prior": "isotropic"},
        {"w": 3.0},
        {"K": 3.0},
    ):
        learner = tm.Learner(POOL, **options)  # type: ignore[arg-type]
        learner.tell(question, answer)
        dets.add(round(learner.posterior.logdet, 9))
    assert len(dets) == 5


def test_what_is_read_cannot_change_the_belief() -> None:
    learner = tm.Learner(POOL)
    before = learner.posterior.mean.copy()
    learner.coef_[0, 0] = learner.intercept_[0] = 9.0
    for values in learner.scores():
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 9.0
    np.testing.assert_array_equal(learner.posterior.mean, before)
    np.testing.assert_array_equal(learner.prior.mean, before)


def test_sharpness_follows_the_pool_unless_it_is_given() -> None:
    C = np.cov(POOL.X.T.astype(float), bias=True)
    usual = usual_sharpness(C)
    behaviour = tm.Learner(POOL).behaviour
    assert (behaviour.w, behaviour.K) == pytest.approx((usual.w, usual.K), rel=1e-5)
    given = tm.Learner(POOL, w=3.0, K=2.0).behaviour
    assert (given.w, given.K) == (3.0, 2.0)
    classic = tm.Learner(POOL, prior="classic").behaviour
    assert (classic.w, classic.K) == (9.0, 6.75)


def test_a_belief_can_be_the_prior() -> None:
    teacher = tm.Learner(POOL, "rank", 3)
    teach(teacher, 5)
    heir = tm.Learner(POOL, prior=teacher.posterior)
    np.testing.assert_allclose(heir.posterior.mean, teacher.posterior.mean, rtol=1e-12)
    with pytest.raises(tm.PoolError, match="dimensions"):
        tm.Learner(make_pool(d=4), prior=teacher.posterior)


def test_posterior_is_in_the_pools_own_coordinates() -> None:
    """Shifting every embedding changes the intercept and nothing that is predicted."""
    shift = np.linspace(-1, 1, POOL.d, dtype=np.float32)
    shifted = tm.Pool(POOL.X + shift, ids=POOL.ids)
    one, two = tm.Learner(POOL), tm.Learner(shifted)
    for learner in (one, two):
        learner.tell(tm.Question("rank", POOL.ids[:4]), tm.RankAnswer(POOL.ids[:4], 2))
    np.testing.assert_allclose(one.probabilities(), two.probabilities(), atol=1e-4)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-4)
    assert abs(one.intercept_[0] - two.intercept_[0]) > 1e-3
    np.testing.assert_allclose(two.intercept_, one.intercept_ - one.coef_ @ shift, atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(3, 10), (8, 30)])
def test_fewer_items_than_dimensions_with_duplicates(n: int, d: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, d))
    X[1] = X[0]
    learner = tm.Learner(tm.Pool(X), "select", 2, K=300.0, w=300.0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        question = learner.ask()
        learner.tell(question, tm.SelectAnswer(rng.choice(question.items), positive=bool(rng.integers(2))))
    assert np.linalg.eigvalsh(learner.posterior.cov).min() > 0
    assert np.isfinite(learner.probabilities()).all()


# Bad input: each kind of mistake has its exception, and the learner stays as it was.

BAD_POOLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: tm.Pool([[0.0, np.nan], [1.0, 2.0]]), "NaN"),
    (lambda: tm.Pool([[0.0, np.inf], [1.0, 2.0]]), "infinity"),
    (lambda: tm.Pool(np.zeros((0, 3))), "at least 2"),
    (lambda: tm.Pool(np.ones((1, 3))), "at least 2"),
    (lambda: tm.Pool(np.eye(3), ids=["a", "b", "a"]), "a"),
    (lambda: tm.Pool(np.ones(3)), "matrix"),
]


@pytest.mark.parametrize(("make", "message"), BAD_POOLS)
def test_bad_pools(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(tm.PoolError, match=message):
        make()


BAD_TELLS: list[tuple[type[Exception], Callable[[], tuple[Any, Any]], str]] = [
    (
        tm.AnswerError,
        lambda: (tm.Question("select_high", ["item1", "item2"]), tm.SelectAnswer("item9", True)),
        "not shown",
    ),
    (
        tm.AnswerError,
        lambda: (tm.Question("rank", ["item1", "item2"]), tm.RankAnswer(["item1", "item1"], 1)),
        "'item1' twice",
    ),
    (tm.AnswerError, lambda: (tm.Question("rank", ["item1", "item2"]), tm.RankAnswer(["item1"], 1)), "exactly once"),
    (
        tm.AnswerError,
        lambda: (tm.Question("rank", ["item1", "item2"]), tm.RankAnswer(["item1", "item2"], 3)),
        "from 0 to 2",
    ),
    (
        tm.AnswerError,
        lambda: (tm.Question("rank", ["item1", "item2"]), tm.RankAnswer(["item1", "item2"], -1)),
        "at least 0",
    ),
    (tm.AnswerError, lambda: (tm.Question("label", ["item1"]), tm.RankAnswer(["item1"], 1)), "answered by LabelAnswer"),
    (tm.AnswerError, lambda: (tm.Question("label", ["item1"]), tm.LabelAnswer("yes")), "True or False"),
    (tm.AnswerError, lambda: (tm.Question("tick", ["item1", "item2"]), tm.TickAnswer(["item9"])), "not shown"),
    (tm.AnswerError, lambda: (tm.Question("tick", ["item1", "item2"]), tm.TickAnswer(["item1"] * 2)), "twice"),
    (tm.AnswerError, lambda: (tm.Question("tick", ["item1", "item2"]), tm.TickAnswer("item1")), "list of ids"),
    (tm.AnswerError, lambda: (tm.Question("tick", ["item1", "item2"]), tm.TickAnswer(None)), "list of ids"),
    (tm.AnswerError, lambda: (tm.Question("tick", ["item1", "item2"]), tm.LabelAnswer(True)), "by TickAnswer"),
    (tm.AnswerError, lambda: (tm.Question("most_sure", ["item1", "item2"]), tm.SelectAnswer("item1", None)), "label"),
    (
        tm.AnswerError,
        lambda: (tm.Question("least_sure", ["item1", "item2"]), tm.SelectAnswer("item1", True)),
        "no label",
    ),
    (tm.QuestionError, lambda: (tm.Question("label", ["other1"]), tm.LabelAnswer(True)), "not an item of the pool"),
    (tm.QuestionError, lambda: (tm.Question("rank", ["item1", "item1"]), tm.RankAnswer(["item1"], 1)), "once"),
    (tm.QuestionError, lambda: (tm.Question("rank", ["item1"]), tm.RankAnswer(["item1"], 1)), "at least 2"),
    (tm.QuestionError, lambda: (tm.Question("guess", ["item1"]), tm.LabelAnswer(True)), "unknown question kind"),
]


@pytest.mark.parametrize(("error", "make", "message"), BAD_TELLS)
def test_bad_answers_and_questions_leave_the_learner_unchanged(
    error: type[Exception], make: Callable[[], tuple[Any, Any]], message: str
) -> None:
    learner = tm.Learner(POOL, "rank", 3)
    teach(learner, 2)
    before = fingerprint(learner)
    with pytest.raises(error, match=message):
        learner.tell(*make())
    assert fingerprint(learner) == before
    assert issubclass(error, tm.InputError)
    assert issubclass(error, tm.TellmoreError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"set_size": 41}, "at least 41|2 to"),
        ({"set_size": 1}, "2 to"),
        ({"question": "guess"}, "unknown question kind 'guess'"),
        ({"question": ["rank"]}, r"unknown question kind \['rank'\]; the kinds are"),
        ({"prior": "flat"}, "prior must be one of"),
        ({"bound": "tight"}, "bound must be one of"),
        ({"acquisition": "best"}, "acquisition must be one of"),
        ({"kinds": ("guess",)}, "unknown question kind"),
        ({"question": "tick", "set_size": 25}, "2 to 24"),
        ({"set_size": 12}, "2 to 10"),
        ({"sizes": (2, 25)}, "2 to 24"),
        ({"w": 0.0}, "w must be"),
        ({"K": -1.0}, "K must be"),
        ({"w": float("nan")}, "w must be"),
        ({"w": "9"}, "w must be a positive number, not '9'"),
        ({"K": True}, "K must be a positive number"),
        ({"set_size": "4"}, "whole number of at least 1, not '4'"),
        ({"set_size": 3.5}, "whole number of at least 1, not 3.5"),
        ({"sizes": (2, "3")}, "whole number"),
        ({"seed": None}, "seed must be a whole number of at least 0, not None"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"seed": 1.7}, "seed must be a whole number of at least 0, not 1.7"),
        ({"exclude_last": 2.5}, "exclude_last must be"),
        ({"stop": 20}, r"stop must be a rule, such as AnswerBudget\(20\), not 20"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tm.InputError, match=message):
        tm.Learner(POOL, **options)


def test_sizes_are_not_rounded() -> None:
    with pytest.raises(tm.SettingError, match=r"whole number .* not 2\.7"):
        tm.Learner(POOL).ask(size=2.7)  # type: ignore[arg-type]


def test_the_same_question_is_told_once() -> None:
    learner = tm.Learner(POOL, "label")
    question = learner.ask()
    learner.tell(question, tm.LabelAnswer(True))
    with pytest.raises(tm.QuestionError, match="already answered; undo"):
        learner.tell(question, tm.LabelAnswer(True))
    learner.undo()
    learner.tell(question, tm.LabelAnswer(False))
    assert len(learner.history) == 1


def test_predictions_are_the_signs_of_the_scores() -> None:
    learner = tm.Learner(POOL)
    teach(learner, 4)
    np.testing.assert_array_equal(learner.predict(POOL.X), learner.decision_function(POOL.X) > 0)
    np.testing.assert_array_equal(learner.predict(), learner.scores()[0] > 0)
    assert learner.predict().dtype == bool
    with pytest.raises(tm.PoolError, match="numbers"):
        learner.predict(np.full((1, POOL.d), object(), dtype=object))


def test_a_set_larger_than_the_pool() -> None:
    with pytest.raises(tm.SettingError, match="at least 4"):
        tm.Learner(make_pool(3), set_size=4)
    learner = tm.Learner(make_pool(3), set_size=2)
    with pytest.raises(tm.SettingError):
        learner.ask(kind="rank", size=4)


@pytest.mark.parametrize("call", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("X", [np.zeros((2, 4)), np.zeros(5), np.full((1, 5), np.nan), np.full((1, 5), -1e39)])
def test_embeddings_of_the_wrong_shape_or_not_finite(call: str, X: np.ndarray) -> None:
    with pytest.raises(tm.PoolError):
        getattr(tm.Learner(POOL), call)(X)


def test_the_largest_embeddings_have_probabilities() -> None:
    learner = tm.Learner(POOL)
    teach(learner, 3)
    assert np.isfinite(learner.predict_proba(np.array([[3.4e38] * 5, [-3.4e38] * 5]))).all()
    assert learner.predict_proba(np.zeros((0, 5))).shape == (0, 2)


def test_asking_with_foreign_ids_is_refused() -> None:
    learner = tm.Learner(POOL)
    with pytest.raises(tm.QuestionError, match="not an item"):
        learner.ask(avoid=["nobody"])
    with pytest.raises(tm.QuestionError, match="not an item"):
        learner.information_gain(tm.Question("label", ["nobody"]))


# Saving and loading.


@pytest.mark.parametrize("options", [{}, {"question": "tick"}, {"question": "label"}, {"question": "auto"}])
def test_round_trip(tmp_path: Path, options: dict[str, Any]) -> None:
    learner = tm.Learner(POOL, seed=4, **options)
    teach(learner, 3)
    learner.tell(learner.ask(), tm.Skip("cant_tell"))
    learner.save(tmp_path / "belief.npz")
    again = tm.Learner.load(tmp_path / "belief.npz")
    assert again.history == learner.history
    np.testing.assert_array_equal(again.posterior.mean, learner.posterior.mean)
    np.testing.assert_array_equal(again.posterior.cov, learner.posterior.cov)
    assert again.posterior.logdet == learner.posterior.logdet
    np.testing.assert_array_equal(again.probabilities(), learner.probabilities())
    for _ in range(3):
        assert again.ask() == learner.ask()
    for one in (again, learner):
        one.undo()
        one.undo()
    np.testing.assert_allclose(again.posterior.mean, learner.posterior.mean, atol=1e-9)


@pytest.mark.parametrize("names", [list("edcba"), [7, 3, 9, 5, 1], [("x", 2), ("x", 1), ("y", 2), ("y", 1), ("z", 1)]])
def test_columns_are_matched_by_name_after_loading(tmp_path: Path, names: list[Any]) -> None:
    frame = pd.DataFrame(POOL.X, columns=pd.Index(names))
    learner = tm.Learner(frame, "label", seed=4)
    teach(learner, 6)
    learner.save(tmp_path / "belief.npz")
    again = tm.Learner.load(tmp_path / "belief.npz")
    other = frame[sorted(names)]
    np.testing.assert_array_equal(again.predict_proba(other), learner.predict_proba(frame))
    assert learner.pool.subset([0, 1]).columns == learner.pool.columns


def test_columns_named_by_dates_are_not_read_by_position_after_loading(tmp_path: Path) -> None:
    frame = pd.DataFrame(make_pool(d=3).X, columns=pd.date_range("2026-01-01", periods=3))
    tm.Learner(frame).save(tmp_path / "belief.npz")
    learner = tm.Learner.load(tmp_path / "belief.npz")
    np.testing.assert_array_equal(learner.predict_proba(frame[frame.columns[::-1]]), learner.predict_proba(frame))
    with pytest.raises(tm.PoolError, match="there is no column '2026-01-01 00:00:00'; the columns are 0, 1, 2"):
        learner.predict_proba(pd.DataFrame(frame.to_numpy()))


def test_ids_and_texts_are_saved_as_they_are(tmp_path: Path) -> None:
    ids, texts = ["7", 8, 2**70, "été"], ["ends with a NUL\0", "", " space ", "\ud800 alone"]
    tm.Learner(tm.Pool(make_pool(4).X, ids=ids, text=texts, images=texts)).save(tmp_path / "belief.npz")
    pool = tm.Learner.load(tmp_path / "belief.npz").pool
    assert (list(pool.ids), list(pool.text or ()), list(pool.images or ())) == (ids, texts, texts)


def test_one_long_text_does_not_make_the_file_large(tmp_path: Path) -> None:
    texts = ["short"] * 39 + ["long" * 25_000]
    tm.Learner(tm.Pool(POOL.X, text=texts)).save(tmp_path / "belief.npz")
    assert (tmp_path / "belief.npz").stat().st_size < 200_000


def test_ids_and_texts_of_earlier_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "belief.npz"
    for ids in (["a", "b", "c"], [3, 1, 2]):
        pool = tm.Pool(make_pool(3).X, ids=ids, text=["x", "y", "z"])
        tm.Learner(pool).save(path)
        with np.load(path) as file:
            arrays = {**file, "ids": np.array(pool.ids), "text": np.array(pool.text)}
        np.savez(path, **arrays)
        again = tm.Learner.load(path).pool
        assert (list(again.ids), list(again.text or ())) == (ids, ["x", "y", "z"])


def test_a_file_from_before_lapses_were_allowed_for_goes_on_without(tmp_path: Path) -> None:
    learner = tm.Learner(POOL, seed=4)
    learner.behaviour = replace(learner.behaviour, lapse=0.0)
    teach(learner, 3)
    learner.save(tmp_path / "now.npz")
    with np.load(tmp_path / "now.npz") as file:
        arrays = dict(file)
    meta = json.loads(str(arrays["meta"]))
    del meta["lapse"]
    np.savez(tmp_path / "then.npz", **{**arrays, "meta": np.array(json.dumps(meta))})
    again = tm.Learner.load(tmp_path / "then.npz")
    for one in (again, learner):
        one.undo()
        teach(one, 2)
    np.testing.assert_allclose(again.posterior.mean, learner.posterior.mean, atol=1e-9)


@pytest.mark.parametrize("question", ["label", "rank", "auto"])
def test_open_questions_are_saved(tmp_path: Path, question: str) -> None:
    learner = tm.Learner(POOL, question, seed=2)
    teach(learner, 2)
    asked = learner.ask()
    learner.save(tmp_path / "belief.npz")
    again = tm.Learner.load(tmp_path / "belief.npz")
    assert again.ask() == learner.ask()
    for one in (again, learner):
        one.tell(asked, tm.Skip())
    assert again.ask() == learner.ask()


@pytest.mark.parametrize("threshold", [None, 0.3, np.float32(0.3)])
def test_the_threshold_is_saved(tmp_path: Path, threshold: float | None) -> None:
    learner = tm.Learner(POOL)
    teach(learner, 2)
    learner.threshold = threshold
    learner.save(tmp_path / "belief.npz")
    again = tm.Learner.load(tmp_path / "belief.npz")
    assert again.threshold == threshold
    assert (again.predict() == learner.predict()).all()


def test_a_number_of_items_from_numpy_is_saved(tmp_path: Path) -> None:
    learner = tm.Learner(np.eye(6), "rank", set_size=np.int64(3))  # type: ignore[arg-type]
    learner.save(tmp_path / "learner.npz")
    assert tm.Learner.load(tmp_path / "learner.npz").ask().size == learner.ask().size == 3


@pytest.mark.parametrize("sizes", [[2, 20], [20]])
def test_sizes_larger_than_the_pool_are_saved(tmp_path: Path, sizes: list[int]) -> None:
    learner = tm.Learner(np.eye(6), "auto", sizes=sizes)
    learner.save(tmp_path / "belief.npz")
    assert tm.Learner.load(tmp_path / "belief.npz").allowed == learner.allowed


def test_a_saved_size_that_auto_never_used_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "belief.npz"
    tm.Learner(POOL, "auto").save(path)
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(str(arrays.pop("meta")))
    meta["options"].update(set_size=4, sizes=[])  # as version 0.1 could save it
    np.savez(path, meta=np.array(json.dumps(meta)), **arrays)
    assert tm.Learner.load(path).allowed == tm.Learner(POOL, "auto").allowed


def test_labels_alone_need_no_sizes() -> None:
    assert tm.Learner(POOL, "auto", kinds=["label"], sizes=[]).ask().size == 1


def test_the_file_holds_no_pickle(tmp_path: Path) -> None:
    learner = tm.Learner(POOL)
    teach(learner, 1)
    learner.save(tmp_path / "belief.npz")
    with np.load(tmp_path / "belief.npz", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)
    assert zipfile.is_zipfile(tmp_path / "belief.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["belief.npz"]


def test_loading_with_another_pool_or_from_nothing(tmp_path: Path) -> None:
    learner = tm.Learner(POOL)
    learner.save(tmp_path / "belief.npz")
    assert tm.Learner.load(tmp_path / "belief.npz", POOL).pool is POOL
    with pytest.raises(tm.PoolError, match="another pool"):
        tm.Learner.load(tmp_path / "belief.npz", make_pool(seed=7))
    with pytest.raises(tm.DataFileError, match="no saved learner"):
        tm.Learner.load(tmp_path / "nothing.npz")
    (tmp_path / "torn.npz").write_bytes((tmp_path / "belief.npz").read_bytes()[:200])
    with pytest.raises(tm.DataFileError, match="not a saved learner"):
        tm.Learner.load(tmp_path / "torn.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(tm.DataFileError, match="not a saved learner"):
        tm.Learner.load(tmp_path / "other.npz")


def test_a_copy_goes_its_own_way() -> None:
    learner = tm.Learner(POOL, "rank", 3)
    teach(learner, 2)
    before = fingerprint(learner)
    twin = learner.copy()
    teach(twin, 2)
    twin.undo()
    assert fingerprint(learner) == before
    assert len(twin.history) == 3


def test_copies_and_pickles_are_independent() -> None:
    learner = tm.Learner(POOL, "rank", 3)
    teach(learner, 2)
    before = fingerprint(learner)
    for twin in (copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert fingerprint(twin) == before
        teach(twin, 1)
        assert fingerprint(learner) == before
        assert len(twin.history) == 3


def test_threads_lose_nothing() -> None:
    """Each thread asks, tells and undoes; the result is the fold of the remaining history."""
    learner = tm.Learner(POOL, "label", seed=1, exclude_last=0)

    def work(thread: int) -> None:
        for step in range(10):
            question = learner.ask()
            learner.tell(question, tm.Skip() if step == 3 else tm.LabelAnswer((thread + step) % 2 == 0))
            if step == 7:
                learner.undo()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert len(learner.history) == 8 * 9
    again = tm.Learner(POOL, "label", seed=1, exclude_last=0)
    for question, answer in learner.history:
        again.tell(question, answer)
    np.testing.assert_allclose(learner.posterior.mean, again.posterior.mean, atol=1e-12)
    np.testing.assert_allclose(learner.posterior.cov, again.posterior.cov, atol=1e-12)
    np.testing.assert_allclose(learner.probabilities(), again.probabilities(), atol=1e-6)
