"""What somebody who knows scikit-learn and pandas expects: DataFrames, ids of any type, batches, plain values, notebooks."""

from __future__ import annotations

import logging
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from scipy.special import entr

import tellmore as tm
from tellmore.classifier import Classifier
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.kinds import named

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 4)).astype(np.float32)


def frame() -> pd.DataFrame:
    made = pd.DataFrame(X, columns=list("abcd"), index=[100 + 2 * row for row in range(len(X))])
    return made.assign(review=[f"review {row}" for row in range(len(X))])


def test_a_learner_takes_an_array_and_items_are_row_numbers() -> None:
    learner = tm.Learner(X, "label")
    question = learner.ask()
    (row,) = question.items
    assert type(row) is int
    assert learner.pool[row].vector.tolist() == X[row].tolist()


def test_a_dataframe_gives_its_index_as_ids_and_they_stay_numbers(tmp_path: Path) -> None:
    pool = tm.Pool(frame(), text="review")
    assert (pool.ids[:2], pool.columns, pool.d) == ((100, 102), tuple("abcd"), 4)
    learner = tm.Learner(pool, "select", 3)
    question = learner.ask()
    assert all(type(item) is int for item in question.items)
    assert question.texts == tuple(frame().review.loc[list(question.items)])
    learner.tell(question, (question.items[1], True))
    assert learner.labels() == {question.items[1]: True}
    learner.ask()
    learner.save(tmp_path / "learner.npz")
    loaded = tm.Learner.load(tmp_path / "learner.npz")
    assert loaded.history == learner.history
    assert loaded.ask() == learner.ask()


@pytest.mark.parametrize("items", [frame().drop(columns="review"), frame()[list("abcd")].to_numpy()])
def test_a_saved_learner_goes_on_with_the_dataframe_or_array_it_was_made_of(tmp_path: Path, items: Any) -> None:
    learner = tm.Learner(items, "label")
    learner.tell(learner.ask(), True)
    learner.save(tmp_path / "learner.npz")
    loaded = tm.Learner.load(tmp_path / "learner.npz", items)
    assert loaded.ask() == learner.ask()
    assert np.allclose(loaded.predict_proba(items), learner.predict_proba())
    with pytest.raises(tm.PoolError, match="another pool"):
        tm.Learner.load(tmp_path / "learner.npz", items * 2)


def test_rows_of_another_dataframe_are_scored_by_the_names_of_their_columns() -> None:
    learner = tm.Learner(frame().drop(columns="review"), "label")
    learner.tell(learner.ask(), True)
    mixed = frame()[["review", "d", "c", "b", "a"]]
    assert np.allclose(learner.predict_proba(mixed), learner.predict_proba(), atol=1e-6)
    with pytest.raises(tm.PoolError, match="no column 'a'; the columns are b"):
        learner.predict_proba(mixed[["b"]])


def test_polars_names_its_column_of_ids_and_one_of_vectors() -> None:
    made = pl.DataFrame({"key": [f"k{row}" for row in range(40)], "vector": X.tolist(), "year": [2000] * 40})
    pool = tm.Pool(made, ids="key", vectors="vector")
    assert (pool.ids[3], pool.d) == ("k3", 4)
    assert np.allclose(pool["k3"].vector, X[3])
    wide = tm.Pool(made.drop("vector"), ids="key")
    assert wide.columns == ("year",)


