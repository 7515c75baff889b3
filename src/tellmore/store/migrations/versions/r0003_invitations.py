"""Tokens that expire, and invitations for several people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns that limit a token."""
    op.add_column("tokens", sa.Column("expires_utc", sa.String(32)))
    op.add_column("tokens", sa.Column("uses_left", sa.Integer()))
    op.add_column("tokens", sa.Column("invited_by", sa.String(32)))


def downgrade() -> None:
    """Drop it."""
    for name in ("invited_by", "uses_left", "expires_utc"):
        op.drop_column("tokens", name)
