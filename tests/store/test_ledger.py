"""What counts: undo, reset and delete void answers; settings change in order."""

from __future__ import annotations

from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, participant_event, question_event, setting_event, undo_event
from tellmore.store.ledger import Ledger
from tellmore.store.repository import ERASED, Event
from tellmore.types import Skip


def numbered(events: list[Event]) -> list[Event]:
    return [
        Event(e.kind, e.question_id, e.participant, e.payload, seq, f"2026-01-01T00:00:{seq:02d}.000Z")
        for seq, e in enumerate(events, start=1)
    ]


def exchange(question_id: str, participant: str, answer=None) -> list[Event]:
    asked = question_event(Question("label", ["a"], id=question_id), participant)
    return [asked, answer_event(question_id, participant, answer or LabelAnswer(True), timing=TIMING)]


TIMING = {"onset_ms": 100, "submit_ms": 4100, "hidden_ms": 1000}


def counted(events: list[Event]) -> list[str]:
    return [given.question_id for _, given in Ledger(Settings(), numbered(events)).counting()]


def test_answers_count_in_order_and_skips_do_not() -> None:
    events = exchange("q1", "p") + exchange("q2", "p", Skip()) + exchange("q3", "p", LabelAnswer(False))
    assert counted(events) == ["q1", "q3"]


def test_an_undone_answer_stays_but_does_not_count() -> None:
    events = exchange("q1", "p") + exchange("q2", "p") + [undo_event("q1", "p", 2)]
    ledger = Ledger(Settings(), numbered(events))
    assert [given.question_id for _, given in ledger.counting()] == ["q2"]
    assert ledger.given["q1"].void == "undo"
    assert ledger.given["q1"].answer == LabelAnswer(True)


def test_a_reset_voids_what_was_before_and_keeps_settings() -> None:
    changed = setting_event("owner", {"project": {"attribute": "calm"}})
    events = [*exchange("q1", "p"), changed, Event("reset", None, "owner"), *exchange("q2", "p")]
    ledger = Ledger(Settings(), numbered(events))
    assert [given.question_id for _, given in ledger.counting()] == ["q2"]
    assert ledger.settings.project.attribute == "calm"
    assert ledger.reset_seq == 4


def test_a_deleted_participant_is_forgotten_with_their_name() -> None:
    delete = Event("delete", None, "owner", {"participant": "p"})
    events = [participant_event("p", "Ann", "annotator"), *exchange("q1", "p"), *exchange("q2", "r"), delete]
    ledger = Ledger(Settings(), numbered(events))
    assert [given.question_id for _, given in ledger.counting()] == ["q2"]
    assert ledger.names == {}
    assert ledger.given["q1"].answer is None


def test_erased_rows_are_passed_over_when_the_log_is_read_again() -> None:
    erased = [Event(e.kind, e.question_id, e.participant, ERASED) for e in exchange("q1", "p")]
    assert counted([*erased, *exchange("q2", "r"), Event("delete", None, "owner", {"participant": "p"})]) == ["q2"]


def test_settings_change_in_the_order_of_the_log() -> None:
    events = [setting_event("o", {"learning": {"target_accuracy": value}}) for value in (0.7, 0.8)]
    assert Ledger(Settings(), numbered(events)).settings.learning.target_accuracy == 0.8


def test_unknown_kinds_are_passed_over() -> None:
    assert counted([Event("study_answer", "q9", "p", {"x": 1}), *exchange("q1", "p")]) == ["q1"]


def test_times_are_raw_and_active_time_leaves_out_hidden_time() -> None:
    given = Ledger(Settings(), numbered(exchange("q1", "p"))).given["q1"]
    assert (given.rt_ms, given.active_ms) == (4000, 3000)


def test_a_frozen_ledger_does_not_hear_of_what_comes_later() -> None:
    events = numbered([*exchange("a", "ann"), *exchange("b", "bob"), undo_event("a", "ann", 2)])
    ledger = Ledger(Settings(), events[:-1])
    frozen = ledger.frozen()
    ledger.apply(events[-1])
    assert [given.question_id for _, given in frozen.counting()] == ["a", "b"]
    assert not frozen.given["a"].void
    assert [given.question_id for _, given in ledger.counting()] == ["b"]
