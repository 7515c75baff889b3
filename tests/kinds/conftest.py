"""Kinds that a test registers are gone after it."""

from __future__ import annotations

import pytest

from tellmore.kinds import REGISTRY, Registry


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The registry that everybody uses, put back as it was."""
    monkeypatch.setattr(REGISTRY, "_kinds", {kind.name: kind for kind in REGISTRY.all()})
    return REGISTRY
