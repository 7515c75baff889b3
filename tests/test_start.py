"""A learner with a start: used if it is right, corrected if it is wrong, and saved wherever a learner is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tellmore as tm
from tellmore.core.start import MANY_SCORES, OF_EXAMPLES, OF_SCORES

RNG = np.random.default_rng(5)
X = RNG.normal(size=(600, 12)) * np.linspace(2, 0.5, 12)
THETA = np.array([1.0, -1.0, 0.6, *np.zeros(9)])
POSITIVE = X @ THETA > 0
POOL = tm.Pool(X, ids=[f"i{row}" for row in range(600)], text=[f"word {row}" for row in range(600)])
EXTREME = np.argsort(X @ THETA)
GOOD = {"positive": [POOL.ids[row] for row in EXTREME[-4:]], "negative": [POOL.ids[row] for row in EXTREME[:4]]}


def accuracy(learner: tm.Learner, truth: np.ndarray = POSITIVE) -> float:
    return float(np.mean(learner.predict() == truth))


def teach(learner: tm.Learner, answers: int, truth: np.ndarray = POSITIVE) -> None:
    for _ in range(answers):
        question = learner.ask()
        rows = learner.pool.rows(question.items)
        learner.tell(question, tm.TickAnswer(tuple(question.items[i] for i, row in enumerate(rows) if truth[row])))


def random_task(seed: int) -> tuple[tm.Pool, np.ndarray, list[str]]:
    """A pool, what is positive in it, and its ids from the least to the most positive."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 12)) * np.linspace(2, 0.5, 12)
    score = X @ rng.normal(size=12)
    pool = tm.Pool(X)
    return pool, score > 0, [pool.ids[row] for row in np.argsort(score)]


def test_a_good_start_is_right_at_once_and_stays() -> None:
    curves = []
    for seed in range(5):
        pool, truth, ids = random_task(seed)
        learner = tm.Learner(pool, "tick", start=tm.Start.of_items(pool, ids[-4:], ids[:4]))
        curves.append([accuracy(learner, truth)])
        for _ in range(5):
            teach(learner, 1, truth)
            curves[-1].append(accuracy(learner, truth))
        assert learner.start_weight > 0.9
        assert learner.start_agreement() > 0.7
    mean = np.mean(curves, axis=0)
    assert mean[0] > 0.8
    assert mean.min() > mean[0] - 0.01
    assert mean[-1] > mean[0] + 0.05


def test_right_scores_are_kept_through_the_answers_of_somebody_who_hardly_agrees_with_them() -> None:
    """38 % of the person's labels contradict what is right: learnt as usual, ten grids would cost 4 to 6 points."""
    changes = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 40)) * np.linspace(2, 0.5, 40)
        truth = X @ rng.normal(size=40) > 0
        verdicts = np.where(rng.random(500) < 0.85, truth, ~truth)
        learner = tm.Learner(tm.Pool(X), "tick", start=tm.Start.of_scores(verdicts.astype(float)))
        before, after = accuracy(learner, truth), []
        for _ in range(10):
            teach(learner, 1, np.where(rng.random(500) < 0.38, ~truth, truth))
            after.append(accuracy(learner, truth) - before)
        changes.append(after)
    assert np.mean(changes, axis=0).min() > -0.02


def test_scores_of_many_items_leave_less_open_than_a_few() -> None:
    scores = X @ THETA
    few = np.where(np.arange(600) < MANY_SCORES - 1, scores, np.nan)

    def closest(start: tm.Start, along: float = OF_EXAMPLES.trusts[0].sd) -> float:
        """What the closest belief leaves open beside the direction of the start, along which it has this deviation."""
        learner = tm.Learner(POOL, "tick", start=start)
        close = learner.begun.beliefs[-learner.begun.started]
        return float(np.trace(close.cov) - np.outer(close.mean, close.mean).trace() * along**2)

    surer = OF_SCORES.trusts[0].sd
    many = closest(tm.Start.of_scores(scores), surer)
    assert closest(tm.Start.of_scores(few)) == pytest.approx(closest(tm.Start.of_items(POOL, **GOOD)), rel=0.01)
    assert many < closest(tm.Start.of_scores(few)) / 3
    assert many == pytest.approx(
        closest(tm.Start.of_classifier(tm.Learner(POOL, start=tm.Start(THETA[None]))), surer), rel=0.01
    )


