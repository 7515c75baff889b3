"""A participant's session: every step is stored, can be resumed at any time, codes only at the end, missed gold only recorded."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from tellmore.errors import AnswerError, SettingError, StateError
from tellmore.store.repository import Event, Repository
from tellmore.study.analysis import analyse
from tellmore.study.dataset import dataset
from tellmore.study.design import BankQuestion
from tellmore.study.entry import Arrival
from tellmore.study.records import has_simulated, read_records
from tellmore.study.session import StudySession
from tellmore.study.settings import Study
from tests.study.made_up import Words

TIMING = {"onset_ms": 1000, "submit_ms": 5500}


def varied_timing(state: dict[str, Any]) -> dict[str, int]:
    """A second an item, and a little more for later questions."""
    return {"onset_ms": 0, "submit_ms": 1000 * len(state["question"]["items"]) + 10 * state["progress"]["done"]}


@pytest.fixture
def session(log: Repository, study: Study, bank: list[BankQuestion], words: Words) -> StudySession:
    return StudySession(log, study, bank, words)


def step_value(study: Study, step: str) -> Any:
    if step == "comprehension":
        return [choice.correct for choice in study.comprehension]
    return {"demographics": {"age": 33}, "debrief": "fine"}.get(step, True)


def right_answer(study: Study, question: dict[str, Any]) -> dict[str, Any]:
    items = [item["id"] for item in question["items"]]
    gold = next((gold for gold in study.gold if set(gold.order) == set(items)), None)
    order, positive = (list(gold.order), gold.n_positive) if gold else (items, 1)
    if question["kind"] == "rank":
        return {"type": "rank", "order": order, "n_positive": positive}
    return {"type": "select", "chosen": order[0], "positive": positive > 0}


def go(
    session: StudySession,
    who: str,
    *,
    until: int | None = None,
    timing: Callable[[dict[str, Any]], dict[str, int]] = lambda _state: TIMING,
) -> dict[str, Any]:
    """Go on to the end, or until ``until`` main questions are answered."""
    state = session.state(who)
    while state["step"] != "done" and (state["step"], state["progress"]["done"]) != ("question", until):
        if "question" in state:
            answer = right_answer(session.study, state["question"])
            state = session.answer(who, state["question"]["id"], answer, timing(state))
        else:
            state = session.leave(who, state["step"], step_value(session.study, state["step"]))
    return state


def test_the_steps_come_in_order(session: StudySession) -> None:
    who = session.enter(Arrival("PID1"))
    seen = []
    state = session.state(who)
    while state["step"] != "done":
        seen.append(state["step"])
        if "question" in state:
            state = session.answer(who, state["question"]["id"], right_answer(session.study, state["question"]), TIMING)
        else:
            assert "code" not in state
            state = session.leave(who, state["step"], step_value(session.study, state["step"]))
    assert seen == [
        *("eligibility", "consent", "demographics", "instructions", "comprehension", "practice", "practice"),
        *["question"] * 50,
        "debrief",
    ]
    assert state["outcome"] == "complete"
    assert state["code"] == "CODE1"
    assert state["url"] == "https://app.prolific.com/submissions/complete?cc=CODE1"


def test_the_same_id_resumes_the_same_assignment_at_question_17(
    log: Repository, study: Study, bank: list[BankQuestion], words: Words
) -> None:
    session = StudySession(log, study, bank, words)
    session.enter(Arrival("OTHER"))
    who = session.enter(Arrival("PID1"), {"study_id": "S"})
    shown = go(session, who, until=16)["question"]
    planned = session._of(who).assignment

    reopened = StudySession(log, study, bank, words)
    assert reopened.enter(Arrival("PID1", cookie=who)) == who
    assert reopened.state(who)["question"] == shown
    assert reopened._of(who).assignment == planned
    assert reopened.state(who)["progress"] == {"done": 16, "total": 50}
    assert go(reopened, who)["outcome"] == "complete"
    assert len([event for event in log.since(0) if event.kind == "study_answer" and event.participant == who]) == 52


def test_everything_shown_is_stored_in_the_order_shown(session: StudySession, log: Repository) -> None:
    who = session.enter(Arrival("PID1"))
    shown = []
    state = go(session, who, until=0)
    while state["step"] == "question":
        shown.append(state["question"])
        assert session.state(who)["question"] == state["question"]
        state = session.answer(who, state["question"]["id"], right_answer(session.study, state["question"]), TIMING)
    stored = [event for event in log.since(0) if event.kind == "study_shown"]
    assert [event.payload["question"] for event in stored if event.payload["part"] == "question"] == shown
    opened = next(event for event in log.since(0) if event.kind == "study_opened")
    assert opened.payload["study"]["texts"]["consent"] == session.study.texts.consent
    word = next(item for item in shown[2]["items"])
    assert word["text"] == f"word {word['id'][1:]}"


def test_declining_and_failing_have_their_own_codes(session: StudySession) -> None:
    ineligible, declining, failing = (
        session.enter(Arrival("A")),
        session.enter(Arrival("B")),
        session.enter(Arrival("C")),
    )
    assert session.leave(ineligible, "eligibility", False)["code"] == "CODE2"
    session.leave(declining, "eligibility", True)
    assert session.leave(declining, "consent", False)["outcome"] == "no_consent"
    for step in ("eligibility", "consent", "demographics", "instructions"):
        session.leave(failing, step, step_value(session.study, step))
    wrong = [(choice.correct + 1) % 3 for choice in session.study.comprehension]
    again = session.leave(failing, "comprehension", wrong)
    assert (again["step"], again["attempts_left"], again["failed_before"]) == ("comprehension", 1, True)
    assert "correct" not in again["choices"][0]
    ended = session.leave(failing, "comprehension", wrong)
    assert (ended["step"], ended["code"]) == ("done", "CODE3")


def test_a_missed_gold_question_is_flagged_and_nothing_else(session: StudySession, log: Repository) -> None:
    who = session.enter(Arrival("PID1"))
    question = go(session, who, until=0)["question"]
    right = right_answer(session.study, question)
    state = session.answer(who, question["id"], {**right, "order": right["order"][::-1]}, TIMING)
    assert state["step"] == "question"
    assert [event.question_id for event in log.since(0) if event.kind == "study_flag"] == [question["id"]]
    assert go(session, who)["outcome"] == "complete"


def test_a_repeated_answer_changes_nothing_and_another_is_refused(session: StudySession, log: Repository) -> None:
    who, other = session.enter(Arrival("PID1")), session.enter(Arrival("PID2"))
    question = go(session, who, until=0)["question"]
    answer = right_answer(session.study, question)
    first = session.answer(who, question["id"], answer, TIMING)
    before = list(log.since())
    assert session.answer(who, question["id"], answer, TIMING) == first
    assert list(log.since()) == before
    with pytest.raises(StateError, match="already has another answer"):
        session.answer(who, question["id"], {**answer, "n_positive": 2}, TIMING)
    with pytest.raises(StateError, match="not the question shown now"):
        session.answer(other, question["id"], answer, TIMING)


def test_only_the_open_question_can_be_answered_and_not_skipped(session: StudySession) -> None:
    who = session.enter(Arrival("PID1"))
    with pytest.raises(StateError, match="not the question shown now"):
        session.answer(who, "study-00000-1-001", {"type": "skip"}, TIMING)
    question = go(session, who, until=0)["question"]
    with pytest.raises(AnswerError, match="cannot be skipped"):
        session.answer(who, question["id"], {"type": "skip"}, TIMING)
    with pytest.raises(AnswerError, match="each item shown"):
        session.answer(who, question["id"], {"type": "rank", "order": ["x", "y"], "n_positive": 0}, TIMING)


@pytest.mark.parametrize(
    ("step", "value", "says"),
    [
        ("eligibility", "yes", "true or false"),
        ("demographics", {"income": 3}, "demographics hold only"),
        ("demographics", {"age": -4}, "from 0 to 150"),
        ("demographics", {"sex": "x"}, "must be one of"),
        ("comprehension", [0], "3 questions"),
        ("comprehension", [0, 0, 9], "3 questions"),
    ],
)
def test_values_of_steps_are_checked(session: StudySession, step: str, value: Any, says: str) -> None:
    who = session.enter(Arrival("PID1"))
    while (now := session.state(who)["step"]) != step:
        session.leave(who, now, step_value(session.study, now))
    with pytest.raises(AnswerError, match=says):
        session.leave(who, step, value)
    assert session.state(who)["step"] == step


def test_leaving_a_step_twice_changes_nothing_and_jumping_is_refused(session: StudySession, log: Repository) -> None:
    who = session.enter(Arrival("PID1"))
    session.leave(who, "eligibility", True)
    before = list(log.since())
    assert session.leave(who, "eligibility", True)["step"] == "consent"
    assert list(log.since()) == before
    with pytest.raises(StateError, match="not the one shown now"):
        session.leave(who, "debrief", "")


def test_an_erased_participant_is_new_when_they_return(
    log: Repository, study: Study, bank: list[BankQuestion], words: Words
) -> None:
    session = StudySession(log, study, bank, words)
    who = session.enter(Arrival("PID1"))
    go(session, who, until=3)
    log.erase(who, Event("delete", participant=None))
    reopened = StudySession(log, study, bank, words)
    assert reopened.participant_of("PID1") is None
    assert reopened.enter(Arrival("PID1")) != who
    assert [person["participant"] for person in read_records(study, log.since(0)).people] == ["participant-00002"]


def test_records_hold_raw_times_and_no_outside_ids(session: StudySession, log: Repository, study: Study) -> None:
    who = session.enter(Arrival("PID1"))
    go(session, who)
    records = read_records(study, log.since(0))
    assert len(records.answers) == 50
    assert {row["seconds"] for row in records.answers} == {4.5}
    assert all(row["right"] for row in records.answers if row["gold"])
    assert records.people[0]["demographics"] == {"age": 33}
    assert records.people[0]["outcome"] == "complete"
    text = dataset(study, records, analyse(records, study.design.kinds))["answers.csv"].decode()
    assert len(text.splitlines()) == 51
    assert "PID1" not in text
    assert {row["away_ms"] for row in csv.DictReader(io.StringIO(text))} == {"0"}
    assert not has_simulated(log.since(0))


def test_a_changed_study_file_is_noted(log: Repository, study: Study, bank: list[BankQuestion], words: Words) -> None:
    StudySession(log, study, bank, words)
    StudySession(log, study, bank, words)
    StudySession(log, study.model_copy(update={"title": "Other"}), bank, words)
    opened = [event.payload["fingerprint"] for event in log.since(0) if event.kind == "study_opened"]
    assert len(opened) == 2
    assert opened[0] == study.fingerprint


def test_a_poor_bank_is_refused_at_once(log: Repository, study: Study, bank: list[BankQuestion], words: Words) -> None:
    with pytest.raises(SettingError, match="no rank question"):
        StudySession(log, study, bank[40:], words)


def test_strangers_are_refused(session: StudySession) -> None:
    with pytest.raises(StateError, match="not part of the study"):
        session.state("participant-00009")
