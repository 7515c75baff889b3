"""Upgrades a database to this release's schema at the start, and refuses one written by a newer release."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text

from tellmore.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
_UPGRADE_LOCK = 7_300_701  # any number, the same in every server of this project


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def current_revision(connection: Connection) -> str | None:
    """The revision a database is at; None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Run the migrations that ``engine``'s database lacks, in one transaction."""
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_UPGRADE_LOCK})"))
        _refuse_foreign(connection)
        config = _config()
        config.attributes["connection"] = connection
        if current_revision(connection) != _head(revision):
            command.upgrade(config, revision)


def _head(revision: str) -> str | None:
    return ScriptDirectory.from_config(_config()).get_current_head() if revision == "head" else revision


def _refuse_foreign(connection: Connection) -> None:
    """Raise StoreError for a database of a newer release, or one that is not tellmore's."""
    found = current_revision(connection)
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found is not None and found not in known:
        raise StoreError(
            f"the database is at schema {found}, written by a newer tellmore; this one supports up to {max(known)}: "
            "upgrade with pip install --upgrade tellmore"
        )
    if found is None and inspect(connection).has_table("events"):
        raise StoreError("the database has a table 'events' that is not tellmore's; give the project its own database")
