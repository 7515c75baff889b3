"""The tables of a project's log, the same on SQLite and PostgreSQL.

- events: the append-only log; the learner's state is rebuilt by replaying it
- tokens: hashed access tokens, which can be revoked; ``uses_left`` more people may use a shared one
- snapshots: saved learner states; they only save time and may be deleted at any time
- meta: facts about the project: its identity, which server has it
"""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Index, Integer, LargeBinary, MetaData, String, Table, Text, text

metadata = MetaData()

# SQLite numbers rows automatically only for the exact type INTEGER.
_sequence_number = BigInteger().with_variant(Integer(), "sqlite")

events = Table(
    "events",
    metadata,
    Column("seq", _sequence_number, primary_key=True, autoincrement=True),
    Column("t_utc", String(32), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("question_id", String(64)),
    Column("participant", String(128)),
    Column("payload", JSON, nullable=False),
    sqlite_autoincrement=True,
)

ANSWERED = "kind IN ('answer', 'skip')"

# At most one answer per question, however many requests, threads or servers there are.
one_answer = Index(
    "one_answer_per_question",
    events.c.question_id,
    unique=True,
    sqlite_where=text(ANSWERED),
    postgresql_where=text(ANSWERED),
)
by_question = Index("events_by_question", events.c.question_id)
by_participant = Index("events_by_participant", events.c.participant)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("participant", String(128), nullable=False),
    Column("name", String(200), nullable=False),
    Column("created_utc", String(32), nullable=False),
    Column("revoked_utc", String(32)),
    Column("expires_utc", String(32)),
    Column("uses_left", Integer),
    Column("invited_by", String(32)),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("seq", _sequence_number, primary_key=True, autoincrement=False),
    Column("version", String(32), nullable=False),
    Column("data", LargeBinary, nullable=False),
)

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
