"""The claim of a server on a log: only one at a time, released when its process ends, however it ends."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError

from tellmore.errors import StateError

fcntl: Any = None
with suppress(ImportError):  # Windows does not have it, so nothing is locked there
    import fcntl

LOCK_SUFFIX = ".lock"
_SERVE_LOCK = 7_300_703


class FileClaim:
    """A lock on FILE.lock. The file is never removed: otherwise two servers could lock two files of the same name."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + LOCK_SUFFIX)
        self._file: IO[str] = os.fdopen(
            os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+", encoding="utf-8"
        )
        if not _locked(self._file):
            holder = _read(self._file)
            self._file.close()
            raise StateError(_told(holder))
        self.say()

    def say(self, address: str | None = None) -> None:
        """Record who has the claim, for servers that find it taken."""
        self._file.truncate(0)
        self._file.write(json.dumps({"pid": os.getpid(), "address": address}))
        self._file.flush()

    def renew(self) -> None:
        """Nothing to do: the operating system keeps the lock."""

    def release(self) -> None:
        """Release the claim."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


class SessionClaim:
    """A PostgreSQL lock that lasts as long as its connection; ``number`` is the project's, because a database may have several.

    A restart of PostgreSQL ends the connection; ``renew`` then takes the lock again on a new one.
    """

    def __init__(self, engine: Engine, number: int, within_s: float) -> None:
        self._engine, self._number = engine, number
        self._connection: Connection | None = None
        give_up = time.monotonic() + within_s
        while not self._take():
            if time.monotonic() > give_up:
                raise StateError("another server works on this project's database; use that one, or stop it first")
            time.sleep(0.1)

    def renew(self) -> None:
        """Take the lock again if its connection broke and nobody else has it."""
        try:
            if self._connection is not None:
                self._connection.execute(select(1))
                return
        except DBAPIError:
            self.release()
        with suppress(DBAPIError):
            self._take()

    def release(self) -> None:
        """Release the claim."""
        if self._connection is not None:
            with suppress(DBAPIError):
                self._connection.close()
            self._connection = None

    def _take(self) -> bool:
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.execute(select(func.pg_try_advisory_lock(_SERVE_LOCK, self._number))).scalar():
            self._connection = connection
            return True
        connection.close()
        return False


def _locked(file: IO[str]) -> bool:
    """Whether we have the lock now; also true on a file system without locks, which is no reason not to serve."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _read(file: IO[str]) -> dict[str, object]:
    file.seek(0)
    try:
        held = json.loads(file.read())
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def _told(holder: dict[str, object]) -> str:
    pid, address = holder.get("pid"), holder.get("address")
    where = f" at {address}" if address else ""
    who = f" by process {pid}" if pid else ""
    return f"the project is served already{where}{who}; use that server, or stop it first" + (
        f" with: kill {pid}" if pid else ""
    )
