"""Seconds per question: the paper's numbers, sampling, robust fits with intervals, online updates, speeds."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from tellmore.errors import InputError
from tellmore.policy.cost import FORMS, PAPER_COST, CostModel, TimeModel, basis, family_of
from tellmore.policy.cost_fit import OnlineCost, Timed, fit_cost, fit_time, speeds, split_usable


@pytest.mark.parametrize(
    ("kind", "size", "seconds"),
    [("label", 1, 4.37), ("select_high", 3, 5.90), ("select_low", 10, 10.31), ("rank", 2, 8.50), ("rank", 10, 43.78)],
)
def test_paper_cost_is_the_papers(kind: str, size: int, seconds: float) -> None:
    assert PAPER_COST.seconds(kind, size) == pytest.approx(seconds, abs=1e-9)


def test_label_time_is_the_mean_of_both_fits_at_one_item() -> None:
    both = (PAPER_COST.models["select"].seconds(1) + PAPER_COST.models["rank"].seconds(1)) / 2
    assert PAPER_COST.seconds("label", 1) == pytest.approx(both, abs=0.01)


def test_never_below_the_floor() -> None:
    assert TimeModel("linear", -20.0, 1.0).seconds(3) == 0.5


@pytest.mark.parametrize(("form", "at_4"), [("constant", 1.0), ("linear", 9.0), ("quadratic", 33.0)])
def test_forms(form: str, at_4: float) -> None:
    assert TimeModel(form, 1.0, 2.0).seconds(4) == pytest.approx(at_4)  # type: ignore[arg-type]
    assert TimeModel("logarithmic", 1.0, 2.0).seconds(4) == pytest.approx(1 + 2 * 2.0)


@pytest.mark.parametrize(("kind", "size", "mse"), [("select_high", 5, 11.22), ("rank", 2, 125.44), ("rank", 8, 125.44)])
def test_samples_are_positive_with_the_models_mean_and_spread(kind: str, size: int, mse: float) -> None:
    rng = np.random.default_rng(1)
    times = np.array([PAPER_COST.sample(kind, size, rng) for _ in range(40_000)])
    assert times.min() > 0
    assert times.mean() == pytest.approx(PAPER_COST.seconds(kind, size), rel=0.02)
    assert times.var() == pytest.approx(mse, rel=0.15)


def test_rate_is_bits_over_seconds() -> None:
    assert PAPER_COST.rate("label", 1, 0.437) == pytest.approx(0.1)


def test_annotators_speed_scales_the_time() -> None:
    cost = CostModel(PAPER_COST.models, {"slow": 2.0})
    assert cost.seconds("rank", 4, annotator="slow") == pytest.approx(2 * PAPER_COST.seconds("rank", 4))
    assert cost.seconds("rank", 4, annotator="stranger") == PAPER_COST.seconds("rank", 4)


def test_a_cost_model_survives_pickling() -> None:
    cost = CostModel(PAPER_COST.models, {"a": 1.5})
    assert pickle.loads(pickle.dumps(cost)) == cost


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: TimeModel("cubic", 1.0), "forms are constant, linear"),  # type: ignore[arg-type]
        (lambda: TimeModel("linear", math.nan), "intercept"),
        (lambda: TimeModel("linear", 1.0, 1.0, -1.0), "spread_s >= 0"),
        (lambda: PAPER_COST.seconds("rank", 0), "at least 1 item"),
        (lambda: PAPER_COST.seconds("guess", 2), "the kinds are"),
        (lambda: CostModel({"rank": TimeModel("linear", 1.0)}), "label, select, rank"),
        (lambda: CostModel(PAPER_COST.models, {"a": 0.0}), "speed of annotator 'a'"),
    ],
)
def test_bad_models_are_refused(build: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        build()  # type: ignore[operator]


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
    truth = PAPER_COST.models["rank"]
    fits = [fit_time(times_of(truth, 150, rng)) for _ in range(150)]
    covered = np.mean([fit.slope_interval[0] < truth.slope < fit.slope_interval[1] for fit in fits])
    assert 0.88 <= covered <= 1.0


def test_interruptions_hardly_move_the_fit() -> None:
    rng = np.random.default_rng(4)
    clean = times_of(PAPER_COST.models["select"], 400, rng, "select_high")
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
    times = times_of(PAPER_COST.models["rank"], 6000, rng)
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


def test_split_usable_gives_reasons_and_alters_nothing() -> None:
    times = [Timed("rank", 2, 3.0), Timed("rank", 2, None), Timed("rank", 2, -5.0)]
    usable, refused = split_usable(times)
    assert usable == [times[0]]
    assert [timed for timed, _ in refused] == times[1:]


def test_one_size_is_enough_for_the_constant_form() -> None:
    assert fit_time([Timed("rank", 4, s) for s in (2.0, 3.0, 4.0)], "constant").model.seconds(4) == pytest.approx(3.0)


def test_fit_cost_keeps_the_base_where_there_are_no_times() -> None:
    cost = fit_cost(times_of(TimeModel("linear", 2.0, 1.0, 0.5), 300, np.random.default_rng(6), "select_low"))
    assert cost.seconds("select_high", 5) == pytest.approx(7.0, rel=0.05)
    assert cost.seconds("rank", 5) == PAPER_COST.seconds("rank", 5)


def test_speeds_follow_much_data_and_distrust_little() -> None:
    rng = np.random.default_rng(7)
    select = PAPER_COST.models["select"]
    times: list[Timed] = []
    for who in "abcdef":
        times += times_of(select, 100, rng, "select_high", who)
    times += times_of(select.scaled(2.0), 100, rng, "select_high", "slow")
    times += [Timed("select_high", 4, 2 * 6.53, "new")]
    factor = speeds(times, PAPER_COST)
    assert factor["slow"] == pytest.approx(2.0, rel=0.15)
    assert all(abs(math.log(factor[who])) < 0.2 for who in "abcdef")
    assert 1.0 < factor["new"] < 1.75


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


def test_families_and_basis() -> None:
    assert family_of("select") == family_of("select_high") == "select"
    assert basis("quadratic", [2, 3]).tolist() == [4.0, 9.0]
