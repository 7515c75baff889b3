"""Bits per second: the table, its agreement with direct measurement, the ratios to labelling, and the policy "auto"."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import PoolScan
from tellmore.core.time_model import TimeModel
from tellmore.core.update import with_constant
from tellmore.errors import InputError
from tellmore.kinds import named
from tellmore.policy import rates as module
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.rates import (
    Policy,
    Rate,
    best_rate,
    nested_bits,
    rates,
    table_kinds,
    to_rates,
)
from tests.oracles.plain import prior_of, scan_of

BEHAVIOUR = Behaviour(12.0, 9.0)


@pytest.fixture(scope="module")
def belief() -> Gaussian:
    return prior_of(_embeddings())


@pytest.fixture(scope="module")
def scan(belief: Gaussian) -> PoolScan:
    return scan_of(_embeddings(), belief)


def _embeddings() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((300, 12))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def table(scan: PoolScan, belief: Gaussian) -> tuple[Rate, ...]:
    return rates(scan, belief, BEHAVIOUR, rng=np.random.default_rng(1), repeats=2)


def test_rows_are_all_families_with_the_sizes_that_each_allows(table: tuple[Rate, ...]) -> None:
    assert [(rate.kind, rate.size) for rate in table] == [
        ("label", 1),
        *(("select", k) for k in range(2, 11)),
        *(("rank", k) for k in range(2, 11)),
        *(("tick", k) for k in (*range(2, 11), 12, 24)),
    ]
    assert set(vars(table[0])) == {"kind", "size", "bits", "bits_se", "seconds", "bits_per_second", "best"}


def test_rates_are_bits_over_the_models_seconds(table: tuple[Rate, ...]) -> None:
    for rate in table:
        assert rate.seconds == PAPER_COST.seconds(rate.kind, rate.size)
        assert rate.bits_per_second == pytest.approx(rate.bits / rate.seconds)
    assert [rate for rate in table if rate.best] == [best_rate(table)]


def test_more_items_tell_more_and_ranking_more_than_selecting(table: tuple[Rate, ...]) -> None:
    bits = {(rate.kind, rate.size): rate.bits for rate in table}
    for kind in ("select", "rank", "tick"):
        gains = [bits[kind, k] for k in range(2, 11)]
        assert all(later > earlier - 0.08 for earlier, later in itertools.pairwise(gains))
        assert gains[-1] > gains[0]
    assert all(bits["rank", k] > bits["select", k] > bits["label", 1] for k in range(2, 11))
    assert bits["tick", 24] > bits["tick", 12] > bits["tick", 4] > bits["label", 1]


@pytest.mark.parametrize(
    ("kind", "size"), [("select_high", 3), ("rank", 3), ("rank", 7), ("tick", 4), ("tick", 12), ("most_sure", 3)]
)
def test_bits_agree_with_a_direct_measurement_of_the_set(
    scan: PoolScan, belief: Gaussian, kind: str, size: int
) -> None:
    measured = nested_bits(
        scan, belief, BEHAVIOUR, kinds=(kind,), sizes=(size,), rng=np.random.default_rng(2), repeats=3
    )
    seed = np.random.default_rng(2).integers(2**63, size=3)[0]
    found = named(kind).search(scan, belief, size, BEHAVIOUR, rng=np.random.default_rng(seed))
    mean, cov, _ = belief.project(with_constant(np.asarray(scan.rows[found.rows])))
    direct = named(kind).gain(mean, cov, BEHAVIOUR, rng=np.random.default_rng(3))
    assert np.mean(measured[kind, size]) == pytest.approx(direct.bits, rel=0.06)


def test_common_random_numbers_make_the_first_item_common(scan: PoolScan, belief: Gaussian) -> None:
    bits = nested_bits(
        scan, belief, BEHAVIOUR, kinds=("select", "select_high"), sizes=(2, 3), rng=np.random.default_rng(4), repeats=2
    )
    assert bits["select", 3].tolist() == bits["select_high", 3].tolist()


def test_labels_are_measured_among_as_many_random_items_as_they_are_asked_about(belief: Gaussian) -> None:
    X = np.random.default_rng(8).standard_normal((3000, 12)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[:4] *= 3  # odd items, of which one draw of 300 in three has any
    scan, measured = scan_of(X, belief), []
    for as_asked in (False, True):
        measured.append(
            nested_bits(
                scan,
                belief,
                BEHAVIOUR,
                kinds=("label", "rank"),
                sizes=(2, 3),
                rng=np.random.default_rng(9),
                repeats=20,
                as_asked=as_asked,
            )
        )
    whole, asked = measured
    assert whole["rank", 3].tolist() == asked["rank", 3].tolist()  # searched in the whole pool, with the same draws
    label, rng = named("label"), np.random.default_rng(10)
    drawn = [scan.take(rng.choice(3000, 300, replace=False)) for _ in range(200)]
    best = [label.search(each, belief, 1, BEHAVIOUR, rng=rng).bits[0] for each in drawn]
    assert asked["label", 1].mean() == pytest.approx(np.mean(best), abs=4 * np.std(best) / 20**0.5)
    assert whole["label", 1].mean() > np.mean(best) + 4 * np.std(best) / 20**0.5


def test_the_same_seed_gives_the_same_table(scan: PoolScan, belief: Gaussian) -> None:
    first, second = (
        rates(scan, belief, BEHAVIOUR, sizes=(2, 3), rng=np.random.default_rng(5), repeats=2) for _ in range(2)
    )
    assert first == second


def label_ratios(table: Sequence[Rate]) -> dict[tuple[str, int], float]:
    """Bits of every row over those of a label."""
    label = next(rate.bits for rate in table if rate.kind == "label")
    return {(rate.kind, rate.size): rate.bits / label for rate in table}


def test_ratios_to_labelling_hardly_move_while_learning(scan: PoolScan, belief: Gaussian) -> None:
    before = label_ratios(rates(scan, belief, BEHAVIOUR, sizes=(3,), rng=np.random.default_rng(6)))
    learnt, rng = belief, np.random.default_rng(7)
    for _ in range(5):
        rows = rng.choice(300, 3, replace=False)
        learnt, _ = named("rank").update(learnt, scan.rows[rows], ((0, 1, 2), 1), BEHAVIOUR)
    later = rates(scan_of(scan.rows.X, learnt), learnt, BEHAVIOUR, sizes=(3,), rng=np.random.default_rng(6))
    after = label_ratios(later)
    for key in before:
        assert after[key] == pytest.approx(before[key], rel=0.25)


def test_sharper_people_tell_more_in_rich_questions(scan: PoolScan, belief: Gaussian) -> None:
    tables = {
        factor: rates(scan, belief, BEHAVIOUR.sharper(factor), sizes=(4,), rng=np.random.default_rng(8), repeats=1)
        for factor in (0.25, 1.0, 4.0)
    }
    ratio = [label_ratios(tables[factor])["rank", 4] for factor in (0.25, 1.0, 4.0)]
    bits = [best_rate(tables[factor]).bits for factor in (0.25, 1.0, 4.0)]
    assert bits == sorted(bits)
    assert ratio[2] > 2


def test_steep_interfaces_make_small_questions_win(table: tuple[Rate, ...]) -> None:
    """The same bits with other times: if every item takes long, a label wins; if only rankings do, a selection."""
    bits = {(rate.kind, rate.size): np.array([rate.bits]) for rate in table}

    def winner(select_slope: float, rank_slope: float, tick_slope: float) -> str:
        slopes = {"select": select_slope, "rank": rank_slope, "tick": tick_slope}
        models = {kind: replace(PAPER_COST.model(kind), slope=slope) for kind, slope in slopes.items()}
        return best_rate(to_rates(bits, CostModel(models))).kind

    assert winner(0.63, 60.0, 60.0) == "select"
    assert winner(30.0, 60.0, 60.0) == "label"
    assert winner(30.0, 60.0, 0.63) == "tick"


# The policy


def test_auto_takes_the_best_that_is_allowed(scan: PoolScan, belief: Gaussian) -> None:
    for kinds, sizes in ((("label",), (2,)), (("rank",), (2, 3)), (("label", "select", "rank"), (2, 3, 4))):
        policy = Policy(kinds, sizes)
        kind, size, table = policy.choose(scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9))
        assert kind in kinds
        assert size in sizes or kind == "label"
        best = best_rate(table.rates)
        assert (kind, size) == (best.kind, best.size)


def test_both_ends_of_selection_are_one_row() -> None:
    assert table_kinds() == Policy().kinds == ("label", "select", "rank", "tick")


def test_auto_follows_the_cost_model(scan: PoolScan, belief: Gaussian) -> None:
    cheap_rank = CostModel({"label": TimeModel("constant", 1.0), "rank": TimeModel("constant", 1.0)})
    kind, size, _ = Policy(sizes=(2, 4), cost=cheap_rank).choose(
        scan, belief, BEHAVIOUR, answers=0, rng=np.random.default_rng(9)
    )
    assert (kind, size) == ("rank", 4)
    quick_label = CostModel({"label": TimeModel("constant", 0.6)})
    kind, _, _ = Policy(sizes=(2, 4), cost=quick_label).choose(
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
