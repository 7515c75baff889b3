"""Greedy sets against a brute-force search, the baselines, and the promises on ties, repeats and exclusions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tellmore.core.acquire import Effort, greedy_set, particles_set, random_set
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import PoolScan
from tellmore.errors import SettingError
from tellmore.kinds import named
from tests.oracles import information
from tests.oracles.plain import prior_of, scan_of

BEHAVIOUR = Behaviour(12.0, 9.0)


def precise(_size: int) -> Effort:
    """Every item of a small pool from many draws."""
    return Effort(50, 4096)


def pool(n: int = 120, d: int = 8, seed: int = 0) -> tuple[np.ndarray, Gaussian, PoolScan]:
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(2, 0.3, d)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    belief = prior_of(X)
    return X, belief, scan_of(X, belief)


@pytest.mark.parametrize(("kind", "size"), [("label", 1), ("select_high", 4), ("select_low", 3), ("rank", 3)])
@pytest.mark.parametrize(("effort", "each", "on_average"), [(precise, 0.997, 0.9995), (None, 0.98, 0.995)])
def test_every_step_adds_what_a_brute_force_search_would(
    kind: str, size: int, effort: Callable[[int], Effort] | None, each: float, on_average: float
) -> None:
    """The set after each step has the gain of the best of all items in its place, tried one by one.

    Step by step, because two greedy searches that part at a near tie end with sets that differ by up to 3 % in either
    direction. With many draws the search takes the best item, within the 0.3 % that the brute force is good for; with the
    draws that a question gets, the best of near ties is taken for another one now and then, never one 2 % worse.
    """
    ratios = []
    for seed in range(6):
        X, belief, scan = pool(n=20, seed=seed)
        items = np.column_stack([np.ones(len(X)), X])
        rows = greedy_set(
            scan, belief, named(kind), size, BEHAVIOUR, rng=np.random.default_rng(seed), effort=effort
        ).rows.tolist()
        thetas = information.sobol_thetas(belief.mean, belief.cov, 8192)
        ratios.append(information.step_ratios(items, thetas, kind, rows, BEHAVIOUR.w, BEHAVIOUR.K))
    assert np.min(ratios) >= each
    assert np.mean(ratios) >= on_average


def test_greedy_is_near_the_best_of_all_sets() -> None:
    """Greedy sets are not the best: the gain is not submodular. Ours are as good as those of a brute-force greedy search.

    Over 200 such pools the brute-force greedy search reached 0.987 of the best on average, 0.946 in the worst twentieth and
    0.894 at worst (the first of these eight is one of the worst); ours 0.986, 0.945 and 0.894.
    """
    greedy, brute = [], []
    for seed in range(8):
        X, belief, scan = pool(n=10, d=3, seed=seed)
        items = np.column_stack([np.ones(len(X)), X])
        thetas = information.sobol_thetas(belief.mean, belief.cov, 1024)

        def value(rows: Sequence[int] | np.ndarray, thetas: np.ndarray = thetas, items: np.ndarray = items) -> float:
            scores = thetas @ items[list(rows)].T
            return information.gain_of_scores("select_high", scores, BEHAVIOUR.w, BEHAVIOUR.K)

        _, best = information.best_set(items, thetas, "select_high", 3, BEHAVIOUR.w, BEHAVIOUR.K)
        ours = greedy_set(scan, belief, named("select_high"), 3, BEHAVIOUR, rng=np.random.default_rng(0)).rows
        theirs, _ = information.greedy_set(items, thetas, "select_high", 3, BEHAVIOUR.w, BEHAVIOUR.K)
        greedy.append(value(ours) / best)
        brute.append(value(theirs) / best)
    assert np.mean(greedy) >= np.mean(brute) - 0.005
    assert np.mean(greedy) >= 0.95


@pytest.mark.parametrize(("kind", "size"), [("select_high", 5), ("rank", 4), ("rank", 7)])
def test_bits_are_those_of_the_nested_sets(kind: str, size: int) -> None:
    X, belief, scan = pool(seed=3)
    acquired = greedy_set(scan, belief, named(kind), size, BEHAVIOUR, rng=np.random.default_rng(0))
    assert len(acquired.rows) == len(acquired.bits) == size
    assert len(set(acquired.rows.tolist())) == size
    items = np.column_stack([np.ones(len(X)), X])
    thetas = belief.sample(8_000, np.random.default_rng(1))
    for k in range(1, min(size, 4) + 1):
        name = "label" if k == 1 else kind
        value = information.gain_of_scores(name, thetas @ items[acquired.rows[:k]].T, BEHAVIOUR.w, BEHAVIOUR.K)
        assert acquired.bits[k - 1] == pytest.approx(value, rel=0.15)


def test_active_sets_beat_random_ones() -> None:
    X, belief, scan = pool(seed=4)
    items = np.column_stack([np.ones(len(X)), X])
    thetas = belief.sample(4000, np.random.default_rng(1))
    rng = np.random.default_rng(2)

    def value(rows: np.ndarray) -> float:
        return information.gain_of_scores("select_high", thetas @ items[rows].T, BEHAVIOUR.w, BEHAVIOUR.K)

    greedy = value(greedy_set(scan, belief, named("select_high"), 4, BEHAVIOUR, rng=rng).rows)
    particles = value(particles_set(scan, belief, named("select_high"), 4, BEHAVIOUR, rng=rng, particles=300).rows)
    others = [value(random_set(len(X), 4, rng=rng)) for _ in range(20)]
    assert greedy > max(others)
    assert particles > np.mean(others)


def test_particles_are_drawn_from_the_belief_and_scaled_only_on_request() -> None:
    """Under a belief close to 0 every answer is a coin toss, unless its classifiers are scaled to length 1."""
    X, _, scan = pool(seed=5)
    short = Gaussian.from_moments(np.zeros(X.shape[1] + 1), 1e-8 * np.eye(X.shape[1] + 1))
    bits = {
        unit: particles_set(scan, short, named("label"), 1, BEHAVIOUR, rng=np.random.default_rng(0), unit=unit).bits[0]
        for unit in (False, True)
    }
    assert bits[False] < 1e-5
    assert bits[True] > 0.1


def test_excluded_items_stay_out_while_enough_remain() -> None:
    _, belief, scan = pool(n=12)
    rng = np.random.default_rng(0)
    allowed = {0, 3, 5, 7}
    exclude = [row for row in range(12) if row not in allowed]
    for rows in (
        greedy_set(scan, belief, named("select_high"), 3, BEHAVIOUR, rng=rng, exclude=exclude).rows,
        particles_set(scan, belief, named("rank"), 3, BEHAVIOUR, rng=rng, exclude=exclude, particles=50).rows,
        random_set(12, 4, rng=rng, exclude=exclude),
    ):
        assert set(rows.tolist()) <= allowed
    too_few = greedy_set(scan, belief, named("select_high"), 5, BEHAVIOUR, rng=rng, exclude=exclude).rows
    assert len(set(too_few.tolist())) == 5


def test_ties_are_broken_at_random() -> None:
    """A pool of copies: every item is as good as any other, so all of them come up."""
    X = np.repeat(np.array([[1.0, 0.0], [0.0, 1.0]]), 8, axis=0)
    belief = prior_of(X)
    scan = scan_of(X, belief)
    firsts = {
        int(greedy_set(scan, belief, named("label"), 1, BEHAVIOUR, rng=np.random.default_rng(s)).rows[0])
        for s in range(80)
    }
    assert len(firsts) > 10


def test_the_same_rng_gives_the_same_set() -> None:
    _, belief, scan = pool()
    one, two = (
        greedy_set(scan, belief, named("rank"), 4, BEHAVIOUR, rng=np.random.default_rng(7)).rows for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", ["select_high", "rank"])
def test_duplicate_items_do_no_harm(kind: str) -> None:
    X, _, _ = pool(n=20)
    X[1:10] = X[0]
    belief = prior_of(X)
    rows = greedy_set(scan_of(X, belief), belief, named(kind), 5, BEHAVIOUR, rng=np.random.default_rng(0)).rows
    assert len(set(rows.tolist())) == 5


def test_a_set_larger_than_the_pool_is_refused() -> None:
    _, belief, scan = pool(n=3)
    for search in (greedy_set, particles_set):
        with pytest.raises(SettingError, match="at least 4"):
            search(scan, belief, named("rank"), 4, BEHAVIOUR, rng=np.random.default_rng(0))
    with pytest.raises(SettingError, match="at least 4"):
        random_set(3, 4, rng=np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["select_high", "select_low", "rank"])
def test_no_item_is_shown_twice_even_where_all_are_alike(kind: str) -> None:
    X = np.repeat(np.array([[1.0, 0.0], [0.0, 1.0]]), 3, axis=0)
    belief = prior_of(X)
    scan = scan_of(X, belief)
    for seed in range(10):
        rows = greedy_set(scan, belief, named(kind), 5, BEHAVIOUR, rng=np.random.default_rng(seed)).rows
        assert len(set(rows.tolist())) == 5


@pytest.mark.parametrize(("kind", "size"), [("select_high", 4), ("rank", 3)])
def test_the_shortlist_keeps_99_per_cent_of_the_gain(kind: str, size: int) -> None:
    """Pools several times larger than the shortlist, so that what it leaves out counts. Mean of 3 pools."""
    ratios = []
    for seed in range(3):
        X, belief, scan = pool(n=300, seed=seed)
        items = np.column_stack([np.ones(len(X)), X])
        thetas = belief.sample(15_000, np.random.default_rng(99))
        short, whole = (
            greedy_set(scan, belief, named(kind), size, BEHAVIOUR, rng=np.random.default_rng(seed), effort=effort).rows
            for effort in (None, lambda _size: Effort(300, 256))
        )
        ours, theirs = (
            information.gain_of_scores(kind, thetas @ items[rows].T, BEHAVIOUR.w, BEHAVIOUR.K)
            for rows in (short, whole)
        )
        ratios.append(ours / theirs)
    assert np.mean(ratios) >= 0.99
