"""Candidates of a large pool: however it is divided they are the same, and the search among them loses next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core import candidates as module
from tellmore.core.candidates import candidates, shortlist
from tellmore.core.coordinates import Coordinates, Moments, Rows
from tellmore.core.evidence import Behaviour
from tellmore.core.frame import frame_of
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import Look, Part, PoolScan, T
from tellmore.core.update import with_constant
from tellmore.kinds import named

BEHAVIOUR = Behaviour()


def scan_of_scores(n: int, seed: int) -> PoolScan:
    """A scan with any scores; rows contain only their own number."""
    rng = np.random.default_rng(seed)
    rows = Rows(np.arange(n, dtype=np.float32)[:, None], Coordinates.plain(1))
    return PoolScan(rows, rng.standard_normal(n), rng.gamma(2.0, size=n))


@dataclass(frozen=True)
class Divided:
    """A pool in several parts."""

    whole: PoolScan
    parts: int

    def __len__(self) -> int:
        return len(self.whole)

    def look(self, look: Look[T]) -> Sequence[T]:
        cuts = np.linspace(0, len(self), self.parts + 1).astype(int)
        scores = self.whole.mean, self.whole.variance
        return [
            look(Part(a, self.whole.rows.part(slice(a, b)), [(scores[0][a:b], scores[1][a:b])]))
            for a, b in pairwise(cuts)
        ]

    def take(self, rows: np.ndarray) -> PoolScan:
        return self.whole.take(rows)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(50, 20_000), count=st.integers(8, 300), seed=st.integers(0, 100), level=st.booleans())
def test_any_number_of_parts_gives_the_same_candidates(n: int, count: int, seed: int, level: bool) -> None:
    """Even if all items are the same, and only random numbers distinguish them."""
    scan = scan_of_scores(n, seed)
    if level:
        scan = PoolScan(scan.rows, np.zeros(n), np.ones(n))
    exclude = np.arange(0, n, 7)
    found = [
        shortlist(Divided(scan, parts), 4, BEHAVIOUR, seed=seed, exclude=exclude, count=count) for parts in (1, 2, 5)
    ]
    assert len(found[0]) <= count
    assert not np.isin(found[0], exclude).any()
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 5_000), count=st.integers(1, 300), seed=st.integers(0, 100))
def test_the_largest_are_those_of_a_full_sort(n: int, count: int, seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal(n)
    expected = np.sort(np.argsort(-values)[:count])
    np.testing.assert_array_equal(np.sort(module._largest(values, count)), expected)


def test_other_seeds_draw_others_and_keep_the_best() -> None:
    scan = scan_of_scores(20_000, 0)
    one, two = (shortlist(scan, 4, BEHAVIOUR, seed=seed, count=400) for seed in (1, 2))
    best = np.argmax(module._promise(scan.mean, scan.variance, 4 * np.log(2) / BEHAVIOUR.w**2))
    assert best in one
    assert best in two
    assert 80 < len(np.setdiff1d(one, two)) < 250


def test_exclusions_that_leave_too_few_are_dropped() -> None:
    scan = scan_of_scores(100, 0)
    assert len(shortlist(scan, 4, BEHAVIOUR, seed=0, exclude=np.arange(97), count=8)) > 3
    np.testing.assert_array_equal(
        shortlist(scan, 4, BEHAVIOUR, seed=0, exclude=np.arange(96), count=64), [96, 97, 98, 99]
    )


def pool(n: int, d: int, seed: int, *, alike: bool) -> np.ndarray:
    """Items whose spectrum decays; ``alike``: near-duplicates of 60 of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.arange(1, d + 1) ** -0.5
    if alike:
        X = X[rng.integers(60, size=n)] + 0.05 * rng.standard_normal((n, d))
    return X.astype(np.float32)


