"""Run by Alembic; ``tellmore.store.upgrade`` passes the connection."""

from __future__ import annotations

from alembic import context

from tellmore.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
