"""The quantitative sentences of the paper, one row each: what was measured, and whether it holds."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures import black_box, gumbel, information, learning, score_distance, stopping, table1, times
from tellmore.figures.bench import Bench
from tellmore.figures.curves import crossing, last_value
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.information import name_of
from tellmore.plotting import table_figure
from tellmore.rows import Row, Rows, column, distinct, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENOUGH_ANSWERS = 100
"""Errors after fewer answers do not tell strategies apart: all are still near where they started."""
HOLDS, FAILS, UNTESTED = "holds", "does not hold", "cannot be tested here"
Measured = tuple[str, bool | None]
"""What was measured, in words, and whether the claim holds; None where it cannot be said."""

_NEEDS_PEOPLE = "needs human participants; the study that is run here is simulated"
_PEOPLE_CLAIMS = (
    ("III-C", "A linear model describes selection times better than a logarithmic one (p = 1e-5)."),
    ("III-C", "A linear model describes ranking times better than a quadratic one (p = 4e-5)."),
    ("III-C", "Selection takes 4.01 + 0.63 |S| seconds, ranking -0.32 + 4.41 |S|."),
    ("App. C", "Participants need about 20 minutes for 50 queries."),
    ("App. C", "Item difficulty explains no further variance of response times (p = 0.90)."),
)


_EXHIBITS = {
    exhibit.name: exhibit
    for module in (score_distance, table1, learning, information, gumbel, stopping, black_box, times)
    for exhibit in module.EXHIBITS
}


class Evidence:
    """``evidence("fig3")`` are the rows of another exhibit, collected when first asked for."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.has_images = bench.has("images")
        self._rows: dict[str, Rows] = {}

    def __call__(self, name: str) -> Rows:
        if name not in self._rows:
            self._rows[name] = _EXHIBITS[name].collect(self._bench)
        return self._rows[name]

    def long_run(self, setting: str) -> Row | None:
        """A setting of the long runs on words, to 75 %; None where a seed failed."""
        row = where(self("times"), pool=self._bench.source("sentiment").title, setting=setting)[0]
        return row if row["reached"] == row["seeds"] else None

    def words(self, mode: str) -> Rows:
        """The learning curves of Fig. 3 in one mode."""
        return where(self("fig3"), mode=mode)


def _if_long_enough(rows: Rows, holds: bool) -> bool | None:
    return holds if max(row["answer"] for row in rows) >= ENOUGH_ANSWERS else None


def _rates(evidence: Evidence) -> Rows:
    """Rows of Fig. 11 at the paper's times."""
    rows = evidence("fig11")
    return where(rows, times=rows[0]["times"])


def _bits_by_size(evidence: Evidence) -> dict[tuple[str, int], float]:
    return {(row["kind"], row["size"]): row["bits"] for row in _rates(evidence)}


def _affine(evidence: Evidence) -> Measured:
    rows = evidence("fig1")
    r2 = {pool: where(rows, pool=pool)[0]["r2"] for pool in distinct(rows, "pool")}
    return "R² " + ", ".join(f"{value:.2f}" for value in r2.values()), min(r2.values()) > 0.3


def _gumbel_max_fits_better(evidence: Evidence) -> Measured:
    rows = evidence("fig14")
    pairs = [
        tuple(where(rows, pool=pool, law=law)[0]["ks"] for law in ("Gumbel-max", "Gumbel-min"))
        for pool in distinct(rows, "pool")
    ]
    words = "; ".join(f"KS {high:.3f} against {low:.3f}" for high, low in pairs)
    return words, all(high < low for high, low in pairs)


def _high_or_low(evidence: Evidence) -> Measured:
    rows = evidence("fig9")
    high, low = (np.array(column(where(rows, question=f"{kind}-4"), "bits")) for kind in ("select_high", "select_low"))
    gain = float(np.mean(np.maximum(high, low) / ((high + low) / 2))) - 1
    return f"asking the more informative end of 4 gains {gain:.1%} bits over a random end", gain < 0.05


