"""Numbers that follow from what each answer did."""

from __future__ import annotations

import pytest

from tellmore.store.fold import AnswerEffect
from tellmore.store.statistics import accuracy, accuracy_of, minutes_left


def test_the_interval_agrees_with_the_textbook() -> None:
    # Agresti and Coull (1998), no vegetarians in a sample of 25: [0, 0.133].
    none, all_of_them = accuracy_of(0, 25), accuracy_of(25, 25)
    assert none.low == pytest.approx(0.0, abs=1e-12)
    assert none.high == pytest.approx(0.133, abs=5e-4)
    assert all_of_them.low == pytest.approx(1 - none.high)


def effect(error: float, seconds: float = 6.0, correct: int = 0, scored: int = 0) -> AnswerEffect:
    return AnswerEffect(1, "q", "rank", 3, bool(scored), seconds, 0.1, -1.0, 1 - error, correct, scored)


def test_minutes_left_continue_a_power_law_exactly() -> None:
    done = [effect(0.5 * (number / 10) ** -0.5) for number in range(1, 41)]
    assert 1 - done[-1].expected_accuracy == pytest.approx(0.25)
    # Error 0.25 at 4 minutes, falling with the square root of time: 0.125 needs 16 minutes in all.
    assert minutes_left(done, target=0.875) == pytest.approx(12.0)
    assert minutes_left(done, target=0.7) == 0.0


def test_minutes_left_are_unknown_where_the_answers_do_not_tell() -> None:
    assert minutes_left([effect(0.3)] * 3, 0.9) is None
    assert minutes_left([effect(0.3)] * 20, 0.9) is None
    assert minutes_left([effect(0.3 - 0.001 * n, seconds=0.0) for n in range(20)], 0.9) is None
    assert minutes_left([effect(0.3 + 0.001 * n) for n in range(20)], 0.9) is None
    assert minutes_left([effect(0.3 - 1e-6 * n) for n in range(20)], 0.99) is None


def test_failed_checks_make_the_estimate_longer() -> None:
    sure = [effect(0.5 * (n / 10) ** -0.5, correct=4, scored=4 if n % 5 == 0 else 0) for n in range(1, 41)]
    wrong = [effect(0.5 * (n / 10) ** -0.5, correct=0, scored=4 if n % 5 == 0 else 0) for n in range(1, 41)]
    assert minutes_left(sure, 0.8) < minutes_left(wrong, 0.8)


def test_the_accuracy_is_that_of_the_newest_checks() -> None:
    early, late = [effect(0.3, correct=0, scored=4)] * 30, [effect(0.3, correct=4, scored=4)] * 25
    now = accuracy(early + late)
    assert (now.correct, now.n) == (100, 100)
    assert accuracy(early).estimate == 0
    assert accuracy([effect(0.3)]) is None