def beliefs(X: np.ndarray, answers: Sequence[int]) -> list[tuple[Behaviour, Gaussian, PoolScan]]:
    """Beliefs after some numbers of rankings of random items."""
    frame = frame_of(Moments.of(X), "pool")
    rows, belief, rng, found = Rows(X, frame.coordinates), frame.prior, np.random.default_rng(5), []
    direction = rng.standard_normal(X.shape[1])
    for told in range(max(answers) + 1):
        if told in answers:
            found.append((frame.behaviour.sharper(1.75), belief, PoolScan.of(rows, belief)))
        shown = rows[rng.choice(len(X), 4, replace=False)]
        order = np.argsort(-shown @ direction)
        outcome = tuple(order.tolist()), int((shown @ direction > 0).sum())
        belief, _ = named("rank").update(belief, shown, outcome, frame.behaviour)
    return found


def bits(belief: Gaussian, scan: PoolScan, kind: str, rows: np.ndarray, behaviour: Behaviour) -> float:
    mean, cov, _ = belief.project(with_constant(scan.rows[rows]))
    return named(kind).gain(mean, cov, behaviour, rng=np.random.default_rng(0), draws=2048).bits


def test_the_search_among_candidates_keeps_the_information(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the search of the whole pool, early and late, among unlike and nearly equal items."""
    monkeypatch.setattr(module, "SEARCHED_WHOLE", 1_024)
    monkeypatch.setattr(module, "CANDIDATES", 1_024)
    kept = []
    for alike in (False, True):
        X = pool(4_000, 24, 1, alike=alike)
        for behaviour, belief, scan in beliefs(X, (0, 10, 60)):
            for kind, size in (("label", 1), ("select_high", 4), ("rank", 4), ("tick", 12)):
                exclude = np.arange(0, 4_000, 50)
                whole = named(kind).search(scan, belief, size, behaviour, rng=np.random.default_rng(3), exclude=exclude)
                rng = np.random.default_rng(3)
                among = candidates(scan, size, behaviour, rng=rng, exclude=exclude, belief=belief)
                few = among.search(named(kind), belief, size, behaviour, rng=rng)
                assert len(among.rows) <= 1_024
                assert not np.isin(few.rows, exclude).any()
                shares = [bits(belief, scan, kind, found.rows, behaviour) for found in (few, whole)]
                kept.append(shares[0] / shares[1])
    assert np.mean(kept) >= 0.98
    assert min(kept) >= 0.95


def test_a_pool_that_is_not_large_is_searched_whole() -> None:
    behaviour, belief, scan = beliefs(pool(300, 5, 0, alike=False), (3,))[0]
    among = candidates(scan, 4, behaviour, rng=np.random.default_rng(0), exclude=[1, 2], belief=belief)
    found = among.search(named("rank"), belief, 4, behaviour, rng=np.random.default_rng(1))
    expected = named("rank").search(scan, belief, 4, behaviour, rng=np.random.default_rng(1), exclude=[1, 2])
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_array_equal(found.bits, expected.bits)


def test_a_search_among_items_drawn_at_random() -> None:
    """The best of the drawn items that are not excluded; other items with another seed, all of them if they are few."""
    behaviour, belief, scan = beliefs(pool(300, 5, 0, alike=False), (3,))[0]
    gains = [bits(belief, scan, "label", np.array([row]), behaviour) for row in range(300)]
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        among = candidates(scan, 1, behaviour, rng=rng, exclude=[1, 2], belief=belief, drawn=30)
        assert len(np.unique(among.rows)) == 30
        assert not np.isin(among.rows, [1, 2]).any()
        best = among.search(named("label"), belief, 1, behaviour, rng=rng).rows[0]
        assert gains[best] == pytest.approx(max(gains[row] for row in among.rows), rel=1e-3)
        found.append(best)
    assert len(set(found)) > 5
    whole = candidates(scan, 1, behaviour, rng=np.random.default_rng(0), exclude=[1, 2], belief=belief, drawn=298)
    assert len(whole.rows) == 300