def _gain_grows(evidence: Evidence) -> Measured:
    bits = _bits_by_size(evidence)
    series = {kind: [bits[key] for key in sorted(bits) if key[0] == kind] for kind in ("select", "rank")}
    words = "; ".join(f"{kind} {values[0]:.2f} to {values[-1]:.2f} bits" for kind, values in series.items())
    return words, all(np.diff(values).min() > 0 for values in series.values())


def _rank_at_least_select(evidence: Evidence) -> Measured:
    bits = _bits_by_size(evidence)
    ratios = [bits["rank", size] / bits["select", size] for kind, size in bits if kind == "select"]
    return f"rank is worth {min(ratios):.2f} to {max(ratios):.2f} times select", min(ratios) >= 1


def _ratios_constant(evidence: Evidence) -> Measured:
    rows = evidence("fig9")
    ratios = column(where(rows, question="rank-4"), "ratio")
    change = ratios[-1] / ratios[0]
    return f"rank-4 / label: {ratios[0]:.2f} at the start, {ratios[-1]:.2f} at the end", 0.75 < change < 1.33


def _two_active_beat_two_random(evidence: Evidence) -> Measured:
    rows = evidence.words("paper")
    active, random = (last_value(rows, name, "mse") for name in ("select-2", "rank-2, random"))
    words = f"MSE {active:.3f} (two active select items) against {random:.3f} (two random ranked)"
    return words, _if_long_enough(rows, active < random)


def _ten_against_two(evidence: Evidence) -> Measured:
    rows = evidence("fig4")
    two, ten = (last_value(rows, f"select-{size}", "mse") for size in (2, 10))
    answers = rows[-1]["answer"]
    lower = 1 - ten / two
    enough = None if answers < 1000 else 0.1 <= lower <= 0.3
    return f"{lower:.0%} lower after {answers}", enough


def _fewer_interactions(rows: Rows, target: float) -> tuple[str, float | None]:
    rank, label = crossing(rows, "rank-4", target), crossing(rows, "label", target)
    longest = where(rows, setting="label")[-1]["answer"]
    if rank is None:
        return f"rank-4 does not reach {target:.0%} within {longest}", None
    if label is None:
        return f"rank-4 {rank:.0f}, label more than {longest}: at least {1 - rank / longest:.0%} fewer", None
    return f"rank-4 {rank:.0f}, label {label:.0f}: {1 - rank / label:.0%} fewer", 1 - rank / label


def _eighty_five_percent(mode: str) -> Callable[[Evidence], Measured]:
    def measure(evidence: Evidence) -> Measured:
        rank = where(evidence("table1"), mode=mode, setting="rank-4")[0]
        label = evidence.long_run(times.YARDSTICK if mode == "paper" else "label")
        if label is None or rank["reached"] < rank["seeds"]:
            return "75 % was not reached by all", None
        fewer = 1 - rank["interactions"] / label["interactions"]
        return f"rank-4 {rank['interactions']:.0f}, label {label['interactions']:.0f}: {fewer:.0%} fewer", fewer >= 0.8

    return measure


def _eighty_four_percent(evidence: Evidence) -> Measured:
    if not evidence.has_images:
        return "no image pool at hand", None
    words, share = _fewer_interactions(where(evidence("fig5"), mode="paper"), 0.63)
    return f"on OASIS, not AVA: {words}", None if share is None else share >= 0.79


def _order_of_kinds(evidence: Evidence) -> Measured:
    rows = evidence.words("paper")
    reach = {name: crossing(rows, name, 0.75) for name in ("rank-4", "select-4", "label")}
    longest = where(rows, setting="label")[-1]["answer"]
    values = [longest + 1 if at is None else at for at in reach.values()]
    words = ", ".join(
        f"{name} {'> ' + str(longest) if at is None else format(at, '.0f')}" for name, at in reach.items()
    )
    if reach["rank-4"] is None:
        return words, None
    return words, values[0] < values[1] <= values[2]


