"""Time models from logged answers, of everybody and of each person."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core.time_model import TimeModel
from tellmore.errors import InputError
from tellmore.kinds import all_kinds, named
from tellmore.policy.cost import PAPER_COST
from tellmore.policy.cost_fit import OnlineCost, Timed


def times_of(
    model: TimeModel, n: int, rng: np.random.Generator, kind: str = "rank", annotator: str | None = None
) -> list[Timed]:
    sizes = rng.integers(2, 9, n)
    return [Timed(kind, int(k), model.sample(int(k), rng), annotator) for k in sizes]


@pytest.mark.parametrize(
    ("seconds", "size", "says"),
    [
        (None, 4, "missing"),
        (math.nan, 4, "missing"),
        (-1.0, 4, "-1 s is not positive"),
        (0.0, 4, "not positive"),
        (1e6, 4, "milliseconds"),
        (3.0, 0, "at least 1 item"),
    ],
)
def test_unusable_times_are_named(seconds: float | None, size: int, says: str) -> None:
    with pytest.raises(InputError, match=says):
        OnlineCost().observe(Timed("rank", size, seconds))


def test_online_starts_at_the_base_and_ends_at_the_data() -> None:
    truth = TimeModel("linear", 2.0, 1.5, spread_s=1.0)
    state = OnlineCost()
    assert state.cost.seconds("select_high", 4) == PAPER_COST.seconds("select_high", 4)
    for timed in times_of(truth, 1000, np.random.default_rng(8), "select_high", "a"):
        state = state.observe(timed)
    learnt = state.cost.model("select_high")
    assert (learnt.intercept, learnt.slope) == pytest.approx((2.0, 1.5), abs=0.2)
    assert state.cost.seconds("rank", 4) == PAPER_COST.seconds("rank", 4)
    assert state.cost.of("a").seconds("select_high", 4) == pytest.approx(state.cost.seconds("select_high", 4), rel=0.02)


def test_online_hardly_moves_on_one_answer_or_one_interruption() -> None:
    for seconds in (6.0, 3600.0):
        moved = OnlineCost().observe(Timed("select_high", 4, seconds)).cost.seconds("select_high", 4)
        assert moved == pytest.approx(PAPER_COST.seconds("select_high", 4), rel=0.4)


def test_online_works_where_only_one_size_is_asked() -> None:
    state = OnlineCost()
    for _ in range(200):
        state = state.observe(Timed("rank", 4, 30.0))
    assert state.cost.seconds("rank", 4) == pytest.approx(30.0, rel=0.05)
    assert state.cost.seconds("rank", 8) > state.cost.seconds("rank", 4)


def test_online_tells_annotators_apart_and_learns_labels() -> None:
    state = OnlineCost()
    for _ in range(50):
        state = state.observe(Timed("label", 1, 2.0, "quick")).observe(Timed("label", 1, 4.0, "slow"))
    assert state.cost.seconds("label", 1) == pytest.approx(3.0, rel=0.1)
    assert state.cost.of("slow").seconds("label", 1) > 1.5 * state.cost.of("quick").seconds("label", 1)


def test_speeds_follow_much_data_and_distrust_little() -> None:
    rng = np.random.default_rng(7)
    select = PAPER_COST.model("select")
    times: list[Timed] = []
    for who in "abcdef":
        times += times_of(select, 100, rng, "select_high", who)
    times += times_of(select.scaled(2.0), 100, rng, "select_high", "slow")
    times += [Timed("select_high", 4, 2 * 6.53, "new")]
    cost = observed(times).cost
    for kind in ("select_high", "rank"):  # even if nobody's times of a kind are known
        others = [cost.of(who).seconds(kind, 4) for who in "abcdef"]
        assert max(others) / min(others) < 1.3
        assert cost.of("slow").seconds(kind, 4) / np.mean(others) == pytest.approx(2.0, rel=0.15)
        assert 1.0 < cost.of("new").seconds(kind, 4) / np.mean(others) < 1.75


READER = TimeModel("linear", 3.0, 1.6, spread_s=2.0, per_mark=0.4)
TICKER = TimeModel("linear", 3.0, 0.4, spread_s=2.0, per_mark=2.2)


def test_two_people_with_different_terms_get_models_of_their_own() -> None:
    """One reads slowly and one ticks slowly: their times cross, which no speed could tell."""
    rng = np.random.default_rng(11)
    pairs = zip(ticked(READER, 1500, rng, "reader"), ticked(TICKER, 1500, rng, "ticker"), strict=True)
    cost = observed(timed for pair in pairs for timed in pair).cost
    for who, truth in (("reader", READER), ("ticker", TICKER)):
        learnt = cost.of(who).model("tick")
        assert learnt.coefficients == pytest.approx(truth.coefficients, abs=0.3)
        assert learnt.spread_s == pytest.approx(2.0, rel=0.15)
    many_items, many_ticks = {"size": 24, "marks": 2}, {"size": 12, "marks": 12}
    assert cost.of("reader").seconds("tick", **many_items) > 1.5 * cost.of("ticker").seconds("tick", **many_items)
    assert cost.of("ticker").seconds("tick", **many_ticks) > 1.2 * cost.of("reader").seconds("tick", **many_ticks)


def test_a_persons_models_go_from_everybodys_to_their_own() -> None:
    rng = np.random.default_rng(12)
    state = observed(ticked(READER, 600, rng, "reader"))
    apart = []
    for timed in ticked(TICKER, 300, rng, "ticker"):
        state = state.observe(timed)
        apart.append(np.abs(np.subtract(state.cost.of("ticker").model("tick").coefficients, TICKER.coefficients)).max())
    assert apart[0] > 1.0
    assert apart[-1] < 0.4
    assert apart[0] > apart[29] > apart[-1]


def test_own_models_are_least_squares_with_everybodys_as_twenty_answers() -> None:
    """Against rows stacked and solved at length: pseudo-answers of what all take at the person's speed, then the answers."""
    rng = np.random.default_rng(13)
    mine = ticked(TICKER, 25, rng, "me")
    state = observed([*ticked(READER, 40, rng, "you"), *mine])
    cost, everybody = state.cost, state.cost.model("tick")
    speed = cost.of("me").seconds("rank", 4) / cost.seconds("rank", 4)  # no ranking is timed: only the speed differs
    pseudo = [(1.0, k, share * k) for k in (6.0, 12.0, 18.0) for share in (0.25, 0.75)]
    guessed = [speed * float(np.dot(everybody.coefficients, row)) for row in pseudo]
    given = [(1.0, float(timed.size), float(timed.marks)) for timed in mine]
    root = math.sqrt(20 / 6)
    rows = np.vstack([root * np.array(pseudo), np.array(given)])
    seconds = np.concatenate([root * np.array(guessed), [float(timed.seconds or 0) for timed in mine]])
    expected = np.linalg.lstsq(rows, seconds, rcond=None)[0]
    assert cost.of("me").model("tick").coefficients == pytest.approx(tuple(expected), abs=1e-6)


