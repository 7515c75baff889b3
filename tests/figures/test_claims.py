"""Verdicts on the sentences of the paper follow the rows."""

from __future__ import annotations

from typing import Any

import pytest

from tellmore.figures import claims
from tellmore.figures.bench import Bench
from tellmore.rows import Rows, where
from tests.figures.conftest import fake_curves


class FakeEvidence(claims.Evidence):
    """Rows as given, nothing collected."""

    def __init__(self, bench: Bench, **rows: Rows) -> None:
        super().__init__(bench)
        self._rows = dict(rows)


def rate_rows(
    rates: dict[tuple[str, int], float], bits: dict[tuple[str, int], float] | None = None
) -> list[dict[str, Any]]:
    gains = bits or rates
    return [
        {
            "times": "paper",
            "kind": kind,
            "size": size,
            "bits_per_second": rate,
            "bits": gains[kind, size],
            "best": False,
        }
        for (kind, size), rate in rates.items()
    ]


def long_runs(bench: Bench, **seconds: float) -> list[dict[str, Any]]:
    """Rows of the long runs; a setting of 0 seconds failed in one seed."""
    pool = bench.source("sentiment").title
    given = dict.fromkeys(
        ("auto", "label", "select-2", "select-3", "select-4", "rank-4", "rank-6", "label, paper mode"), 0.0
    )
    given |= {name.replace("_paper", ", paper mode").replace("_", "-"): value for name, value in seconds.items()}
    return [
        {
            "pool": pool,
            "setting": name,
            "seeds": 2,
            "reached": 2 if value else 1,
            "interactions": value / 4,
            "seconds": value,
        }
        for name, value in given.items()
    ]


def test_fewer_interactions_are_counted_where_all_seeds_reached_the_target(bench: Bench) -> None:
    table = [{"mode": "paper", "setting": "rank-4", "seeds": 2, "reached": 2, "interactions": 4.0}]
    reached = FakeEvidence(bench, table1=table, times=long_runs(bench, label_paper=160))
    assert claims._eighty_five_percent("paper")(reached) == ("rank-4 4, label 40: 90% fewer", True)
    failed = FakeEvidence(bench, table1=table, times=long_runs(bench))
    assert claims._eighty_five_percent("paper")(failed)[1] is None


def test_a_lower_bound_gives_no_verdict() -> None:
    assert claims._fewer_interactions(where(fake_curves(rank_4=20), mode="paper"), 0.75) == (
        "rank-4 20, label more than 40: at least 50% fewer",
        None,
    )


def test_time_saved_is_that_of_the_quickest_setting(bench: Bench) -> None:
    evidence = FakeEvidence(bench, times=long_runs(bench, auto=50, rank_4=40, label_paper=100))
    assert claims._less_time(evidence) == (
        "rank-4 in default mode saves 60% of the seconds of paper mode's labels to 75 %",
        True,
    )
    assert claims._less_time(FakeEvidence(bench, times=long_runs(bench, auto=50)))[1] is None


@pytest.mark.parametrize(
    ("reached", "holds"),
    [({"rank_4": 5, "select_4": 20}, True), ({"rank_4": 20, "select_4": 5}, False), ({}, None)],
)
def test_the_order_of_kinds(bench: Bench, reached: dict[str, int], holds: bool | None) -> None:
    assert claims._order_of_kinds(FakeEvidence(bench, fig3=fake_curves(**reached)))[1] is holds


def test_active_against_random_and_two_against_two(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = FakeEvidence(bench, fig3=fake_curves())
    assert claims._active_beats_random(evidence)[1] is None
    monkeypatch.setattr(claims, "ENOUGH_ANSWERS", 40)
    assert claims._active_beats_random(evidence)[1] is True
    # select-2 active ends at 1.2 / 40, rank-2 random at 1.6 / 40.
    assert claims._two_active_beat_two_random(evidence) == (
        "MSE 0.030 (two active select items) against 0.040 (two random ranked)",
        True,
    )


def test_rates_and_gains_by_size(bench: Bench) -> None:
    rates = {("label", 1): 1.0, ("select", 2): 2.0, ("select", 3): 3.0, ("rank", 2): 2.5, ("rank", 3): 2.6}
    evidence = FakeEvidence(bench, fig11=rate_rows(rates))
    assert claims._select_peaks_at_three(evidence) == ("peaks at 3", True)
    assert claims._rank_rate_grows(evidence)[1] is True
    assert claims._rank_rate_leads(evidence)[1] is False
    assert claims._gain_grows(evidence)[1] is True
    assert claims._rank_at_least_select(evidence)[1] is False


def test_a_short_run_cannot_judge_what_needs_a_thousand_answers(bench: Bench) -> None:
    rows = where(fake_curves(), setting="select-2", mode="paper") + [
        {**row, "setting": "select-10", "mse": row["mse"] * 0.8}
        for row in where(fake_curves(), setting="select-2", mode="paper")
    ]
    assert claims._ten_against_two(FakeEvidence(bench, fig4=rows)) == ("20% lower after 40", None)
    longer = [{**row, "answer": row["answer"] + 960} for row in rows]
    assert claims._ten_against_two(FakeEvidence(bench, fig4=longer))[1] is True


def test_every_claim_has_a_row_and_a_verdict(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = tuple((section, sentence, lambda _evidence: ("measured", True)) for section, sentence, _ in claims._CLAIMS)
    monkeypatch.setattr(claims, "_CLAIMS", fixed)
    rows = claims.claim_rows(bench)
    assert len(rows) == len(fixed) + len(claims._PEOPLE_CLAIMS)
    assert {row["verdict"] for row in rows} == {claims.HOLDS, claims.UNTESTED}
    assert len(claims.claims(rows).axes) == 1
    assert claims._compare(rows).endswith("Not holding: none.")
