"""The toy kind is registered while a test runs, and removed after it."""

from __future__ import annotations

import pytest

from tellmore import kinds
from tests.toy.best_worst import BEST_WORST


@pytest.fixture(autouse=True)
def best_worst(monkeypatch: pytest.MonkeyPatch) -> kinds.Kind:
    monkeypatch.setattr(kinds.REGISTRY, "_kinds", dict(kinds.REGISTRY._kinds))
    return kinds.register(BEST_WORST)
