"""A project's log and what is stored with it: events, tokens, snapshots. No other module sends statements to a
database.

Every ``append`` is one transaction that is on disk when it returns. Writers take turns, so the order of ``seq`` is the order
in which events became visible.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from tellmore.errors import StateError, StoreError
from tellmore.store.claim import FileClaim, SessionClaim
from tellmore.store.database import Database
from tellmore.store.schema import events, meta, tokens
from tellmore.store.schema import snapshots as _snapshots

ERASED = {"erased": True}
PROJECT_ID, HOLDER, STUDY_KEY = "project_id", "holder", "study_key"
ADDRESS, LISTENS = "address", "listens"
"""The beginning of links to the server that has the claim, and the address at which it listens."""
_CLAIM_WITHIN_S = 3.0  # PostgreSQL may need a moment to notice that the previous server was killed
_READ_CHUNK = 2_000


class ClaimLostError(StoreError):
    """Another server has the log now; nothing was written."""


class AlreadyAnsweredError(StoreError):
    """A question in this batch already has an answer; nothing of the batch was written."""


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
    """A stored access token, with only the SHA-256 of its secret."""

    id: str
    hash: str
    role: str
    participant: str
    name: str
    created_utc: str = ""
    revoked_utc: str | None = None
    expires_utc: str | None = None
    uses_left: int | None = None
    invited_by: str | None = None


def iso(moment: datetime) -> str:
    """ISO 8601 with milliseconds, sortable as text."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def utc_now() -> str:
    """The present moment."""
    return iso(datetime.now(UTC))


