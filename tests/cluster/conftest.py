"""Tests that open a pool on Dask need not close it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tellmore.cluster.pool import DaskPool


@pytest.fixture(autouse=True)
def opened_pools(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[DaskPool]]:
    """Clients that are left open look for their scheduler long after it is gone."""
    opened: list[DaskPool] = []
    begin = DaskPool.__init__

    def beginning(pool: DaskPool, *given: Any, **options: Any) -> None:
        begin(pool, *given, **options)
        opened.append(pool)

    monkeypatch.setattr(DaskPool, "__init__", beginning)
    yield opened
    for pool in opened:
        pool.close()
