"""The likely answers are those that the response models give most often."""

from __future__ import annotations

import numpy as np

from tellmore.app.likely import likely_answers
from tellmore.core.evidence import Behaviour
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.kinds.tick import TickAnswer
from tellmore.questions import Question

CERTAIN = 1e-10 * np.eye(3)


def rng() -> np.random.Generator:
    return np.random.default_rng(2)


def test_a_sure_belief_has_one_likely_answer() -> None:
    z = np.array([0.9, -0.9, 0.1])
    ask = {"behaviour": Behaviour(100.0, 100.0), "limit": 4}
    rank = Question("rank", ["a", "b", "c"])
    assert likely_answers(rank, z, CERTAIN, **ask, rng=rng()) == [RankAnswer(["a", "c", "b"], 2)]
    high, low = Question("select_high", ["a", "b", "c"]), Question("select_low", ["a", "b", "c"])
    assert likely_answers(high, z, CERTAIN, **ask, rng=rng()) == [SelectAnswer("a", True)]
    assert likely_answers(low, z, CERTAIN, **ask, rng=rng()) == [SelectAnswer("b", False)]


def test_an_unsure_label_has_two_the_likelier_first() -> None:
    found = likely_answers(
        Question("label", ["a"]), np.array([0.05]), np.eye(1) * 0.01, Behaviour(12.0, 9.0), rng=rng(), limit=4
    )
    assert found == [LabelAnswer(True), LabelAnswer(False)]


def test_rare_answers_are_left_out_and_the_rest_is_limited() -> None:
    rank = Question("rank", list("abcde"))
    assert likely_answers(rank, np.zeros(5), np.eye(5) * 1e-9, Behaviour(12.0, 9.0), rng=rng(), limit=4) == []
    pair = Question("rank", ["a", "b"])
    found = likely_answers(pair, np.zeros(2), np.eye(2) * 1e-9, Behaviour(12.0, 9.0), rng=rng(), limit=4)
    assert len(found) == 4


def test_a_grid_is_prepared_for_too() -> None:
    grid = Question("tick", ["a", "b", "c"])
    z = np.array([0.9, -0.9, 0.1])
    found = likely_answers(grid, z, CERTAIN, Behaviour(100.0, 100.0), limit=4, rng=rng())
    assert found == [TickAnswer(["a", "c"])]
