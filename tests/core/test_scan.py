"""The pool's scores, refreshed incrementally, equal what a full pass would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core import coordinates
from tellmore.core import scan as scan_module
from tellmore.core.evidence import Behaviour
from tellmore.kinds import named
from tests.oracles import cases
from tests.oracles.plain import prior_of, scan_of


def pool(n: int, d: int, seed: int, dtype: type = np.float64) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    answers=st.integers(1, 8),
    joint=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_incremental_equals_recomputed(seed: int, answers: int, joint: bool, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    X = pool(40, 6, seed, dtype)
    belief = prior_of(X)
    scan = scan_of(X, belief)
    for _ in range(answers):
        kind = str(rng.choice(cases.KINDS))
        k = 1 if kind == "label" else 3
        rows = rng.choice(40, size=k, replace=False)
        belief, info = named(kind).update(belief, X[rows], cases.random_outcome(kind, k, rng), Behaviour(), joint=joint)
        scan = scan.refreshed(info.steps, belief)
    items = np.column_stack([np.ones(40), X.astype(float)])
    tolerance = 1e-10 if dtype is np.float64 else 2e-6
    np.testing.assert_allclose(scan.mean, items @ belief.mean, atol=tolerance)
    np.testing.assert_allclose(scan.variance, np.diag(items @ belief.cov @ items.T), atol=tolerance)


def test_an_exact_rescan_comes_on_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "RESCAN_EVERY", 3)
    X = pool(10, 3, 0)
    belief = prior_of(X)
    scan = scan_of(X, belief)
    counts = []
    for _ in range(4):
        belief, info = named("label").update(belief, X[:1], 1, Behaviour())
        scan = scan.refreshed(info.steps, belief)
        counts.append(scan.refreshes)
    assert counts == [1, 2, 0, 1]


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X = pool(50, 4, 1)
    belief = prior_of(X)
    whole = scan_of(X, belief)
    monkeypatch.setattr(coordinates, "CHUNK_ROWS", 7)
    parts = scan_of(X, belief)
    np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-14)
    np.testing.assert_allclose(parts.variance, whole.variance, atol=1e-14)


def test_covariance_with_an_item() -> None:
    X = pool(20, 4, 2)
    belief = prior_of(X)
    items = np.column_stack([np.ones(20), X])
    expected = items @ belief.cov @ items[5]
    np.testing.assert_allclose(scan_of(X, belief).covariance_with(belief, X[5]), expected, atol=1e-12)


def test_a_scan_is_not_changed_by_refreshing_it() -> None:
    X = pool(10, 3, 3)
    belief = prior_of(X)
    before = scan_of(X, belief)
    kept = before.mean.copy(), before.variance.copy()
    after, info = named("select_high").update(belief, X[:2], (0, 1), Behaviour())
    before.refreshed(info.steps, after)
    np.testing.assert_array_equal(before.mean, kept[0])
    np.testing.assert_array_equal(before.variance, kept[1])