@pytest.mark.parametrize("method", ["apply", "decision_function", "predict", "predict_proba"])
@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (np.where(X > 1, np.nan, X), "embeddings must be finite; remove the rows with NaN or infinity"),
        (np.where(X > 1, np.inf, X), "embeddings must be finite"),
        (np.where(X > 1, 1e39, X.astype(float)), "a number beyond float32"),
        (csr_matrix(X), r"these are sparse; write X.toarray\(\)"),
        (X.astype(str), "these are texts"),
        (X + 1j, "these are complex numbers"),
        (X[:, :3], r"embeddings must have the shape \(n, 4\), like those of 4 dimensions that the classifier"),
        ([[1, 2], [3]], "must be a matrix of numbers"),
    ],
)
def test_an_exported_classifier_refuses_what_a_learner_refuses(
    method: str, rows: Any, match: str, one_line: Any
) -> None:
    belief = Gaussian.from_moments(np.ones(5), np.eye(5))
    with pytest.raises(tm.PoolError, match=match) as raised:
        getattr(Classifier(Mixture.of(belief), w=4.0, normalised=False), method)(rows)
    assert one_line(raised.value)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: tm.Learner(frame()), "the column 'review' does not hold numbers"),
        (lambda: tm.Pool(frame().assign(a="00001")), "the column 'a' does not hold numbers"),
        (lambda: tm.Pool(frame()[["a"]].assign(b=b"1")), "the column 'b' does not hold numbers"),
        (lambda: tm.Pool(pl.DataFrame({"zip": ["00001", "00002"], "x": [1.0, 2.0]})), "the column 'zip' does not hold"),
        (lambda: tm.Pool(pl.DataFrame({"zip": [["1"], ["2"]]})), "the column 'zip' does not hold numbers"),
        (lambda: tm.Pool(frame(), text="nowhere"), "text names the column 'nowhere', and there are a, b"),
        (lambda: tm.Pool(frame(), vectors=["a", "z"]), "no column 'z'"),
        (lambda: tm.Learner(X * 1e-40, "label"), r"less than 3e-39 in dimension \d, too little for float32; multiply"),
        (lambda: tm.Learner(np.column_stack([np.ones(40), X * 1e-40])), "too little for float32"),
        (lambda: tm.Pool(X, vectors=["a"]), "columns of a DataFrame"),
        (lambda: tm.Pool(X, ids=[None, *range(39)]), "has no id, only None"),
        (lambda: tm.Pool(np.eye(2), ids=["a", "b\0"]), "NUL"),
        (lambda: tm.Pool(X, ids=[1, "1", *range(2, 40)]), "'1' occurs more than once"),
        (lambda: tm.Pool(X, text=[*map(str, range(39)), float("nan")]), "row 39 has no text"),
        (lambda: tm.Pool(frame().set_index(["a", "b"])), "several levels"),
        (
            lambda: tm.Learner(X + 1e9),
            "differ only by rounding, .*; if their numbers are far from 0, subtract the mean",
        ),
        (lambda: tm.Learner(["warm", "cold"]), "texts need an embedder"),
        (lambda: tm.Learner(pd.Series(["warm", "cold"])), "texts need an embedder"),
        (lambda: tm.Learner(X[:, 0]), r"not of shape \(40,\); if each item has one number, write X.reshape"),
        (lambda: tm.Learner(X).predict_proba(X[0]), r"not \(4,\); for a single item x, write \[x\]"),
        (lambda: tm.Learner(frame(), embedder=len), "column of texts"),
        (lambda: tm.Learner(np.array([[object()]])), "matrix of numbers"),
        (lambda: tm.Learner(X + 1j), "these are complex numbers"),
        (lambda: tm.Pool([["1", "2"], ["3", "4"]]), "these are texts"),
        (lambda: tm.Pool(np.array([["1", 2], ["3", 4]], dtype=object)), "these are texts"),
        (lambda: tm.Pool(np.array([["2026-01-01"], ["2026-01-02"]], dtype="datetime64[D]")), "these are dates"),
        (lambda: tm.Learner(X).predict_proba([["1"] * 4]), "these are texts"),
        (lambda: tm.Learner(X, cost=3), "cost must be a CostModel, not 3"),  # type: ignore[arg-type]
        (lambda: setattr(tm.Learner(X), "threshold", "high"), "threshold must be a probability"),
        (lambda: tm.Learner(X).save("/nowhere/belief.npz"), "cannot be written"),
        (lambda: tm.Learner(X, set_size=3.5), "set_size must be a whole number"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X, seed=None), "seed must be a whole number"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X, w="9"), "w must be a positive number"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X, stop=20), "stop must be a rule"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X, callbacks=print), "callbacks must be a list of functions"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X).ask(2.0), "n must be a whole number"),  # type: ignore[call-overload]
        (lambda: tm.Learner(X).ask(size=2.7), "whole number"),  # type: ignore[call-overload]
        (lambda: tm.Learner(X).tell("nothing asked", True), "no open question with the id 'nothing asked'"),
        (lambda: tm.Learner(X).score(None, [0.5] * 40), "y must hold 40 values"),
        (lambda: tm.Pool(X)[99], "'99' is not an item"),
        (lambda: tm.Question("label", 5), "items must be a list of ids, not 5"),  # type: ignore[arg-type]
        (lambda: tm.Learner([[1, 2], [3]]), "matrix of numbers"),
        (lambda: tm.Learner(np.ma.masked_array(X, X > 1)), "some of these are masked"),
        (lambda: tm.Learner(csr_matrix(X)), r"sparse; write X.toarray\(\)"),
        (lambda: tm.Learner(pl.DataFrame({"a": [1.0, 2.0]}).lazy()), r"write X.collect\(\)"),
        (lambda: tm.Learner(pd.concat([frame()[["a"]], frame()[["a"]]], axis=1)), "several columns are called 'a'"),
        (lambda: tm.Learner(["warm", None], embedder=lambda _: np.eye(2)), "None is not one"),
        (lambda: tm.Learner(["warm", "cold"], embedder="tfidf"), r"write embedder=tellmore.embedder\('tfidf'"),
        (lambda: tm.Learner(X, calibrate="no"), "calibrate must be True or False"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X, "auto", kinds="label"), r"kinds must be a list, not 'label'; write \['label'\]"),
        (lambda: tm.Learner(X, "auto", kinds=[]), "kinds must name at least one"),
        (lambda: tm.Learner(X, "auto", set_size=301), r"set_size = 301 is for one kind .* write sizes=\["),
        (lambda: tm.Learner(X).ask_for("auto", 4), "set_size = 4 is for one kind"),
        (lambda: tm.Learner(X, "auto", sizes=[]), "sizes must name at least one number of items for 'select_high'"),
        (lambda: tm.Learner(X, "auto", sizes=4), "sizes must be a list"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X, stop=tm.AnswerBudget), "stop must be a rule"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X).ask(avoid="12"), r"avoid must be a list of ids, not '12'"),
        (lambda: tm.Learner(X).save(None), "path must be a path"),  # type: ignore[arg-type]
        (lambda: tm.Learner(X).tell(tm.Question("rank", [0, 1]), {0, 1}), "a set has no order"),
        (lambda: tm.Pool(X, ids=np.arange(40.0)), "an id is a text or a whole number, not 0.0"),
        (lambda: tm.Pool(X, ids=["", *map(str, range(39))]), "row 0 is an empty text"),
        (lambda: tm.Pool(X, ids=5), "ids must be a list"),  # type: ignore[arg-type]
        (lambda: tm.Start.of_items(X, positive="12"), "positive must be a list"),
        (lambda: tm.Start.of_items(X, positive=[1], negative=["1"]), "1 is both positive and negative"),
        (lambda: tm.AnswerBudget("5"), "answers must be a whole number"),  # type: ignore[arg-type]
        (lambda: tm.TimeBudget(float("nan")), "seconds must be a positive number"),
        (lambda: tm.Stability(tolerance=2), "tolerance must be a number from 0 to 1"),
        (lambda: tm.Settled(window=2.5), "window must be a whole number"),  # type: ignore[arg-type]
        (lambda: tm.AnswerBudget(5) | 5, "stop must be a rule"),  # type: ignore[operator]
        (lambda: tm.CostModel().seconds("rank", "4"), "size must be a whole number"),  # type: ignore[arg-type]
        (lambda: tm.load_pool(5), "name_or_path must be a path"),  # type: ignore[arg-type]
    ],
)
def test_whatever_is_wrong_is_one_error_of_the_one_tree(make: Any, match: str) -> None:
    with pytest.raises(tm.InputError, match=match):
        make()