def _active_beats_random(evidence: Evidence) -> Measured:
    rows = evidence.words("paper")
    pairs = [
        (name, last_value(rows, name, "mse"), last_value(rows, f"{name}, random", "mse"))
        for name in ("label", "select-4", "rank-4")
    ]
    words = "MSE at the end, active against random: " + "; ".join(f"{n} {a:.3f} / {r:.3f}" for n, a, r in pairs)
    return words, _if_long_enough(rows, all(active < random for _, active, random in pairs))


def _paper_counts(evidence: Evidence) -> Measured:
    rows = where(evidence("table1"), mode="paper")
    rank = where(rows, setting="rank-4")[0]
    if rank["reached"] < rank["seeds"]:
        return f"{rank['reached']} of {rank['seeds']} seeds reached 75 %", None
    return f"{rank['interactions']:.0f} ± {rank['interactions_se'] or 0:.0f}", 150 <= rank["interactions"] <= 235


def _less_time(evidence: Evidence) -> Measured:
    label = evidence.long_run(times.YARDSTICK)
    settings = [evidence.long_run(name) for name in ("auto", *(name_of(*fixed) for fixed in times.FIXED))]
    reached = [row for row in settings if row is not None]
    if label is None or not reached:
        return "75 % was not reached by all", None
    best = min(reached, key=lambda row: float(row["seconds"]))
    saved = 1 - best["seconds"] / label["seconds"]
    words = f"{best['setting']} in default mode saves {saved:.0%} of the seconds of paper mode's labels to 75 %"
    return words, saved > 0.57


def _select_peaks_at_three(evidence: Evidence) -> Measured:
    peak = max(where(_rates(evidence), kind="select"), key=lambda row: row["bits_per_second"])["size"]
    return f"peaks at {peak}", peak == 3


def _rank_rate_grows(evidence: Evidence) -> Measured:
    rates = column(where(_rates(evidence), kind="rank"), "bits_per_second")
    return f"{rates[0]:.3f} to {rates[-1]:.3f} bits/s", bool(np.diff(rates).min() > 0)


def _rank_rate_leads(evidence: Evidence) -> Measured:
    rows = _rates(evidence)
    ratios = [
        r["bits_per_second"] / s["bits_per_second"]
        for r, s in zip(where(rows, kind="rank"), where(rows, kind="select"), strict=True)
    ]
    return f"rank / select from {min(ratios):.2f} to {max(ratios):.2f}", min(ratios) > 1


def _ten_slower_than_three(evidence: Evidence) -> Measured:
    rows = evidence("fig12")
    common = min(max(column(where(rows, setting=name), "seconds")) for name in ("select-3", "select-10"))
    three, ten = (learning.mse_at(rows, name, common) for name in ("select-3", "select-10"))
    if three is None or ten is None:
        return "too few answers", None
    return f"MSE after {common:.0f} s: {three:.3f} (3) against {ten:.3f} (10)", _if_long_enough(rows, three < ten)


def _bbvi_worse(evidence: Evidence) -> Measured:
    rows = evidence("bbvi")
    ours, theirs = where(rows, method="closed form, paper's bound")[0], where(rows, method="black box")[0]
    words = (
        f"spread over runs {ours['spread_over_runs']:.4f} against {theirs['spread_over_runs']:.4f}; "
        f"{ours['milliseconds']:.2f} against {theirs['milliseconds']:.0f} ms an answer"
    )
    return words, ours["spread_over_runs"] < theirs["spread_over_runs"] and ours["milliseconds"] < theirs[
        "milliseconds"
    ]


def _theorem(evidence: Evidence) -> Measured:
    rows = evidence("theorem1")
    inside = [row["lower"] <= row["measured"] <= row["upper_corrected"] for row in rows]
    return f"{sum(inside)} of {len(rows)} mean stopping times between the bounds (upper one corrected)", all(inside)


def _rank_bits(_: Evidence) -> Measured:
    return "log2 5! = 6.91", False


