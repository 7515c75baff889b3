"""One rule gives every verdict, and what the page says follows from the committed rows."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.figures import claims, paired, paper
from tellmore.figures.claims_information import rates, ratios, theory
from tellmore.figures.claims_learning import counts, curves, savings
from tellmore.figures.headline import headline_rows, headline_table
from tellmore.figures.paired import Runs
from tellmore.figures.verdict import FAILS, HOLDS, OPEN, UNTESTED, Allowed, Estimate, about, verdict
from tellmore.rows import Rows, where
from tests.loading import loaded

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


@settings(deadline=None)
@given(numbers, numbers, numbers, numbers)
def test_a_wider_interval_never_decides_what_a_narrower_one_left_open(a: float, b: float, c: float, d: float) -> None:
    low, high = sorted((a, b))
    allowed = Allowed(*sorted((c, d)))
    if verdict(Estimate(low, low, high), allowed) == OPEN:
        assert verdict(Estimate(low, low - 1, high + 1), allowed) == OPEN


def test_a_printed_number_is_met_within_a_tenth() -> None:
    assert about(191) == pytest.approx((171.9, 210.1))
    assert about(-2.0) == pytest.approx((-2.2, -1.8))


def trials(mode: str, setting: str, interactions: list[float | None], **other: Any) -> list[dict[str, Any]]:
    """Rows of trials, a seed each; None was not reached within 1500 answers."""
    row = {
        "part": "methods, trials",
        "mode": mode,
        "setting": setting,
        "longest": 1500,
        "longest_s": 6000.0,
        "scale": 2,
    }
    return [
        {**row, "seed": seed, "interactions": value, "seconds": None if value is None else 4 * value, **other}
        for seed, value in enumerate(interactions)
    ]


def source_of(**rows: Rows) -> claims.Source:
    return lambda name: rows.get(name, [])


def test_counts_are_judged_in_every_mode_and_a_trial_too_short_makes_a_bound() -> None:
    rows = [
        *trials("as-printed", "rank-4", [189.0, 191.0, 190.0]),
        *trials("as-printed", "label", [1260.0, 1270.0, 1268.0]),
        *trials("as-authors", "rank-4", [299.0, 300.0, 301.0]),
        *trials("as-authors", "label, random", [900.0, None, None]),
        *trials("as-authors", "select-4", [None, None, None]),
    ]
    table = list(counts(source_of(baselines=rows)))
    verdicts = {(row["mode"], row["claim"]): row["verdict"] for row in table}
    assert verdicts["as-printed", "rank-4 reaches 75 % after 191 interactions."] == HOLDS
    assert verdicts["as-printed", "Rank-4 needs about 85 % fewer interactions than labels to 75 %."] == HOLDS
    assert verdicts["as-authors", "rank-4 reaches 75 % after 191 interactions."] == FAILS
    assert verdicts["as-authors", "label, random needs more than 2000 interactions to 75 %."] == OPEN
    assert verdicts["as-authors", "select-4 reaches 75 % after 468 interactions."] == FAILS  # more than 1500 each
    assert verdicts["as-authors", "Rankings need fewer interactions than selections to 75 %."] == HOLDS
    assert verdicts["as-printed", "select-4 reaches 75 % after 468 interactions."] == OPEN


def test_estimates_are_paired_by_seed() -> None:
    few, many = (Runs({seed: 100.0 * seed + more for seed in range(1, 6)}) for more in (0.0, 10.0))
    lead = paired.fewer(few, many)
    assert (lead.value, lead.low, lead.high) == pytest.approx((10.0, 10.0, 10.0))  # alone each mean is off by 70
    assert paired.mean(few).high - paired.mean(few).low > 300
    short = Runs(many.values, frozenset({5}))
    assert paired.fewer(few, short).high == math.inf
    assert paired.fewer(short, many).low == -math.inf
    assert paired.saved(few, short).low == pytest.approx(paired.saved(few, many).low)
    assert paired.fewer(few, Runs()).value is None


def curve(setting: str, answer: int, seconds: float, mse: list[float]) -> dict[str, Any]:
    place = {"setting": setting, "mode": "as-printed", "answer": answer, "seconds": seconds}
    return {**place, "mse_each": paired.each_text(mse)}


def test_claims_about_curves_are_paired_by_seed() -> None:
    """Seeds differ by far more than settings do, so that only a paired comparison decides."""
    seeds = [1.0, 2.0, 3.0]
    less = {"label": 0.0, "select-3": 0.2, "select-10": 0.3, "rank-4": 0.4, "rank-10": 0.5}
    fig12 = [curve(name, 300, 3000.0, [value - by for value in seeds]) for name, by in less.items()]
    fig4 = [
        curve(name, 1000, 9.0, [share * value for value in seeds])
        for name, share in (("select-2", 1.0), ("select-10", 0.8))
    ]
    found = {row["claim"]: row for row in curves(source_of(fig4=fig4, fig12=fig12))}
    lead = found["In time, ranking of 10 leads select-10."]
    assert (lead["estimate"], lead["low"]) == (pytest.approx(0.2), pytest.approx(0.2))
    assert lead["measured"] == "difference of MSE after 3000 s, 3 paired seeds"
    options = found["After 1000 selections the MSE is about 20 % lower with 10 options than with 2."]
    assert (options["estimate"], options["high"], options["verdict"]) == (pytest.approx(0.2), pytest.approx(0.2), HOLDS)
    assert found["Ranking of 10 gains less over labels in time than in interactions."]["estimate"] == pytest.approx(0)
    assert found["The larger the set, the faster the MSE falls."]["estimate"] == pytest.approx(0.4)
    assert {row["mode"] for row in found.values() if row["estimate"] is not None} == {"as-printed"}


def test_ratios_of_gains_are_paired_by_seed() -> None:
    ends = ("select_high-4", "select_low-4")
    rows = [
        {"mode": "default", "question": name, "answer": answer, "seeds": 3, "bits": sum(bits), "ratio": 1.0, "ratio_se": 0.01,
         "bits_each": paired.each_text(bits), "ratio_each": paired.each_text(bits)}
        for answer in (0, 200)
        for name, bits in (("rank-4", [1.0, 2.0, 4.0]), (ends[0], [2.0, 4.0, 8.0]), (ends[1], [1.0, 2.0, 4.0]))
    ]  # fmt: skip
    found = {row["claim"]: row for row in ratios(source_of(fig9=rows))}
    stays = found["The ratio of gains between kinds stays about constant."]
    assert (stays["low"], stays["high"], stays["verdict"]) == (pytest.approx(1.0), pytest.approx(1.0), HOLDS)
    best = found["Actively choosing between highest and lowest makes no significant difference."]
    assert (best["low"], best["high"], best["verdict"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3), FAILS)


def test_the_smallest_of_several_has_an_interval_that_knows_it_was_chosen() -> None:
    noise = np.array([-1.0, 0.0, 1.0])
    alone = paired.difference(3 + noise, "")
    found = paired.smallest({"a": 3 + noise, "b": 5 + 4 * noise}, "lead")
    assert (found.value, found.reason) == (3.0, "lead, 3 paired seeds: the smallest of 2, a")
    assert found.high > alone.high  # one of two is chosen
    assert found.low < 3.0 - 4 * (3.0 - alone.low) + 2  # that of b, which may be the smallest as well
    assert paired.smallest({"a": np.array([1.0])}, "").value is None
    assert paired.smallest({}, "").value is None


def test_rates_are_paired_by_measurement() -> None:
    """Measurements differ by far more than sizes do, so that only a paired comparison decides."""
    worth = {("label", 1): 1.0, **{("select", k): k - 0.1 * k * k / 2 for k in (2, 3, 4)},
             **{("rank", k): 2.0 * k + 0.1 * k * k for k in (2, 3, 4)}}  # fmt: skip
    rows = [
        {"mode": "default", "times": "fitted", "kind": kind, "size": size, "seconds": 1.0,
         "bits_each": paired.each_text([bits - 5, bits, bits + 5])}
        for (kind, size), bits in worth.items()
    ]  # fmt: skip
    found = {row["claim"]: row for row in rates(source_of(fig11=rows))}
    falls = {kind: found[f"Returns of further items diminish for {kind}."] for kind in ("select", "rank")}
    assert (falls["select"]["estimate"], falls["select"]["verdict"]) == (pytest.approx(0.1), HOLDS)
    assert (falls["rank"]["estimate"], falls["rank"]["verdict"]) == (pytest.approx(-0.2), FAILS)
    assert falls["rank"]["measured"] == (
        "fall of a step of rank, in bits, 3 paired measurements: the smallest of 1, rank of 3"
    )
    assert found["The information rate of selection peaks at 3."]["verdict"] == FAILS  # here it grows to 4


def test_returns_that_diminish_by_sharpness_are_paired_by_measurement() -> None:
    bits = {"label": (1.0, 1.0, 1.0), "rank": (1.0, 2.0, 2.5), "select": (1.0, 2.0, 2.5)}
    sharp = {**bits, "rank": (1.0, 2.5, 4.0), "select": (1.0, 2.0, 2.5)}
    rows = [
        {"mode": "default", "sharpness": "w fixed", "K": K, "question": paper.titled(kind, size),
         "bits_each": paired.each_text([scale * one for scale in (1.0, 2.0, 4.0)])}
        for K, own in ((1.0, bits), (8.0, sharp))
        for kind, values in own.items()
        for size, one in zip((2, 4, 6), values, strict=True)
    ]  # fmt: skip
    found = {row["claim"]: row for row in ratios(source_of(fig10=rows))}
    assert found["The benefit of rankings over labels grows with a/sigma."]["estimate"] == pytest.approx(0.5)
    sentence = "Returns of further items diminish more if a/sigma is small, for {}."
    assert found[sentence.format("rank")]["estimate"] == pytest.approx(0.5)
    assert found[sentence.format("rank")]["verdict"] == HOLDS
    assert found[sentence.format("select")]["estimate"] == pytest.approx(0.0)


def test_bounds_are_judged_at_all_settings_at_once() -> None:
    row = {"question": "label", "runs": 100, "measured": 30.0, "measured_se": 1.0, "lower": 20.0, "upper_printed": 90.0}
    tight = {**row, "epsilon": 0.01, "lower": 28.5}
    found = {row["claim"]: row for row in theory(source_of(theorem1=[{**row, "epsilon": 0.1}, tight]))}
    lower = found["Theorem 1: the lower bound on the stopping time."]
    assert (lower["estimate"], lower["verdict"]) == (1.5, OPEN)
    assert lower["measured"].endswith("100 runs each: the smallest of 2, label, epsilon 0.01")
    assert {row["verdict"] for name, row in found.items() if "bound on the stopping time grows with d" in name} == {
        HOLDS
    }


def test_the_order_on_images_is_paired_by_seed_and_named_with_its_pool() -> None:
    seeds = [0.5, 0.6, 0.7]
    rows = [
        {"mode": "default", "setting": name, "answer": 120, "accuracy_each": paired.each_text([x + by for x in seeds])}
        for name, by in (("label", 0.0), ("select-4", 0.05), ("rank-4", 0.02))
    ]
    found = {row["claim"]: row for row in curves(source_of(fig5=rows))}
    sentence = "Images: accuracy increases faster with {} than with {} (OASIS, in place of AVA)."
    assert found[sentence.format("rank-4", "select-4")]["verdict"] == FAILS
    assert found[sentence.format("select-4", "label")]["verdict"] == HOLDS


def test_a_first_crossing_comes_with_the_lasting_one_and_with_accuracies() -> None:
    whole = {"part": "methods", "mode": "as-printed", "setting": "rank-4", "lasting_s": 3500.0, "accuracy_300_s": 0.6}
    whole |= {"accuracy_600_s": 0.64, "accuracy_1800_s": None}
    rows = [*trials("as-printed", "rank-4", [189.0, 191.0, 190.0]), whole]
    found = {row["claim"]: row["measured"] for row in counts(source_of(baselines=rows))}
    expected = "3 seeds; rank-4 stays there from 3500 s, 60.0 / 64.0 / – % at 300 / 600 / 1800 s"
    assert found["rank-4 reaches 75 % after 191 interactions."] == expected
    labels = {**whole, "setting": "label", "lasting_s": None, "accuracy_600_s": 0.5}
    table = claims.savings_markdown(
        claims.saving_rows(source_of(baselines=[*rows, *trials("as-printed", "label", [400.0] * 3), labels]))
    )
    assert "| question |  | within as-printed | default against labels of as-printed |" in table
    assert "| rank-4 | the mean stays there from | not within the trials → 3500 s |" in table
    assert "| rank-4 | accuracy after 600 s | 50.0 % → 64.0 % |" in table


def test_savings_are_within_a_mode_or_named_as_across() -> None:
    row = {"pool": "words", "target": 0.9, "seeds": 20, "reached": 20, "to_label": 0.4, "to_label_se": 0.01}
    further = [{**row, "setting": name} for name in ("label", "auto")]
    rows = [
        *trials("default", "rank-4", [50.0, 50.0, 50.0]),
        *trials("default", "label", [100.0, 100.0, 100.0]),
        *trials("paper", "label", [200.0, 200.0, 200.0]),
    ]
    found = {
        (row["mode"], row["labels"], row["setting"]): own.value
        for row, own in savings(source_of(grid=further, baselines=rows))
        if own.value is not None
    }
    within, across = ("default", "default", "rank-4"), ("default", "paper", "rank-4")
    assert found == pytest.approx({within: 0.5, across: 0.75, ("default", "default", "auto"): 0.6})
    short = [further[0] | {"reached": 19}, further[1]]  # labels that needed more than their trial: more may be saved
    assert [own.high for row, own in savings(source_of(grid=short)) if row["setting"] == "auto"] == [math.inf]
    judged = [row for row in counts(source_of(grid=further, baselines=rows)) if row["section"] == "Abstract"]
    assert {(row["mode"], row["verdict"]) for row in judged if row["estimate"] is not None} == {
        ("default", FAILS),
        ("default", HOLDS),
    }


def test_savings_within_the_default_are_told_in_words() -> None:
    row = {"mode": "default", "labels": "default", "pool": claims.WORDS, "setting": "auto", "note": "8 paired seeds"}
    rows = [
        {**row, "saved": 0.6, "low": 0.5, "high": math.inf},
        {**row, "setting": "rank-4", "saved": None},
        {**row, "labels": "as-printed", "saved": 0.9},
    ]
    assert claims.within_default(rows) == (
        "Seconds saved compared with labels in the same mode, to 75%: `auto` 60% (50% to open; 8 paired seeds)."
    )


def test_the_headline_is_against_the_baseline_that_needs_fewest_answers() -> None:
    def setting(part: str, mode: str, scale: float | None, needed: float) -> list[dict[str, Any]]:
        row = {"part": part, "mode": mode, "setting": "rank-4", "scale": scale, "pool": "p", "seeds": 20, "reached": 20}
        means = {"interactions": needed, "interactions_se": 1.0, "interactions_at_least": needed}
        means |= {"lasting_s": None if scale is None else 2000.0, "accuracy_600_s": 0.7}
        own = trials(mode, "rank-4", [needed] * 20, part=f"{part}, trials", scale=scale)
        return [{**row, **means}, *own]

    rows = [
        *setting("methods", "default", None, 50.0),
        *setting("methods", "paper", 2.0, 200.0),
        *setting("strongest", "as-printed", 4.0, 100.0),
    ]
    found = headline_rows(source_of(baselines=rows))
    assert [(row["baseline"], row["scale"], row["interactions_saved"]) for row in found] == [("as-printed", 4.0, 0.5)]
    assert headline_table(found)[1][0][-2:] == ["70.0% → 70.0%", "2000 s → –"]


def test_without_rows_only_what_needs_none_is_judged() -> None:
    rows = claims.claim_rows(source_of())
    assert {row["claim"] for row in where(rows, verdict=FAILS)} == {
        "rank-4 carries at most about 4.3 bits.",
        "The linear form wins for selections with p = 1e-05, that is a Vuong statistic of 4.4.",
        "The linear form wins for rankings with p = 4e-05, that is a Vuong statistic of 4.1.",
        "For words the printed distance means a largest deviation of 3 %.",
        "For images the printed distance means a largest deviation of 9.5 %.",
    }
    assert len(claims.claims(rows).axes) == 1


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    return loaded(ROOT / "scripts" / "write_claims.py")


def test_the_committed_tables_and_the_page_follow_from_the_committed_rows(writer: ModuleType) -> None:
    """After a change of a CSV file in docs/results: python scripts/write_claims.py."""
    for name, content in writer.follow().items():
        assert (RESULTS / name).read_text(encoding="utf-8") == content
    for page, content in writer.pages().items():
        assert page.read_text(encoding="utf-8") == content, f"{page.name}: run python scripts/write_claims.py"
    assert "<!-- headline -->" in (ROOT / "docs" / "savings.md").read_text(encoding="utf-8")
    assert "<!-- headline-sentence -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_committed_claim_that_is_judged_has_an_interval_and_says_over_what() -> None:
    rows = claims.from_folder(RESULTS)("claims")
    judged = [row for row in rows if row["estimate"] is not None]
    assert {row["verdict"] for row in rows if row["estimate"] is None} <= {UNTESTED, OPEN}
    assert [row["claim"] for row in judged if row["low"] is None or row["high"] is None] == []
    assert [row["claim"] for row in rows if not row["mode"] or not row["measured"]] == []
    simulated = [row for row in judged if row["mode"] in ("as-printed", "as-authors", "paper", "default")]
    over = ("paired seeds", "paired measurements", "seeds", "problems")
    assert [row["claim"] for row in simulated if not any(f" {what}" in f" {row['measured']}" for what in over)] == []
    compared = [row for row in simulated if "errors of both added" in row["measured"]]
    assert {row["section"] for row in compared} <= {"II-C"}  # the closed form's own errors are negligible there


def test_the_page_begins_with_what_did_not_hold() -> None:
    headings = [line for line in (ROOT / "docs" / "results.md").read_text().splitlines() if line.startswith("## ")]
    assert headings[0].startswith("## What did not hold")
