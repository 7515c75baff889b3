"""Bits per second: the table, its agreement with direct measurement, the ratios, slopes, and the policy "auto"."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.core.gain import information_gain
from tellmore.core.gaussian import Gaussian
from tellmore.core.prior import pool_prior
from tellmore.core.scan import PoolScan
from tellmore.core.update import update, with_constant
from tellmore.errors import InputError
from tellmore.policy import rates as module
from tellmore.policy.cost import PAPER_COST, CostModel, TimeModel
from tellmore.policy.rates import (
    Policy,
    Rate,
    best_over_slopes,
    best_rate,
    label_ratios,
    nested_bits,
    rates,
    sharpness_dependence,
    winning_slopes,
    with_cost,
)

BEHAVIOUR = Behaviour(12.0, 9.0)


@pytest.fixture(scope="module")
def belief() -> Gaussian:
    return pool_prior(_embeddings())


@pytest.fixture(scope="module")
def scan(belief: Gaussian) -> PoolScan:
    return PoolScan.of(_embeddings(), belief)


def _embeddings() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((300, 12))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def table(scan: PoolScan, belief: Gaussian) -> tuple[Rate, ...]:
    return rates(scan, belief, BEHAVIOUR, rng=np.random.default_rng(1), repeats=2)


def test_rows_are_label_and_sizes_2_to_10(table: tuple[Rate, ...]) -> None:
    assert [(rate.kind, rate.size) for rate in table] == [
        ("label", 1),
        *(("select", k) for k in range(2, 11)),
        *(("rank", k) for k in range(2, 11)),
    ]
    assert set(table[0].row()) == {"kind", "size", "bits", "bits_se", "seconds", "bits_per_second", "best"}


def test_rates_are_bits_over_the_models_seconds(table: tuple[Rate, ...]) -> None:
    for rate in table:
        assert rate.seconds == PAPER_COST.seconds(rate.kind, rate.size)
        assert rate.bits_per_second == pytest.approx(rate.bits / rate.seconds)
    assert [rate for rate in table if rate.best] == [best_rate(table)]


def test_more_items_tell_more_and_ranking_more_than_selecting(table: tuple[Rate, ...]) -> None:
    bits = {(rate.kind, rate.size): rate.bits for rate in table}
    for kind in ("select", "rank"):
        gains = [bits[kind, k] for k in range(2, 11)]
        assert all(later > earlier - 0.08 for earlier, later in itertools.pairwise(gains))
        assert gains[-1] > gains[0]
    assert all(bits["rank", k] > bits["select", k] > bits["label", 1] for k in range(2, 11))


@pytest.mark.parametrize(("kind", "size"), [("select_high", 3), ("rank", 3), ("rank", 7)])
def test_bits_agree_with_a_direct_measurement_of_the_set(
    scan: PoolScan, belief: Gaussian, kind: str, size: int
) -> None:
    measured = nested_bits(
        scan, belief, BEHAVIOUR, kinds=(kind,), sizes=(size,), rng=np.random.default_rng(2), repeats=3
    )
    seed = np.random.default_rng(2).integers(2**63, size=3)[0]
    found = module.greedy_set(scan, belief, kind, size, BEHAVIOUR, rng=np.random.default_rng(seed))
    mean, cov, _ = belief.project(with_constant(np.asarray(scan.X[found.rows])))
    direct = information_gain(mean, cov, kind, BEHAVIOUR, rng=np.random.default_rng(3))
    assert np.mean(measured[kind, size]) == pytest.approx(direct.bits, rel=0.06)


def test_common_random_numbers_make_the_first_item_common(scan: PoolScan, belief: Gaussian) -> None:
    bits = nested_bits(
        scan, belief, BEHAVIOUR, kinds=("select", "select_high"), sizes=(2, 3), rng=np.random.default_rng(4), repeats=2
    )
    assert bits["select", 3].tolist() == bits["select_high", 3].tolist()


def test_the_same_seed_gives_the_same_table(scan: PoolScan, belief: Gaussian) -> None:
    first, second = (
        rates(scan, belief, BEHAVIOUR, sizes=(2, 3), rng=np.random.default_rng(5), repeats=2) for _ in range(2)
    )
    assert first == second


def test_ratios_to_labelling_hardly_move_while_learning(scan: PoolScan, belief: Gaussian) -> None:
    before = label_ratios(rates(scan, belief, BEHAVIOUR, sizes=(3,), rng=np.random.default_rng(6)))
    learnt, rng = belief, np.random.default_rng(7)
    for _ in range(5):
        rows = rng.choice(300, 3, replace=False)
        learnt, _ = update(learnt, scan.X[rows], "rank", ((0, 1, 2), 1), BEHAVIOUR)
    later = rates(PoolScan.of(scan.X, learnt), learnt, BEHAVIOUR, sizes=(3,), rng=np.random.default_rng(6))
    after = label_ratios(later)
    for key in before:
        assert after[key] == pytest.approx(before[key], rel=0.25)


def test_ratios_need_the_label_row(table: tuple[Rate, ...]) -> None:
    with pytest.raises(InputError, match="label row"):
        label_ratios([rate for rate in table if rate.kind != "label"])


def test_sharper_people_tell_more_in_rich_questions(scan: PoolScan, belief: Gaussian) -> None:
    tables = sharpness_dependence(scan, belief, BEHAVIOUR, (0.25, 1.0, 4.0), sizes=(4,), seed=8)
    ratio = [label_ratios(tables[factor])["rank", 4] for factor in (0.25, 1.0, 4.0)]
    bits = [best_rate(tables[factor]).bits for factor in (0.25, 1.0, 4.0)]
    assert bits == sorted(bits)
    assert ratio[2] > 2
    with pytest.raises(InputError, match="positive"):
        sharpness_dependence(scan, belief, BEHAVIOUR, (0.0,), sizes=(2,), seed=8)


def made_up(bits: dict[tuple[str, int], float]) -> tuple[Rate, ...]:
    rows = [Rate(kind, size, value, 0.0, 1.0, value) for (kind, size), value in bits.items()]
    return with_cost(rows, PAPER_COST)


def test_winning_slopes_are_where_the_best_size_changes() -> None:
    table = made_up({("select", 2): 0.45, ("select", 3): 0.54, ("select", 4): 0.60})
    low, high = winning_slopes(table, PAPER_COST, "select", 3)
    for slope, size in ((low - 0.01, 4), (low + 0.01, 3), (high - 0.01, 3), (high + 0.01, 2)):
        cost = PAPER_COST.with_model("select", replace(PAPER_COST.models["select"], slope=slope))
        assert best_rate(with_cost(table, cost)).size == size
    assert winning_slopes(table, PAPER_COST, "select", 2) == (pytest.approx(high), float("inf"))


def test_a_size_that_never_wins_has_no_slopes() -> None:
    table = made_up({("select", 2): 0.5, ("select", 3): 0.5, ("select", 4): 1.0})
    assert all(np.isnan(winning_slopes(table, PAPER_COST, "select", 3)))


def test_winning_slopes_refuse_what_they_cannot_answer(table: tuple[Rate, ...]) -> None:
    with pytest.raises(InputError, match="no select of size 42"):
        winning_slopes(table, PAPER_COST, "select", 42)
    with pytest.raises(InputError, match="linear time model"):
        winning_slopes(table, PAPER_COST, "label", 1)


def test_steep_interfaces_make_selection_of_two_win(table: tuple[Rate, ...]) -> None:
    grid = best_over_slopes(table, PAPER_COST, [0.63, 30.0], [4.41, 60.0])
    winners = {(row["select_slope"], row["rank_slope"]): (row["kind"], row["size"]) for row in grid}
    assert winners[30.0, 60.0] == ("label", 1)
    assert winners[0.63, 60.0][0] == "select"
    threshold = winning_slopes(table, PAPER_COST, "select", 2)[0]
    cheap_start = PAPER_COST.with_model("select", TimeModel("linear", 0.2, 1.5))
    dear = best_over_slopes(table, cheap_start, [1.5], [60.0])[0]
    assert (dear["kind"], dear["size"]) == ("select", 2)
    assert threshold > 0.63


# The policy


def test_auto_takes_the_best_that_is_allowed(scan: PoolScan, belief: Gaussian) -> None:
    for kinds, sizes in ((("label",), (2,)), (("rank",), (2, 3)), (("label", "select", "rank"), (2, 3, 4))):
        policy = Policy(kinds, sizes)
        kind, size, table = policy.choose(scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9))
        assert kind in kinds
        assert size in sizes or kind == "label"
        best = best_rate(table.rates)
        assert (kind, size) == (best.kind, best.size)


def test_both_ends_of_selection_are_one_kind(scan: PoolScan, belief: Gaussian) -> None:
    policy = Policy(("label", "select_high", "select_low", "rank"), (2, 3))
    kind, _, table = policy.choose(scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9))
    assert {rate.kind for rate in table.rates} == {"label", "select", "rank"}
    assert kind == "select"
    assert Policy(("select_low",), (2,)).measured_kinds == ("select_low",)


def test_auto_follows_the_cost_model(scan: PoolScan, belief: Gaussian) -> None:
    cheap_rank = PAPER_COST.with_model("rank", TimeModel("constant", 1.0))
    kind, size, _ = Policy(sizes=(2, 4), cost=cheap_rank).choose(
        scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9)
    )
    assert (kind, size) == ("rank", 4)
    slow_label = CostModel({**PAPER_COST.models, "label": TimeModel("constant", 0.6)})
    kind, _, _ = Policy(sizes=(2, 4), cost=slow_label).choose(
        scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9)
    )
    assert kind == "label"


def test_the_table_is_kept_until_the_belief_drifts(
    scan: PoolScan, belief: Gaussian, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy(sizes=(2, 3), every=50)
    _, _, table = policy.choose(scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9))
    measured = []
    monkeypatch.setattr(module, "nested_bits", lambda *a, **k: measured.append(1) or table.bits)
    for answers in (1, 10, 49):
        policy.choose(scan, belief, BEHAVIOUR, table, answers=answers, rng=np.random.default_rng(9))
    assert not measured
    policy.choose(scan, belief, BEHAVIOUR, table, answers=50, rng=np.random.default_rng(9))
    assert len(measured) == 1
    narrowed = replace(scan, variance=scan.variance / 2)
    policy.choose(narrowed, belief, BEHAVIOUR, table, answers=2, rng=np.random.default_rng(9))
    assert len(measured) == 2
    policy.choose(scan, belief, BEHAVIOUR, replace(table, answers=30), answers=5, rng=np.random.default_rng(9))
    assert len(measured) == 3


def test_impossible_sizes_are_refused(scan: PoolScan, belief: Gaussian) -> None:
    with pytest.raises(InputError, match="no question fits"):
        nested_bits(scan, belief, BEHAVIOUR, kinds=("rank",), sizes=(400,), rng=np.random.default_rng(0))
