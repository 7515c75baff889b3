"""One server at a time: a second claim is refused, and the error says who has the first; nothing else prevents a claim."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tellmore.errors import StateError
from tellmore.store import claim, repository
from tellmore.store.claim import FileClaim
from tellmore.store.repository import ClaimLostError, Event, Repository

HOLD = """
import sys, time
from tellmore.store.repository import Repository
Repository(sys.argv[1]).claim()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "_CLAIM_WITHIN_S", 0.2)


def test_a_second_claim_is_refused_until_the_first_is_given_back(url: str, store: Repository) -> None:
    store.claim()
    second = Repository(url)
    with pytest.raises(StateError, match=r"use that .*or stop it first"):
        second.claim()
    store.close()
    second.claim()
    second.close()


def test_a_claimed_log_is_read_and_appended_to(url: str, store: Repository) -> None:
    store.claim()
    other = Repository(url)
    other.append([Event("note")])
    assert [event.kind for event in store.since()] == ["note"]
    other.close()


def test_a_killed_server_leaves_the_way_free(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "_CLAIM_WITHIN_S", 10.0)
    with subprocess.Popen([sys.executable, "-c", HOLD, url], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    store = Repository(url)
    store.claim()
    store.close()


def test_who_holds_the_claim_is_said(tmp_path: Path) -> None:
    held = FileClaim(tmp_path / "log.sqlite")
    with pytest.raises(StateError, match=f"served already by process {os.getpid()}; .* kill {os.getpid()}$"):
        FileClaim(tmp_path / "log.sqlite")
    held.say("http://127.0.0.1:8123")
    with pytest.raises(StateError, match=r"served already at http://127\.0\.0\.1:8123 by process"):
        FileClaim(tmp_path / "log.sqlite")
    (tmp_path / "log.sqlite.lock").write_text("?")
    with pytest.raises(StateError, match=r"served already; use that server, or stop it first$"):
        FileClaim(tmp_path / "log.sqlite")
    held.release()
    held.release()
    assert (tmp_path / "log.sqlite.lock").read_text() == ""


@pytest.mark.parametrize("without", ["module", "support"])
def test_a_computer_without_file_locks_serves_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "not supported")

    if without == "module":
        monkeypatch.setattr(claim, "fcntl", None)
    else:
        monkeypatch.setattr(claim.fcntl, "flock", unsupported)
    claims = [FileClaim(tmp_path / "log.sqlite") for _ in range(2)]
    for each in claims:
        each.release()


def lose(store: Repository) -> None:
    """What a restart of PostgreSQL, or somebody who removes the lock's file, does to a claim."""
    if store._database.path is not None:
        store._database.path.with_name("log.sqlite.lock").unlink()
        return
    other = create_engine(store._database.engine.url)
    held = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = :number"
    with other.connect() as connection:
        assert connection.execute(text(held), {"number": int(store.project_id[:7], 16)}).scalars().all() == [True]
    other.dispose()


def test_a_server_whose_claim_was_taken_over_writes_nothing_more(url: str, store: Repository) -> None:
    store.claim()
    store.append([Event("note", payload={"by": 1})])
    lose(store)
    second = Repository(url)
    second.claim()
    with pytest.raises(ClaimLostError, match="another server has taken over this project"):
        store.append([Event("note", payload={"by": 1})])
    with pytest.raises(ClaimLostError):
        store.keep_claim()
    second.append([Event("note", payload={"by": 2})])
    second.keep_claim()
    assert [event.payload["by"] for event in second.since()] == [1, 2]
    second.close()


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_a_claim_whose_connection_broke_is_taken_again(url: str, store: Repository) -> None:
    store.claim()
    lose(store)
    store.keep_claim()
    second = Repository(url)
    with pytest.raises(StateError, match="another server works"):
        second.claim()
    store.append([Event("note")])
    second.close()
