"""Kinds that a test registers are removed after it."""

from __future__ import annotations

import pytest

from tellmore.kinds import REGISTRY, Registry


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The shared registry, restored after the test."""
    monkeypatch.setattr(REGISTRY, "_kinds", {kind.name: kind for kind in REGISTRY.all()})
    return REGISTRY
