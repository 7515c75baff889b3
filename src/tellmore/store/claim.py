"""One server at a time: a claim on a log that the operating system itself gives up when its process ends, however it ends."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tellmore.errors import StateError

fcntl: Any = None
with suppress(ImportError):  # Windows has none: nothing is claimed there
    import fcntl

LOCK_SUFFIX = ".lock"


class FileClaim:
    """A lock on FILE.lock. The file stays, empty: taking it away would let two claims hold two files of one name."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + LOCK_SUFFIX)
        self._file: IO[str] = self._path.open("a+", encoding="utf-8")
        if not _locked(self._file):
            holder = _read(self._file)
            self._file.close()
            raise StateError(_told(holder))
        self.say()

    def say(self, address: str | None = None) -> None:
        """Write down who holds the claim, for whoever finds it taken."""
        self._file.truncate(0)
        self._file.write(json.dumps({"pid": os.getpid(), "address": address}))
        self._file.flush()

    def release(self) -> None:
        """Give the claim back."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


def _locked(file: IO[str]) -> bool:
    """Whether the lock is ours now; a file system that knows no locks is no reason not to serve."""
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
