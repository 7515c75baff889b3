"""One rule gives every verdict, and what the page says follows from the committed rows."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.figures import claims
from tellmore.figures.claims_learning import counts, savings
from tellmore.figures.verdict import FAILS, HOLDS, OPEN, UNTESTED, Allowed, Estimate, about, verdict
from tellmore.rows import Rows, where

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
numbers = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.6, 0.7, HOLDS), (0.3, 0.5, FAILS), (0.5, 0.6, OPEN), (0.57, 0.58, HOLDS), (-math.inf, math.inf, OPEN)],
)
def test_the_rule(low: float, high: float, expected: str) -> None:
    assert verdict(Estimate(0.5, low, high), Allowed(low=0.57)) == expected


def test_what_was_not_measured_is_inconclusive_and_what_cannot_be_is_named_so() -> None:
    assert verdict(Estimate.missing("not rerun"), about(1.0)) == OPEN
    assert verdict(Estimate.missing("needs people", testable=False), about(1.0)) == UNTESTED
    assert verdict(Estimate.of(1.0, 0.0, 1), about(1.0)) == OPEN  # one seed has no interval


@given(numbers, numbers, numbers, numbers)
def test_a_wider_interval_never_decides_what_a_narrower_one_left_open(a: float, b: float, c: float, d: float) -> None:
    low, high = sorted((a, b))
    allowed = Allowed(*sorted((c, d)))
    if verdict(Estimate(low, low, high), allowed) == OPEN:
        assert verdict(Estimate(low, low - 1, high + 1), allowed) == OPEN


def test_a_printed_number_is_met_within_a_tenth() -> None:
    assert about(191) == pytest.approx((171.9, 210.1))
    assert about(-2.0) == pytest.approx((-2.2, -1.8))


def reached(mode: str, setting: str, interactions: float, **other: Any) -> dict[str, Any]:
    row = {"mode": mode, "setting": setting, "seeds": 20, "reached": 20, "longest": 1500, "part": "methods"}
    seconds = {"seconds": 4 * interactions, "seconds_se": 4.0}
    return {**row, "interactions": interactions, "interactions_se": 1.0, **seconds, **other}


def source_of(**rows: Rows) -> claims.Source:
    return lambda name: rows.get(name, [])


def test_counts_are_judged_in_every_mode_that_has_rows() -> None:
    rows = [
        reached("as-printed", "rank-4", 190.0),
        reached("as-printed", "label", 1266.0),
        reached("as-authors", "rank-4", 300.0),
        reached("as-authors", "label", 900.0, reached=19),
    ]
    table = list(counts(source_of(baselines=rows)))
    verdicts = {(row["mode"], row["claim"]): row["verdict"] for row in table}
    assert verdicts["as-printed", "rank-4 reaches 75 % after 191 interactions."] == HOLDS
    assert verdicts["as-printed", "Rank-4 needs about 85 % fewer interactions than labels to 75 %."] == HOLDS
    assert verdicts["as-authors", "rank-4 reaches 75 % after 191 interactions."] == FAILS
    assert verdicts["as-authors", "label reaches 75 % after 1310 interactions."] == OPEN
    assert verdicts["as-authors", "select-4 reaches 75 % after 468 interactions."] == OPEN


def test_savings_are_within_a_mode_or_named_as_across() -> None:
    times = [
        {"pool": "words", "setting": name, "seeds": 20, "reached": 20, "seconds": s, "seconds_se": 1.0, "to_label": s / 100,
         "to_label_se": 0.01, "to_paper_label": s / 200}
        for name, s in (("auto", 40.0), ("label", 100.0), ("label, paper mode", 200.0))
    ]  # fmt: skip
    found = {(row["mode"], row["labels"]): own.value for row, own in savings(source_of(times=times))}
    assert found == pytest.approx({("default", "default"): 0.6, ("default", "paper"): 0.8})
    judged = [row for row in counts(source_of(times=times)) if row["section"] == "Abstract"]
    assert [(row["mode"], row["verdict"]) for row in judged] == [("default", HOLDS)]


def test_without_rows_only_what_needs_none_is_judged() -> None:
    rows = claims.claim_rows(source_of())
    assert {row["claim"] for row in where(rows, verdict=FAILS)} == {"A ranking of 4 carries at most about 4.3 bits."}
    assert len(claims.claims(rows).axes) == 1


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_claims", ROOT / "scripts" / "write_claims.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_tables_and_the_page_follow_from_the_committed_rows(writer: ModuleType) -> None:
    """After a change of a CSV file in docs/results: python scripts/write_claims.py."""
    for name, content in writer.tables().items():
        assert (RESULTS / name).read_text(encoding="utf-8") == content
    for page in (ROOT / "docs" / "results.md", RESULTS / "summary.md"):
        text = page.read_text(encoding="utf-8")
        assert writer.with_blocks(text) == text
        assert all(f"<!-- {name} -->" in text for name in writer.blocks())


def test_the_page_begins_with_what_did_not_hold() -> None:
    headings = [line for line in (ROOT / "docs" / "results.md").read_text().splitlines() if line.startswith("## ")]
    assert headings[0].startswith("## What did not hold")
