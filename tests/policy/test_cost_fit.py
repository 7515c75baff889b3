"""Time models from logged answers: robust fits with intervals, and answer by answer, with each person's speed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core.time_model import FORMS, TimeModel
from tellmore.errors import InputError
from tellmore.kinds import all_kinds, named
from tellmore.policy.cost import PAPER_COST
from tellmore.policy.cost_fit import OnlineCost, Timed, fit_time


def times_of(
    model: TimeModel, n: int, rng: np.random.Generator, kind: str = "rank", annotator: str | None = None
) -> list[Timed]:
    sizes = rng.integers(2, 9, n)
    return [Timed(kind, int(k), model.sample(int(k), rng), annotator) for k in sizes]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_recovered(form: str) -> None:
    truth = TimeModel(form, 10.0, 0.0 if form == "constant" else 2.0, spread_s=3.0)  # type: ignore[arg-type]
    fit = fit_time(times_of(truth, 3000, np.random.default_rng(2)), form)  # type: ignore[arg-type]
    assert abs(fit.model.intercept - 10.0) < 4 * fit.se[0]
    assert abs(fit.model.slope - truth.slope) <= 4 * fit.se[1]
    assert fit.model.spread_s == pytest.approx(3.0, rel=0.1)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    truth = PAPER_COST.model("rank")
    fits = [fit_time(times_of(truth, 150, rng)) for _ in range(150)]
    covered = np.mean([fit.slope_interval[0] < truth.slope < fit.slope_interval[1] for fit in fits])
    assert 0.88 <= covered <= 1.0


def test_interruptions_hardly_move_the_fit() -> None:
    rng = np.random.default_rng(4)
    clean = times_of(PAPER_COST.model("select"), 400, rng, "select_high")
    interrupted = clean + [Timed("select_high", 2, 1800.0) for _ in range(12)]
    robust, naive = (
        fit_time(interrupted),
        np.polyfit([t.size for t in interrupted], [t.seconds for t in interrupted], 1),
    )
    assert robust.model.slope == pytest.approx(fit_time(clean).model.slope, abs=1e-9)
    assert all(robust.outliers[-12:])
    assert naive[0] < 0


def test_the_fit_is_of_the_mean_though_times_are_skewed() -> None:
    rng = np.random.default_rng(5)
    times = times_of(PAPER_COST.model("rank"), 6000, rng)
    fit = fit_time(times)
    mean_of_all = np.mean([PAPER_COST.seconds("rank", t.size) for t in times])
    fitted = np.mean([fit.model.seconds(t.size) for t in times])
    assert fitted == pytest.approx(mean_of_all, rel=0.03)


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ([Timed("rank", 4, 3.0)] * 20, "all 20 times are of sets of size 4: a slope cannot be fitted"),
        ([Timed("rank", 2, 3.0), Timed("rank", 3, -1.0), Timed("rank", 4, 2.0)], "time 2 of 3.*not positive"),
        ([Timed("rank", 2, 3.0), Timed("rank", 3, 1e6), Timed("rank", 4, 2.0)], "milliseconds"),
        ([Timed("rank", 2, None), Timed("rank", 3, 1.0), Timed("rank", 4, 2.0)], "missing"),
        ([Timed("rank", 2, math.nan), Timed("rank", 3, 1.0), Timed("rank", 4, 2.0)], "missing"),
        ([Timed("rank", 2, 1.0), Timed("rank", 3, 1.0)], "2 times are too few"),
        ([], "0 times are too few"),
        ([Timed("rank", 2, 1.0), Timed("label", 1, 1.0), Timed("rank", 3, 1.0)], "one kind"),
    ],
)
def test_unusable_times_are_named(times: list[Timed], says: str) -> None:
    before = list(times)
    with pytest.raises(InputError, match=says):
        fit_time(times)
    assert times == before


def test_one_size_is_enough_for_the_constant_form() -> None:
    assert fit_time([Timed("rank", 4, s) for s in (2.0, 3.0, 4.0)], "constant").model.seconds(4) == pytest.approx(3.0)


def test_online_starts_at_the_base_and_ends_at_the_data() -> None:
    truth = TimeModel("linear", 2.0, 1.5, spread_s=1.0)
    state = OnlineCost()
    assert state.cost.seconds("select_high", 4) == PAPER_COST.seconds("select_high", 4)
    for timed in times_of(truth, 1000, np.random.default_rng(8), "select_high", "a"):
        state = state.observe(timed)
    learnt = state.cost.model("select_high")
    assert (learnt.intercept, learnt.slope) == pytest.approx((2.0, 1.5), abs=0.2)
    assert state.cost.seconds("rank", 4) == PAPER_COST.seconds("rank", 4)
    assert state.cost.speed["a"] == pytest.approx(1.0)


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
    assert state.cost.seconds("label", 1, annotator="slow") > 1.5 * state.cost.seconds("label", 1, annotator="quick")


def test_online_refuses_unusable_times() -> None:
    with pytest.raises(InputError, match="missing"):
        OnlineCost().observe(Timed("rank", 4, None))


def test_speeds_follow_much_data_and_distrust_little() -> None:
    rng = np.random.default_rng(7)
    select = PAPER_COST.model("select")
    times: list[Timed] = []
    for who in "abcdef":
        times += times_of(select, 100, rng, "select_high", who)
    times += times_of(select.scaled(2.0), 100, rng, "select_high", "slow")
    times += [Timed("select_high", 4, 2 * 6.53, "new")]
    speed = observed(times).cost.speed
    others = [speed[who] for who in "abcdef"]
    assert max(others) / min(others) < 1.3
    assert speed["slow"] / np.mean(others) == pytest.approx(2.0, rel=0.15)
    assert 1.0 < speed["new"] / np.mean(others) < 1.75


def observed(times: Iterable[Timed]) -> OnlineCost:
    """The state after all of these, from the published values."""
    return reduce(OnlineCost.observe, times, OnlineCost())


def ticked(model: TimeModel, n: int, rng: np.random.Generator) -> list[Timed]:
    """Grids of four to twenty-four items, of which any number is ticked."""
    grids = [(int(k), int(rng.integers(k + 1))) for k in rng.integers(4, 25, n)]
    return [Timed("tick", k, model.sample(k, rng, marks), marks=marks) for k, marks in grids]


def test_online_starts_at_the_published_values_for_every_kind() -> None:
    start = OnlineCost().cost
    for kind in all_kinds():
        for size in (kind.fewest, kind.usual, kind.most):
            assert start.seconds(kind.name, size) == PAPER_COST.seconds(kind.name, size)


@pytest.mark.parametrize(("kind", "marks"), [("select_high", 0), ("rank", 0), ("tick", 6), ("label", 0)])
def test_online_is_shrunk_towards_the_published_values_while_answers_are_few(kind: str, marks: int) -> None:
    """Somebody who always takes twice as long: the model goes there with every answer, half-way after about twenty."""
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
    """Whatever times come in, several items never take less than one."""
    rng = np.random.default_rng(seed)
    asked = [kind for kind in all_kinds() for _ in range(3)]
    times = []
    for kind in asked:
        size = int(rng.integers(kind.fewest, kind.most + 1))
        times.append(Timed(kind.name, size, float(rng.lognormal(1, 2)), marks=int(rng.integers(size + 1))))
    cost = observed(times).cost
    one = cost.seconds("label", 1)
    for kind in all_kinds():
        assert all(cost.seconds(kind.name, size) >= one for size in range(kind.fewest, kind.most + 1))