def test_one_answer_does_not_turn_scores_of_many_items_round_and_several_do() -> None:
    truth = X @ THETA > 0
    learner = tm.Learner(POOL, "tick", start=tm.Start.of_scores(X @ THETA))
    right = []
    for _ in range(3):
        question = learner.ask()
        learner.tell(question, [item for item in question.items if not truth[POOL.rows([item])[0]]])
        right.append(
            np.mean((learner.scans[-learner.beliefs.started].mean > 0) == truth)
        )  # of the belief closest to the scores
    assert right[0] > 0.9
    assert right[-1] < 0.2


def test_the_first_question_is_asked_as_without_a_start() -> None:
    started, plain = tm.Learner(POOL, "tick", start=tm.Start.of_items(POOL, **GOOD)), tm.Learner(POOL, "tick")
    assert started.ask().items == plain.ask().items
    assert started.belief is started.beliefs.beliefs[0]
    teach(started, 1)
    assert started.belief is started.beliefs.beliefs[3]  # the most probable one that is not close to the start


@pytest.mark.parametrize("way", ["reversed", "junk"])
def test_a_wrong_start_is_made_up_for(way: str) -> None:
    agreement, behind = [], []
    for seed in range(5):
        pool, truth, ids = random_task(seed)
        wrong = (ids[:4], ids[-4:]) if way == "reversed" else (["0"], ["1"])
        learner, plain = tm.Learner(pool, "tick", start=tm.Start.of_items(pool, *wrong)), tm.Learner(pool, "tick")
        teach(learner, 8, truth)
        teach(plain, 8, truth)
        agreement.append(learner.start_agreement())
        behind.append(accuracy(plain, truth) - accuracy(learner, truth))
    assert np.mean(agreement) < (0.25 if way == "reversed" else 0.7)
    assert np.mean(behind) < 0.02


def test_scores_of_another_model_are_a_start_also_with_gaps() -> None:
    rng = np.random.default_rng(0)
    verdicts = np.where(rng.random(600) < 0.8, POSITIVE, ~POSITIVE).astype(float)
    verdicts[::3] = np.nan
    learner = tm.Learner(POOL, "tick", start=tm.Start.of_scores(verdicts))
    assert accuracy(learner) > 0.85


@pytest.mark.parametrize("kept", [600, 450])
def test_scores_with_an_index_belong_to_the_items_it_names(kept: int) -> None:
    order = np.random.default_rng(0).permutation(600)[:kept]
    shuffled = pd.Series((X @ THETA)[order], index=[POOL.ids[row] for row in order])
    plain = np.full(600, np.nan)
    plain[order] = (X @ THETA)[order]
    by_index, by_row = (tm.Learner(POOL, start=tm.Start.of_scores(scores)) for scores in (shuffled, plain))
    np.testing.assert_array_equal(by_index.probabilities(), by_row.probabilities())
    numbers = tm.Pool(X)
    series = pd.Series(X @ THETA).sample(frac=1, random_state=0)
    assert accuracy(tm.Learner(numbers, start=tm.Start.of_scores(series))) > 0.9


def test_scores_with_row_numbers_are_in_the_order_of_the_items() -> None:
    assert accuracy(tm.Learner(POOL, start=tm.Start.of_scores(pd.Series(X @ THETA)))) > 0.9


@pytest.mark.parametrize(
    ("unit", "origin"), [(1e-300, 0), (1e-160, 0), (1e-8, 0), (1e160, 0), (1e300, 0), (1e300, 100), (1e160, -100)]
)
def test_units_of_scores_do_not_matter(unit: float, origin: float) -> None:
    scores = X @ THETA + origin
    usual, other = (tm.Learner(POOL, start=tm.Start.of_scores(each)) for each in (scores, scores * unit))
    np.testing.assert_allclose(other.probabilities(), usual.probabilities(), atol=1e-6)


