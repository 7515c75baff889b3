"""The rarer side is looked for first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tellmore as tm
from tellmore.core.scan import PoolScan
from tellmore.policy.looking import labels_are_few, sought
from tellmore.policy.tally import Tally
from tests.oracles.plain import prior_of, scan_of


def scan_with(mean: list[float]) -> PoolScan:
    X = np.random.default_rng(0).normal(size=(len(mean), 3))
    return replace(scan_of(X, prior_of(X)), mean=np.array(mean))


@pytest.mark.parametrize(
    ("positive", "negative", "short"),
    [(0, 3, True), (4, 4, True), (5, 5, False), (5, 10, False), (5, 11, True), (40, 9, True)],
)
def test_when_labels_of_one_side_are_few(positive: int, negative: int, short: bool) -> None:
    assert labels_are_few(Tally(positive=positive, negative=negative)) is short


@pytest.mark.parametrize(
    ("positive", "negative", "turn", "rows"),
    [
        (0, 2, 0, []),  # information alone at first
        (0, 3, 0, [2]),  # no positive label yet: in turn the likeliest and a random one
        (3, 3, 0, []),  # every second question if neither side is rare
        (3, 3, 1, [2]),  # the likeliest to be positive
        (3, 2, 1, [0]),  # the likeliest to be negative
        (1, 9, 0, [3]),  # rare: the nearest to the boundary
        (1, 9, 1, [2]),
        (6, 60, 1, [3]),  # some were found, still rare
        (6, 12, 1, []),
    ],
)
def test_one_label_goes_to_the_side_that_has_few(positive: int, negative: int, turn: int, rows: list[int]) -> None:
    scan = scan_with([-3.0, 0.5, 2.0, -0.1, -1.0])
    tally = Tally(positive=positive, negative=negative)
    assert sought(scan, tally, 1, turn, rng=np.random.default_rng(0)).tolist() == rows


@pytest.mark.parametrize(("count", "turn", "random"), [(1, 1, 1), (1, 0, 0), (6, 0, 3), (6, 1, 3), (5, 1, 3)])
def test_until_both_sides_have_a_label_half_of_the_items_are_random(count: int, turn: int, random: int) -> None:
    scan, none = scan_with(np.linspace(-2, 2, 400).tolist()), Tally(positive=0, negative=7)
    draws = [sought(scan, none, count, turn, rng=np.random.default_rng(seed), exclude=[399]) for seed in range(40)]
    assert all(len(set(rows.tolist()) - {399}) == count for rows in draws)
    by_chance = np.concatenate([rows[:random] for rows in draws])
    assert len(np.unique(by_chance)) >= 0.8 * by_chance.size  # other items with every seed, from all of the pool
    assert not random or np.ptp(by_chance) > 300
    assert count == random or {rows[random] for rows in draws} <= {398, 397, 396, 395}  # the likeliest that are left


def test_many_labels_are_shared_out_and_known_items_left_out() -> None:
    scan = scan_with([-3.0, 0.5, 2.0, -0.1, -1.0])
    rare = Tally(positive=1, negative=9)
    rng = np.random.default_rng(0)
    assert sought(scan, rare, 4, 0, rng=rng).tolist() == [2, 1, 3, 4]
    assert sought(scan, rare, 2, 0, rng=rng, exclude=[2]).tolist() == [1, 3]


@pytest.mark.parametrize("kind", ["label", "tick"])
def test_rare_items_are_found(kind: str) -> None:
    """3 % of the items are positive, and lie together: chance alone would find one or two among 40 labels."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20))
    X[:18] += 1.2
    X[:18, 0] += 2.0
    pool = tm.Pool(X)
    learner = tm.Learner(pool, kind)
    while learner.tally.positive + learner.tally.negative < 48:
        question = learner.ask()
        rare = [item for item in question.items if int(item) < 18]
        answer = tm.LabelAnswer(bool(rare)) if kind == "label" else tm.TickAnswer(rare)
        learner.tell(question, answer)
    assert learner.tally.positive >= 5


def test_labels_avoid_the_oddest_item_of_a_large_pool() -> None:
    """The label of an outlier is the most informative of all, but only the best of 300 random items is asked for."""
    X = np.random.default_rng(0).normal(size=(3_000, 8))
    X[7] *= 12
    pool = tm.Pool(X)
    labels = [tm.Learner(pool, "label", seed=seed).ask().items for seed in range(10)]
    assert sum(7 in items for items in labels) <= 4
    assert len({items[0] for items in labels}) >= 6
    whole = [tm.Learner(pool, "rank", seed=seed).ask().items for seed in range(3)]
    assert all(7 in items for items in whole)
