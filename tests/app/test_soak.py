"""A short soak: a server that has answered much more has no more files open and hardly more memory in use.

`benchmarks/soak.py` does the same for an hour.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from scripts.processes import open_files, resident_bytes
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