def test_one_side_is_enough() -> None:
    for side in GOOD:
        assert accuracy(tm.Learner(POOL, start=tm.Start.of_items(POOL, **{side: GOOD[side]}))) > 0.75


def test_units_and_origin_do_not_matter() -> None:
    other = tm.Pool(X * 50 - 7, ids=POOL.ids)
    one, two = (tm.Learner(pool, "label", start=tm.Start.of_items(pool, **GOOD)) for pool in (POOL, other))
    for _ in range(5):
        question = one.ask()
        assert two.ask() == question
        answer = tm.LabelAnswer(bool(POSITIVE[POOL.rows(question.items)[0]]))
        one.tell(question, answer)
        two.tell(question, answer)
    np.testing.assert_allclose(one.probabilities(), two.probabilities(), atol=1e-4)
    assert one.start_weight == pytest.approx(two.start_weight, abs=1e-4)


def test_predictions_are_those_of_all_beliefs_and_agree_with_each_other() -> None:
    learner = tm.Learner(POOL, "rank", start=tm.Start.of_items(POOL, **GOOD))
    teach_rank(learner, 3)
    np.testing.assert_allclose(learner.predict_proba(X)[:, 1], learner.probabilities(), atol=1e-5)
    np.testing.assert_allclose(learner.decision_function(X), learner.scores()[0], atol=1e-4)
    np.testing.assert_allclose(learner.posterior.scores(X)[0], learner.scores()[0], atol=1e-4)
    np.testing.assert_allclose(learner.posterior.scores(X)[1], learner.scores()[1], atol=1e-3)
    weighed = sum(
        weight * tm.Posterior(one.mean, one.cov, one.logdet).scores(X)[0]
        for weight, one in zip(learner.posteriors.weights, learner.posteriors.beliefs, strict=True)
    )
    np.testing.assert_allclose(weighed, learner.scores()[0], atol=1e-4)
    assert 0 <= learner.undecided() <= 0.5


def teach_rank(learner: tm.Learner, answers: int) -> None:
    for _ in range(answers):
        question = learner.ask()
        order = sorted(question.items, key=lambda item: -float(X[POOL.rows([item])[0]] @ THETA))
        n_positive = int(POSITIVE[POOL.rows(question.items)].sum())
        learner.tell(question, tm.RankAnswer(order, n_positive))


def test_undo_copy_save_and_load_carry_the_start(tmp_path: Path) -> None:
    learner = tm.Learner(POOL, "tick", start=tm.Start.of_items(POOL, **GOOD))
    teach(learner, 12)
    learner.save(tmp_path / "learner.npz")
    again = tm.Learner.load(tmp_path / "learner.npz")
    assert again.start_weight == learner.start_weight
    np.testing.assert_array_equal(again.probabilities(), learner.probabilities())
    for one in (learner, again):
        for _ in range(12):  # further back than states are kept
            one.undo()
    fresh = tm.Learner(POOL, "tick", start=tm.Start.of_items(POOL, **GOOD))
    for one in (learner, again):
        np.testing.assert_allclose(one.probabilities(), fresh.probabilities(), atol=1e-12)
        assert one.start_weight == pytest.approx(fresh.start_weight)
    assert again.ask() == learner.ask()


