"""Many people at once: one search finds questions for all, smaller ones if there are few items; answers are written together."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tellmore.app.lately import FEWEST
from tellmore.app.planner import RENEWED_AFTER
from tellmore.app.session import ConflictError, Session
from tellmore.app.together import Submission, Together
from tellmore.kinds.rank import RankAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.ledger import FALLBACK, NEXT_BEST, Asked
from tellmore.store.repository import Repository
from tests.app.conftest import SETTINGS, Clock

PEOPLE = 24


def crowded_pool(n: int = 600) -> Pool:
    return Pool(np.random.default_rng(2).standard_normal((n, 6)), ids=[f"i{row}" for row in range(n)])


def reply(asked: Asked) -> RankAnswer:
    return RankAnswer(sorted(asked.question.items), 1)


def work(session: Session) -> None:
    """Do what the planner's thread would do, at once."""
    for _ in range(200):
        job = session.planner._next_job()
        if job is None:
            return
        job()


@pytest.fixture
def crowded(tmp_path: Path, clock: Clock) -> Iterator[tuple[Session, list[Asked]]]:
    """A session whose people have all answered once, and what they were asked then. No thread works in the background."""
    settings = SETTINGS.changed(learning={"check_share": 0.0})
    session = Session(Repository(f"sqlite:///{tmp_path}/log"), crowded_pool(), settings, clock=clock)
    session.desk.going_on = True
    asked: list[Asked] = []
    for number in range(PEOPLE):
        work(session)
        first = session.question(f"p{number}", patience_s=0)
        asked.append(first)
    for number, first in enumerate(asked):
        if number % 8 == 0:
            work(session)
        session._together.submit(Submission(f"p{number}", first.question.id, reply(first), None))
    yield session, [session.desk.open_for(f"p{number}") for number in range(PEOPLE)]
    session.repository.close()


def test_a_crowd_gets_questions_of_one_search_on_different_items(crowded: tuple[Session, list[Asked]]) -> None:
    _, asked = crowded
    whys = [each.why for each in asked]
    assert whys.count(NEXT_BEST) > PEOPLE // 2
    assert FALLBACK not in whys
    items = [item for each in asked for item in each.question.items]
    assert len(set(items)) == len(items)


def test_nobody_gets_a_prepared_question_on_items_that_are_out(crowded: tuple[Session, list[Asked]]) -> None:
    session, _ = crowded
    work(session)
    with session.lock:
        *others, free = sorted(session.planner._ready, key=lambda each: -each.as_of)
        assert others
        out = {item for each in others for item in each.question.items}
        assert session.planner.take(out) is free
        assert session.planner.take(out) is None


def test_prepared_questions_are_renewed_after_five_answers_and_asked_until_then(
    crowded: tuple[Session, list[Asked]],
) -> None:
    session, asked = crowded
    planner, desk = session.planner, session.desk
    work(session)
    for number, each in enumerate(asked[: RENEWED_AFTER + 1]):
        session._together.submit(Submission(f"p{number}", each.question.id, reply(each), None))
    with session.lock:
        assert planner._ready
        assert all(desk.changes_after(each.as_of) > RENEWED_AFTER for each in planner._ready)
        assert planner.take(desk.reserved(session._clock())) is not None
    work(session)
    with session.lock:
        assert len(planner._ready) >= planner._enough(PEOPLE)
        assert all(desk.changes_after(each.as_of) <= RENEWED_AFTER for each in planner._ready)