def observed(times: Iterable[Timed]) -> OnlineCost:
    """The state after all of these, from the published values."""
    return reduce(OnlineCost.observe, times, OnlineCost())


def ticked(model: TimeModel, n: int, rng: np.random.Generator, annotator: str | None = None) -> list[Timed]:
    """Grids of four to twenty-four items, of which any number is ticked."""
    grids = [(int(k), int(rng.integers(k + 1))) for k in rng.integers(4, 25, n)]
    return [Timed("tick", k, model.sample(k, rng, marks), annotator, marks) for k, marks in grids]


def test_online_starts_at_the_published_values_for_every_kind() -> None:
    start = OnlineCost().cost
    for kind in all_kinds():
        for size in (kind.fewest, kind.usual, kind.most):
            assert start.seconds(kind.name, size) == PAPER_COST.seconds(kind.name, size)


@pytest.mark.parametrize(("kind", "marks"), [("select_high", 0), ("rank", 0), ("tick", 6), ("label", 0)])
def test_online_is_shrunk_towards_the_published_values_while_answers_are_few(kind: str, marks: int) -> None:
    """Somebody who always takes twice as long: the model approaches this with every answer, half-way after about twenty."""
    usual = named(kind).usual
    start = PAPER_COST.seconds(kind, usual, marks=marks)
    state, moved = OnlineCost(), []
    for _ in range(400):
        state = state.observe(Timed(kind, usual, 2 * start, marks=marks))
        moved.append(state.cost.seconds(kind, usual, marks=marks) / start - 1)
    assert all(earlier < later for earlier, later in pairwise(moved))
    assert 0 < moved[0] < 0.1
    assert 0.35 < moved[19] < 0.75
    assert 0.95 < moved[-1] < 1


def test_online_reaches_the_truth_about_ticks() -> None:
    truth = TimeModel("linear", 2.0, 1.1, spread_s=2.0, per_mark=0.4)
    learnt = observed(ticked(truth, 3000, np.random.default_rng(9))).cost.model("tick")
    assert (learnt.intercept, learnt.slope, learnt.per_mark) == pytest.approx((2.0, 1.1, 0.4), abs=0.15)
    assert learnt.spread_s == pytest.approx(2.0, rel=0.1)


def test_online_learns_how_much_is_ticked_where_the_answer_is_not_known() -> None:
    rng = np.random.default_rng(10)
    model = PAPER_COST.model("tick")
    state = observed(Timed("tick", 12, model.sample(12, rng, 2), marks=2) for _ in range(400))
    assert state.cost.model("tick").mark_share == pytest.approx(2 / 12, abs=0.03)
    assert state.cost.seconds("tick", 12) == pytest.approx(model.seconds(12, 2), rel=0.05)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_online_keeps_the_order_across_kinds(seed: int) -> None:
    """Whatever the times are, several items never take less time than one."""
    rng = np.random.default_rng(seed)
    asked = [kind for kind in all_kinds() for _ in range(3)]
    times = []
    for kind in asked:
        size = int(rng.integers(kind.fewest, kind.most + 1))
        who = str(rng.choice(["a", "b"]))
        times.append(Timed(kind.name, size, float(rng.lognormal(1, 2)), who, int(rng.integers(size + 1))))
    everybody = observed(times).cost
    for cost in (everybody, everybody.of("a"), everybody.of("b")):
        one = cost.seconds("label", 1)
        for kind in all_kinds():
            assert all(cost.seconds(kind.name, size) >= one for size in range(kind.fewest, kind.most + 1))


def test_fast_rankings_do_not_make_short_ones_nearly_free() -> None:
    """Times known at one size only: what is extrapolated to smaller ones stays above a label and the reading of more items."""
    fitted = OnlineCost()
    for _ in range(150):
        fitted = fitted.observe(Timed("rank", 4, 1.5, "ann"))
    cost = fitted.cost.of("ann")
    label, two, four = cost.seconds("label", 1), cost.seconds("rank", 2), cost.seconds("rank", 4)
    assert label < two < four
    assert cost.model("rank").seconds(2) < label, "without the floor it would be less than a label"
