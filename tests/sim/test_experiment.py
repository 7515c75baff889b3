"""Trials: what is measured, what they depend on, and what a learner never sees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tellmore.errors import PoolError, SettingError
from tellmore.pool import Pool
from tellmore.ratings import Scores
from tellmore.sim.config import Config, Mode
from tellmore.sim.experiment import conversation, make_annotators, make_learner, trial
from tellmore.sim.method import PAPER_PRIOR_SCALE, MethodLearner
from tellmore.sim.rows import Trial
from tellmore.sim.score_model import unit_least_squares
from tellmore.sim.truth import load_truth, truth_of
from tests.sim.conftest import write_pool


@pytest.mark.parametrize("question", ["label", "select", "rank", "auto"])
def test_a_trial_measures_after_each_answer(small_pool: str, question: str) -> None:
    config = Config(pool=small_pool, question=question, size=None if question == "auto" else 3, answers=8)
    rows = trial(config, seed=1).rows
    assert [row.answer for row in rows] == list(range(1, 9))
    assert np.diff([row.logdet for row in rows]).max() < 0
    assert np.diff([row.seconds for row in rows]).min() > 0
    assert all(row.bits > 0 and 0 <= row.accuracy <= 1 and 0 <= row.mse <= 4 for row in rows)
    if question != "auto":
        assert {row.size for row in rows} == {1 if question == "label" else 3}


def test_the_same_seed_gives_the_same_rows_and_another_does_not(small_pool: str) -> None:
    config = Config(pool=small_pool, answers=4)
    assert trial(config, 3) == trial(config, 3)
    assert trial(config, 3).rows != trial(config, 4).rows


def test_people_are_learnt_from(small_pool: str) -> None:
    config = Config(pool=small_pool, question="select", answers=25)
    assert np.mean([trial(config, seed).rows[-1].accuracy for seed in range(3)]) > 0.9


def test_random_answers_teach_nothing(small_pool: str) -> None:
    config = Config(pool=small_pool, question="label", answers=20, lapse=1.0)
    assert np.mean([trial(config, seed).rows[-1].accuracy for seed in range(6)]) < 0.8


def test_a_trial_stops_at_the_accuracy_asked_for(small_pool: str) -> None:
    rows = trial(Config(pool=small_pool, answers=60, stop_at=0.85), 0).rows
    assert rows[-1].accuracy >= 0.85
    assert all(row.accuracy < 0.85 for row in rows[:-1])


def test_a_trial_lasts_as_long_as_its_seconds_and_no_longer(small_pool: str) -> None:
    unlimited = trial(Config(pool=small_pool, answers=20), 0).rows
    rows = trial(Config(pool=small_pool, answers=None, seconds=100.0), 0).rows
    assert rows[-1].seconds >= 100 > rows[-2].seconds
    assert rows == unlimited[: len(rows)]
    assert len(trial(Config(pool=small_pool, answers=2, seconds=100.0), 0).rows) == 2


def test_the_quality_at_the_start_is_that_of_a_coin(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    start = trial(Config(pool=small_pool, answers=1), 0).start
    positive = truth.labels[truth.counted].mean()
    assert start.accuracy == pytest.approx(0.5)
    assert start.f1 == pytest.approx(positive / (0.5 + positive))
    assert start.average_precision == pytest.approx(positive)


@pytest.mark.parametrize("seed", range(20))
def test_quality_is_that_of_scikit_learn(small_pool: str, seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth = load_truth(small_pool, "X")
    score = np.random.default_rng(seed).normal(size=len(truth.pool)).round(1 if seed % 2 else 6)
    score[score == 0] = 0.05  # scikit-learn tosses no coins
    found = truth.quality(score)
    known, own = truth.labels[truth.counted], score[truth.counted]
    assert found.accuracy == pytest.approx(metrics.accuracy_score(known, own > 0))
    assert found.f1 == pytest.approx(metrics.f1_score(known, own > 0))
    assert found.average_precision == pytest.approx(metrics.average_precision_score(known, own))


def test_quality_without_a_positive_is_defined(tmp_path: Path) -> None:
    truth = truth_of(Pool(np.eye(3), scores=Scores(np.array([-1.0, -1.0, -2.0]))))
    found = truth.quality(np.array([-1.0, -1.0, -1.0]))
    assert (found.accuracy, found.f1, found.average_precision) == (1.0, 0.0, 0.0)


def test_measures_agree_with_their_definitions(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    config = Config(pool=small_pool, answers=5)
    learner, _ = make_learner(config, truth, 0)
    for _ in conversation(config, learner, truth, 0):
        pass
    last = trial(config, 0).rows[-1]
    theta = np.concatenate([learner.intercept_, learner.coef_[0]])
    labels = np.where(truth.scores.mean > 0, 1.0, -1.0)
    target = unit_least_squares(truth.pool.X, labels)
    assert last.mse == pytest.approx(np.sum((theta / np.linalg.norm(theta) - target) ** 2))
    counted = np.abs(truth.scores.probability_positive() - 0.5) >= 0.1
    assert 0 < counted.sum() < len(counted)
    guess = learner.decision_function(truth.pool.X) > 0
    assert last.accuracy == pytest.approx(np.mean((guess == (labels > 0))[counted]))


def permuted(small_pool: str, path: Path) -> str:
    with np.load(small_pool) as arrays:
        keys = dict(arrays)
    order = np.random.default_rng(5).permutation(len(keys["mean"]))
    keys |= {"mean": keys["mean"][order] + 1.0, "sd": 2 * keys["sd"][order], "threshold": np.array(0.5)}
    np.savez(path, **keys)
    return str(path)


@pytest.mark.parametrize("question", ["label", "select", "rank", "auto"])
def test_permuted_scores_leave_the_first_question_the_same(small_pool: str, tmp_path: Path, question: str) -> None:
    """In default mode a learner sees no scores, no threshold and no constants fitted from them."""
    other = permuted(small_pool, tmp_path / "another-name.npz")
    asked = []
    for pool in (small_pool, other):
        config = Config(pool=pool, question=question, size=None if question == "auto" else 4)
        learner, notes = make_learner(config, load_truth(pool, "X"), seed=7)
        assert learner.pool.scores is None
        assert notes == {}
        asked.append(learner.ask())
    assert asked[0] == asked[1]


def test_paper_mode_fits_w_and_K_from_the_scores(small_pool: str) -> None:
    config = Config(pool=small_pool, mode="paper", answers=2)
    truth = load_truth(small_pool, "X")
    learner, notes = make_learner(config, truth, 0)
    assert notes == {"w": truth.model.w, "K": truth.model.K}
    assert (learner.behaviour.w, learner.behaviour.K) == (truth.model.w, truth.model.K)
    np.testing.assert_allclose(learner.posterior.cov, np.eye(6) * PAPER_PRIOR_SCALE / 6)
    assert trial(config, 0).notes == notes


def test_without_a_spread_scores_are_certain_and_all_items_count(tmp_path: Path) -> None:
    path = write_pool(tmp_path / "certain.npz", sd=None)
    truth = load_truth(str(path), "X")
    assert truth.counted.all()
    config = Config(pool=str(path), question="label", answers=3)
    learner, _ = make_learner(config, truth, 0)
    for question, _, _ in conversation(config, learner, truth, 0):
        row = truth.pool.rows(question.items)[0]
        assert learner.history[-1][1].positive == truth.labels[row]


def test_a_pool_without_scores_cannot_be_simulated(tmp_path: Path) -> None:
    path = write_pool(tmp_path / "bare.npz", mean=None, sd=None, threshold=None)
    with pytest.raises(PoolError, match="no human scores"):
        trial(Config(pool=str(path)), 0)


def test_the_histogram_annotator_needs_a_histogram(small_pool: str) -> None:
    config = Config(pool=small_pool, annotator="histogram")
    with pytest.raises(PoolError, match="no histogram"):
        make_annotators(config, load_truth(small_pool, "X"))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"question": "sort"}, "must be one of label, select, rank, .*, auto"),
        ({"acquisition": "best"}, "must be one of greedy"),
        ({"mode": "fast"}, "default, paper"),
        ({"annotator": "crowd"}, "gaussian, histogram, model"),
        ({"answers": 0}, "at least 1 answer"),
        ({"answers": None}, "give answers, seconds or both"),
        ({"seconds": 0.0}, "more than 0 seconds, not 0"),
        ({"seconds": float("inf")}, "more than 0 seconds, not inf"),
        ({"size": 1}, "2 to 10 items, not 1"),
        ({"question": "auto", "size": 4}, "size must be left out, not 4"),
        ({"lapse": 1.5}, "from 0 to 1"),
        ({"stop_at": 0.4}, "above 0.5"),
    ],
)
def test_a_wrong_setting_says_what_is_allowed(setting: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        replace(Config(), **setting)  # type: ignore[arg-type]


def test_trials_survive_json(small_pool: str) -> None:
    done = trial(Config(pool=small_pool, answers=2, mode="paper"), 0)
    assert Trial.from_dict(done.as_dict()) == done


def test_drift_and_fatigue_change_what_is_answered_later(small_pool: str) -> None:
    plain = trial(Config(pool=small_pool, answers=10), 0)
    for setting in ({"drift": 300.0}, {"fatigue": 300.0}):
        changed = trial(Config(pool=small_pool, answers=10, **setting), 0)  # type: ignore[arg-type]
        assert changed.rows[0].accuracy == plain.rows[0].accuracy
        assert changed.rows[-1] != plain.rows[-1]
    slower = trial(Config(pool=small_pool, answers=10, slowing=100.0), 0)
    assert slower.rows[-1].accuracy == plain.rows[-1].accuracy
    assert slower.rows[-1].seconds > plain.rows[-1].seconds


def test_truth_of_needs_scores_with_a_threshold() -> None:
    pool = Pool(np.eye(3), scores=Scores(np.array([1.0, -1.0, 2.0])))
    truth = truth_of(pool)
    assert truth.labels.tolist() == [True, False, True]
    assert truth.mse(np.zeros(4))[0] == pytest.approx(1.0)


def test_paper_mode_can_leave_parts_out(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    config = Config(pool=small_pool, mode="paper", options=(("paper_parts", ("prior", "bound")),))
    learner, notes = make_learner(config, truth, 0)
    assert isinstance(learner, MethodLearner)
    assert learner.method.parts == {"prior", "bound"}
    assert learner.exclude_last == make_learner(replace(config, options=()), truth, 0)[0].exclude_last
    assert (learner.behaviour.w, learner.behaviour.K) == (notes["w"], notes["K"])


def test_options_reach_the_prior(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    wide = Config(pool=small_pool, options=(("prior_options", (("scale", 4.0),)),))
    plain, scaled = (make_learner(config, truth, 0)[0].posterior.cov for config in (Config(pool=small_pool), wide))
    np.testing.assert_allclose(scaled[1:], 4 * plain[1:])  # all but the bias


def test_modes_differ_in_what_they_are_told_and_where_they_begin(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    learners = {
        mode: make_learner(Config(pool=small_pool, mode=mode), truth, 0)
        for mode in ("as-printed", "paper", "as-authors")
    }
    assert [np.linalg.norm(learner.posterior.mean) for learner, _ in learners.values()] == pytest.approx([0, 1, 1])
    assert [notes["w"] for _, notes in learners.values()] == pytest.approx([truth.model.w, truth.model.w, 13])
    assert learners["as-authors"][1]["K"] == pytest.approx(truth.model.K_of_means)
    assert [np.trace(learner.posterior.cov) for learner, _ in learners.values()] == pytest.approx([2, 2, 1])


def test_the_authors_code_asks_random_labels_only() -> None:
    with pytest.raises(SettingError, match="add --acquisition random"):
        Config(question="label", mode="as-authors")
    assert Config(question="label", mode="as-authors", acquisition="random").title == "label, random"


@pytest.mark.parametrize("mode", ["default", "as-printed"])
def test_a_sparse_trial_is_the_same_with_fewer_measures(small_pool: str, mode: Mode) -> None:
    whole = Config(pool=small_pool, question="label", mode=mode, answers=62)
    every, some = (trial(config, 0).rows for config in (whole, replace(whole, sparse=True)))
    for full, sparse in zip(every, some, strict=True):
        if full.answer <= 50 or full.answer == 60:
            assert sparse == full
        else:
            assert (sparse.accuracy, sparse.f1, sparse.seconds) == (full.accuracy, full.f1, full.seconds)
            assert np.isnan([sparse.bits, sparse.mse, sparse.average_precision]).all()
