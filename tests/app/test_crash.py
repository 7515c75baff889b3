"""The server is killed at random moments under load: no acknowledged answer is missing, and none is stored twice."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tellmore.data.project import open_project
from tellmore.sim.drive import Report, drive, invite
from tellmore.store.repository import Repository
from tests.app.serving import Server, free_port, small_project
from tests.store.databases import fresh_url

MOMENTS = 8
PEOPLE = 6
MOST_ANSWERS = 12

DATABASES = [
    pytest.param("sqlite", marks=pytest.mark.slow),
    pytest.param("postgres", marks=pytest.mark.postgres),
]


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield ""
    else:
        yield from fresh_url("postgres", tmp_path)


def killed_under_load(server: Server, moments: int, seed: int) -> Report:
    """People answer without thinking while the server is killed and started again ``moments`` times.

    A moment is some random milliseconds after a random number of further answers, so that a slow computer kills as many.
    """
    rng = random.Random(seed)
    links = invite(server.start(), PEOPLE)
    stop, answered = threading.Event(), threading.Semaphore(0)
    reports: list[Report] = []
    load = threading.Thread(
        target=lambda: reports.append(
            drive(links, answers=10**6, think=False, seed=seed, stop=stop, give_up_s=600, on_answer=answered.release)
        )
    )
    load.start()
    for _ in range(moments):
        for _ in range(rng.randint(1, MOST_ANSWERS)):
            assert answered.acquire(timeout=120)
        time.sleep(rng.uniform(0.0, 0.05))
        server.end(signal.SIGKILL)
        server.start()
    stop.set()
    load.join(120)
    assert not load.is_alive()
    server.end(signal.SIGTERM)
    return reports[0]


@pytest.mark.timeout(900)  # on a busy machine each of the starts takes a while
def test_no_acknowledged_answer_is_missing_or_doubled(tmp_path: Path, database: str) -> None:
    project = small_project(tmp_path / "project", database)
    report = killed_under_load(Server(project, free_port()), MOMENTS, seed=4)
    store = Repository(open_project(project).database_url)
    answers = [event for event in store.since() if event.kind in ("answer", "skip")]
    store.close()
    assert report.faults == []
    assert len(report.acknowledged) >= MOMENTS
    found = Counter(event.question_id for event in answers)
    assert [question_id for question_id in report.acknowledged if found[question_id] != 1] == []
    assert max(found.values()) == 1
    assert max(Counter(report.acknowledged).values()) == 1
    # At most one answer per person and crash was written but never acknowledged.
    assert len(found) - len(report.acknowledged) <= PEOPLE
    assert report.same_at_once() == 0
