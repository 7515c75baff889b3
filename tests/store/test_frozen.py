"""A PostgreSQL server that hangs: people soon get an error, and nothing is lost or stored twice when it continues."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scripts.postgres_cluster import NoPostgresError, private_postgres
from tellmore.errors import StoreError
from tellmore.store import database
from tellmore.store.repository import Event, Repository

pytestmark = pytest.mark.postgres


@pytest.fixture
def store() -> Iterator[Repository]:
    """On a separate PostgreSQL server, which nobody else needs."""
    try:
        with private_postgres() as url:
            store = Repository(url.replace("postgresql:", "postgresql+psycopg:"))
            yield store
            store.close()
    except NoPostgresError as problem:
        pytest.skip(str(problem))


def processes_of(store: Repository) -> list[int]:
    """PostgreSQL's first process and all that it has started."""
    with store._database.engine.connect() as connection:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    parents: dict[int, int] = {}
    for path in Path("/proc").iterdir():
        with suppress(OSError):  # it may have ended meanwhile
            if path.name.isdigit():
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    first = parents[backend]
    return [first, *(pid for pid, parent in parents.items() if parent == first)]


def test_a_database_that_hangs_is_told_and_goes_on_where_it_was(
    store: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append([Event("note", payload={"number": 1})])
    stopped = processes_of(store)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        with monkeypatch.context() as impatient:
            impatient.setattr(database, "SILENT_S", 0.5)
            for _ in range(2):  # soon the first time, at once afterwards
                with pytest.raises(StoreError, match="does not respond; try again in a moment"):
                    store.append([Event("note", payload={"number": 2})])
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    store._database._away_until = 0.0
    store.append([Event("note", payload={"number": 3})])
    numbers = [event.payload["number"] for event in store.since()]
    assert numbers == [1, 3]