def test_texts_come_with_what_embeds_them() -> None:
    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [[len(text), text.count("a"), 1.0] for text in texts]

    series = pd.Series(["aa", "b", "cab"], index=["x", "y", "z"])
    learner = tm.Learner(series, "label", embedder=Model())
    assert (learner.pool.ids, learner.pool.text) == (("x", "y", "z"), ("aa", "b", "cab"))
    assert learner.ask().texts is not None


def test_a_pool_is_read_like_a_dictionary() -> None:
    pool = tm.Pool(frame(), text="review")
    assert list(pool)[:2] == [100, 102]
    assert (102 in pool, 101 in pool) == (True, False)
    assert (pool[102].id, pool[102].text) == (102, "review 1")


@pytest.mark.parametrize(
    ("kind", "size", "value", "answer"),
    [
        ("label", 1, np.True_, tm.LabelAnswer(True)),
        ("select_high", 3, 1, tm.SelectAnswer("1", None)),
        ("select_high", 3, (1, False), tm.SelectAnswer("1", False)),
        ("rank", 3, [2, 0, 1], tm.RankAnswer(["2", "0", "1"], None)),
        ("rank", 3, (2, 0, 1), tm.RankAnswer(["2", "0", "1"], None)),
        ("rank", 3, ([2, 0, 1], 1), tm.RankAnswer(["2", "0", "1"], 1)),
        ("tick", 3, {2, 0}, tm.TickAnswer(sorted("20"))),
        ("tick", 3, [], tm.TickAnswer([])),
        ("least_sure", 3, 2, tm.SelectAnswer("2", None)),
    ],
)
def test_answers_may_be_plain_values(kind: str, size: int, value: Any, answer: tm.Answer) -> None:
    learner = tm.Learner(X, "label")
    learner.tell(tm.Question(kind, range(size)), value)
    assert learner.history[0][1] == answer


