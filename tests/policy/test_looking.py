"""The rarer side is looked for first."""

from __future__ import annotations

import numpy as np
import pytest

import tellmore as tm
from tellmore.policy.looking import one_side_is_short, sought
from tellmore.policy.tally import Tally
from tests.oracles.plain import prior_of, scan_of


def scan_with(mean: list[float]) -> object:
    from dataclasses import replace

    X = np.random.default_rng(0).normal(size=(len(mean), 3))
    return replace(scan_of(X, prior_of(X)), mean=np.array(mean))


@pytest.mark.parametrize(
    ("positive", "negative", "short"),
    [(0, 2, False), (0, 3, True), (4, 4, True), (5, 5, False), (5, 20, False), (5, 26, True), (40, 9, True)],
)
def test_when_one_side_is_short(positive: int, negative: int, short: bool) -> None:
    assert one_side_is_short(Tally(positive=positive, negative=negative)) is short


def test_first_the_likeliest_of_the_side_then_the_nearest_to_the_boundary() -> None:
    scan = scan_with([-3.0, 0.5, 2.0, -0.1, -1.0])
    assert sought(scan, Tally(positive=1, negative=9), 2).tolist() == [2, 1]  # type: ignore[arg-type]
    assert sought(scan, Tally(positive=9, negative=1), 2).tolist() == [0, 4]  # type: ignore[arg-type]
    assert sought(scan, Tally(positive=6, negative=60), 2).tolist() == [3, 1]  # type: ignore[arg-type]
    assert sought(scan, Tally(positive=1, negative=9), 2, exclude=[2]).tolist() == [1, 3]  # type: ignore[arg-type]


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
    assert learner.tally.positive >= 8
