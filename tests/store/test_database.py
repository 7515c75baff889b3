"""Databases that are damaged, do not respond or are not durable: errors name them, waits are limited, and there are warnings."""

from __future__ import annotations

import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tellmore.errors import StoreError
from tellmore.store import database
from tellmore.store.repository import Event, Repository


def filled(path: Path) -> Path:
    with closing(Repository(f"sqlite:///{path}")) as store:
        store.append([Event("note", payload={"text": "x" * 500}) for _ in range(200)])
    return path


def test_an_empty_file_is_named_and_never_an_empty_log(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    path.touch()
    with pytest.raises(StoreError, match=r"log\.sqlite is empty: a damaged log, not a new one; restore a backup"):
        Repository(f"sqlite:///{path}")
    assert path.stat().st_size == 0


@pytest.mark.parametrize("damage", ["cut", "scribble", "header", "gone"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    path = filled(tmp_path / "log.sqlite")
    content = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "scribble":
        content[4096 * 6 : 4096 * 9] = b"\x5a" * (4096 * 3)
        path.write_bytes(content)
    elif damage == "header":
        path.write_bytes(b"not a database at all" + bytes(content[21:]))
    else:
        path.rename(tmp_path / "log.sqlite-wal")
    with pytest.raises(StoreError, match=r"log\.sqlite"):
        Repository(f"sqlite:///{path}")


def test_a_new_log_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    with closing(Repository(f"sqlite:///{tmp_path / 'log.sqlite'}")) as store:
        store.claim()
        store.append([Event("note")])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert set(modes) >= {"log.sqlite", "log.sqlite-wal", "log.sqlite.lock"}
    assert set(modes.values()) == {0o600}


class Freezer:
    """A connection to a database that can freeze: it accepts data and passes nothing on."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def freeze(self) -> None:
        self._flowing.clear()

    def thaw(self) -> None:
        self._flowing.set()

    def close(self) -> None:
        self.thaw()
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(10)
        for end in (self._listener, *self._ends):
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                inner, outer = self._listener.accept()[0], socket.create_connection(self._target)
                self._ends += [inner, outer]
                for one, other in ((inner, outer), (outer, inner)):
                    self._threads.append(threading.Thread(target=self._pump, args=(one, other), daemon=True))
                    self._threads[-1].start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def freezer(url: str) -> Iterator[Freezer]:
    address = make_url(url)
    opened = Freezer(address.host or "", address.port or 5432)
    yield opened
    opened.close()


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_a_frozen_database_is_given_up_and_found_again(
    url: str, freezer: Freezer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SILENT_S", 0.4)
    monkeypatch.setattr(database, "CONNECT_S", 1)
    address = make_url(url).set(host="127.0.0.1", port=freezer.port).render_as_string(hide_password=False)
    with closing(Repository(address)) as store:
        store.claim()
        freezer.freeze()
        began = time.monotonic()
        with pytest.raises(StoreError, match=r"^the database does not respond; try again in a moment$"):
            store.append([Event("note")])
        assert time.monotonic() - began < 10
        began = time.monotonic()
        with pytest.raises(StoreError, match="does not respond"):
            store.append([Event("note")])
        assert time.monotonic() - began < 0.2, "nobody waits in turn for a database that is known to be away"
        freezer.thaw()
        for _ in range(50):
            with suppress(StoreError):
                store.append([Event("note")])
                break
            time.sleep(0.1)
        store.keep_claim()
        assert [event.kind for event in store.since()] == ["note"]


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_a_database_that_a_power_cut_would_harm_is_named(store: Repository) -> None:
    assert store.unsafe() == ["fsync = off"]
    with store._reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
