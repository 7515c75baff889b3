"""People and questions: resuming, idempotence, undo, leases, several people, what the log says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellmore.app import engine as engine_module
from tellmore.app import planner as planner_module
from tellmore.app.session import ConflictError, Session, UnknownQuestionError
from tellmore.errors import AnswerError
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.fold import Fold
from tellmore.store.ledger import Asked, Ledger
from tellmore.store.repository import Repository
from tellmore.types import Answer, Skip
from tests.app.conftest import SETTINGS, Clock
from tests.store.databases import BOTH, fresh_url

TIMING = {"onset_ms": 0, "submit_ms": 6000, "hidden_ms": 0}


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield from fresh_url(request.param, tmp_path)


def reply(question: Question) -> Answer:
    if question.kind == "label":
        return LabelAnswer(True)
    if question.kind == "rank":
        return RankAnswer(sorted(question.items), 1)
    return SelectAnswer(question.items[0], True)


def teach(session: Session, participant: str, n: int) -> list[Asked]:
    """``n`` answers; returns the questions."""
    answered = []
    asked = session.question(participant)
    for _ in range(n):
        assert asked is not None
        answered.append(asked)
        asked = session.answer(participant, asked.question.id, reply(asked.question), TIMING)
    return answered


def endless(session: Session) -> Session:
    """The owner continues, whatever the stopping rule says."""
    session.desk.going_on = True
    return session


def settled(session: Session):
    return session.settled_view().learner.posterior


def events_of(session: Session, kind: str) -> list:
    return [event for event in session.repository.since() if event.kind == kind]


def test_a_refresh_shows_the_same_question(session: Session) -> None:
    first = session.question("ann")
    assert session.question("ann") == first
    assert len(events_of(session, "question")) == 1


def test_answers_are_in_the_log_before_the_next_question_is_known(session: Session) -> None:
    asked = session.question("ann")
    following = session.answer("ann", asked.question.id, reply(asked.question), TIMING)
    kinds = [event.kind for event in session.repository.since()]
    assert kinds.index("answer") < len(kinds) - 1 - kinds[::-1].index("question")
    assert following.question.id != asked.question.id
    payload = events_of(session, "answer")[0].payload
    assert payload["timing"] == TIMING
    assert payload["late"] is False


def test_the_same_answer_again_is_harmless_and_another_one_is_a_conflict(session: Session) -> None:
    asked = session.question("ann")
    answer = reply(asked.question)
    following = session.answer("ann", asked.question.id, answer, TIMING)
    assert session.answer("ann", asked.question.id, answer, None) == following
    with pytest.raises(ConflictError, match="another answer already"):
        session.answer("ann", asked.question.id, Skip(), TIMING)
    assert len(events_of(session, "answer")) == 1


def test_somebody_elses_or_an_invented_question_is_unknown(session: Session) -> None:
    asked = session.question("ann")
    for participant, question_id in (("bob", asked.question.id), ("ann", "f" * 32)):
        with pytest.raises(UnknownQuestionError):
            session.answer(participant, question_id, reply(asked.question))
    assert events_of(session, "answer") == []


def test_an_answer_that_does_not_fit_is_refused_and_not_written(session: Session) -> None:
    asked = session.question("ann")
    with pytest.raises(AnswerError):
        session.answer("ann", asked.question.id, RankAnswer(["x", "y", "z"], 1))
    assert session.question("ann") == asked
    assert events_of(session, "answer") == []


def test_a_restart_finds_the_same_question_and_the_same_belief(open_session: Callable[..., Session], url: str) -> None:
    session = open_session(url=url)
    teach(session, "ann", 6)
    asked, belief = session.question("ann"), settled(session)
    session.close()
    again = open_session(url=url)
    assert again.question("ann") == asked
    np.testing.assert_allclose(settled(again).mean, belief.mean, atol=1e-12)
    np.testing.assert_allclose(settled(again).cov, belief.cov, atol=1e-12)


def test_the_belief_is_the_fold_of_the_log(session: Session, pool: Pool) -> None:
    teach(session, "ann", 5)
    session.undo("ann")
    again = Fold.of(Ledger(SETTINGS, session.repository.since()), pool)
    np.testing.assert_allclose(settled(session).mean, again.learner.posterior.mean, atol=1e-12)
    assert len(again.effects) == 4


def test_skips_are_kept_apart(session: Session) -> None:
    asked = session.question("ann")
    session.answer("ann", asked.question.id, Skip("cant_tell"), TIMING)
    assert events_of(session, "skip")[0].payload["answer"] == {"type": "skip", "reason": "cant_tell"}
    assert session.settled_view().effects == ()
    assert session.desk.answers_of("ann") == 0


def test_ten_answers_can_be_taken_back_one_after_another(session: Session) -> None:
    empty = settled(session)
    answered = teach(session, "ann", 11)
    waiting = session.question("ann")
    for asked in answered[:0:-1]:
        undone, _ = session.undo("ann")
        assert undone == asked.question.id
        again = session.question("ann")
        assert (again.question.kind, again.question.items) == (asked.question.kind, asked.question.items)
        assert again.question.id != asked.question.id
    assert len(session.settled_view().effects) == 1
    session.undo("ann", answered[0].question.id)
    np.testing.assert_allclose(settled(session).mean, empty.mean)
    with pytest.raises(ConflictError, match="nothing to undo"):
        session.undo("ann")
    assert len(events_of(session, "answer")) == 11
    for _ in answered:
        current = session.question("ann")
        session.answer("ann", current.question.id, reply(current.question))
    assert session.question("ann") == waiting


def test_repeating_an_undo_by_its_question_undoes_nothing_more(session: Session) -> None:
    answered = teach(session, "ann", 3)
    first = session.undo("ann", answered[-1].question.id)
    shown = session.question("ann")
    assert session.undo("ann", answered[-1].question.id) == first
    assert session.question("ann") == shown
    assert len(events_of(session, "undo")) == 1


def test_only_the_owner_may_take_back_other_peoples_answers(session: Session) -> None:
    (asked,) = teach(session, "ann", 1)
    with pytest.raises(UnknownQuestionError):
        session.undo("bob", asked.question.id)
    session.undo("owner", asked.question.id, anybody=True)
    assert session.settled_view().effects == ()
    assert session.desk.hand("owner") == []


def test_people_at_work_at_once_never_share_an_item(open_session: Callable[..., Session]) -> None:
    X = np.random.default_rng(0).normal(size=(150, 5))  # with fewer, all would have a label, and the questions end
    session = open_session(pool=Pool(X, ids=[f"i{row}" for row in range(150)]))
    people = [f"p{number}" for number in range(12)]
    for _ in range(3):
        questions = [session.question(person) for person in people]
        items = [item for asked in questions for item in asked.question.items]
        assert len(items) == len(set(items))
        for person, asked in zip(people, questions, strict=True):
            session.answer(person, asked.question.id, reply(asked.question), TIMING)


def test_when_every_item_is_out_there_is_no_question(open_session: Callable[..., Session]) -> None:
    tiny = Pool(np.eye(4, 3), ids=["i0", "i1", "i2", "i3"])
    session = open_session(SETTINGS.changed(learning={"set_size": 2, "sizes": [2]}), pool=tiny)
    out = [session.question(person) for person in ("a", "b", "c")]
    assert {item for asked in out[:2] for item in asked.question.items} == set(tiny.ids)
    assert out[2] is None
    session.answer("a", out[0].question.id, reply(out[0].question))
    session.answer("b", out[1].question.id, Skip())


def test_an_expired_lease_frees_the_items_and_a_late_answer_counts(
    open_session: Callable[..., Session], clock: Clock
) -> None:
    tiny = Pool(np.eye(3), ids=["i0", "i1", "i2"])
    session = open_session(SETTINGS, pool=tiny)
    ann = session.question("ann")
    assert session.question("bob") is None
    clock.now += SETTINGS.server.lease_s + 1
    bob = session.question("bob")
    assert bob is not None
    assert set(bob.question.items) & set(ann.question.items)
    session.answer("ann", ann.question.id, reply(ann.question), TIMING)
    assert [event.payload["late"] for event in events_of(session, "answer")] == [True]
    assert [told.question_id for told in session.settled_view().effects] == [ann.question.id]


def test_an_expired_question_is_renewed_unless_its_items_went_to_somebody_else(session: Session, clock: Clock) -> None:
    asked = session.question("ann")
    clock.now += SETTINGS.server.lease_s + 1
    assert session.question("ann") == asked
    assert session.desk.lease_until(asked.question.id) > clock.now
    assert len(events_of(session, "lease")) == 2


def test_an_expired_question_whose_items_are_out_is_replaced(
    open_session: Callable[..., Session], clock: Clock
) -> None:
    tiny = Pool(np.random.default_rng(0).standard_normal((6, 3)), ids=[f"i{n}" for n in range(6)])
    session = open_session(SETTINGS, pool=tiny)
    ann = session.question("ann")
    clock.now += SETTINGS.server.lease_s + 1
    bob, cid = session.question("bob"), session.question("cid")
    assert set(bob.question.items) | set(cid.question.items) == set(tiny.ids)
    assert session.question("ann") is None
    clock.now += SETTINGS.server.lease_s + 1
    assert session.question("ann").question.id != ann.question.id


def test_check_questions_are_a_tenth_and_random(open_session: Callable[..., Session]) -> None:
    session = endless(open_session(SETTINGS.changed(learning={"check_share": 0.1})))
    session.planner.take = lambda *_: None  # the learner's choice does not matter here, and random questions are quick
    for _ in range(300):
        asked = session.question("ann", patience_s=0)
        session.append([answer_event(asked.question.id, "ann", Skip())])
    reasons = [event.payload["why"] for event in events_of(session, "question")]
    assert 15 <= reasons.count("check") <= 50
    assert set(reasons) == {"check", "fallback"}
    shown = [item for event in events_of(session, "question") for item in event.payload["items"]]
    assert len(set(shown)) == 60


def test_the_log_says_how_many_answers_a_question_does_not_know(session: Session) -> None:
    teach(session, "ann", 8)
    answers: list[int] = []
    for event in session.repository.since():
        if event.kind == "answer":
            answers.append(event.seq)
        if event.kind == "question" and event.payload["why"] == "best":
            unknown = sum(seq > event.payload["as_of"] for seq in answers)
            assert event.payload["behind"] == unknown
            assert event.payload["stale"] is (unknown > 0)


def test_after_thinking_time_the_question_for_a_likely_answer_is_fresh(open_session: Callable[..., Session]) -> None:
    session = open_session(SETTINGS.changed(learning={"question": "label"}))
    asked = session.question("ann")
    with session.lock:
        assert session.lock.wait_for(lambda: len(session.planner._branches.get(asked.question.id, {})) == 2, 10)
    following = session.answer("ann", asked.question.id, LabelAnswer(True), TIMING)
    assert (following.why, following.stale) == ("supposed", False)


@pytest.mark.parametrize("slow", ["label", "rank"])
def test_auto_weighs_kinds_by_the_seconds_of_these_people(open_session: Callable[..., Session], slow: str) -> None:
    """Somebody who needs a minute and a half for one kind and a second for the other is soon asked only the other."""
    settings = SETTINGS.changed(learning={"question": "auto", "kinds": ("label", "rank")})
    X = np.random.default_rng(3).standard_normal((300, 5))
    session = endless(open_session(settings, pool=Pool(X, [f"i{row}" for row in range(300)])))
    chosen = []
    asked = session.question("ann")
    for _ in range(60):
        if asked.why in ("best", "supposed"):  # not random questions, which are asked while the best is not ready
            chosen.append(asked.question.kind)
        seconds = 90 if asked.question.kind == slow else 1
        session.settled_view()
        timing = {"onset_ms": 0, "submit_ms": 1000 * seconds, "hidden_ms": 0}
        asked = session.answer("ann", asked.question.id, reply(asked.question), timing)
        if len(chosen) % 10 == 0:  # their times are taken in when there is nothing else to do
            until(lambda: session.planner.up_to_date and session.rates.current(session.planner._engine.effects))
    assert len(chosen) > 15
    assert slow not in chosen[-15:]


def test_what_is_prepared_for_a_person_pays_at_their_own_times(
    open_session: Callable[..., Session], pool: Pool
) -> None:
    """Ann needs long for rankings and Bob for labels: each is asked the other kind next, though on average both are equal."""
    # Two items a ranking: of its six answers some are always likely enough to prepare for.
    settings = SETTINGS.changed(learning={"question": "auto", "kinds": ("label", "rank"), "sizes": (2,)})
    session = endless(open_session(settings))
    rng = np.random.default_rng(5)
    for number in range(120):
        who, kind = ("ann", "bob")[number % 2], ("label", "rank")[number // 2 % 2]
        question = Question(kind, [pool.ids[row] for row in rng.choice(60, 1 if kind == "label" else 2, replace=False)])
        slow = (who, kind) in (("ann", "rank"), ("bob", "label"))
        timing = {"onset_ms": 0, "submit_ms": 60_000 if slow else 2_000, "hidden_ms": 0}
        asked, given = question_event(question, who), answer_event(question.id, who, reply(question), timing=timing)
        session.append([asked, given])
    session.settled_view()
    with session.lock:
        assert session.lock.wait_for(lambda: set(session.planner._local.fold.learner.cost.own) == {"ann", "bob"}, 30)
    for who, kind in (("ann", "label"), ("bob", "rank")):
        asked = session.question(who)
        with session.lock:
            assert session.lock.wait_for(lambda key=asked.question.id: session.planner._branches.get(key), 30)
            prepared = session.planner._branches[asked.question.id].values()
            assert {branch.question.kind for branch in prepared} == {kind}


def test_settings_change_what_is_asked(session: Session) -> None:
    first = session.question("ann")
    session.change_settings("owner", {"learning": {"question": "label"}})
    following = session.answer("ann", first.question.id, reply(first.question))
    assert following.question.kind == "label"
    assert session.settings.learning.question == "label"


def test_a_reset_forgets_answers_and_voids_open_questions(session: Session) -> None:
    empty = settled(session)
    teach(session, "ann", 3)
    waiting = session.question("ann")
    session.reset("owner")
    np.testing.assert_allclose(settled(session).mean, empty.mean)
    with pytest.raises(ConflictError, match="reset"):
        session.answer("ann", waiting.question.id, reply(waiting.question))
    assert session.question("ann").question.id != waiting.question.id
    assert len(events_of(session, "answer")) == 3


def test_a_forgotten_participant_is_unlearnt_and_erased(open_session: Callable[..., Session], pool: Pool) -> None:
    session = open_session()
    teach(session, "bob", 3)
    alone = settled(session)
    teach(session, "ann", 4)
    session.forget("ann", by="owner")
    np.testing.assert_allclose(settled(session).mean, alone.mean, atol=1e-12)
    assert all(event.erased for event in session.repository.since() if event.participant == "ann")
    session.close()
    np.testing.assert_allclose(settled(open_session()).mean, alone.mean, atol=1e-12)


def test_answers_that_another_process_writes_are_learnt(session: Session, pool: Pool) -> None:
    session.question("ann")
    question = Question("label", [pool.ids[5]])
    session.repository.append(
        [question_event(question, "import"), answer_event(question.id, "import", LabelAnswer(True))]
    )
    with session.lock:
        assert session.lock.wait_for(lambda: len(session.planner.view.effects) == 1, 10)
    teach(session, "ann", 1)
    assert session.settled_view().effects[0].question_id == question.id


def test_a_snapshot_saves_telling_and_changes_nothing(
    open_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellmore.store.snapshots.SAVE_EVERY", 3)
    session = open_session()
    teach(session, "ann", 7)
    with session.lock:
        assert session.lock.wait_for(lambda: bool(events_of(session, "snapshot")), 10)
    view = session.settled_view()
    session.close()
    tells: list[str] = []
    learnt = Learner._learnt

    def counted(self: Learner, state: Any, question: Question, *told: Any, **how: Any) -> Any:
        tells.append(question.id)
        return learnt(self, state, question, *told, **how)

    monkeypatch.setattr(Learner, "_learnt", counted)
    again = open_session()
    np.testing.assert_allclose(settled(again).mean, view.learner.posterior.mean, atol=1e-12)
    for one, other in zip(again.settled_view().effects, view.effects, strict=True):
        assert one.seq == other.seq
        assert one.expected_accuracy == pytest.approx(other.expected_accuracy, abs=1e-6)
    assert len(tells) < 7


def test_a_server_killed_again_and_again_gets_on_with_a_long_log(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learning 120 answers is interrupted half-way; the next server continues from a snapshot."""
    url = f"sqlite:///{tmp_path / 'long.sqlite'}"
    repository = Repository(url)
    for number in range(120):
        question = Question("label", [pool.ids[number % 60]])
        repository.append([question_event(question, "ann"), answer_event(question.id, "ann", LabelAnswer(True))])
    repository.close()
    monkeypatch.setattr("tellmore.app.planner.TELL_AT_ONCE", 60)
    killed = Session(Repository(url), pool, SETTINGS)
    while len(killed.planner._engine.effects) < 60:
        job = killed.planner._next_job()
        assert job is not None
        job()
    killed.repository.close()
    again = Session(Repository(url), pool, SETTINGS)
    assert 50 <= len(again.planner.view.effects) < 120
    again.repository.close()


def test_a_passing_fault_of_the_learner_is_forgotten(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    planner, failing = session.planner, threading.Event()
    failing.set()
    choose = engine_module.choose

    def fragile(*arguments: Any) -> Any:
        if failing.is_set():
            raise RuntimeError("out of luck")
        return choose(*arguments)

    monkeypatch.setattr(planner_module, "POLL_S", 0.01)
    monkeypatch.setattr(engine_module, "choose", fragile)
    with session.lock:
        planner.forget()
        session.lock.notify_all()
    until(lambda: planner.failure == "RuntimeError: out of luck")
    assert not planner.worth_waiting
    failing.clear()
    until(lambda: planner.failure is None)
    asked = session.question("ann")
    assert asked is not None
    assert asked.why == "best"


def until(condition: Callable[[], bool], within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
