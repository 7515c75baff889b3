"""A small scored pool on disk, for trials that take milliseconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


def write_pool(path: Path, *, n: int = 60, d: int = 5, seed: int = 0, **changed: object) -> Path:
    """A pool whose scores are nearly linear in the embedding; ``changed`` replaces or (None) removes keys."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    mean = 3 * X @ np.linspace(1, -1, d) + 0.3 * rng.standard_normal(n)
    keys: dict[str, object] = {
        "ids": np.array([f"item{i}" for i in range(n)]),
        "X": X.astype(np.float32),
        "mean": mean,
        "sd": np.full(n, 0.5),
        "threshold": np.array(0.0),
    }
    keys |= changed
    np.savez(path, **{name: value for name, value in keys.items() if value is not None})
    return path


@pytest.fixture(scope="session")
def small_pool(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_pool(tmp_path_factory.mktemp("pools") / "small.npz"))
