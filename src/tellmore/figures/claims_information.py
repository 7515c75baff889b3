"""Claims on information, on the data and on the mathematics."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tellmore.figures.claims_learning import Source
from tellmore.figures.verdict import Allowed, Estimate, about, claim_row
from tellmore.rows import Row, column, where

WORDS = "SocialSent 2000s, word2vec"


def _least_step(values: list[float], errors: list[float], reason: str) -> Estimate:
    """The smallest difference between neighbours, by the errors of both: as if its place had been named before."""
    steps = np.diff(values)
    place = int(np.argmin(steps))
    half = 1.96 * math.hypot(errors[place], errors[place + 1])
    return Estimate(float(steps[place]), float(steps[place]) - half, float(steps[place]) + half, reason)


def rates(source: Source) -> Iterator[Row]:
    rows = source("fig11")
    if not rows:
        return
    rows = where(rows, times=rows[0]["times"])
    by_kind = {kind: sorted(where(rows, kind=kind), key=lambda row: row["size"]) for kind in ("select", "rank")}
    for kind, own in by_kind.items():
        bits, errors = column(own, "bits"), column(own, "bits_se")
        least = _least_step(bits, errors, f"smallest step of {kind}, in bits; default's prior")
        yield claim_row("II-B", f"Information gain of {kind} grows with |S|.", "default", least)
        falls = _least_step(
            (-np.diff(bits)).tolist(), errors[1:], f"smallest fall of a step of {kind}; default's prior"
        )
        yield claim_row("II-B", f"Returns of further items diminish for {kind}.", "default", falls)
    pairs = list(zip(by_kind["rank"], by_kind["select"], strict=True))
    yield claim_row(
        "II-B", "At equal |S| a ranking is worth at least a selection.", "default", _least_lead(pairs, "bits")
    )
    sentence = "At every |S| rankings have the higher rate."
    yield claim_row("III-C", sentence, "default", _least_lead(pairs, "bits_per_second"))
    rate, errors = (
        [value / row["seconds"] for value, row in zip(column(by_kind["rank"], name), by_kind["rank"], strict=True)]
        for name in ("bits", "bits_se")
    )
    least = _least_step(rate, errors, "smallest step, in bits per second; default's prior")
    yield claim_row("III-C", "The information rate of ranking grows up to 10.", "default", least)
    three = next(row for row in by_kind["select"] if row["size"] == 3)
    others = [(three, row) for row in by_kind["select"] if row["size"] != 3]
    yield claim_row(
        "III-C", "The information rate of selection peaks at 3.", "default", _least_lead(others, "bits_per_second")
    )


def _least_lead(pairs: list[tuple[Row, Row]], measure: str) -> Estimate:
    """The smallest lead of the first of each pair over the second."""

    def lead(pair: tuple[Row, Row]) -> float:
        return float(pair[0][measure] - pair[1][measure])

    first, second = min(pairs, key=lead)
    scale = [1.0 if measure == "bits" else row["seconds"] for row in (first, second)]
    half = 1.96 * math.hypot(first["bits_se"] / scale[0], second["bits_se"] / scale[1])
    value = lead((first, second))
    return Estimate(value, value - half, value + half, f"smallest lead, at {second['size']} items; default's prior")


def ratios(source: Source) -> Iterator[Row]:
    rows = where(source("fig9"), question="rank-4")
    if not rows:
        return
    start, end = rows[0], rows[-1]
    ratio = end["ratio"] / start["ratio"]
    se = ratio * math.hypot(end["ratio_se"] / end["ratio"], start["ratio_se"] / start["ratio"])
    estimate = Estimate.of(
        ratio, se, end["seeds"], f"rank-4 / label after {end['answer']} answers over that at the start"
    )
    yield claim_row("III-C", "The ratio of gains between kinds stays about constant.", "default", estimate, about(1.0))
    pairs = [(where(source("fig9"), question=f"select_{side}-4", answer=end["answer"])[0]) for side in ("high", "low")]
    high, low = sorted(pairs, key=lambda row: -float(row["bits"]))
    mean = (high["bits"] + low["bits"]) / 2
    gain = Estimate.of(
        high["bits"] / mean - 1,
        math.hypot(high["bits_se"], low["bits_se"]) / (2 * mean),
        high["seeds"],
        "bits of the better end of 4 over those of a random end, minus 1",
    )
    sentence = "Actively choosing between highest and lowest makes no significant difference."
    yield claim_row("II-B", sentence, "default", gain, Allowed(-0.05, 0.05))
    reason = "Fig. 10 is measured with w scaled along with K; not rerun with w fixed"
    yield claim_row("II-B", "The benefit of rankings grows with a/sigma.", "default", Estimate.missing(reason))


def residuals(source: Source) -> Iterator[Row]:
    """By the Dvoretzky-Kiefer-Wolfowitz band, which is valid for any law; 4,479 words."""
    rows = {row["law"]: row["ks"] for row in where(source("fig14"), pool=WORDS)}
    if not rows:
        return
    half = 1.358 / math.sqrt(4479)
    swapped = "MATLAB's fitdist(..., 'ev') is Gumbel-min: with the names swapped the printed values are near these"
    for law, printed in (("Gumbel-max", 0.095), ("Gumbel-min", 0.136)):
        estimate = Estimate(rows[law], rows[law] - half, rows[law] + half, swapped)
        yield claim_row(
            "App. A",
            f"Words: the Kolmogorov-Smirnov distance is {printed} for {law}.",
            "data",
            estimate,
            about(printed),
        )
    lead = rows["Gumbel-min"] - rows["Gumbel-max"]
    estimate = Estimate(lead, lead - 2 * half, lead + 2 * half, swapped)
    yield claim_row("App. A", "Gumbel-max fits the residuals better than Gumbel-min.", "data", estimate)


def theory(source: Source) -> Iterator[Row]:
    exact = Estimate(math.log2(120), math.log2(120), math.log2(120), "log2 5!, exact")
    yield claim_row("Table I", "A ranking of 4 carries at most about 4.3 bits.", "mathematics", exact, about(4.3))
    rows = source("theorem1")
    for bound, sign, note in (
        ("lower", 1, "bound"),
        ("upper_printed", -1, "printed bound, with L as measured in the same runs"),
    ):
        if rows:
            near = min(
                rows, key=lambda row: sign * float(row["measured"] - row[bound]) / max(float(row["measured_se"]), 1e-9)
            )
            margin = sign * (near["measured"] - near[bound])
            estimate = Estimate.of(margin, near["measured_se"], near["runs"], f"smallest distance to the {note}")
            yield claim_row(
                "III-A", f"Theorem 1: the {bound.split('_')[0]} bound on the stopping time.", "ideal", estimate
            )
    for row in where(source("bbvi"), method="black box"):
        reason = f"{row['problems']} problems are too few: the accuracies are noise; not rerun on 40"
        sentence = "The closed form has less variance and costs less than black-box variational inference."
        yield claim_row("II-C", sentence, "paper", Estimate(row["spread_over_runs"], -math.inf, math.inf, reason))