def test_finding_questions_and_learning_take_turns_where_no_question_is_left(
    crowded: tuple[Session, list[Asked]], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, asked = crowded
    planner, jobs = session.planner, []
    work(session)
    with session.lock:
        planner._ready.clear()
        for number, each in enumerate(asked[:8]):
            session._together.submit(Submission(f"p{number}", each.question.id, reply(each), None))
        monkeypatch.setattr(planner, "_prepare", lambda *_: jobs.append("prepare"))
        monkeypatch.setattr(planner, "_learn", lambda *_: jobs.append("learn"))
        for _ in range(4):
            planner._next_job()()
    assert jobs in (["prepare", "learn"] * 2, ["learn", "prepare"] * 2)


def test_auto_asks_about_fewer_items_where_people_would_run_out_of_them(tmp_path: Path, clock: Clock) -> None:
    settings = SETTINGS.changed(learning={"question": "auto", "sizes": (2, 4, 12), "kinds": ("rank", "tick")})
    planner = Session(Repository(f"sqlite:///{tmp_path}/log"), crowded_pool(100), settings, clock=clock).planner
    assert planner._settings_for(5) is settings
    assert planner._settings_for(6).learning.sizes == (2, 4)
    assert planner._settings_for(3).learning.sizes == (
        2,
        4,
    )  # a few more people are no reason to compute everything again
    assert planner._settings_for(2) is settings
    assert planner._settings_for(1000).learning.sizes == (2,)


def test_auto_asks_larger_questions_while_they_cannot_be_chosen_as_fast_as_people_answer(
    tmp_path: Path, clock: Clock
) -> None:
    settings = SETTINGS.changed(learning={"question": "auto", "sizes": (2, 4, 6, 12), "kinds": ("rank", "tick")})
    session = Session(Repository(f"sqlite:///{tmp_path}/log"), crowded_pool(600), settings, clock=clock)
    planner, lately = session.planner, session.desk.lately
    assert planner._settings_for(20) is settings
    for number in range(FEWEST):
        question = Question("label", [f"i{number}"])
        lately.add(Asked(question, "ann", number, "", False, False, FALLBACK if number < 3 else NEXT_BEST))
    assert lately.random == 3 / FEWEST
    assert planner._settings_for(20).learning.sizes == (6, 12)
    assert planner._settings_for(60).learning.sizes == (4, 6)  # of those for which there are items enough
    lately.clear()
    assert planner._settings_for(40).learning.sizes == (4, 6)  # as long as many are left
    assert planner._settings_for(20) is settings


def test_answers_that_wait_for_the_lock_are_written_in_one_transaction(
    crowded: tuple[Session, list[Asked]], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, asked = crowded
    written: list[int] = []
    append = session.repository.append

    def counted(batch):
        written.append(sum(event.kind == "answer" for event in batch))
        return append(batch)

    monkeypatch.setattr(session.repository, "append", counted)
    monkeypatch.setattr(session.planner, "take", lambda *_: None)
    problems: list[Exception] = []

    def answer(number: int) -> None:
        wrong = number == 0
        given = RankAnswer(["nobody", "knows", "these"], 1) if wrong else reply(asked[number])
        try:
            session._together.submit(Submission(f"p{number}", asked[number].question.id, given, None))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(5)]
    with session.lock:
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 30
        while len(session._together._waiting) < 5:
            assert time.monotonic() < deadline
            time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert 4 in written
    assert len(problems) == 1
    assert "each item shown exactly once" in str(problems[0])
    assert all(asked[number].question.id in session.desk.given for number in range(1, 5))


def test_what_another_process_answered_first_stays_and_the_others_are_written(
    crowded: tuple[Session, list[Asked]],
) -> None:
    session, asked = crowded
    other = Session(Repository(str(session.repository._database.engine.url)), session.pool, session.toml)
    theirs = RankAnswer(sorted(asked[0].question.items, reverse=True), 2)
    other._together.submit(Submission("p0", asked[0].question.id, theirs, None))
    other.repository.close()
    batch = [Submission(f"p{number}", asked[number].question.id, reply(asked[number]), None) for number in range(3)]
    with session.lock:
        session._write_answers(batch)
    assert isinstance(batch[0].problem, ConflictError)
    assert session.desk.given[asked[0].question.id].answer == theirs
    assert [session.desk.given[asked[number].question.id].answer for number in (1, 2)] == [
        batch[1].answer,
        batch[2].answer,
    ]


def test_two_answers_of_one_person_are_written_one_after_the_other() -> None:
    batches: list[list[str]] = []
    together = Together(
        threading.Condition(threading.RLock()), lambda batch: batches.append([b.question_id for b in batch])
    )
    for person, question in (("ann", "1"), ("bob", "2"), ("ann", "3")):
        together._waiting.append(Submission(person, question, RankAnswer(["a", "b"], 1), None))
    together.submit(Submission("cid", "4", RankAnswer(["a", "b"], 1), None))
    assert batches == [["1", "2"], ["3", "4"]]
