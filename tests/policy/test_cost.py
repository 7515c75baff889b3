"""Seconds per question: the published numbers, sampling, speeds, and the order across kinds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tellmore.core.time_model import TimeModel
from tellmore.errors import InputError
from tellmore.policy.cost import PAPER_COST, READING_S, CostModel, family_of


@pytest.mark.parametrize(
    ("kind", "size", "seconds"),
    [("label", 1, 4.37), ("select_high", 3, 5.90), ("select_low", 10, 10.31), ("rank", 2, 8.50), ("rank", 10, 43.78)],
)
def test_paper_cost_is_the_papers(kind: str, size: int, seconds: float) -> None:
    assert PAPER_COST.seconds(kind, size) == pytest.approx(seconds, abs=1e-9)


def test_label_time_is_the_mean_of_both_fits_at_one_item() -> None:
    both = (PAPER_COST.model("select").seconds(1) + PAPER_COST.model("rank").seconds(1)) / 2
    assert PAPER_COST.seconds("label", 1) == pytest.approx(both, abs=0.01)


@pytest.mark.parametrize(("kind", "size", "mse"), [("select_high", 5, 11.22), ("rank", 2, 125.44), ("rank", 8, 125.44)])
def test_samples_are_positive_with_the_models_mean_and_spread(kind: str, size: int, mse: float) -> None:
    rng = np.random.default_rng(1)
    times = np.array([PAPER_COST.sample(kind, size, rng) for _ in range(40_000)])
    assert times.min() > 0
    assert times.mean() == pytest.approx(PAPER_COST.seconds(kind, size), rel=0.02)
    assert times.var() == pytest.approx(mse, rel=0.15)


def test_annotators_may_have_models_of_their_own() -> None:
    cost = CostModel(own={"slow": {"rank": PAPER_COST.model("rank").scaled(2.0)}})
    assert cost.of("slow").seconds("rank", 4) == pytest.approx(2 * PAPER_COST.seconds("rank", 4))
    assert cost.of("slow").seconds("label", 1) == PAPER_COST.seconds("label", 1)
    assert cost.of("stranger").seconds("rank", 4) == cost.seconds("rank", 4) == PAPER_COST.seconds("rank", 4)


def test_a_cost_model_survives_pickling() -> None:
    cost = CostModel(PAPER_COST.models, {"a": {"rank": TimeModel("constant", 9.0)}})
    assert pickle.loads(pickle.dumps(cost)) == cost


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: PAPER_COST.seconds("rank", 0), "at least 1 item"),
        (lambda: PAPER_COST.seconds("guess", 2), "the kinds are"),
        (
            lambda: CostModel({"sort": TimeModel("linear", 1.0)}),
            "'sort'; the families are label, select, rank",
        ),
    ],
)
def test_bad_models_are_refused(build: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        build()  # type: ignore[operator]


def test_a_family_without_a_model_of_its_own_has_the_published_one() -> None:
    cost = CostModel({"rank": TimeModel("constant", 20.0)})
    assert cost.seconds("rank", 4) == 20.0
    assert cost.seconds("select_low", 4) == PAPER_COST.seconds("select_low", 4)
    assert family_of("select") == family_of("select_high") == "select"


def test_ticks_cost_what_is_ticked_and_half_of_the_items_where_that_is_not_known() -> None:
    assert PAPER_COST.seconds("tick", 12, marks=3) == pytest.approx(4.01 + 0.63 * 12 + 3)
    assert PAPER_COST.seconds("tick", 12) == PAPER_COST.seconds("tick", 12, marks=6)


@pytest.mark.parametrize("kind", ["select_high", "rank", "tick", "most_sure"])
def test_several_items_never_take_less_than_one_and_their_reading(kind: str) -> None:
    """Whatever was fitted: nobody reads five items and answers faster than with one of them."""
    quick = {family_of(kind): TimeModel("constant", 0.6)}
    slow = {**quick, "label": PAPER_COST.model("label").scaled(3.0)}
    for cost in (CostModel(quick), CostModel(quick, {"slow": slow}).of("slow")):
        one = cost.seconds("label", 1)
        several = [cost.seconds(kind, size) for size in (2, 5, 10)]
        assert several == [pytest.approx(one + READING_S * (size - 1)) for size in (2, 5, 10)]
