"""Quality at fixed seconds and lasting crossings, against a replay answer by answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.sim.rows import Quality, Row, Trial
from tellmore.sim.seconds import MARKS_S, MEASURES, at_seconds, known_until, lasting, quality_at
from tests.oracles import seconds as slow

# Eighths have exact means, so a mean that equals the target does so in both implementations.
LEVELS = st.integers(0, 8).map(lambda eighths: eighths / 8)
STEPS_S = st.integers(1, 40).map(lambda tenths: tenths * 7.5)


def row(answer: int, second: float, quality: Quality) -> Row:
    return Row(answer, "rank", 4, quality.accuracy, 1.0, 1.0, 0.0, 0.5, second, quality.f1, quality.average_precision)


def make_trial(seed: int, start: Quality, answers: list[tuple[float, Quality]]) -> Trial:
    seconds = np.cumsum([step for step, _ in answers]).tolist()
    rows = [row(n, at, quality) for n, (at, (_, quality)) in enumerate(zip(seconds, answers, strict=True), start=1)]
    return Trial(seed, start, tuple(rows))


QUALITIES = st.builds(Quality, LEVELS, LEVELS, LEVELS)
TRIALS = st.lists(
    st.builds(make_trial, st.just(0), QUALITIES, st.lists(st.tuples(STEPS_S, QUALITIES), min_size=1, max_size=12)),
    min_size=1,
    max_size=4,
)


def plain(seed: int, start: float, accuracy: list[float], each_s: float) -> Trial:
    return make_trial(seed, Quality(start, 0.0, 0.0), [(each_s, Quality(a, 0.0, 0.0)) for a in accuracy])


@given(trials=TRIALS)
def test_every_mark_is_that_of_a_replay(trials: list[Trial]) -> None:
    found = at_seconds(trials)
    assert list(found) == ["0", "30", "60", "120", "300", "600", "1800"]
    for mark in MARKS_S:
        for measure in MEASURES:
            each = [slow.at(trial, measure, mark) for trial in trials]
            known = [value for value in each if value is not None]
            of = found[str(mark)][measure]
            assert of["each"] == each
            assert found[str(mark)]["runs"] == len(known)
            assert of["mean"] == (pytest.approx(sum(known) / len(known)) if known else None)
            if len(known) < 2:
                assert of["se"] is None
            else:
                variance = sum((value - sum(known) / len(known)) ** 2 for value in known) / (len(known) - 1)
                assert of["se"] == pytest.approx((variance / len(known)) ** 0.5)


@given(trials=TRIALS, target=LEVELS)
def test_lasting_is_that_of_a_replay(trials: list[Trial], target: float) -> None:
    # Three trials have no exact mean of eighths; all that is looked at here is which side of the target it is on.
    if len(trials) == 3:
        target += 1 / 1000
    assert lasting(trials, target) == slow.lasting(trials, target)


def test_an_answer_counts_from_the_moment_it_is_finished() -> None:
    trial = plain(0, 0.5, [0.6, 0.7], each_s=30.0)
    assert quality_at(trial, "accuracy", np.array([0.0, 29.9, 30.0, 59.9, 60.0])).tolist() == [0.5, 0.5, 0.6, 0.6, 0.7]
    assert np.isnan(quality_at(trial, "accuracy", np.array([60.1]))).all()


def test_a_mark_that_only_some_reach_says_how_many() -> None:
    found = at_seconds([plain(0, 0.5, [0.6], each_s=70.0), plain(1, 0.5, [0.8, 0.9], each_s=30.0)])
    assert (found["60"]["runs"], found["60"]["accuracy"]["each"]) == (2, [0.5, 0.9])
    assert (found["120"]["runs"], found["120"]["accuracy"]) == (0, {"mean": None, "se": None, "each": [None, None]})
    assert at_seconds([plain(0, 0.5, [0.6], each_s=70.0), plain(1, 0.5, [0.8], each_s=30.0)])["60"]["runs"] == 1


def test_a_crossing_that_is_lost_again_does_not_last() -> None:
    up_and_down = plain(0, 0.5, [0.8, 0.7, 0.76, 0.78], each_s=10.0)
    assert lasting([up_and_down], 0.75) == 30.0
    assert lasting([up_and_down], 0.9) is None
    assert lasting([plain(0, 0.8, [0.9], each_s=10.0)], 0.75) == 0.0


def test_lasting_looks_no_further_than_the_shortest_trial() -> None:
    trials = [plain(0, 0.5, [0.7], each_s=15.0), plain(1, 0.5, [0.9, 0.5], each_s=10.0)]
    assert known_until(trials) == 15.0
    assert lasting(trials, 0.8) == 15.0
