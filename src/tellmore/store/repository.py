"""The only module that touches a database: append to the log, read it, keep tokens and snapshots.

Every ``append`` is one transaction that is on disk when it returns (SQLite: WAL with synchronous=FULL; PostgreSQL:
synchronous_commit). Writers take turns, so the order of ``seq`` is the order in which events became visible.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, create_engine, delete, event, func, insert, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from tellmore.errors import MissingExtraError, StateError, StoreError
from tellmore.store.claim import FileClaim
from tellmore.store.schema import events, meta, snapshots, tokens
from tellmore.store.upgrade import upgrade

ERASED = {"erased": True}
_APPEND_LOCK = 7_300_702
_SERVE_LOCK = 7_300_703
_CLAIM_WITHIN_S = 3.0  # PostgreSQL may take a moment to notice that the server before was killed
_READ_CHUNK = 2_000


class AlreadyAnsweredError(StoreError):
    """A question in this batch has its answer already; nothing of the batch was written."""


@dataclass(frozen=True)
class Event:
    """One row of the log; ``payload`` is a JSON object."""

    kind: str
    question_id: str | None = None
    participant: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    seq: int = 0
    t_utc: str = ""

    @property
    def erased(self) -> bool:
        """Whether the payload was deleted with its participant."""
        return self.payload == ERASED

    def as_json(self) -> dict[str, Any]:
        """The row as exported."""
        return {"seq": self.seq, "t_utc": self.t_utc, **vars(self)}


@dataclass(frozen=True)
class TokenRow:
    """A stored access token: only the SHA-256 of its secret is kept."""

    id: str
    hash: str
    role: str
    participant: str
    name: str
    created_utc: str = ""
    revoked_utc: str | None = None


def utc_now() -> str:
    """The present moment in ISO 8601 with milliseconds, sortable as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Repository:
    """An opened and upgraded log. Threads may share it.

    ``url`` is an SQLAlchemy address: ``sqlite:///file`` or ``postgresql+psycopg://…``.
    """

    def __init__(self, url: str) -> None:
        self._engine = _open_engine(url)
        self._turn = threading.Lock()
        self._claim: FileClaim | None = None
        self._claiming: Connection | None = None
        try:
            upgrade(self._engine)
            self.project_id = self._identity()
        except DBAPIError as error:
            self._engine.dispose()
            raise StoreError(
                f"{_place(self._engine)} cannot be opened: {_first_line(error)}; "
                "check `database`, and that it may be written and its disk has space"
            ) from None
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Give the connections back, and the claim."""
        if self._claim is not None:
            self._claim.release()
        if self._claiming is not None:
            self._claiming.close()
        self._engine.dispose()

    # One server at a time

    def claim(self) -> None:
        """Be the only server of this log until ``close``, or until this process ends; StateError where there is one.

        Reading stays open to everybody, and so does appending: only who hands out questions must be alone.
        """
        if self._engine.dialect.name == "postgresql":
            self._claim_postgres()
        else:
            self._claim = FileClaim(Path(str(self._engine.url.database)))

    def say_address(self, address: str) -> None:
        """Where the server that holds the claim is reached, for whoever finds it taken."""
        if self._claim is not None:
            self._claim.say(address)

    def _claim_postgres(self) -> None:
        """A lock that lasts as long as its connection; its number is the project's own, as a database may hold several."""
        number = int(self.project_id[:7], 16)
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        give_up = time.monotonic() + _CLAIM_WITHIN_S
        while not connection.execute(select(func.pg_try_advisory_lock(_SERVE_LOCK, number))).scalar():
            if time.monotonic() > give_up:
                connection.close()
                raise StateError("another server works on this project's database; use that one, or stop it first")
            time.sleep(0.1)
        self._claiming = connection

    # The log

    def append(self, batch: Sequence[Event]) -> list[Event]:
        """Write ``batch`` in one transaction; returns the events with their numbers and times, durable."""
        now = utc_now()
        rows = [_row(each, now) for each in batch]
        statement = insert(events).returning(events.c.seq, sort_by_parameter_order=True)
        with self._turn, self._writing() as connection:
            try:
                numbers = connection.execute(statement, rows).scalars().all()
            except IntegrityError:
                raise AlreadyAnsweredError("the question has an answer already; answers are never replaced") from None
        return [Event(**{**row, "seq": seq}) for row, seq in zip(rows, numbers, strict=True)]

    def since(self, seq: int = 0, *, kinds: Collection[str] | None = None) -> Iterator[Event]:
        """Events with a number above ``seq``, in order, read in chunks."""
        while True:
            chunk = self._chunk(seq, kinds)
            yield from chunk
            if len(chunk) < _READ_CHUNK:
                return
            seq = chunk[-1].seq

    def _chunk(self, seq: int, kinds: Collection[str] | None) -> list[Event]:
        query = select(events).where(events.c.seq > seq).order_by(events.c.seq).limit(_READ_CHUNK)
        if kinds is not None:
            query = query.where(events.c.kind.in_(kinds))
        with self._reading() as connection:
            return [Event(**row) for row in connection.execute(query).mappings()]

    def erase(self, participant: str, note: Event, *, keep_tokens: bool = False) -> Event:
        """Delete what ``participant`` gave and who they are, and append ``note``, the tombstone that says so."""
        with self._turn, self._writing() as connection:
            connection.execute(update(events).where(events.c.participant == participant).values(payload=ERASED))
            if not keep_tokens:
                connection.execute(delete(tokens).where(tokens.c.participant == participant))
            connection.execute(delete(snapshots))
            row = _row(note, utc_now())
            seq = connection.execute(insert(events).returning(events.c.seq), row).scalar_one()
        self._forget_old_pages()
        return Event(**{**row, "seq": seq})

    # Snapshots

    def save_snapshot(self, seq: int, version: str, data: bytes) -> None:
        """Keep ``data``, the state after event ``seq``, in place of older ones; the log notes it."""
        note = _row(Event("snapshot", payload={"through": seq, "bytes": len(data), "version": version}), utc_now())
        with self._turn, self._writing() as connection:
            connection.execute(delete(snapshots))
            connection.execute(insert(snapshots), {"seq": seq, "version": version, "data": data})
            connection.execute(insert(events), note)

    def load_snapshot(self, version: str) -> tuple[int, bytes] | None:
        """The newest snapshot written under ``version``, as (seq, data)."""
        query = select(snapshots.c.seq, snapshots.c.data).where(snapshots.c.version == version)
        with self._reading() as connection:
            row = connection.execute(query.order_by(snapshots.c.seq.desc()).limit(1)).first()
        return None if row is None else (int(row.seq), bytes(row.data))

    # Tokens

    def add_token(self, token: TokenRow) -> None:
        """Keep a new token."""
        values = {**token.__dict__, "created_utc": utc_now()}
        with self._turn, self._writing() as connection:
            connection.execute(insert(tokens), values)

    def tokens(self) -> list[TokenRow]:
        """All tokens, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(tokens).order_by(tokens.c.created_utc, tokens.c.id)).mappings()
            return [TokenRow(**row) for row in rows]

    def revoke(self, token_ids: Collection[str]) -> int:
        """Make tokens useless from now on; returns how many were valid until now."""
        unrevoked = tokens.c.id.in_(token_ids) & tokens.c.revoked_utc.is_(None)
        with self._turn, self._writing() as connection:
            return int(connection.execute(update(tokens).where(unrevoked).values(revoked_utc=utc_now())).rowcount)

    # Connections

    def _identity(self) -> str:
        """The project's own identity, made when its database is new."""
        with self._writing() as connection:
            known = connection.execute(select(meta.c.value).where(meta.c.key == "project_id")).scalar()
            if known is None:
                known = uuid4().hex
                connection.execute(insert(meta), {"key": "project_id", "value": known})
            return str(known)

    def _reading(self) -> AbstractContextManager[Connection]:
        return _transaction(self._engine, write=False)

    def _writing(self) -> AbstractContextManager[Connection]:
        return _transaction(self._engine, write=True)

    def _forget_old_pages(self) -> None:
        """On SQLite move the log of changes into the file, so that no erased text stays in it."""
        if self._engine.dialect.name == "sqlite":
            with self._reading() as connection:
                connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))


