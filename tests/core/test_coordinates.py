"""The learner's own coordinates: what they are, and that scores do not depend on them."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.coordinates import CHUNK_ROWS, MAX_ROWS, Coordinates, Moments, Rows, units_differ
from tellmore.core.frame import classic_frame, given_frame, isotropic_frame, paper_frame, pool_frame
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import PoolScan
from tellmore.errors import PoolError


def matrix(n: int = 200, d: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2.0).astype(np.float32)


def some_belief(d: int, seed: int = 3) -> Gaussian:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d + 1, d + 1))
    return Gaussian.from_moments(rng.normal(size=d + 1), A @ A.T + 0.1 * np.eye(d + 1))


def test_moments_are_numpys() -> None:
    X = matrix(5000)
    moments = Moments.of(X)
    np.testing.assert_allclose(moments.mean, X.astype(float).mean(axis=0))
    np.testing.assert_allclose(moments.cov, np.cov(X.T.astype(float), bias=True), rtol=1e-9)


def test_moments_of_many_rows_come_from_every_so_many() -> None:
    X = np.arange(2 * MAX_ROWS + 2, dtype=np.float32)[:, None] % 100
    assert Moments.of(X).mean == pytest.approx(X.mean(), rel=0.02)
    assert Moments.of(X).n == len(X)


def test_items_have_mean_zero_and_mean_square_length_one() -> None:
    X = matrix()
    Z = Coordinates.of(Moments.of(X)).into(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    assert np.mean((Z**2).sum(axis=1)) == pytest.approx(1)
    assert Z.std(axis=0).std() > 0.01  # one length for all columns: they keep their shape


def test_columns_in_other_units_are_recognised_and_principal_components_are_not() -> None:
    X = matrix(500, 8)
    assert not units_differ(Moments.of(X))
    units = X * np.array([1, 1, 1000, 1, 0.01, 1, 1, 5])
    assert units_differ(Moments.of(units))
    centred = X - X.mean(axis=0)
    scores = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    stretched = scores * np.geomspace(1, 0.001, 8)
    assert not units_differ(Moments.of(stretched))


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_a_few_independent_columns_in_other_units_are_recognised(d: int) -> None:
    rng = np.random.default_rng(d)
    units = np.where(np.arange(d) % 2, 1.0, 1000.0)
    found = [units_differ(Moments.of(rng.normal(size=(200, d)) * units)) for _ in range(100)]
    assert np.mean(found) >= 0.95
    centred = rng.normal(size=(200, d)) @ rng.normal(size=(d, d))
    centred -= centred.mean(axis=0)
    left, _, _ = np.linalg.svd(centred, full_matrices=False)
    for dtype in (np.float64, np.float32, np.float16):
        assert not units_differ(Moments.of((left * np.geomspace(100, 1, d)).astype(dtype)))


def test_one_column_has_no_other_units() -> None:
    assert not units_differ(Moments.of(matrix(50, 1)))


@pytest.mark.parametrize("change", ["units", "shift", "constant column"])
def test_standardised_columns_are_the_same_in_any_units(change: str) -> None:
    X = matrix(400, 6).astype(float) * np.array([1, 100, 1, 1, 1, 1])
    other = {
        "units": X * np.array([1, 1, 1e4, 1, 1, 0.3]),
        "shift": X + np.arange(6) * 1e3,
        "constant column": np.column_stack([X, np.full(400, 7.0)]),
    }[change]
    one, two = (Coordinates.of(Moments.of(each)) for each in (X, other))
    assert one.standardised
    assert two.standardised
    np.testing.assert_allclose(two.into(other)[:, :6], one.into(X), atol=1e-8)


@pytest.mark.parametrize("X", [matrix(), matrix() * np.array([1, 1, 900, 1, 1, 1], dtype=np.float32)])
def test_a_belief_in_either_coordinates_gives_the_same_scores(X: np.ndarray) -> None:
    coordinates = Coordinates.of(Moments.of(X))
    inner = some_belief(6)
    outer = coordinates.outward(inner)
    for one, two in zip(inner.scores(coordinates.into(X)), outer.scores(X), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)
    back = coordinates.inward(outer)
    np.testing.assert_allclose(back.mean, inner.mean, rtol=1e-8)
    np.testing.assert_allclose(back.cov, inner.cov, rtol=1e-6, atol=1e-9)
    assert outer.logdet == pytest.approx(np.linalg.slogdet(outer.cov)[1], abs=1e-6)


@pytest.mark.parametrize("shift", [0.0, 3.0, 1000.0, 1e5])
@pytest.mark.parametrize("stretch", [1.0, 500.0])
def test_scans_are_exact_wherever_the_pool_lies(shift: float, stretch: float) -> None:
    """In float32, the variances of scores of X + 1000 were 34 times too large when rows were not centred first."""
    X = (matrix(CHUNK_ROWS + 50) * np.array([1, 1, 1, stretch, 1, 1]) + shift).astype(np.float32)
    rows = Rows(X, Coordinates.of(Moments.of(X)))
    belief = some_belief(6)
    scan = PoolScan.of(rows, belief)
    mean, variance = belief.scores(rows.coordinates.into(X))
    np.testing.assert_allclose(scan.mean, mean, atol=2e-5)
    np.testing.assert_allclose(scan.variance, variance, rtol=2e-5)
    V = np.random.default_rng(1).normal(size=(7, 3))
    found = np.vstack([part for _, part in rows.times(V)])
    Z = np.column_stack([np.ones(len(X)), rows.coordinates.into(X)])
    np.testing.assert_allclose(found, Z @ V, atol=2e-5)
    chunks = np.vstack([part for _, part in rows.chunks()])
    np.testing.assert_allclose(chunks, Z[:, 1:], atol=2e-5)


def test_frames_expect_scores_of_size_one() -> None:
    X = matrix(300, 20)
    moments = Moments.of(X)
    for frame in (pool_frame(moments), isotropic_frame(moments)):
        _, variance = frame.prior.scores(frame.coordinates.into(X))
        assert np.mean(variance) == pytest.approx(1.09, abs=1e-6)
    assert paper_frame(20).coordinates.into(X) == pytest.approx(X)
    assert classic_frame(moments).behaviour.w == 9.0


def test_a_given_belief_keeps_its_scores_and_makes_sharpness_fit_them() -> None:
    X = matrix(300, 20)
    usual = pool_frame(Moments.of(X))
    outer = usual.coordinates.outward(usual.prior)
    tripled = Gaussian.from_moments(outer.mean, 9 * outer.cov)
    one, three = (given_frame(Moments.of(X), each) for each in (outer, tripled))
    assert one.behaviour.w == pytest.approx(3 * three.behaviour.w)
    assert one.behaviour.w == pytest.approx(usual.behaviour.w, rel=0.05)  # but for the bias
    np.testing.assert_allclose(one.prior.cov, usual.prior.cov, rtol=1e-5, atol=1e-9)


def test_items_that_are_all_alike_are_refused() -> None:
    with pytest.raises(PoolError, match="same embedding"):
        pool_frame(Moments.of(np.full((9, 3), 0.1, dtype=np.float32)))
