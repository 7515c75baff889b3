"""Items far from all others: what counts as far, and what the moments of a pool make of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellmore as tm
from tellmore.core.coordinates import FAR, Coordinates, Moments, Rows
from tellmore.core.far import SAMPLED, far_rows, tails_of


def with_far(n: int = 400, d: int = 5, far: int = 8, seed: int = 0, times: float = 50.0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.arange(1, d + 1)
    X[:far] *= times
    return X


def plainly(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Mean and covariance with far items drawn in, and the far items in the coordinates that follow, written out."""
    mean, length = X.mean(axis=0), np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1))
    limit = max(2.5 * np.median(length), np.quantile(length, 0.8))
    Y = np.array([mean + (x - mean) * min(1.0, limit / max(each, 1e-300)) for x, each in zip(X, length, strict=True)])
    after = np.sqrt(((X - Y.mean(axis=0)) ** 2).sum(axis=1))
    beyond = max(2.5 * np.median(after), np.quantile(after, 0.8))
    return Y.mean(axis=0), np.cov(Y.T, bias=True), [row for row in range(len(X)) if after[row] > beyond]


@pytest.mark.parametrize("seed", range(3))
def test_moments_and_far_rows_are_as_written_out(seed: int) -> None:
    X = with_far(seed=seed)
    mean, cov, far = plainly(X)
    moments = Moments.typical(X)
    np.testing.assert_allclose(moments.mean, mean, atol=1e-12)
    np.testing.assert_allclose(moments.cov, cov, rtol=1e-10)
    assert far_rows(Rows(X, Coordinates.of(moments))).tolist() == far
    assert set(range(8)) <= set(far)


@given(seed=st.integers(0, 50), scale=st.sampled_from([1e-3, 1.0, 7.0, 1e4]), shift=st.floats(-100, 100))
def test_scale_and_origin_do_not_matter(seed: int, scale: float, shift: float) -> None:
    X = with_far(seed=seed)
    one, other = (tm.Pool(each.astype(np.float64)) for each in (X, scale * X + shift))
    moved = scale * X + shift
    np.testing.assert_allclose(one.coordinates.into(X), other.coordinates.into(moved), rtol=1e-4, atol=1e-4)
    assert far_rows(Rows(X, one.coordinates)).tolist() == far_rows(Rows(moved, other.coordinates)).tolist()


def test_units_of_columns_do_not_matter_where_they_are_recognised() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6)) * [1, 1, 1, 1, 100, 1]
    X[:5] *= 40
    units = X * [1, 10, 0.1, 1, 1000, 5]
    one, other = (Coordinates.of(Moments.typical(each)) for each in (X, units))
    assert one.standardised
    assert other.standardised
    assert far_rows(Rows(X, one)).tolist() == far_rows(Rows(units, other)).tolist()
    np.testing.assert_allclose(one.into(X), other.into(units), atol=1e-9)


def test_pools_without_far_items_are_as_before() -> None:
    X = np.random.default_rng(0).normal(size=(300, 20))
    plain, typical = Moments.of(X), Moments.typical(X)
    assert np.array_equal(plain.mean, typical.mean)
    assert np.array_equal(plain.cov, typical.cov)
    assert far_rows(Rows(X, Coordinates.of(plain))).size == 0


@pytest.mark.parametrize(("n", "d"), [(12, 3), (100, 1), (1000, 1), (1000, 2), (500, 20)])
def test_normal_columns_have_no_long_tails(n: int, d: int) -> None:
    """Though 9 % of the items in one column, and some of a dozen items, are far from the others."""
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(n, d))
        assert tails_of(X) == 0
        assert 0.05 < tails_of(np.exp(1.2 * X)) < 0.21 or n < 1000
    assert tails_of(np.ones((20, 3))) == 0


def test_long_tails_do_not_depend_on_scale_and_origin() -> None:
    X = np.exp(np.random.default_rng(0).normal(size=(500, 6)) * np.linspace(0.3, 1.6, 6))
    assert tails_of(X) == tails_of(3 * X + 100) > 0.05


def test_at_most_a_fifth_is_far_even_if_most_items_are_equal() -> None:
    X = np.zeros((1000, 3))
    X[700:] = np.random.default_rng(0).normal(size=(300, 3))
    moments = Moments.typical(X)
    assert moments.sd.min() > 0.3
    assert far_rows(Rows(X, Coordinates.of(moments))).size <= 200


def test_many_rows_are_looked_at_part_by_part() -> None:
    X = np.random.default_rng(0).normal(size=(150_000, 4)).astype(np.float32)
    X[::5000] *= 100
    pool = tm.Pool(X)
    Z = pool.coordinates.into(X)
    length = np.linalg.norm(Z, axis=1)
    found = far_rows(pool.placed(pool.coordinates))
    assert found.tolist() == np.flatnonzero(length > FAR * np.median(length[:: -(-len(Z) // SAMPLED)])).tolist()
    assert set(range(0, 150_000, 5000)) <= set(found.tolist())


def test_a_few_far_items_cost_little_accuracy() -> None:
    """The same table with and without items far away in a direction that has nothing to do with the attribute: 88 instead of
    92 %, and 60 % as long as far items were treated like others."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 20))
    score = X[:, :10] @ rng.normal(size=10)
    with_some = X.copy()
    with_some[:24, 15:] *= 25
    plain, some = (
        [right_after(each, score > 0, kind, seed) for kind in ("label", "tick") for seed in range(3)]
        for each in (X, with_some)
    )
    assert np.mean(some) > np.mean(plain) - 0.06, (some, plain)


def right_after(X: np.ndarray, positive: np.ndarray, kind: str, seed: int) -> float:
    """The share of items predicted rightly after 60 labels."""
    learner = tm.Learner(tm.Pool(X), kind, seed=seed)
    for _ in range(60 if kind == "label" else 5):
        question = learner.ask()
        ticked = [item for item in question.items if positive[int(item)]]
        learner.tell(question, tm.TickAnswer(ticked) if kind == "tick" else bool(ticked))
    return learner.score(None, positive)