@contextmanager
def _transaction(engine: Engine, *, write: bool) -> Iterator[Connection]:
    """A transaction whose database errors come out as StoreError, in one line."""
    failed = "does not answer"
    try:
        with engine.begin() as connection:
            if write and connection.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_APPEND_LOCK})"))
            failed = "refused"
            yield connection
            failed = "could not write"
    except DBAPIError as error:
        raise StoreError(f"the database {failed}: {_first_line(error)}") from None


def _row(each: Event, now: str) -> dict[str, Any]:
    row = {**vars(each), "t_utc": each.t_utc or now}
    del row["seq"]  # the database gives it
    return row


def _first_line(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__


def _open_engine(url: str) -> Engine:
    """An engine whose writes are durable; unknown addresses and missing drivers are told in one line."""
    try:
        address = make_url(url)
    except ArgumentError:
        raise StoreError(
            "`database` is not an address; write sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"
        ) from None
    backend = address.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise StoreError(f"`database` names {backend}; tellmore keeps its log in sqlite or postgresql+psycopg")
    if backend == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    try:
        engine = create_engine(address, pool_pre_ping=backend == "postgresql", pool_size=10, max_overflow=40)
    except (ImportError, NoSuchModuleError):
        raise MissingExtraError("psycopg", "postgres") from None
    if backend == "sqlite":
        event.listen(engine, "connect", _make_sqlite_durable)
    return engine


def _place(engine: Engine) -> str:
    """What a message calls the database: a file by its path, a server without its address, which may hold a password."""
    return f"the database {engine.url.database}" if engine.dialect.name == "sqlite" else "the database"


def _make_sqlite_durable(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