_CLAIMS: tuple[tuple[str, str, Callable[[Evidence], Measured]], ...] = (
    ("II-A", "Scores are an affine function of the distance to the classifier, plus noise.", _affine),
    ("App. A", "Gumbel-max fits the residuals better than Gumbel-min.", _gumbel_max_fits_better),
    ("II-B", "Actively choosing between highest and lowest makes no significant difference.", _high_or_low),
    ("II-B", "Information gain grows with |S|.", _gain_grows),
    ("II-B", "At equal |S| a ranking is worth at least a selection.", _rank_at_least_select),
    ("Table I", "A ranking of 4 carries at most about 4.3 bits.", _rank_bits),
    ("III-A", "Theorem 1 bounds the expected stopping time.", _theorem),
    ("II-C", "The closed form has less variance and costs less than black-box variational inference.", _bbvi_worse),
    (
        "III-B",
        "To 75 %, rankings need fewer interactions than selections, and those fewer than labels.",
        _order_of_kinds,
    ),
    ("III-B", "Choosing items actively boosts performance.", _active_beats_random),
    ("III-B", "Rank-4 reaches 75 % after 191 (text: 196) interactions.", _paper_counts),
    (
        "III-B",
        "Rank-4 needs about 85 % fewer interactions than labels to 75 % (paper mode).",
        _eighty_five_percent("paper"),
    ),
    ("III-B", "The same in default mode.", _eighty_five_percent("default")),
    ("III-B", "Selection between two active items beats ranking two random ones.", _two_active_beat_two_random),
    ("III-B", "After 1000 selections the MSE is about 20 % lower with 10 options than with 2.", _ten_against_two),
    ("III-B", "Images: rank-4 needs 84 % fewer interactions than labels to 63 %.", _eighty_four_percent),
    ("III-C", "The ratio of gains between kinds stays about constant.", _ratios_constant),
    ("III-C", "The information rate of selection peaks at 3.", _select_peaks_at_three),
    ("III-C", "The information rate of ranking grows up to 10.", _rank_rate_grows),
    ("III-C", "At every |S| rankings have the higher rate.", _rank_rate_leads),
    ("III-C", "In time, selection of 10 learns more slowly than of 3.", _ten_slower_than_three),
    ("Abstract", "Cost-aware questions save more than 57 % of the time of labels.", _less_time),
)


def claim_rows(bench: Bench) -> Rows:
    """One row per sentence: where, what, measured, verdict."""
    evidence = Evidence(bench)
    rows: list[Row] = []
    for section, sentence, measure in _CLAIMS:
        measured, holds = measure(evidence)
        verdict = UNTESTED if holds is None else HOLDS if holds else FAILS
        rows.append({"section": section, "claim": sentence, "measured": measured, "verdict": verdict})
    rows += [
        {"section": section, "claim": sentence, "measured": _NEEDS_PEOPLE, "verdict": UNTESTED}
        for section, sentence in _PEOPLE_CLAIMS
    ]
    return rows


def claims(rows: Rows) -> Figure:
    """The claims as a table picture."""
    body = [
        [row["section"], *("\n".join(textwrap.wrap(row[name], 62)) for name in ("claim", "measured")), row["verdict"]]
        for row in rows
    ]
    return table_figure(
        ["section", "claim", "measured", "verdict"], body, title="Claims of the paper", widths=[0.07, 0.4, 0.4, 0.13]
    )


def _compare(rows: Rows) -> str:
    counts = {verdict: len(where(rows, verdict=verdict)) for verdict in (HOLDS, FAILS, UNTESTED)}
    failing = "; ".join(f"“{row['claim']}” ({row['measured']})" for row in where(rows, verdict=FAILS))
    return (
        f"Of {len(rows)} quantitative sentences {counts[HOLDS]} hold, {counts[FAILS]} do not and {counts[UNTESTED]} cannot be "
        f"tested here. Not holding: {failing or 'none'}."
    )


EXHIBITS = (Exhibit("claims", "Claims of the paper, sentence by sentence", claim_rows, claims, _compare),)
