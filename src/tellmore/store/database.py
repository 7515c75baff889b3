"""Opens and uses a database: writes are on disk when they return, and every wait has a limit.

SQLite uses WAL with synchronous=FULL, PostgreSQL synchronous_commit. If a PostgreSQL server does not respond, the statement
fails, and for a moment later requests fail at once instead of waiting too.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from tellmore.errors import MissingExtraError, StoreError
from tellmore.store.upgrade import upgrade

log = logging.getLogger(__name__)

SILENT_S = 5.0
"""How long a database may not respond before a statement fails."""
CONNECT_S = 3
PAUSE_S = 1.0
"""For how long after that requests fail at once: they would only wait one after another."""
_APPEND_LOCK = 7_300_702
_UNSAFE = {"fsync": "off", "full_page_writes": "off"}


class Database:
    """An opened and upgraded database. Its errors are raised as StoreError, in one line without addresses."""

    def __init__(self, url: str) -> None:
        address = _checked(url)
        self.postgres = address.get_backend_name() == "postgresql"
        self.path = None if self.postgres or not address.database else Path(address.database)
        self._away_until = 0.0
        if self.path is not None:
            _create_whole(self.path)
        self.engine = _open_engine(address)
        try:
            upgrade(self.engine)
            self._refuse_damaged()
        except DBAPIError as error:
            self.close()
            raise _unopened(self._place, _first_line(error)) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[Connection]:
        """One transaction; writers take turns."""
        if time.monotonic() < self._away_until:
            raise StoreError("the database does not respond; try again in a moment")
        failed = "does not respond"
        try:
            with self.engine.begin() as connection:
                if write and self.postgres:
                    connection.execute(text(f"SELECT pg_advisory_xact_lock({_APPEND_LOCK})"))
                failed = "refused"
                yield connection
                failed = "could not write"
        except (DBAPIError, PoolTimeoutError) as error:
            raise self._told(error, failed) from None

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """A connection that sees the database as it is now, whatever others write meanwhile; rows are read in parts."""
        try:
            with self.engine.connect() as plain:
                connection = plain.execution_options(stream_results=True)
                if self.postgres:
                    connection = connection.execution_options(isolation_level="REPEATABLE READ")
                else:
                    connection.exec_driver_sql("BEGIN")
                yield connection
        except DBAPIError as error:
            raise self._told(error, "could not be read") from None

    def count_on(self, connection: Connection) -> None:
        """Continue the numbering of events after those that were inserted with numbers; SQLite does this by itself."""
        if self.postgres:
            last = "(SELECT max(seq) FROM events)"
            connection.execute(text(f"SELECT setval(pg_get_serial_sequence('events', 'seq'), {last}) WHERE {last} > 0"))

    def _told(self, error: DBAPIError | PoolTimeoutError, failed: str) -> StoreError:
        """The error for people. The server's own message may name hosts, so it is only logged."""
        if not self.postgres and isinstance(error, DBAPIError):
            return StoreError(f"the database {failed}: {_first_line(error)}")
        log.warning("the database %s: %s", failed, error)
        if not isinstance(error, DBAPIError) or error.connection_invalidated or failed == "does not respond":
            self._away_until = time.monotonic() + PAUSE_S
            return StoreError("the database does not respond; try again in a moment")
        return StoreError(f"the database {failed}; the server's log says why")

    def unsafe(self) -> list[str]:
        """Which settings of the database could lose acknowledged answers in a power cut."""
        if not self.postgres:
            return []
        with self.transaction(write=False) as connection:
            shown = {name: connection.execute(text(f"SHOW {name}")).scalar() for name in _UNSAFE}
        return [f"{name} = {value}" for name, value in shown.items() if value == _UNSAFE[name]]

    def _refuse_damaged(self) -> None:
        if self.path is None:
            return
        with self.engine.connect() as connection:
            found = connection.execute(text("PRAGMA quick_check(1)")).scalar()
        if found != "ok":
            raise StoreError(f"{self.path} is damaged: {str(found).splitlines()[0]}; restore a backup of it")

    @property
    def _place(self) -> str:
        """The name of the database in messages at the start: a file's path, or a server without its address and password."""
        return "the database" if self.path is None else f"the database {self.path}"


