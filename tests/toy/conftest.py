"""The toy kind is known while a test runs, and forgotten after it."""

from __future__ import annotations

import pytest

from tellmore import kinds
from tests.toy.best_worst import BEST_WORST


@pytest.fixture(autouse=True)
def best_worst(monkeypatch: pytest.MonkeyPatch) -> kinds.Kind:
    monkeypatch.setattr(kinds.REGISTRY, "_kinds", dict(kinds.REGISTRY._kinds))
    return kinds.register(BEST_WORST)
