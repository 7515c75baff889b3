"""Fresh databases for tests: a file, or a separate schema in the PostgreSQL server that TELLMORE_TEST_POSTGRES names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


def fresh_url(kind: str, folder: Path) -> Iterator[str]:
    """The address of an empty database, gone afterwards."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'log.sqlite'}"
        return
    server = os.environ.get("TELLMORE_TEST_POSTGRES")
    if not server:
        pytest.skip("TELLMORE_TEST_POSTGRES is not set: no PostgreSQL server to test with")
    schema = f"t_{uuid4().hex[:12]}"
    address = make_url(server).set(drivername="postgresql+psycopg")
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield address.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()
