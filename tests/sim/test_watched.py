"""What can be seen of simulated people: those who choose the first, and those who judge by contrast, differ from the others."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tellmore.sim.rows import Trial
from tellmore.sim.summary import summarise
from tellmore.sim.watched import effect


def test_who_chooses_the_first_is_told_apart_and_the_trial_is_kept_whole() -> None:
    found = trial(
        Config(pool="gaussian=5", question="select", answers=60, acquisition="random", team="good, first=1"), seed=1
    )
    good, takes_first = (person["first"] for person in found.people)
    assert abs(good[0]) < 3 * good[1]
    assert takes_first[0] > 3 * takes_first[1]
    assert Trial.from_dict(json.loads(json.dumps(found.as_dict()))) == found
    shown = summarise(Config(pool="gaussian=5", question="select", team="good, first=1"), [found], pool={})["people"]
    assert [one["first"] for one in shown] == [good[0], takes_first[0]]


def test_who_judges_by_contrast_says_positive_less_after_positives() -> None:
    found = trial(
        Config(pool="gaussian=5", question="label", answers=160, acquisition="random", team="good, contrast=1"), seed=2
    )
    good, contrast = (person["before"] for person in found.people)
    assert abs(good[0]) < 3 * good[1]
    assert contrast[0] < -3 * contrast[1]


def test_an_effect_is_the_least_squares_slope() -> None:
    rng = np.random.default_rng(0)
    cause = rng.normal(size=200)
    slope, se = effect(0.7 * cause + 2.0 + 0.1 * rng.normal(size=200), cause)  # type: ignore[misc]
    assert slope == pytest.approx(0.7, abs=4 * se)
    assert se == pytest.approx(0.1 / np.sqrt(200), rel=0.3)
    assert effect(np.zeros(3)) is None
    assert effect(np.zeros(30), np.ones(30)) is None


def test_nobody_is_watched_where_there_is_no_team() -> None:
    assert trial(Config(pool="gaussian=5", question="label", answers=2), seed=0).people == ()