def test_a_question_is_told_by_its_id_and_once() -> None:
    learner = tm.Learner(X, "label")
    question = learner.ask()
    learner.tell(question.id, False)
    assert learner.history == ((question, tm.LabelAnswer(False)),)
    for again in (question, question.id):
        with pytest.raises(tm.QuestionError, match="is already answered"):
            learner.tell(again, True)


def test_a_saved_learner_keeps_texts_and_pictures(tmp_path: Path) -> None:
    pool = tm.Pool(X, text=[f"text {row}" for row in range(40)], images=[f"{row}.png" for row in range(40)])
    tm.Learner(pool, "label").save(tmp_path / "belief.npz")
    back = tm.Learner.load(tmp_path / "belief.npz")
    assert (back.pool.text, back.pool.images) == (pool.text, pool.images)
    assert back.ask().images is not None


def joint_bits(learner: tm.Learner, questions: list[tm.Question]) -> float:
    """Information of all answers together, by enumeration of every combination over draws of the scores."""
    items = [item for question in questions for item in question.items]
    mean, cov = learner.joint_scores(items)
    z = np.random.default_rng(1).multivariate_normal(mean, cov, size=4000, method="eigh")
    parts, at = [], 0
    for question in questions:
        kind, part = named(question.kind), z[:, at : at + question.size]
        parts.append(
            [np.exp(kind.log_likelihood(part, each, learner.behaviour)) for each in kind.outcomes(part.shape[1])]
        )
        at += question.size
    pmf = np.array([np.prod(each, axis=0) for each in product(*parts)])
    return float((entr(pmf.mean(axis=1)).sum() - entr(pmf).sum(axis=0).mean()) / np.log(2))


@pytest.mark.parametrize(("kind", "size", "n"), [("label", None, 5), ("select_high", 3, 3)])
def test_a_batch_tells_together_no_less_than_as_many_separate_questions(kind: str, size: int | None, n: int) -> None:
    gains = []
    for seed in range(6):
        # Items in tight clusters: the most informative ones, taken one by one, say the same again.
        rng = np.random.default_rng(seed)
        clusters = np.repeat(rng.standard_normal((12, 6)), 10, axis=0) + 0.05 * rng.standard_normal((120, 6))
        learner = tm.Learner(clusters, kind, size, seed=seed)
        for label, row in enumerate(
            rng.choice(120, 12, replace=False)
        ):  # labels of both sides: nothing has to be looked for
            learner.tell(tm.Question("label", [row]), bool(label % 2))
        twin = learner.copy()
        one_by_one = [twin.ask() for _ in range(n)]
        gains.append((joint_bits(learner, learner.ask(n)), joint_bits(learner, one_by_one)))
    together, apart = np.array(gains).T
    assert (together >= apart - 0.02).all()
    assert together.mean() > 1.05 * apart.mean()


@pytest.mark.parametrize(("kind", "size"), [("label", None), ("select_high", 3), ("rank", 3), ("tick", 6)])
def test_a_quick_batch_is_on_different_items_and_tells_more_than_chance(kind: str, size: int | None) -> None:
    learner = tm.Learner(np.random.default_rng(0).standard_normal((400, 8)), kind, size, seed=3)
    for row in range(20):
        learner.tell(tm.Question("label", [row]), bool(learner.pool.X[row, 0] > 0))
    searched, quick = learner.copy().ask(8), learner.copy().ask(8, quick=True)
    assert quick == learner.copy().ask(8, quick=True)  # the seed decides
    items = [item for question in quick for item in question.items]
    assert len(set(items)) == len(items) == 8 * searched[0].size
    assert {question.kind for question in quick} == {kind}
    rng = np.random.default_rng(1)
    chance = [tm.Question(kind, rng.choice(400, searched[0].size, replace=False).tolist()) for _ in range(8)]
    best, dealt, random = (
        np.mean([bits_of(learner, question) for question in each]) for each in (searched, quick, chance)
    )
    assert dealt > 0.8 * best
    assert dealt > 1.1 * random


