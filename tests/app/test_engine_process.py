"""Learning and choosing in a process of their own, once enough people are at work: the same as in the server's process, also
when that process is killed, or the server is."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from scripts.processes import learners
from tellmore.app import engine_process
from tellmore.app.engine import LocalEngine
from tellmore.app.engine_process import GoneError, Opening, ProcessEngine
from tellmore.app.server import open_session
from tellmore.app.session import Session
from tellmore.client import Client
from tellmore.core import scan
from tellmore.data.project import open_project, write_settings
from tellmore.data.settings import Settings
from tellmore.kinds.rank import RankAnswer
from tellmore.learner import Learner
from tellmore.store.fold import Fold
from tellmore.store.ledger import FALLBACK, Asked, Given
from tellmore.store.state import load_state
from tests.app.serving import Server, free_port, small_project


def until(condition: Callable[[], object], within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def at_work(child: int) -> bool:
    """Whether a process has got past the start of Python, during which it still needs the server, and has imported NumPy."""
    return "numpy" in Path(f"/proc/{child}/maps").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that learns in another process as soon as one person is at work."""
    path = small_project(tmp_path / "project", n=120)
    learning = {"check_share": 0.0, "sizes": (2, 3)}
    write_settings(path, open_project(path).settings.changed(server={"process_from": 1}, learning=learning))
    return path


@pytest.fixture
def session(folder: Path) -> Iterator[Session]:
    opened = open_session(open_project(folder)).start()
    yield opened
    opened.close()


def process_engine(session: Session) -> ProcessEngine:
    """The engine in the other process, once it is there."""
    until(lambda: isinstance(session.planner._engine, ProcessEngine))
    engine = session.planner._engine
    assert isinstance(engine, ProcessEngine)
    return engine


def reply(asked: Asked) -> RankAnswer:
    return RankAnswer(sorted(asked.question.items), 1)


def answer(session: Session, times: int, who: str = "ann") -> list[str]:
    """Answer so often; returns why each question was asked."""
    why = []
    for _ in range(times):
        asked = session.question(who)
        assert asked is not None
        why.append(asked.why)
        session.answer(who, asked.question.id, reply(asked))
        until(lambda: session.planner.up_to_date)
    return why


def settled_alike(session: Session, folder: Path) -> None:
    """What the pages show is what the log alone gives."""
    view, state = session.settled_view(), load_state(open_project(folder))
    assert [effect.seq for effect in view.effects] == [effect.seq for effect in state.effects]
    np.testing.assert_allclose(view.probability, state.learner.probabilities(), atol=1e-5)
    np.testing.assert_allclose(view.mean, state.learner.scores()[0], atol=1e-4)
    assert view.learner.history == state.learner.history
    assert session.settled_state().classifier.belief.mean == pytest.approx(state.classifier.belief.mean)


def test_what_is_learnt_in_another_process_is_what_the_log_gives(session: Session, folder: Path) -> None:
    answer(session, 2)
    process = process_engine(session)
    assert FALLBACK not in answer(session, 6)
    settled_alike(session, folder)
    session.undo("ann")
    session.undo("ann")
    answer(session, 1)
    settled_alike(session, folder)
    assert session.planner._engine is process
    assert process.pid not in (None, os.getpid())


def test_a_question_is_the_same_in_both_places(folder: Path) -> None:
    project = open_project(folder)
    local = LocalEngine(Fold(project.pool, project.settings), [], project.settings)
    there = ProcessEngine(Opening(folder, project.pool.fingerprint), local, local.known())
    try:
        items = project.pool.ids[:3]
        assert there.choose(items, ()) == local.choose(items, ())
        assert there.choose((), (), 8) == local.choose((), (), 8)
        assert there.outlook() == local.outlook()
        assert there.packed() == local.packed()
        assert there.rates((2, 3)) == local.rates((2, 3))
    finally:
        there.close()


