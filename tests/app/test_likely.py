"""The likely answers are those that the response models give most often."""

from __future__ import annotations

import numpy as np

from tellmore.app.likely import likely_answers
from tellmore.core.gaussian import Gaussian
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.kinds.tick import TickAnswer
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.types import Answer


def likely(kind: str, z: list[float], variance: float, w: float, K: float) -> list[Answer]:
    """At most four answers to a question on the items a, b, … whose scores are N(z_i, variance) each."""
    items = list("abcde")[: len(z)]
    pool = Pool(np.eye(6)[: len(z) + 1], [*items, "not shown"])
    prior = Gaussian.from_moments(np.array([0.0, *z, *np.zeros(6 - len(z))]), np.diag([1e-12] + [variance] * 6))
    return likely_answers(Learner(pool, prior=prior, w=w, K=K), Question(kind, items), limit=4)


def test_a_sure_belief_has_one_likely_answer() -> None:
    sure = {"z": [0.9, -0.9, 0.1], "variance": 1e-10, "w": 100.0, "K": 100.0}
    assert likely("rank", **sure) == [RankAnswer(["a", "c", "b"], 2)]
    assert likely("select_high", **sure) == [SelectAnswer("a", True)]
    assert likely("select_low", **sure) == [SelectAnswer("b", False)]
    assert likely("tick", **sure) == [TickAnswer(["a", "c"])]


def test_an_unsure_label_has_two_the_likelier_first() -> None:
    assert likely("label", [0.05], 0.01, 12.0, 9.0) == [LabelAnswer(True), LabelAnswer(False)]


def test_rare_answers_are_left_out_and_the_rest_is_limited() -> None:
    assert likely("rank", [0.0] * 5, 1e-9, 12.0, 9.0) == []
    assert len(likely("rank", [0.0] * 2, 1e-9, 12.0, 9.0)) == 4
