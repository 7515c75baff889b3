"""Simulated people: speeds, lapses, and spreads that add up."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.policy.cost import PAPER_COST
from tellmore.study.people import Person, crowd, draw_answers, people_cost, within_people
from tellmore.study.presets import preset
from tellmore.study.settings import Study
from tellmore.study.simulate import Respondent


def test_a_crowd_has_speeds_of_mean_one_and_lapses_of_the_mean_asked_for() -> None:
    people = crowd(4000, speed_sd=0.4, lapses=0.02)
    speed = np.array([person.speed for person in people])
    assert speed.mean() == pytest.approx(1.0, abs=0.03)
    assert np.log(speed).std() == pytest.approx(0.4, rel=0.05)
    assert np.mean([person.lapse for person in people]) == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize("kind", ["rank", "select_high"])
def test_people_together_have_the_papers_means_and_residual_spread(study: Study, kind: str) -> None:
    rows = draw_answers(study, kind, 3000, rng=np.random.default_rng(0))
    model = PAPER_COST.model(kind)
    residual = np.array([row["seconds"] - model.seconds(row["size"]) for row in rows])
    assert residual.mean() == pytest.approx(0.0, abs=0.03 * model.seconds(5))
    assert residual.var() == pytest.approx(model.spread_s**2, rel=0.1)
    own = within_people(model, study.design.sizes_for(kind), 0.3)
    assert own.spread_s < model.spread_s
    assert people_cost(study).model(kind) == own


def test_a_slow_person_takes_longer_and_a_lapsing_one_answers_at_random(study: Study) -> None:
    gold = study.gold[0]
    question = {"kind": "rank", "items": [{"id": item} for item in gold.order]}

    def answers(**habits: float) -> tuple[float, int]:
        person = Respondent(study, Person("sim0000", **habits), rng=np.random.default_rng(1))  # type: ignore[arg-type]
        before = person.elapsed_ms
        given = [person.respond(question, "question")["answer"] for _ in range(60)]
        right = sum(a["order"] == list(gold.order) and a["n_positive"] == gold.n_positive for a in given)
        return (person.elapsed_ms - before) / 60, right

    usual, right = answers()
    assert right == 60
    assert answers(speed=2.0)[0] == pytest.approx(2 * usual, rel=0.01)
    assert 0 < answers(lapse=1.0)[1] < 40


def test_the_preset_with_grids_asks_them_in_sizes_of_their_own() -> None:
    study = preset("grid", lambda: "CODE")
    assert study.design.sizes_for("tick") == (4, 8, 12, 16, 24)
    assert study.design.sizes_for("rank") == tuple(range(2, 9))
    rows = draw_answers(study, "tick", 5, rng=np.random.default_rng(0))
    assert len(rows) == 75
    assert {row["size"] for row in rows} == {4, 8, 12, 16, 24}
    assert all(0 <= row["marks"] <= row["size"] for row in rows)