class Repository:
    """An opened and upgraded log. Threads may share it.

    ``url`` is an SQLAlchemy address: ``sqlite:///file`` or ``postgresql+psycopg://…``.
    """

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self._turn = threading.Lock()
        self._claim: FileClaim | SessionClaim | None = None
        self._holder: str | None = None
        try:
            self.project_id = self.secret(PROJECT_ID)
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Close the connections and release the claim."""
        if self._claim is not None:
            self._claim.release()
        self._database.close()

    # One server at a time

    def claim(self) -> None:
        """Become the only server of this log until ``close`` or until this process ends; raises StateError if there is one.

        Others may still read and append: only one process may issue questions. The claim has two parts. A lock keeps a
        second server from starting while this one runs. A name in the database, which this server checks at every write,
        keeps this one from writing if a second has started nevertheless.
        """
        if self._database.path is not None:
            self._claim = FileClaim(self._database.path)
        elif self._database.postgres:
            self._claim = SessionClaim(self._database.engine, int(self.project_id[:7], 16), _CLAIM_WITHIN_S)
        holder = uuid4().hex
        with self._turn, self._writing() as connection:
            _put(connection, HOLDER, holder)
        self._holder = holder

    def keep_claim(self) -> None:
        """Take the lock again if its connection broke; raises ClaimLostError if another server has taken over."""
        if self._claim is not None:
            self._claim.renew()
        with self._reading() as connection:
            self._check_holder(connection)

    def _check_holder(self, connection: Connection) -> None:
        if self._holder is not None and _get(connection, HOLDER) != self._holder:
            raise ClaimLostError("another server has taken over this project; use that one")

    def say_address(self, address: str, listens: str = "") -> None:
        """Record where people, and other servers of the same project, can reach the server that has the claim."""
        if isinstance(self._claim, FileClaim):
            self._claim.say(address)
        self.put(ADDRESS, address)
        self.put(LISTENS, listens or address)

    def get(self, key: str) -> str | None:
        """A fact about the project that is stored with its log."""
        with self._reading() as connection:
            return _get(connection, key)

    def put(self, key: str, value: str) -> None:
        """Store a fact about the project with its log."""
        with self._turn, self._writing() as connection:
            _put(connection, key, value)

    def secret(self, key: str) -> str:
        """A random secret of the project, made when it is first needed."""
        with self._turn, self._writing() as connection:
            known = _get(connection, key)
            if known is None:
                known = uuid4().hex
                _put(connection, key, known)
            return known

    def unsafe(self) -> list[str]:
        """Which settings of the database could lose acknowledged answers in a power cut."""
        return self._database.unsafe()

    # The log

    def append(self, batch: Sequence[Event]) -> list[Event]:
        """Write ``batch`` durably in one transaction; returns the events with their numbers and times."""
        now = utc_now()
        rows = [_row(each, now) for each in batch]
        statement = insert(events).returning(events.c.seq, sort_by_parameter_order=True)
        with self._turn, self._writing() as connection:
            try:
                numbers = connection.execute(statement, rows).scalars().all()
            except IntegrityError:
                raise AlreadyAnsweredError("the question already has an answer; answers are never replaced") from None
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
        """Delete the answers and the identity of ``participant``, and append ``note``, which records this."""
        with self._turn, self._writing() as connection:
            connection.execute(update(events).where(events.c.participant == participant).values(payload=ERASED))
            if not keep_tokens:
                connection.execute(delete(tokens).where(tokens.c.participant == participant))
            connection.execute(delete(_snapshots))
            row = _row(note, utc_now())
            seq = connection.execute(insert(events).returning(events.c.seq), row).scalar_one()
        self._forget_old_pages()
        return Event(**{**row, "seq": seq})

    def remove(self, numbers: Collection[int], *, snapshots: bool) -> None:
        """Remove damaged events and all saved states, or only the saved states; used only by repairs."""
        with self._turn, self._writing() as connection:
            for number in numbers:
                connection.execute(delete(events).where(events.c.seq == number))
            if numbers or snapshots:
                connection.execute(delete(_snapshots))

    def copy_into(self, other: Repository) -> int:
        """Copy log, tokens and facts, as of one moment, into ``other``, which must be empty; returns the number of events."""
        with self._database.moment() as source, other._turn, other._writing() as target:
            if target.execute(select(events.c.seq).limit(1)).first() is not None:
                raise StateError("the database to copy into already has a log; name an empty one")
            target.execute(delete(meta))
            count = 0
            for table in (meta, tokens, events):
                for rows in source.execute(select(table)).mappings().partitions(_READ_CHUNK):
                    target.execute(insert(table), [dict(row) for row in rows])
                    count += len(rows) if table is events else 0
            target.execute(delete(meta).where(meta.c.key.in_((HOLDER, ADDRESS, LISTENS))))
            other._database.count_on(target)
        return count

    # Snapshots

    def snapshots(self) -> list[tuple[int, bytes]]:
        """All saved states, as (seq, data)."""
        with self._reading() as connection:
            rows = connection.execute(select(_snapshots.c.seq, _snapshots.c.data)).all()
        return [(int(row.seq), bytes(row.data)) for row in rows]

    def save_snapshot(self, seq: int, version: str, data: bytes) -> None:
        """Store ``data``, the state after event ``seq``, in place of older ones; the log records this."""
        note = _row(Event("snapshot", payload={"through": seq, "bytes": len(data), "version": version}), utc_now())
        with self._turn, self._writing() as connection:
            connection.execute(delete(_snapshots))
            connection.execute(insert(_snapshots), {"seq": seq, "version": version, "data": data})
            connection.execute(insert(events), note)

    def load_snapshot(self, version: str) -> tuple[int, bytes] | None:
        """The newest snapshot written under ``version``, as (seq, data)."""
        query = select(_snapshots.c.seq, _snapshots.c.data).where(_snapshots.c.version == version)
        with self._reading() as connection:
            row = connection.execute(query.order_by(_snapshots.c.seq.desc()).limit(1)).first()
        return None if row is None else (int(row.seq), bytes(row.data))

    # Tokens

    def add_token(self, token: TokenRow) -> None:
        """Store a new token."""
        values = {**token.__dict__, "created_utc": utc_now()}
        with self._turn, self._writing() as connection:
            connection.execute(insert(tokens), values)

    def tokens(self) -> list[TokenRow]:
        """All tokens, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(tokens).order_by(tokens.c.created_utc, tokens.c.id)).mappings()
            return [TokenRow(**row) for row in rows]

    def use_token(self, token_id: str) -> int | None:
        """Count one more person who uses a shared token; returns how many more may, or None if it was used up."""
        left = (tokens.c.id == token_id) & (tokens.c.uses_left > 0) & tokens.c.revoked_utc.is_(None)
        fewer = update(tokens).where(left).values(uses_left=tokens.c.uses_left - 1).returning(tokens.c.uses_left)
        with self._turn, self._writing() as connection:
            return connection.execute(fewer).scalar()

    def revoke(self, token_ids: Collection[str]) -> int:
        """Revoke tokens; returns how many were valid until now."""
        unrevoked = tokens.c.id.in_(token_ids) & tokens.c.revoked_utc.is_(None)
        with self._turn, self._writing() as connection:
            return int(connection.execute(update(tokens).where(unrevoked).values(revoked_utc=utc_now())).rowcount)

    def drop_tokens(self, token_ids: Collection[str]) -> None:
        """Delete tokens completely."""
        with self._turn, self._writing() as connection:
            connection.execute(delete(tokens).where(tokens.c.id.in_(token_ids)))

    # Connections

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._database.transaction(write=False)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction that is rolled back if another server has taken over. This is checked at the end, with locks held."""
        with self._database.transaction(write=True) as connection:
            yield connection
            self._check_holder(connection)

    def _forget_old_pages(self) -> None:
        """On SQLite, move the write-ahead log into the file, so that no erased text stays in it."""
        if self._database.path is not None:
            with self._reading() as connection:
                connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))


def _get(connection: Connection, key: str) -> str | None:
    return connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar()


def _put(connection: Connection, key: str, value: str) -> None:
    connection.execute(delete(meta).where(meta.c.key == key))
    connection.execute(insert(meta), {"key": key, "value": value})


def _row(each: Event, now: str) -> dict[str, Any]:
    row = {**vars(each), "t_utc": each.t_utc or now}
    del row["seq"]  # the database sets it
    return row