def test_words_come_through_any_embedder() -> None:
    def embed(texts: list[str]) -> list[Any]:
        return [THETA if text == "good" else -THETA if text == "bad" else np.zeros(12) for text in texts]

    class Model:
        encode = staticmethod(embed)

    starts = [tm.Start.of_texts(one, ["good", "unheard of"], ["bad"]) for one in (embed, Model())]
    for start in starts:
        assert repr(start) == "Start(1 positive, 1 negative)"
        assert accuracy(tm.Learner(POOL, start=start)) > 0.85
    with pytest.raises(tm.SettingError, match="none of these has a vector: 'unheard of'; use other words"):
        tm.Start.of_texts(embed, ["unheard of"], ["bad"])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tm.Start(), "at least one example, word or score"),
        (lambda: tm.Start([[1.0, 2.0]], [[1.0, 2.0, 3.0]]), "2 dimensions and the negative 3"),
        (lambda: tm.Start(["good"]), "for words use Start.of_texts"),
        (lambda: tm.Start([1.0, 2.0]), r"vectors \[p, d\], not of shape \[2\]"),
        (lambda: tm.Start([[np.nan, 1.0]]), "must be finite vectors; leave out"),
        (lambda: tm.Start([[1e200, 1.0]]), "beyond float32"),
        (lambda: tm.Learner(POOL, start=tm.Start([[1.0, 2.0]])), "2 dimensions and the pool 12"),
        (lambda: tm.Learner(POOL, start=tm.Start([X[0]], [X[0]])), "its two sides are the same, or its scores"),
        (lambda: tm.Learner(POOL, start="good"), "start must be a Start, such as Start.of_items"),
        (lambda: tm.Start.of_items(POOL, "i1"), r"must be a list, not 'i1'; write \['i1'\]"),
        (lambda: tm.Start.of_items(POOL, ["i1"], ["i2", "i1"]), "'i1' is both positive and negative"),
        (lambda: tm.Start.of_items(POOL, ["nobody"]), "'nobody' is not an item"),
        (lambda: tm.Start.of_texts(len, "good"), "not the single string 'good'"),
        (lambda: tm.Start.of_texts(3, ["good"]), "must be a function of a list of texts"),
        (lambda: tm.Start.of_texts(lambda texts: [1.0], ["good"]), "it must give one vector each"),
        (lambda: tm.Start.of_scores(["high", "low"]), "scores must be numbers"),
        (lambda: tm.Start.of_scores([[1.0], [2.0]]), r"one per item, not of shape \(2, 1\)$"),
        (lambda: tm.Start.of_scores([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]), "of two classes, give the second column"),
        (lambda: tm.Start.of_scores([1.0, np.inf]), "finite"),
        (lambda: tm.Start.of_scores([1.0, np.nan]), "at least 2 of them, not 1"),
        (lambda: tm.Start.of_scores([0.5] * 600), "all scores are 0.5"),
        (lambda: tm.Start.of_scores(pd.Series([0.1, 0.9], index=["a", "a"])), "a label more than once"),
        (
            lambda: tm.Learner(POOL, start=tm.Start.of_scores(pd.Series([0.1, 0.9], index=["i1", "z"]))),
            "'z', which is not an item of the pool; its ids look like 'i0'",
        ),
        (
            lambda: tm.Learner(tm.Pool(X, ids=range(600)[::-1]), start=tm.Start.of_scores(pd.Series(X[:, 0]))),
            "the same numbers in another order",
        ),
        (lambda: tm.Learner(POOL, start=tm.Start.of_scores([0.0, 1.0])), "2 scores and 600 items"),
    ],
)
def test_bad_starts_are_refused_in_one_line(make: Any, said: str) -> None:
    with pytest.raises(tm.InputError, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_vectors_in_data_frames_are_matched_to_the_columns_by_name() -> None:
    table = pd.DataFrame(X, index=list(POOL.ids)).add_prefix("x")
    positive, negative = table.loc[GOOD["positive"]], table.loc[GOOD["negative"]]
    usual = tm.Learner(table, start=tm.Start(positive, negative)).probabilities()
    turned = table[table.columns[::-1]]
    for start in (tm.Start(turned.loc[GOOD["positive"]], negative), tm.Start(positive, turned.loc[GOOD["negative"]])):
        assert np.allclose(tm.Learner(table, start=start).probabilities(), usual)
        assert np.allclose(tm.Learner(turned, start=start).probabilities(), usual, atol=1e-5)
    assert np.allclose(tm.Learner(X, start=tm.Start(positive, negative)).probabilities(), usual)
    one_sided = tm.Learner(table, start=tm.Start(positive)).probabilities()
    assert np.allclose(tm.Learner(turned, start=tm.Start(positive)).probabilities(), one_sided, atol=1e-5)
    with pytest.raises(tm.SettingError, match="other columns than the pool: there is no column 'x0'"):
        tm.Learner(table, start=tm.Start(positive.add_prefix("y"), negative.add_prefix("y")))
