"""Candidates from an index of the user's: questions as good as from the whole pool, among what the index names alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from tellmore.errors import PoolError
from tellmore.kinds import named
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.types import Array

N, D = 20_000, 16


class Neighbours:
    """As in docs/scale.md; ``asked`` keeps the points."""

    def __init__(self, X: Array) -> None:
        self._tree = NearestNeighbors().fit(X)
        self.asked: list[Array] = []

    def near(self, points: Array, count: int) -> Any:
        self.asked.append(points)
        return self._tree.kneighbors(points, count // len(points), return_distance=False)


@pytest.fixture(scope="module")
def X() -> Array:
    rng = np.random.default_rng(0)
    return 5.0 + 2.0 * rng.standard_normal((N, D)) @ np.diag(np.linspace(1.0, 0.2, D))


@pytest.fixture(scope="module")
def index(X: Array) -> Neighbours:
    return Neighbours(X)


def taught(pool: Pool, answers: int) -> Learner:
    """A learner after some answers about the first coordinate."""
    learner = Learner(pool, question="rank", seed=3)
    for _ in range(answers):
        question = learner.ask()
        order = sorted(question.items, key=lambda item: -pool[item].vector[0])
        learner.tell(question, (order, sum(pool[item].vector[0] > 5 for item in order)))
    return learner


def bits(learner: Learner, items: Any, kind: str) -> float:
    mean, cov = learner.joint_scores(items)
    return named(kind).gain(mean, cov, learner.asking, rng=np.random.default_rng(0), draws=2048).bits


@pytest.mark.parametrize("answers", [0, 5, 30])
def test_questions_from_an_index_are_nearly_as_good_as_from_the_whole_pool(
    X: Array, index: Neighbours, answers: int
) -> None:
    plain = taught(Pool(X), answers)
    learner = Learner(Pool(X, index=index), question="rank", seed=3).at(plain.beliefs, plain.history)
    kept = []
    for kind, size in (("label", 1), ("select_high", 4), ("rank", 4), ("tick", 12)):
        index.asked.clear()
        found = bits(learner, learner.ask(kind=kind, size=size).items, kind)
        assert len(index.asked) == 1
        kept.append(found / bits(plain, plain.ask(kind=kind, size=size).items, kind))
    assert np.mean(kept) > 0.95
    assert min(kept) > 0.9


def test_the_points_are_near_the_boundary_and_in_the_space_of_the_items(X: Array, index: Neighbours) -> None:
    learner = taught(Pool(X, index=index), 30)
    index.asked.clear()
    learner.ask()
    (points,) = index.asked
    assert points.shape[1] == D
    undecided = np.abs(learner.decision_function(points)).mean()
    assert undecided < 0.5 * np.abs(learner.decision_function(X[:1000])).mean()


def test_items_to_avoid_are_left_out_and_a_lean_index_is_filled_up(X: Array) -> None:
    class Lean:
        def near(self, _points: Array, _count: int) -> list[int]:
            return [0, 1, 2]

    pool = Pool(X[:30], index=Lean())
    question = Learner(pool, question="rank", set_size=6).ask(avoid=[0, 1, 2, *range(10, 30)])
    assert set(question.items) <= set(range(3, 10))


def test_auto_searches_among_what_the_index_names(X: Array, index: Neighbours) -> None:
    learner = Learner(Pool(X, index=index), question="auto", kinds=("label", "rank"), sizes=(2, 4))
    index.asked.clear()
    assert learner.ask().items
    assert len(index.asked) >= 2  # to weigh the kinds, and to choose


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([0, N], f"row {N}, and the pool has rows 0 to {N - 1}"),
        ([-1, 3], "row -1"),
        ([0.5, 1.0], "row numbers, at least one, not 2 of type float64"),
        ([], "row numbers"),
        (["i1"], "row numbers"),
        ([[1, 2], [3]], "no array"),
        (None, "row numbers"),
    ],
)
def test_what_are_no_rows_of_the_pool_is_refused(X: Array, found: Any, told: str) -> None:
    class Odd:
        def near(self, _points: Array, _count: int) -> Any:
            return found

    with pytest.raises(PoolError, match=told):
        Learner(Pool(X, index=Odd())).ask()


def test_an_object_without_the_method_is_no_index() -> None:
    with pytest.raises(PoolError, match=r"near\(points, count\), and list has none"):
        Pool(np.eye(3), index=[1, 2])  # type: ignore[arg-type]
