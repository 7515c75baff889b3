"""A log on each database, and a small pool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tellmore.pool import Pool
from tellmore.store.repository import Repository
from tests.store.databases import BOTH, fresh_url


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, once for each kind."""
    yield from fresh_url(request.param, tmp_path)


@pytest.fixture
def store(url: str) -> Iterator[Repository]:
    """An opened log."""
    repository = Repository(url)
    yield repository
    repository.close()


@pytest.fixture
def pool() -> Pool:
    """40 items in 5 dimensions."""
    X = np.random.default_rng(3).standard_normal((40, 5))
    return Pool(X / np.linalg.norm(X, axis=1, keepdims=True), ids=[f"i{row}" for row in range(40)])
