"""The desk: reading the log gives the same state after a restart."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import numpy as np

from tellmore.app.desk import Desk
from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, lease_event, question_event, release_event, undo_event
from tellmore.store.repository import Event, iso
from tellmore.types import Skip

UTC_0 = "2026-01-01T00:00:00.000Z"
T0 = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
TIMING = {"onset_ms": 0, "submit_ms": 30_000, "hidden_ms": 0}


def desk_of(*events: Event) -> Desk:
    numbered = [
        Event(e.kind, e.question_id, e.participant, e.payload, seq, "2026-01-01T00:00:00.000Z")
        for seq, e in enumerate(events, start=1)
    ]
    return Desk(Settings(), numbered)


def out(question_id: str, participant: str, item: str = "a", minute: int = 2) -> list[Event]:
    asked = question_event(Question("label", [item], id=question_id), participant)
    return [asked, lease_event(question_id, participant, f"2026-01-01T00:{minute:02d}:00.000Z")]


def test_a_question_is_out_until_its_lease_ends() -> None:
    desk = desk_of(*out("q1", "ann", "a"), *out("q2", "bob", "b", minute=4))
    assert desk.reserved(T0 + 60) == {"a", "b"}
    assert desk.reserved(T0 + 60, besides="ann") == {"b"}
    assert desk.reserved(T0 + 180) == {"b"}
    assert [asked.participant for asked in desk.out(T0 + 60)] == ["ann", "bob"]
    assert desk.open_for("ann").question.id == "q1"


def test_the_newest_unanswered_question_is_shown_first() -> None:
    desk = desk_of(*out("q1", "ann"), *out("q2", "ann", "b"))
    assert desk.open_for("ann").question.id == "q2"
    assert desk.hand("ann") == ["q1", "q2"]
    after = desk_of(*out("q1", "ann"), *out("q2", "ann", "b"), answer_event("q2", "ann", LabelAnswer(True)))
    assert after.open_for("ann").question.id == "q1"
    put_down = desk_of(*out("q1", "ann"), release_event("q1", "ann"))
    assert put_down.open_for("ann") is None


def test_counts_follow_answers_skips_and_undo() -> None:
    events = [
        *out("q1", "ann"),
        answer_event("q1", "ann", LabelAnswer(True), timing=TIMING),
        *out("q2", "ann"),
        answer_event("q2", "ann", Skip(), timing=TIMING),
    ]
    desk = desk_of(*events)
    assert (desk.answers_of("ann"), desk.minutes_of("ann"), desk.can_undo("ann")) == (1, 1.0, 2)
    assert desk.last_answer("ann").question_id == "q2"
    undone = desk_of(*events, undo_event("q1", "ann", 3))
    assert (undone.answers_of("ann"), undone.minutes_of("ann"), undone.can_undo("ann")) == (0, 0.5, 1)
    assert undone.mark == 7
    assert desk.mark == 3
    assert undone.changes_after(3) == 1


def test_a_deleted_person_leaves_the_desk() -> None:
    desk = desk_of(*out("q1", "ann"), *out("q2", "bob", "b"), Event("delete", None, "owner", {"participant": "ann"}))
    assert desk.reserved(T0) == {"b"}
    assert desk.contributors() == {"bob"}


def test_items_that_are_out_are_the_same_as_counted_anew_each_time() -> None:
    """Compared with going through all leases, while people arrive, answer, leave and return, and clocks jump."""
    rng = np.random.default_rng(0)
    desk, leases, now = desk_of(), dict[str, float](), 0.0

    def apply(event: Event) -> None:
        desk.apply(Event(event.kind, event.question_id, event.participant, event.payload, desk.seq + 1, UTC_0))

    for step in range(600):
        person, question_id = f"p{rng.integers(6)}", f"q{step}"
        what = rng.integers(8)
        hand = desk.hand(person)
        if what < 4:
            minute = int(now // 60) + int(rng.integers(1, 5))
            items = [f"i{item}" for item in rng.choice(12, 3, replace=False)]
            apply(question_event(Question("rank", items, id=question_id), person))
            apply(lease_event(question_id, person, iso(datetime.fromtimestamp(T0 + 60 * minute, UTC))))
            leases[question_id] = T0 + 60 * minute
        elif what < 6 and hand:
            apply(answer_event(hand[-1], person, Skip()) if what == 4 else release_event(hand[-1], person))
            leases.pop(hand[-1], None)
        elif what == 6 and hand:
            apply(lease_event(hand[0], person, iso(datetime.fromtimestamp(T0 + now + 120, UTC))))
            leases[hand[0]] = T0 + now + 120
        now += float(rng.integers(-40, 60))
        for besides in ("", person):
            live = [desk.asked[each] for each, until in leases.items() if until > T0 + now]
            expected = {item for asked in live if asked.participant != besides for item in asked.question.items}
            assert desk.reserved(T0 + now, besides=besides) == expected
        assert {asked.question.id for asked in desk.out(T0 + now)} == {a.question.id for a in live}


def test_what_is_read_under_the_lock_takes_little_time_after_many_answers() -> None:
    """W5: at 50,000 answers it took up to a third of a second, about a fifth of the time to read the whole log."""
    events = []
    for number in range(10_000):
        question, who = Question("label", [f"i{number}"], id=f"q{number}"), f"p{number % 50}"
        events += [question_event(question, who), answer_event(question.id, who, LabelAnswer(True), timing=TIMING)]
    began = time.process_time()
    desk = desk_of(*events)
    whole = time.process_time() - began
    times = []
    for _ in range(3):
        began = time.process_time()
        assert len(desk.counting()) == 10_000
        (
            desk.frozen(),
            desk.reserved(T0),
            desk.out(T0),
            desk.changes_after(1),
            desk.lately.shares(),
            desk.recent_items(5),
        )
        times.append(time.process_time() - began)
    assert min(times) < 0.04 * whole
