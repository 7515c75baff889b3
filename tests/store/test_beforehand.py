"""What a project starts from: items, words and scores, found by what the settings say."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.kept import Kept
from tellmore.data.settings import Settings
from tellmore.data.words import KeptWords, TextSide
from tellmore.errors import InputError, SettingError
from tellmore.kinds.tick import TickAnswer
from tellmore.learner import Learner
from tellmore.policy.words import percent
from tellmore.pool import Pool
from tellmore.start import Start
from tellmore.store.beforehand import NOTHING_KNOWN, Beforehand, named_examples
from tellmore.store.fold import new_learner
from tellmore.store.status import doubts_of, kept_of, start_verdict

X = np.random.default_rng(0).normal(size=(40, 5))
POOL = Pool(X, ids=[f"i{row}" for row in range(40)], text=[f"Text {row}" for row in range(40)])


def by(**start: object) -> Settings:
    return Settings().changed(start=start)


@pytest.fixture
def known(tmp_path) -> Beforehand:
    def side() -> TextSide:
        return lambda texts: np.array([[len(text), 1, 0, 0, 0] for text in texts], dtype=float)

    scores = {"llm": np.where(X[:, 0] > 0, 1.0, 0.0), "level": np.zeros(40)}
    return Beforehand(words=KeptWords(tmp_path / "words.npz", side), scores=lambda chosen: scores[chosen.scores_column])


def test_names_are_items_by_id_or_text_and_else_words(known: Beforehand) -> None:
    start = known.start(by(like=["i3", "warm", "TEXT 5"], unlike=["i1"]), POOL)
    assert start is not None
    np.testing.assert_allclose(start.positive, [POOL.X[3], [4, 1, 0, 0, 0], POOL.X[5]])
    np.testing.assert_allclose(start.negative, [POOL.X[1]])
    assert known.start(Settings(), POOL) is None


def test_an_example_stays_the_same_item_if_others_with_its_text_are_added(known: Beforehand, tmp_path) -> None:
    pool = Pool(np.vstack([X, X[:1]]), ids=[*POOL.ids, "new"], text=[*(POOL.text or ()), "TEXT 5"])
    chosen = by(like=["text 5"])
    now, before = known.start(chosen, pool), known.start(chosen, POOL)
    assert now is not None
    assert before is not None
    np.testing.assert_array_equal(now.positive, before.positive)
    known.keep_words(chosen, pool)
    assert not (tmp_path / "words.npz").exists()
    with pytest.raises(InputError, match="2 items have the text 'text 5': 'i5', 'new'; name one by its id"):
        named_examples(pool, ["text 5"])


def test_only_words_are_kept(known: Beforehand, tmp_path) -> None:
    known.keep_words(by(like=["i3"]), POOL)
    assert not (tmp_path / "words.npz").exists()
    known.keep_words(by(like=["i3"], unlike=["rude"]), POOL)
    with np.load(tmp_path / "words.npz") as kept:
        assert kept["texts"].tolist() == ["rude"]


def test_kept_words_need_no_embedder_and_new_ones_are_refused_by_name(known: Beforehand, tmp_path) -> None:
    known.keep_words(by(unlike=["rude"]), POOL)

    def gone() -> TextSide:
        raise SettingError("name the embedder with --embed")

    later = Beforehand(words=KeptWords(tmp_path / "words.npz", gone))
    assert (known.no_words, later.no_words) == (None, "name the embedder with --embed")
    start = later.start(by(like=["i3"], unlike=["rude"]), POOL)
    assert start is not None
    np.testing.assert_allclose(start.negative, [[4, 1, 0, 0, 0]])
    with pytest.raises(
        InputError,
        match="'warm', and it cannot be used as a word: name the embedder with --embed",
    ):
        later.start(by(like=["warm"], unlike=["rude"]), POOL)


def test_scores_are_a_start(known: Beforehand) -> None:
    learner = new_learner(POOL, by(scores_column="llm"), known)
    assert np.mean(learner.predict() == (X[:, 0] > 0)) > 0.8


def test_seeds_of_an_earlier_version_are_labels_there_and_examples_here() -> None:
    seeds = {"seeds_positive": ["i1"], "seeds_negative": ["i2"]}
    new, old = Settings().changed(learning=seeds), Settings().changed(learning=seeds, data={"version": "0.1.0"})
    assert new_learner(POOL, new).start_weight is not None
    learner = new_learner(POOL, old)
    assert learner.start_weight is None
    mean = dict(zip(POOL.ids, learner.scores()[0], strict=True))
    assert mean["i1"] > 0 > mean["i2"]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"like": ["i1"], "unlike": ["i2", "i1"]}, "'i1' is named both as like and as unlike"),
        ({"like": ["i1"], "scores_column": "llm"}, "from examples or from scores_column, not from both"),
        ({"scores_column": "level"}, "all scores are 0"),
    ],
)
def test_impossible_starts(known: Beforehand, start: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        new_learner(POOL, by(**start), known)


def test_without_a_project_there_are_items_only() -> None:
    with pytest.raises(InputError, match="'warm', and it cannot be used as a word: the vectors"):
        new_learner(POOL, by(like=["warm"]), NOTHING_KNOWN)
    with pytest.raises(InputError, match="needs a project that keeps the column"):
        new_learner(POOL, by(scores_column="llm"), NOTHING_KNOWN)


def test_an_example_is_called_by_the_beginning_of_its_text() -> None:
    pool = Pool(np.eye(4), ["a", "b", "c", "d"], ["a warm room " * 9, "rude", "", "late"])
    settings = Settings().changed(start={"like": ["a", "RUDE"], "unlike": ["c"]})
    names = [each.name for each in Beforehand().examples(settings, pool)]
    assert names[1:] == ["rude", "c"]
    assert names[0].startswith("a warm room a warm room")
    assert names[0].endswith(" …")
    assert len(names[0]) <= 60


def test_answers_that_contradict_an_example_name_it_and_no_other() -> None:
    rng = np.random.default_rng(0)
    pool = Pool(rng.normal(size=(120, 4)) + np.repeat([[2, 0, 0, 0], [-2, 0, 0, 0]], 60, axis=0))
    settings = Settings().changed(start={"like": ["0", "100"], "unlike": ["110"]})
    examples = Beforehand().examples(settings, pool)
    assert [(each.name, each.positive) for each in examples] == [("0", True), ("100", True), ("110", False)]
    learner = Learner(pool, "tick", start=Beforehand().start(settings, pool))
    for _ in range(5):
        grid = learner.ask()
        learner.tell(grid, TickAnswer([item for item in grid.items if int(item) < 60]))
    (doubt,) = doubts_of(learner, examples)
    assert doubt.name == "100"
    assert doubt.probability == pytest.approx(learner.predict_proba(pool.X[100:101])[0, 1])
    assert start_verdict(Kept(0.9, 0.9, 0.5, 0.5), [doubt]).endswith(
        f'; they disagree with "100": its weight is now {percent(doubt.weight)}'
    )
    assert doubts_of(learner, []) == ()


def test_a_right_start_is_not_said_to_be_wrong_because_few_items_are_positive() -> None:
    """It calls half of the items positive, of which a twentieth is."""
    verdicts = []
    for reverse in (False, True):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(1_000, 8))
        score = X @ np.array([1.0, -1.0, 0.6, *np.zeros(5)])
        pool, truth, rank = Pool(X), score > np.quantile(score, 0.95), np.argsort(-score if reverse else score)
        learner = Learner(
            pool, "tick", start=Start.of_items(pool, *([pool.ids[row] for row in end] for end in (rank[-4:], rank[:4])))
        )
        for _ in range(12):
            grid = learner.ask()
            learner.tell(grid, TickAnswer([item for item in grid.items if truth[int(item)]]))
        assert learner.start_agreement() < 0.7
        verdicts.append(start_verdict(kept_of(learner), positive="urgent").partition(": ")[0])
    assert verdicts == [
        "your answers agree with the start, but fewer items are urgent than it assumed",
        "your answers disagree with the start",
    ]
