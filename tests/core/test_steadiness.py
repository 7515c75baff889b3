"""Steadiness: who tires is seen, who does not is left alone, and nobody is compared with anybody but themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tellmore.core.steadiness import LASTING, LIMITS, QUIET, STEADY, Answered, Steadiness

HOUR = 824  # labels of 4.37 s


def labels(
    n: int, rng: np.random.Generator, *, slowing: float = 0.0, tiring: float = 0.0, pace: float = 1.0, at: int = 0
) -> Iterator[Answered]:
    """Labels of somebody whose times grow by ``slowing`` and whose share of chance answers grows by ``tiring`` per 100 answers
    from the answer ``at`` on; three items in ten are random ones, the others are nearly undecided."""
    for number in range(n):
        late = max(number - at, 0) / 100
        p = float(np.clip(rng.beta(0.5, 0.5) if rng.random() < 0.3 else rng.beta(3, 3), 0.02, 0.98))
        told = rng.random() < (0.5 if rng.random() < tiring * late else p)
        log_p, log_not = np.log(p), np.log1p(-p)
        expected = p * log_p + (1 - p) * log_not
        spread = np.sqrt(p * (1 - p)) * abs(log_p - log_not)
        time = np.log(pace * (1 + slowing * late)) + 0.68 * rng.standard_normal()
        yield Answered("label", float(time), float((log_p if told else log_not) - expected), float(spread))


def states(answers: Iterator[Answered]) -> list[Steadiness]:
    found = [STEADY]
    for one in answers:
        found.append(found[-1].after(one))
    return found[1:]


def first(found: list[Steadiness]) -> tuple[int, str] | None:
    return next(((state.seen.answers, state.seen.change) for state in found if state.seen is not None), None)


def test_in_an_hour_of_steady_answering_hardly_anybody_is_told_anything() -> None:
    rng = np.random.default_rng(0)
    told = [first(states(labels(HOUR, rng, pace=pace))) for pace in np.linspace(0.5, 3.0, 24)]
    assert sum(one is not None for one in told) <= 3  # 5 % each at most: four or more of 24 in 3 % of all runs


@pytest.mark.parametrize(("habit", "change"), [({"slowing": 1.0}, "slower"), ({"tiring": 1.0}, "worse")])
def test_who_tires_is_seen(habit: dict[str, float], change: str) -> None:
    rng = np.random.default_rng(1)
    told = [first(states(labels(300, rng, at=60, **habit))) for _ in range(8)]
    assert sum(one is not None and one[1] == change and one[0] > 60 for one in told) >= 6


def test_what_was_seen_is_said_for_a_while_and_then_not_at_once_again() -> None:
    found = states(labels(400, np.random.default_rng(2), slowing=3.0, at=60))
    said = [state.answers for state in found if state.now is not None]
    begins = [number for number in said if number - 1 not in said]
    assert len(begins) >= 2
    assert min(np.diff(begins)) >= QUIET
    assert said.index(begins[1]) == LASTING
    seen = next(state.seen for state in found if state.seen is not None)
    assert seen.z >= LIMITS["slower"]
    assert seen.times is not None
    assert 1.2 < seen.times < 4.0


def test_whoever_has_rested_begins_anew() -> None:
    rng = np.random.default_rng(3)
    tired = states(labels(200, rng, slowing=2.0, at=60))
    last = next(state for state in reversed(tired) if state.now is not None)
    rested = last.after(Answered("label", 0.0, 0.0, 0.5, rested=True))
    assert rested.now is None
    assert rested.slower_z < 1.0
    assert rested.price("label") == 1.0
    assert rested.times["label"].n == last.times["label"].n + 1  # what is one's own stays known


def test_an_interruption_is_no_finding() -> None:
    found = states(labels(100, np.random.default_rng(4)))[-1]
    away = found.after(Answered("label", 6.0, 0.0, 0.5))  # 27 minutes
    assert away.slower_z - found.slower_z < 1.0
    untimed = found.after(Answered("label", None, 0.0, 0.5))
    assert untimed.recent.off == found.recent.off


def test_a_kind_that_takes_longer_now_costs_more_and_others_do_not() -> None:
    rng = np.random.default_rng(5)
    state = STEADY
    for number in range(240):
        kind = "rank" if number % 2 else "label"
        slow = 1.0 if kind == "rank" and number > 160 else 0.0
        state = state.after(Answered(kind, slow + 0.3 * rng.standard_normal(), 0.0, 0.5))
    assert state.price("rank") > 1.5
    assert 0.7 < state.price("label") < 1.3
    assert STEADY.price("rank") == 1.0
