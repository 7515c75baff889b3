"""A project from Python: created, taught and exported; nothing that does not fit gets into its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import tellmore as tm
from tellmore.data.project import open_project
from tellmore.store.importing import Collected, append_answers
from tellmore.store.state import load_state

X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
TRUTH = X[:, 0] > 0


def test_labels_with_an_index_belong_to_the_items_that_it_names(tmp_path: Path) -> None:
    labels = pd.Series(TRUTH, index=range(100, 160))
    some = made(tmp_path, labels=labels.sample(frac=0.5, random_state=0)).learner().labels()
    assert len(some) == 30
    assert all(label == TRUTH[int(item) - 100] for item, label in some.items())
    with pytest.raises(tm.SettingError, match=r"the index of the labels has 160, .* or labels.to_numpy\(\)"):
        made(tmp_path / "other", labels=pd.Series([True], index=[160]))


def made(folder: Path, **options: Any) -> tm.Project:
    frame = pd.DataFrame(X, index=range(100, 160))
    return tm.Project.create(folder / "p", frame, attribute="calm", **options)


def test_from_a_dataframe_to_a_file(tmp_path: Path) -> None:
    project = made(tmp_path)
    for _ in range(15):
        question = project.learner().ask(kind="label")
        project.tell(question, bool(TRUTH[int(question.items[0]) - 100]), participant="ann")
    again = tm.Project.open(tmp_path / "p")
    assert (len(again.learner().history), again.pool.ids[0]) == (15, "100")
    assert again.settings["project"]["negative"] == "not calm"
    assert again.learner().score(None, TRUTH) > 0.85
    (path,) = again.export(tmp_path / "c.npz", "npz")
    loaded = tm.Classifier.load(path)
    assert np.allclose(loaded.predict_proba(X), again.classifier.predict_proba(X))
    assert (loaded.predict(X) == again.learner().predict()).all()
    table, _ = again.export(tmp_path / "scores.csv", "csv")
    assert len(pd.read_csv(table)) == 60


@pytest.mark.parametrize("names", [list("dabc"), [3, 0, 2, 1]])
def test_columns_are_matched_by_name(tmp_path: Path, names: list[Any]) -> None:
    frame = pd.DataFrame(X, columns=names)
    project = tm.Project.create(tmp_path / "p", frame)
    for row in range(12):
        project.tell(tm.Question("label", [str(row)]), bool(TRUTH[row]))
    probability = project.learner().predict_proba()
    (path,) = project.export(tmp_path / "c.npz", "npz")
    other = frame[sorted(names)].assign(more=1.0)
    for classifier in (project.learner(), project.classifier, tm.Classifier.load(path)):
        np.testing.assert_allclose(classifier.predict_proba(other), probability, atol=1e-5)
    with pytest.raises(tm.PoolError, match="there is no column"):
        project.classifier.predict_proba(other.drop(columns=[names[0]]))
    np.testing.assert_allclose(project.classifier.predict_proba(X), probability, atol=1e-5)


def test_its_learner_asks_random_checks_and_no_item_twice_in_a_row(tmp_path: Path) -> None:
    settings = {"learning": {"check_share": 0.5, "question": "label"}}
    project = made(tmp_path, settings=settings)
    for _ in range(20):
        learner = project.learner()
        question = learner.ask()
        recent = [each.items[0] for each, _ in learner.history[-5:]]
        assert question.check or question.items[0] not in recent
        project.tell(question, bool(TRUTH[int(question.items[0]) - 100]))
    checks = sum(question.check for question, _ in project.learner().history)
    assert 4 <= checks <= 16
    quality = project.learner().quality()
    assert quality is not None
    assert quality.checks == checks


def test_from_a_file_with_words_in_the_space_of_its_items(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("id,text\na,warm and kind\nb,cold and rude\nc,kind but cold\n")
    project = tm.Project.create(tmp_path / "p", tmp_path / "items.csv", attribute="warm", embed="tfidf", like=["kind"])
    assert project.embed(["warm"]).shape == (1, project.pool.d)
    assert project.learner().start_weight is not None


def test_a_guessed_encoding_is_logged_and_can_be_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, texts = tmp_path / "items.csv", ("тёплый и добрый приём", "холодный приём и грубый официант", "грубый суп")
    path.write_bytes(f"id;text\na;{texts[0]}\nb;{texts[1]}\nc;{texts[2]}\n".encode("cp1251"))
    project = tm.Project.create(tmp_path / "p", path, embed="tfidf")
    assert project.pool["a"].text == texts[0]
    assert "was read as cp1251 (guessed), cells separated by semicolons. Line 2 reads 'тёплый" in caplog.text
    caplog.clear()
    tm.Project.create(tmp_path / "q", path, embed="tfidf", encoding="cp1251", delimiter=";")
    assert not caplog.records
    with pytest.raises(tm.SettingError, match=r"encoding, delimiter, .* go with items in a file"):
        tm.Project.create(tmp_path / "r", X, encoding="cp1251")


def test_labels_of_a_file_may_be_any_two_words(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("id,text,label\na,warm and kind,ja\nb,cold and rude,nein\nc,kind but cold,\n")
    project = tm.Project.create(tmp_path / "p", path, embed="tfidf", positive_value="ja", negative_value="nein")
    assert project.learner().labels() == {"a": True, "b": False}


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        (tm.Question("label", ["nowhere"]), tm.LabelAnswer(True), "'nowhere' is not an item"),
        (tm.Question("label", ["100"]), tm.RankAnswer(["100"], 1), "answered by LabelAnswer or Skip"),
        (tm.Question("rank", ["100", "101"]), tm.RankAnswer(["100", "102"], 1), "each item shown exactly once"),
    ],
)
def test_nothing_that_does_not_fit_gets_into_the_log_by_any_door(
    tmp_path: Path, question: tm.Question, answer: tm.Answer, said: str
) -> None:
    project = made(tmp_path)
    good = Collected(tm.Question("label", ["103"]), tm.LabelAnswer(True), row=1)
    with pytest.raises(tm.InputError, match=said):
        append_answers(open_project(project.folder), [good, Collected(question, answer, row=2)])
    with pytest.raises(tm.InputError, match=said):
        project.tell(question, answer)
    for nobody in ("", 5):
        with pytest.raises(tm.InputError, match="participant must be the name"):
            project.tell(good.question, True, participant=nobody)  # type: ignore[arg-type]
    assert project.learner().history == ()


def test_half_a_character_is_refused_and_named(tmp_path: Path) -> None:
    for what in ({"ids": ["\ud800", "b"]}, {"text": ["\ud800", "b"]}):
        with pytest.raises(tm.PoolError, match=r"holds '\\ud800', half of a character"):
            tm.Project.create(tmp_path / "p", tm.Pool(X[:2], **what))
        assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_unknown_ones(tmp_path: Path, missing: Any) -> None:
    labels = pd.Series([True, missing, False, *[missing] * 57], dtype="object" if missing is not pd.NA else "boolean")
    assert made(tmp_path, labels=labels).learner().labels() == {"100": True, "102": False}


def test_a_start_in_the_settings_is_a_start(tmp_path: Path) -> None:
    texts = tm.Pool.of_texts(["warm and kind", "cold and rude", "kind but cold"], lambda one: X[: len(one)])
    project = tm.Project.create(tmp_path / "p", texts, settings={"start": {"like": ["Warm and kind"]}})
    assert project.learner().start_weight is not None
    for start in ({"scores_column": "llm"}, {"like": ["warm"]}, {"earlier": True}):
        with pytest.raises(tm.InputError, match=r"no item has|give its folder as earlier"):
            tm.Project.create(tmp_path / "q", texts, settings={"start": start})
        assert not (tmp_path / "q").exists()


def test_only_tables_have_a_table_of_answers(tmp_path: Path) -> None:
    project = made(tmp_path)
    with pytest.raises(tm.SettingError, match="the table of answers is written as csv or parquet, not as npz"):
        project.export(tmp_path / "answers.npz", "npz", table="answers")
    assert project.export(tmp_path / "answers.csv", "csv", table="answers")


def test_a_question_is_told_once(tmp_path: Path) -> None:
    project = made(tmp_path, labels=[True, False, *[None] * 58])
    assert len(project.learner().history) == 2
    question = tm.Question("label", [105])
    project.tell(question, True)
    with pytest.raises(tm.QuestionError, match="already in the log"):
        project.tell(question, False)
    twice = Collected(tm.Question("label", ["106"]), tm.LabelAnswer(True), row=1)
    assert append_answers(open_project(project.folder), [twice, twice]) == 1
    assert len(project.learner().history) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": [1.5] * 60}, "True, False or None, one for each of the 60"),
        ({"embed": "tfidf"}, "items in a file"),
        ({"like": ["100"], "earlier": "q"}, "not from both"),
        ({"settings": {"learning": {"question": "guess"}}}, "guess"),
        ({"like": ["a word"]}, "cannot be used as a word"),
        ({"like": "100"}, "like must be a list of texts, not the single string '100'"),
        ({"settings": {"question": "rank"}}, "settings go by section"),
        ({"settings": {"project": {"positive": "Kind", "negative": "kind"}}}, "they must differ"),
        ({"settings": {"learning": {"prior": "earlier"}}}, "give its folder as earlier"),
        ({"settings": {"learning": {"seeds_positive": ["nowhere"]}}}, "no item has the id or the text 'nowhere'"),
    ],
)
def test_impossible_projects_leave_nothing(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(tm.InputError, match=said):
        made(tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_items_that_are_all_alike_leave_nothing(tmp_path: Path) -> None:
    for alike in (np.ones((5, 3)), 1e7 + np.eye(5)):  # the second by rounding
        with pytest.raises(tm.PoolError, match="nothing can be learnt"):
            tm.Project.create(tmp_path / "p", alike)
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_classifier_is_one_of_several_beliefs(tmp_path: Path) -> None:
    first = made(tmp_path, labels=TRUTH.tolist())
    second = tm.Project.create(tmp_path / "q", tm.Pool(X), earlier=first.folder)
    before, after = load_state(open_project(first.folder)), second.learner()
    assert np.mean(after.predict() == before.learner.predict()) > 0.95
    assert len(after.posteriors.beliefs) > 1
    for row in range(12):  # this time the opposite is looked for
        after.tell(tm.Question("label", [row]), not TRUTH[row])
    assert np.mean(after.predict() == ~TRUTH) > 0.7


class Regressor:
    def predict(self, rows: np.ndarray) -> np.ndarray:
        return 5 + 2 * rows[:, 0]


def test_a_start_from_a_classifier_matches_columns_by_name(tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=list("abcd"), index=[f"i{row}" for row in range(60)])
    turned, vectors = table[table.columns[::-1]], pd.DataFrame({"vector": list(X)}, index=table.index)
    learner = tm.Learner(table, "label")
    for row in range(20):
        learner.tell(tm.Question("label", [f"i{row}"]), bool(TRUTH[row]))
    first = tm.Project.create(tmp_path / "p", table, labels=TRUTH.tolist())
    taught = LogisticRegression().fit(table, TRUTH)
    for classifier in (taught, learner, first.classifier):  # without a warning of scikit-learn's
        start = tm.Start.of_classifier(classifier)
        for same in (table, turned) if classifier is taught else (table, turned, vectors):
            assert tm.Learner(same, start=start).score(None, TRUTH) > 0.85
        with pytest.raises(tm.SettingError, match="taught on other columns: there is no column 'a'"):
            tm.Learner(table.add_prefix("x"), start=start)
    second = tm.Project.create(tmp_path / "q", turned, earlier=first.folder)
    assert second.learner().score(None, TRUTH) > 0.85
    with pytest.raises(tm.SettingError, match="taught on other columns: there is no column 'xa'"):
        tm.Project.create(tmp_path / "r", table.add_prefix("x"), earlier=first.folder)
    assert tm.Project.create(tmp_path / "s", vectors, earlier=first.folder).learner().score(None, TRUTH) > 0.85


def test_any_classifier_can_be_a_start() -> None:
    learner = tm.Learner(X, "label")
    for row in range(20):
        learner.tell(tm.Question("label", [row]), bool(TRUTH[row]))
    for classifier in (LogisticRegression().fit(X, TRUTH), learner, Regressor()):
        started = tm.Learner(X, "label", start=tm.Start.of_classifier(classifier))
        assert started.score(None, TRUTH) > 0.85
    one_sided = LogisticRegression().fit(X, TRUTH)
    one_sided.intercept_ += 100  # calls all items positive
    assert tm.Learner(X, "label", start=tm.Start.of_classifier(one_sided)).predict().mean() > 0.95
    with pytest.raises(tm.SettingError, match="has one of decision_function"):
        tm.Start.of_classifier("a file")
    narrow = tm.Start.of_classifier(LogisticRegression().fit(X[:, :2], TRUTH))
    with pytest.raises(tm.SettingError, match="cannot score the items"):
        tm.Learner(X, start=narrow)
    for many in (LogisticRegression(), DecisionTreeClassifier(max_depth=2)):
        three = tm.Start.of_classifier(many.fit(X, np.arange(60) % 3))
        with pytest.raises(
            tm.SettingError, match=r"cannot score the items: its \w+ gives \[3\] numbers for each, and 1 is"
        ):
            tm.Learner(X, start=three)
    with pytest.raises(tm.DataFileError, match="no such file"):
        tm.Classifier.load("nowhere.npz")
