"""The laboratory's learner: the paper's statistics, whole or in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tellmore as tm
from tellmore.errors import SettingError
from tellmore.kinds import named
from tellmore.sim.method import PAPER_PARTS, Method, MethodLearner
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


@pytest.mark.parametrize("part", PAPER_PARTS)
def test_every_part_alone_changes_something(part: str) -> None:
    pool = make_pool(60, 8)

    def state(method: Method) -> tuple[bytes, object]:
        learner = MethodLearner(pool, "rank", 4, method=method, seed=5)
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