def test_the_server_does_not_score_all_items_again_to_show_what_was_learnt(
    session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(session, 2)
    process_engine(session)
    answer(session, 2)
    monkeypatch.setattr(scan, "scores_of", lambda *_: pytest.fail("all items are scored"))
    view = session.settled_view()
    assert view.probability.shape == view.sd.shape == (120,)
    monkeypatch.undo()
    settled_alike(session, folder)


def test_people_go_on_where_the_process_is_killed_and_another_takes_over(
    session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer(session, 2)
    process = process_engine(session)
    answer(session, 2)
    assert process.pid is not None
    monkeypatch.setattr(engine_process, "AGAIN_AFTER_S", 0.1)
    with caplog.at_level(logging.WARNING):
        os.kill(process.pid, signal.SIGKILL)
        answer(session, 2)
        until(lambda: session.planner._engine is not process)
    assert f"ended by signal {signal.SIGKILL.value}" in caplog.text
    assert session.planner.failure is None
    assert process_engine(session) is not process
    answer(session, 1)
    settled_alike(session, folder)


def test_another_start_is_learnt_from_in_the_server_and_then_again_in_a_process(session: Session, folder: Path) -> None:
    answer(session, 2)
    process = process_engine(session)
    session.change_settings("owner", {"start": {"like": ["i1", "i2"], "unlike": ["i3"]}})
    until(lambda: session.planner.up_to_date)
    assert session.planner._engine is not process
    settled_alike(session, folder)


def test_where_no_process_can_be_opened_the_server_goes_on(
    session: Session, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "items.jsonl").write_text("", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        answer(session, 3)
        until(lambda: "no other could be opened" in caplog.text)
        answer(session, 2)
    assert isinstance(session.planner._engine, LocalEngine)


def test_a_process_ended_while_it_opens_is_no_fault_once_the_server_has_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ended = threading.Event()

    def opened_too_late(*_given: object) -> ProcessEngine:
        ended.wait()
        raise GoneError("it was ended by signal 15")

    monkeypatch.setattr(engine_process, "ProcessEngine", opened_too_late)
    session = open_session(open_project(folder)).start()
    answer(session, 1)
    opener = session.planner._opener
    assert opener is not None
    until(lambda: opener._thread is not None)
    session.close()
    ended.set()
    assert opener._thread is not None
    opener._thread.join()
    assert "no other could be opened" not in caplog.text


def test_one_person_needs_no_process_and_the_second_opens_it(folder: Path) -> None:
    assert Settings().server.process_from == 2
    write_settings(folder, open_project(folder).settings.changed(server=Settings().server.model_dump()))
    session = open_session(open_project(folder)).start()
    try:
        answer(session, 3)
        session.question("ann")
        assert session.planner._opener is not None
        assert session.planner._opener._thread is None
        assert isinstance(session.planner._engine, LocalEngine)
        session.question("ben")
        process = process_engine(session)
        answer(session, 2, "ben")
        assert session.planner._engine is process
        settled_alike(session, folder)
    finally:
        session.close()


def test_a_session_ends_its_process(folder: Path) -> None:
    session = open_session(open_project(folder)).start()
    answer(session, 2)
    process = process_engine(session)._process
    session.close()
    with pytest.raises(ValueError, match="closed"):
        process.is_alive()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_process_ends_with_the_server(folder: Path, how: signal.Signals) -> None:
    server = Server(folder, free_port())
    link = server.start()
    assert server.process is not None
    pid = server.process.pid
    with Client(link) as client:
        client.patiently("GET", "/api/question", give_up_s=60)
        until(lambda: any(at_work(child) for child in learners(pid)))
    (child,) = learners(pid)
    if how == signal.SIGINT:
        os.kill(child, how)  # Ctrl-C reaches all processes of a terminal
    server.end(how)
    until(lambda: not Path(f"/proc/{child}").exists(), 30.0)
    assert "Traceback" not in "\n".join(server.said)


def test_answers_that_came_in_while_the_process_was_opened_are_not_learnt_again(folder: Path) -> None:
    project = open_project(folder)
    local = LocalEngine(Fold(project.pool, project.settings), [], project.settings)
    there = ProcessEngine(Opening(folder, project.pool.fingerprint), local, local.known())
    try:
        pairs = load_pairs(folder)
        local.learn(pairs, project.settings, 100)
        there.adopt(local.known())
        assert there.seq == local.seq == pairs[-1][1].seq
        assert there.learn(pairs, project.settings, 0), "nothing is left to learn"
        assert there.packed() == local.packed()
    finally:
        there.close()


def test_undo_after_the_move_learns_nothing_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, pairs = open_project(folder), load_pairs(folder)
    local = LocalEngine(Fold(project.pool, project.settings), [], project.settings)
    local.learn(pairs, project.settings, 100)
    known = pickle.loads(pickle.dumps(local.known()))
    there = Opening(folder, project.pool.fingerprint).engine(known)
    monkeypatch.setattr(Learner, "_learnt", lambda *_, **__: pytest.fail("an answer was learnt again"))
    assert there.learn(pairs[:2], project.settings, 100)
    assert local.learn(pairs[:2], project.settings, 100)
    assert there.packed() == local.packed()


def load_pairs(folder: Path) -> list[tuple[Asked, Given]]:
    """Some answers, in a session that is closed again."""
    write_settings(folder, open_project(folder).settings.changed(server={"process_from": 1000}))
    session = open_session(open_project(folder)).start()
    answer(session, 4)
    pairs = session.desk.counting()
    session.close()
    return pairs
