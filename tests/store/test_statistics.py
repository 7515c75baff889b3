"""Numbers that follow from what each answer changed."""

from __future__ import annotations

import pytest

from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.policy.cost import PAPER_COST
from tellmore.policy.tally import Check
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.fold import AnswerEffect
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event
from tellmore.store.statistics import TimesSoFar, accuracy, accuracy_of, confident_mistakes, time_left

MANY = 10_000


def test_the_interval_agrees_with_the_textbook() -> None:
    # Agresti and Coull (1998), no vegetarians in a sample of 25: [0, 0.133].
    none, all_of_them = accuracy_of(0, 25), accuracy_of(25, 25)
    assert none.low == pytest.approx(0.0, abs=1e-12)
    assert none.high == pytest.approx(0.133, abs=5e-4)
    assert all_of_them.low == pytest.approx(1 - none.high)


def effect(error: float, seconds: float = 6.0, correct: int = 0, scored: int = 0) -> AnswerEffect:
    return AnswerEffect(1, "q", "rank", 3, bool(scored), seconds, 0.1, -1.0, 1 - error, correct, scored)


def improving(wrong: int = 100) -> list[AnswerEffect]:
    """40 answers of 6 seconds; the error falls with the square root of time. ``wrong`` of 200 checks were predicted wrongly."""
    per_answer = [5 - (number + 1) * wrong // 40 + number * wrong // 40 for number in range(40)]
    return [effect(0.5 * (n / 10) ** -0.5, correct=per_answer[n - 1], scored=5) for n in range(1, 41)]


def test_the_time_left_continues_a_power_law() -> None:
    done = improving()
    assert 1 - done[-1].expected_accuracy == pytest.approx(0.25)
    low, high = time_left(done, 0.8, MANY)
    assert 0 < low < high
    # Error 0.25 at 4 minutes, by the belief: a target that is left of it by more than the standard error takes no time.
    assert time_left(done, 0.55, MANY) is None


def test_the_time_left_is_unknown_where_the_answers_do_not_tell() -> None:
    checked = {"correct": 4, "scored": 5}
    assert time_left([effect(0.3, **checked)] * 3, 0.9, MANY) is None
    assert time_left([effect(0.3, **checked)] * 20, 0.9, MANY) is None
    assert time_left([effect(0.3 - 0.001 * n, seconds=0.0, **checked) for n in range(20)], 0.9, MANY) is None
    assert time_left([effect(0.3 + 0.001 * n, **checked) for n in range(20)], 0.9, MANY) is None
    assert time_left([effect(0.3 - 1e-6 * n, **checked) for n in range(20)], 0.99, MANY) is None


def test_the_time_left_is_unknown_before_enough_random_checks() -> None:
    def checked(times: int) -> list[AnswerEffect]:
        return [effect(0.5 * (n / 10) ** -0.5, scored=int(n <= times)) for n in range(1, 41)]

    assert time_left(checked(20), 0.8, MANY) is not None
    assert time_left(checked(19), 0.8, MANY) is None


def test_the_time_left_is_never_above_labelling_the_whole_pool() -> None:
    everything = 60 * PAPER_COST.seconds("label", 1) / 60
    found = time_left(improving(), 0.8, 60)
    assert found is None or found[1] <= everything
    assert time_left(improving(), 0.8, 600)[1] > everything
    assert time_left(improving(), 0.8, 4) is None, "labelling four items is quicker than any estimate"


def test_failed_checks_make_the_estimate_longer() -> None:
    sure, wrong = time_left(improving(80), 0.8, MANY), time_left(improving(110), 0.8, MANY)
    assert sure[0] < wrong[0]
    assert sure[1] < wrong[1]


def test_mistakes_on_checks_are_listed_the_surest_first() -> None:
    words = ["a", "b", "c", "d"]
    asked = [Question("label", [word], id=word) for word in words]
    events = [question_event(question, "p", check=question.id != "d") for question in asked]
    events += [answer_event(word, "p", LabelAnswer(positive=word == "a")) for word in words]
    ledger = Ledger(Settings(), [Event(**{**vars(event), "seq": seq}) for seq, event in enumerate(events, 1)])
    effects = [AnswerEffect(1, w, "label", 1, w != "d", 1.0, 0.1, -1.0, 0.6, 0, int(w != "d")) for w in words]
    checks = [Check(0.3, True, 0), Check(0.1, False, 1), Check(0.9, False, 2)]
    found = confident_mistakes(ledger, effects, checks)
    assert [(one.item, one.probability, one.told) for one in found] == [("c", 0.9, False), ("a", 0.3, True)]
    assert confident_mistakes(ledger, effects, checks[:2]) == [], "nothing is said where the two do not fit"


def test_the_accuracy_is_that_of_the_newest_checks() -> None:
    early, late = [effect(0.3, correct=0, scored=4)] * 30, [effect(0.3, correct=4, scored=4)] * 25
    now = accuracy(early + late)
    assert (now.correct, now.n) == (100, 100)
    assert accuracy(early).estimate == 0
    assert accuracy([effect(0.3)]) is None


def test_times_are_fitted_as_they_come_and_anew_when_one_is_taken_back() -> None:
    events: list[Event] = []
    for number in range(12):
        question = Question("label", [f"i{number}"], id=f"q{number}")
        timing = {"onset_ms": 0, "submit_ms": 1000 * (3 + number)}
        events += [question_event(question, "ann"), answer_event(question.id, "ann", LabelAnswer(True), timing=timing)]
    events = [Event(e.kind, e.question_id, e.participant, e.payload, seq) for seq, e in enumerate(events, 1)]
    pairs = Ledger(Settings(), events).counting()
    times = TimesSoFar()
    for some in (pairs[:5], pairs, [*pairs[:3], *pairs[4:]], pairs[:3], []):
        assert times.cost(some) == TimesSoFar().cost(some)
    assert times.cost(pairs).seconds("label", 1) > PAPER_COST.seconds("label", 1)
