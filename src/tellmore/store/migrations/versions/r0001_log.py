"""The log, access tokens, the project's identity."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_ANSWERED = sa.text("kind IN ('answer', 'skip')")


def upgrade() -> None:
    """Create events, tokens and meta."""
    op.create_table(
        "events",
        sa.Column("seq", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("t_utc", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("question_id", sa.String(64)),
        sa.Column("participant", sa.String(128)),
        sa.Column("payload", sa.JSON(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "one_answer_per_question",
        "events",
        ["question_id"],
        unique=True,
        sqlite_where=_ANSWERED,
        postgresql_where=_ANSWERED,
    )
    op.create_index("events_by_question", "events", ["question_id"])
    op.create_index("events_by_participant", "events", ["participant"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("participant", sa.String(128), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_utc", sa.String(32), nullable=False),
        sa.Column("revoked_utc", sa.String(32)),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )


def downgrade() -> None:
    """Drop everything."""
    for table in ("meta", "tokens", "events"):
        op.drop_table(table)
