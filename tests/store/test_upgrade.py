"""Migrations: an empty and an old database become current, a newer or foreign one is refused untouched."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from tellmore.errors import StoreError
from tellmore.store.repository import Repository
from tellmore.store.schema import metadata
from tellmore.store.upgrade import current_revision, upgrade


def test_the_migrations_lead_to_the_schema_of_this_release(url: str) -> None:
    Repository(url).close()
    engine = create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_a_database_of_the_first_schema_is_upgraded_and_keeps_its_rows(url: str) -> None:
    engine = create_engine(url)
    upgrade(engine, "0001")
    with engine.begin() as connection:
        assert not inspect(connection).has_table("snapshots")
        connection.execute(
            text("INSERT INTO events (t_utc, kind, payload) VALUES ('2020-01-01T00:00:00.000Z', 'reset', '{\"a\": 1}')")
        )
    store = Repository(url)
    assert [(event.kind, event.payload) for event in store.since()] == [("reset", {"a": 1})]
    store.save_snapshot(1, "v", b"x")
    store.close()
    with engine.connect() as connection:
        assert current_revision(connection) == "0003"
    engine.dispose()


def test_opening_twice_changes_nothing(url: str) -> None:
    first = Repository(url)
    identity = first.project_id
    first.close()
    second = Repository(url)
    assert second.project_id == identity
    second.close()


def test_a_newer_database_is_refused_with_the_way_out(url: str) -> None:
    Repository(url).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9001'"))
    with pytest.raises(StoreError, match=r"schema 9001, written by a newer tellmore.*pip install --upgrade"):
        Repository(url)
    with engine.connect() as connection:
        assert current_revision(connection) == "9001"
    engine.dispose()


def test_somebody_elses_events_table_is_left_alone(tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE events (what TEXT)"))
    with pytest.raises(StoreError, match="not tellmore's"):
        Repository(url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["events"]
    engine.dispose()
