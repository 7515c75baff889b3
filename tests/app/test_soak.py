"""A short soak: after many more answers, a server has no more files open and uses hardly more memory.

`benchmarks/soak.py` does the same for an hour.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from scripts.processes import open_files, resident_bytes
from tellmore.app.memory import EVERY_S, MemoryKeeper
from tellmore.app.session import Session
from tellmore.sim.drive import drive, invite
from tests.app.serving import Server, free_port, small_project

PEOPLE, ANSWERS = 4, 12


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_files_and_memory_do_not_grow_with_the_answers(tmp_path: Path) -> None:
    server = Server(small_project(tmp_path / "project"), free_port())
    try:
        links = invite(server.start(), PEOPLE)
        assert server.process is not None
        used = []
        for seed in range(2):
            report = drive(links, answers=ANSWERS, think=False, seed=seed)
            assert not report.faults
            used.append((open_files(server.process.pid), resident_bytes(server.process.pid)))
    finally:
        server.end(signal.SIGTERM, 60.0)
    (files, memory), (last_files, last_memory) = used[0], used[-1]
    assert last_files < files + PEOPLE * ANSWERS - 10  # fewer than one more with every answer
    assert last_memory < memory + 60e6


def test_unused_memory_is_given_back_now_and_then(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    keeper, now = MemoryKeeper(given.append), time.monotonic()
    for later in (0.0, 1.0, EVERY_S + 1, EVERY_S + 2):
        monkeypatch.setattr(time, "monotonic", lambda: now + later)  # noqa: B023
        assert not keeper.give_back_if_due(None)
    assert given == [0, 0]
    assert MemoryKeeper.give_back_if_due in [getattr(chore, "__func__", None) for chore in session.planner._chores]