def bits_of(learner: tm.Learner, question: tm.Question) -> float:
    mean, cov = learner.joint_scores(question.items)
    return named(question.kind).gain(mean, cov, learner.behaviour, rng=np.random.default_rng(0), draws=256).bits


def test_a_quick_batch_is_as_large_as_the_items_allow() -> None:
    learner = tm.Learner(np.random.default_rng(0).standard_normal((20, 3)), "rank", 4)
    assert len(learner.copy().ask(50, quick=True)) == 5
    avoided = learner.ask(50, quick=True, avoid=range(9))
    assert len(avoided) == 2
    assert not {item for question in avoided for item in question.items} & set(range(9))


def test_a_quick_batch_holds_the_random_checks_that_are_asked_for() -> None:
    learner = tm.Learner(np.random.default_rng(0).standard_normal((400, 3)), "label", check_share=0.5)
    assert 5 < sum(question.check for question in learner.ask(40, quick=True)) < 35


def test_a_batch_leaves_the_learner_as_so_many_questions_do() -> None:
    learner = tm.Learner(X, "select", 3)
    before = learner.probabilities().copy()
    asked = learner.ask(3)
    assert len({question.id for question in asked}) == 3
    assert len({item for question in asked for item in question.items}) == 9
    assert (learner.probabilities() == before).all()
    for question in asked:
        learner.tell(question.id, question.items[0])
    assert len(learner.history) == 3


def test_callbacks_and_the_log_hear_of_every_answer(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[tuple[int, str]] = []
    learner = tm.Learner(
        X, "label", callbacks=[lambda at, question, answer: heard.append((len(at.history), question.kind))]
    )
    with caplog.at_level(logging.INFO, logger="tellmore"):
        learner.tell(learner.ask(), True)
    assert heard == [(1, "label")]
    assert "told 1 answers; label" in caplog.text
    assert "array" not in repr(learner.tell(learner.ask(), False))


def test_predictions_have_the_names_that_scikit_learn_gives_them() -> None:
    learner = tm.Learner(X, "label")
    for _ in range(12):
        question = learner.ask()
        learner.tell(question, bool(X[question.items[0], 0] > 0))
    truth = X[:, 0] > 0
    assert learner.predict_proba().shape == (40, 2)
    assert np.allclose(learner.predict_proba(X), learner.predict_proba(), atol=1e-6)
    assert learner.score(X, truth) == learner.score(None, truth.astype(int)) == np.mean(learner.predict() == truth)


def test_known_labels_are_matched_to_the_items_by_their_index() -> None:
    table = pd.DataFrame(X, index=[f"i{row}" for row in range(40)])
    learner = tm.Learner(table, "label")
    for row in range(12):
        learner.tell(tm.Question("label", [f"i{row}"]), bool(X[row, 0] > 0))
    truth = pd.Series(X[:, 0] > 0, index=table.index)
    right = learner.score(None, truth.to_numpy())
    assert 0.5 < right < 1
    for seed in range(5):
        assert learner.score(None, truth.sample(frac=1, random_state=seed)) == right
    assert learner.score(None, truth.reset_index(drop=True)) == right
    with pytest.raises(tm.SettingError, match="y must hold 40 values"):
        learner.score(None, truth[:39])
    with pytest.raises(tm.SettingError, match="the index of the labels has 'xi0'"):
        learner.score(None, truth.add_prefix("x"))


def test_notebooks_show_tables_and_a_curve_with_everything_escaped() -> None:
    pool = tm.Pool(X, [f"<i>{row}" for row in range(40)], text=["<script>"] * 40)
    learner = tm.Learner(pool, "label")
    for label in (True, False, True):
        learner.tell(learner.ask(), label)
    start = tm.Start.of_items(pool, positive=["<i>1"])
    shown = [each._repr_html_() for each in (pool, learner, learner.ask(), start, tm.Start.of_scores(X[:, 0]))]
    assert all(html.startswith("<div><b>") and "<table>" in html and "<script>" not in html for html in shown)
    assert "and 30 more" in shown[0]
    assert "<polyline" in shown[1]
    assert "&lt;script&gt;" in shown[2]
    assert all("object at" not in repr(each) for each in (pool, learner, learner.ask(), start))