def _checked(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError:
        raise StoreError(
            "`database` is not an address; write sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"
        ) from None
    backend = address.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise StoreError(f"`database` names {backend}; tellmore keeps its log in sqlite or postgresql+psycopg")
    return address.set(drivername="postgresql+psycopg") if backend == "postgresql" else address


def _open_engine(address: URL) -> Engine:
    """An engine whose writes are durable; a missing driver is reported in one line."""
    if address.get_backend_name() == "sqlite":
        engine = create_engine(address, pool_size=10, max_overflow=40)
        event.listen(engine, "connect", _make_sqlite_durable)
        return engine
    try:
        engine = create_engine(
            address,
            pool_pre_ping=True,
            pool_size=10,
            max_overflow=40,
            pool_timeout=SILENT_S,
            connect_args={"connect_timeout": CONNECT_S},
        )
    except (ImportError, NoSuchModuleError):
        raise MissingExtraError("psycopg", "postgres") from None
    event.listen(engine, "do_connect", _connect_bounded)
    event.listen(engine, "connect", _make_postgres_durable)
    return engine


def _make_sqlite_durable(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=5000", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _make_postgres_durable(connection: Any, _record: Any) -> None:
    """Make acknowledged writes durable even if the server's default is off; any other setting is kept."""
    cursor = connection.cursor()
    cursor.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
    cursor.close()
    connection.commit()


def _connect_bounded(_dialect: Any, _record: Any, arguments: Any, options: Any) -> Any:
    """A psycopg connection that gives up if the server does not respond; libpq itself would wait for ever."""
    import psycopg

    class Bounded(psycopg.Connection[Any]):
        def wait(self, gen: Any, *rest: Any, **options: Any) -> Any:
            return super().wait(_bounded(self, gen), *rest, **options)

    return Bounded.connect(*arguments, **options)


def _bounded(connection: Any, steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """``steps`` of psycopg, but they end in an error if there is no response for SILENT_S."""
    import psycopg

    give_up = time.monotonic() + SILENT_S
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready:
                give_up = time.monotonic() + SILENT_S
            elif time.monotonic() > give_up:
                connection.pgconn.finish()  # rolling the transaction back must not wait as long again
                raise psycopg.OperationalError(f"the server has not responded for {SILENT_S:g} s")
            wanted = steps.send(ready)
    except StopIteration as done:
        return done.value


def _create_whole(path: Path) -> None:
    """Create a log in one step, readable only by its owner, so that an empty file always means damage."""
    if path.exists():
        if path.stat().st_size == 0:
            raise StoreError(
                f"{path} is empty: a damaged log, not a new one; restore a backup of it, or delete it to start again"
            )
        return
    if path.with_name(f"{path.name}-wal").exists():
        raise StoreError(f"{path} is missing, but {path.name}-wal exists; restore a backup of both")
    fresh = path.with_name(f".{path.name}-{token_hex(4)}")
    try:
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL, 0o600))
        engine = create_engine(f"sqlite:///{fresh}")
        upgrade(engine)
        engine.dispose()
        with suppress(FileExistsError):  # another process was faster
            os.link(fresh, path)
    except OSError as error:
        raise _unopened(f"the database {path}", str(error.strerror)) from None
    except DBAPIError as error:
        raise _unopened(f"the database {path}", _first_line(error)) from None
    finally:
        fresh.unlink(missing_ok=True)


def _unopened(place: str, why: str) -> StoreError:
    return StoreError(
        f"{place} cannot be opened: {why}; check `database`, and that it may be written and its disk has space"
    )


def _first_line(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__
