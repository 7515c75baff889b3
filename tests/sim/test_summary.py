"""Curves into numbers: first reached, sustained, the mean curve, interactions and seconds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tellmore.sim.config import Config
from tellmore.sim.rows import Quality, Row, Trial
from tellmore.sim.summary import first_reached, mean_curve_seconds, summarise, sustained_from, to_accuracy, together


def make_trial(seed: int, accuracy: list[float], each_s: float = 10.0) -> Trial:
    rows = [Row(t, "rank", 4, a, 1.0, 1.0, -5.0, 1.0, each_s * t, a, a) for t, a in enumerate(accuracy, start=1)]
    return Trial(seed, Quality(0.4, 0.4, 0.4), tuple(rows))


def test_first_reached_and_sustained_differ_when_the_accuracy_falls_again() -> None:
    curve = np.array([0.6, 0.76, 0.7, 0.75, 0.8])
    assert first_reached(curve, 0.75) == 2
    assert sustained_from(curve, 0.75) == 4
    assert first_reached(curve, 0.9) is None
    assert sustained_from(curve[:3], 0.75) is None
    assert sustained_from(np.array([0.8, 0.9]), 0.75) == 1


def test_failing_seeds_are_counted_and_do_not_enter_the_mean() -> None:
    trials = [make_trial(0, [0.5, 0.8, 0.8]), make_trial(1, [0.5, 0.5, 0.9]), make_trial(2, [0.5, 0.5, 0.5])]
    reach = to_accuracy(trials, 0.75)
    assert reach["interactions"]["mean"] == 2.5
    assert reach["interactions"]["se"] == pytest.approx(0.5)
    assert reach["interactions"]["reached"] == 2
    assert reach["seconds"]["mean"] == 25.0
    # Means over seeds: 0.5, 0.6, 0.73.
    assert reach["interactions"]["mean_curve"] is None
    assert to_accuracy(trials, 0.6)["interactions"]["mean_curve"] == 2


def test_nobody_reached_it_is_null() -> None:
    reach = to_accuracy([make_trial(0, [0.5])], 0.75)["interactions"]
    assert reach == {
        "mean": None,
        "se": None,
        "reached": 0,
        "sustained": None,
        "sustained_reached": 0,
        "mean_curve": None,
    }


def test_the_mean_curve_over_time_compares_seeds_at_equal_times() -> None:
    fast, slow = make_trial(0, [0.5] + [0.9] * 10, each_s=1.0), make_trial(1, [0.5, 0.7], each_s=10.0)
    # From 2 s on the fast one has 0.9; the slow one has 0.4 before 10 s, then 0.5, then 0.7 at 20 s, when the fast one is over.
    assert mean_curve_seconds([fast, slow], 0.4) == 0.0
    assert mean_curve_seconds([fast, slow], 0.65) == 2.0
    assert mean_curve_seconds([fast, slow], 0.7) == 10.0
    assert mean_curve_seconds([fast, slow], 0.75) is None


def test_no_trial_is_carried_beyond_its_end() -> None:
    assert together([[0.5, 0.8], [0.5, 0.6, 0.7]]).tolist() == [[0.5, 0.8], [0.5, 0.6]]
    trials = [make_trial(0, [0.9]), make_trial(1, [0.5, 0.5, 0.7])]
    assert to_accuracy(trials, 0.75)["interactions"]["mean_curve"] is None  # 0.7, then nobody knows


def test_what_stopped_at_a_target_is_not_called_sustained() -> None:
    trials = [make_trial(0, [0.5, 0.8]), make_trial(1, [0.8])]
    assert to_accuracy(trials, 0.75)["interactions"]["sustained"] == 1.5
    assert to_accuracy(trials, 0.75, stopped=True)["interactions"]["sustained"] is None
    summary = summarise(Config(answers=2, stop_at=0.75), trials, pool={"name": "words"})
    assert summary["to_accuracy"]["0.75"]["seconds"]["sustained_reached"] == 0


def test_the_summary_is_json_of_the_promised_shape() -> None:
    trials = [make_trial(0, [0.5, 0.8]), make_trial(1, [0.72, 0.74])]
    summary = summarise(Config(answers=2), trials, pool={"name": "words"})
    plain = json.loads(json.dumps(summary))
    assert plain["seeds"] == [0, 1]
    assert plain["config"]["question"] == "rank"
    assert set(plain["curves"]) >= {"accuracy", "mse", "logdet", "bits", "seconds"}
    assert plain["curves"]["accuracy"] == [[0.5, 0.8], [0.72, 0.74]]
    assert set(plain["to_accuracy"]) == {"0.70", "0.75", "0.80"}
    assert plain["lasting"] == {"0.70": 20.0, "0.75": 20.0, "0.80": None}
    assert plain["known_until_seconds"] == 20.0
    assert plain["at_seconds"]["0"]["accuracy"] == {"mean": 0.4, "se": 0.0, "each": [0.4, 0.4]}
    assert plain["at_seconds"]["30"]["runs"] == 0
    for reach in plain["to_accuracy"].values():
        for of in ("interactions", "seconds"):
            assert set(reach[of]) >= {"mean", "se", "reached", "sustained", "mean_curve"}
