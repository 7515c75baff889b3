"""Claims about information, about the data and about the mathematics."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import stats

from tellmore import kinds
from tellmore.figures import paper
from tellmore.figures.black_box import BLACK_BOX, PAPER
from tellmore.figures.claims_learning import WORDS, Source
from tellmore.figures.information import FIXED
from tellmore.figures.paired import difference, each_of
from tellmore.figures.verdict import Allowed, Estimate, about, claim_row
from tellmore.policy.cost import PAPER_COST
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.theory import outcome_count


def _least_step(values: list[float], errors: list[float], reason: str) -> Estimate:
    """The smallest difference between neighbours, with the errors of both, as if its position had been fixed in advance."""
    steps = np.diff(values)
    place = int(np.argmin(steps))
    half = 1.96 * math.hypot(errors[place], errors[place + 1])
    return Estimate(float(steps[place]), float(steps[place]) - half, float(steps[place]) + half, reason)


def _least_fall(values: list[float], errors: list[float], reason: str) -> Estimate:
    """The smallest amount by which a step is smaller than the one before, with the errors of all three values, as if its position
    had been fixed in advance."""
    falls = -np.diff(values, n=2)
    place = int(np.argmin(falls))
    half = 1.96 * math.hypot(errors[place], 2 * errors[place + 1], errors[place + 2])
    return Estimate(float(falls[place]), float(falls[place]) - half, float(falls[place]) + half, reason)


def rates(source: Source) -> Iterator[Row]:
    """What the paper says about gains and rates at the prior, in each mode."""
    rows = source("fig11")
    rows = where(rows, times=rows[0]["times"]) if rows else []
    for mode in distinct(rows, "mode"):
        yield from _rates(where(rows, mode=mode), mode)


def _rates(rows: Rows, mode: str) -> Iterator[Row]:
    by_kind = {kind: sorted(where(rows, kind=kind), key=lambda row: row["size"]) for kind in paper.SETS}
    for kind, own in by_kind.items():
        bits, errors = column(own, "bits"), column(own, "bits_se")
        least = _least_step(bits, errors, f"smallest step of {kind}, in bits")
        yield claim_row("II-B", f"Information gain of {kind} grows with |S|.", mode, least)
        falls = _least_fall(bits, errors, f"smallest fall of a step of {kind}")
        yield claim_row("II-B", f"Returns of further items diminish for {kind}.", mode, falls)
    selections, rankings = by_kind[paper.SELECT], by_kind[paper.RANK]
    pairs = list(zip(rankings, selections, strict=True))
    sentence = "At equal |S| a ranking is worth at least a selection."
    yield claim_row("II-B", sentence, mode, _least_lead(pairs, "bits"))
    sentence = "At every |S| rankings have the higher rate."
    yield claim_row("III-C", sentence, mode, _least_lead(pairs, "bits_per_second"))
    rate, errors = (
        [value / row["seconds"] for value, row in zip(column(rankings, name), rankings, strict=True)]
        for name in ("bits", "bits_se")
    )
    least = _least_step(rate, errors, "smallest step, in bits per second")
    yield claim_row("III-C", "The information rate of ranking grows up to 10.", mode, least)
    three = next(row for row in selections if row["size"] == 3)
    others = [(three, row) for row in selections if row["size"] != 3]
    sentence = "The information rate of selection peaks at 3."
    yield claim_row("III-C", sentence, mode, _least_lead(others, "bits_per_second"))
    best = rankings[-1]
    rest = [(best, row) for row in rows if row is not best]
    sentence = "With the fitted times, rankings of 10 have the highest rate of all."
    yield claim_row("III-C", sentence, mode, _least_lead(rest, "bits_per_second"))


def _least_lead(pairs: list[tuple[Row, Row]], measure: str) -> Estimate:
    """The smallest lead of the first of each pair over the second."""

    def lead(pair: tuple[Row, Row]) -> float:
        return float(pair[0][measure] - pair[1][measure])

    first, second = min(pairs, key=lead)
    scale = [1.0 if measure == "bits" else row["seconds"] for row in (first, second)]
    half = 1.96 * math.hypot(first["bits_se"] / scale[0], second["bits_se"] / scale[1])
    value = lead((first, second))
    return Estimate(
        value, value - half, value + half, f"smallest lead, over {paper.titled(second['kind'], second['size'])}"
    )


def ratios(source: Source) -> Iterator[Row]:
    """What the paper says about ratios of gains: along a run, between the two ends of a selection, and by a/sigma."""
    for mode in distinct(source("fig9"), "mode"):
        rows = where(source("fig9"), mode=mode)
        ranked = where(rows, question=paper.RANKINGS)
        start, end = ranked[0], ranked[-1]
        estimate = _stays(start, end)
        yield claim_row("III-C", "The ratio of gains between kinds stays about constant.", mode, estimate, about(1.0))
        yield claim_row(
            "III-C", "The ratios of gains are stable across initialisations.", mode, _varies(end), Allowed(high=0.1)
        )
        ends = [paper.titled(kind.name, paper.SIZE) for kind in kinds.family(paper.SELECT)]
        high, low = sorted(
            (where(rows, question=name, answer=end["answer"])[0] for name in ends), key=lambda row: -float(row["bits"])
        )
        gain = _better_end(high, low)
        sentence = "Actively choosing between highest and lowest makes no significant difference."
        yield claim_row("II-B", sentence, mode, gain, Allowed(-0.05, 0.05))
    for mode in distinct(source("fig10"), "mode"):
        yield claim_row(
            "III-C", "The benefit of rankings over labels grows with a/sigma.", mode, _benefit(source, mode)
        )


def _stays(start: Row, end: Row) -> Estimate:
    """The ratio of gains at the end of a run over that at its start; seed by seed, if the rows have the seeds."""
    reason = f"rank-4 / label after {end['answer']} answers over that at the start"
    paired = each_of(end, "ratio_each"), each_of(start, "ratio_each")
    if paired[0].size:
        return difference(paired[0] / paired[1], reason)
    ratio = end["ratio"] / start["ratio"]
    se = ratio * math.hypot(end["ratio_se"] / end["ratio"], start["ratio_se"] / start["ratio"])
    return Estimate.of(ratio, se, end["seeds"], f"{reason}, {end['seeds']} seeds, errors of both added")


def _better_end(high: Row, low: Row) -> Estimate:
    """What the better end of a selection gains over a random end; seed by seed, if the rows have the seeds."""
    reason = "bits of the better end of 4 over those of a random end, minus 1"
    better, worse = (each_of(row, "bits_each") for row in (high, low))
    if better.size:
        return difference(2 * better / (better + worse) - 1, reason)
    mean = (high["bits"] + low["bits"]) / 2
    se = math.hypot(high["bits_se"], low["bits_se"]) / (2 * mean)
    reason = f"{reason}, {high['seeds']} seeds, errors of both added"
    return Estimate.of(high["bits"] / mean - 1, se, high["seeds"], reason)


def _varies(row: Row) -> Estimate:
    """The relative standard deviation of a ratio over seeds, with the interval for normal values."""
    n = row["seeds"]
    spread = row["ratio_se"] * math.sqrt(n) / row["ratio"]
    low, high = (spread * math.sqrt((n - 1) / stats.chi2.ppf(p, n - 1)) for p in (0.975, 0.025))
    return Estimate(spread, low, high, f"relative standard deviation of rank-4 / label over {n} seeds, at most a tenth")


def _benefit(source: Source, mode: str) -> Estimate:
    """How many labels a ranking of 4 is worth, with w fixed: the smallest step from one a/sigma to the next."""
    rows = where(source("fig10"), mode=mode, sharpness=FIXED)
    ranked, labels = (where(rows, question=name) for name in (paper.RANKINGS, paper.LABELS))
    worth = [rank["bits"] / label["bits"] for rank, label in zip(ranked, labels, strict=True)]
    errors = [
        ratio * math.hypot(rank["bits_se"] / rank["bits"], label["bits_se"] / label["bits"])
        for ratio, rank, label in zip(worth, ranked, labels, strict=True)
    ]
    return _least_step(
        worth,
        errors,
        f"smallest step of rank-4 / label with w fixed, which grows from {worth[0]:.1f} to {worth[-1]:.1f}",
    )


def residuals(source: Source) -> Iterator[Row]:
    """What the paper says about residuals, with the Dvoretzky-Kiefer-Wolfowitz band, valid for any distribution; 4,479 words."""
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


def _deviations() -> Iterator[Row]:
    """What Appendix A says about its own statistics: the distance is the largest deviation."""
    for what, distance, said in (("words", 9.5, 3.0), ("images", 3.0, 9.5)):
        exact = Estimate(distance, distance, distance, "in %; the distance itself: the paper has the two exchanged")
        sentence = f"For {what} the printed distance means a largest deviation of {said:g} %."
        yield claim_row("App. A", sentence, "mathematics", exact, about(said))


def theory(source: Source) -> Iterator[Row]:
    """What follows from the paper's own numbers and proofs."""
    yield from _deviations()
    for setting, family in zip(paper.CHOSEN, paper.FAMILIES, strict=True):
        outcomes = outcome_count(kinds.family(family)[0].name, paper.size_of(family) or 1)
        bits, printed = math.log2(outcomes), paper.BITS[setting]
        exact = Estimate(bits, bits, bits, f"log2 {outcomes}, exact")
        sentence = f"{setting} carries at most about {printed:g} bits."
        yield claim_row("Table I", sentence, "mathematics", exact, about(printed))
    for setting, family, printed in zip(paper.CHOSEN, paper.FAMILIES, (4.37, 6.5, 17.3), strict=True):
        seconds = PAPER_COST.seconds(family, paper.size_of(family) or 1)
        exact = Estimate(seconds, seconds, seconds, "from the printed line, exact")
        yield claim_row("Table I", f"{setting} takes about {printed} s.", "mathematics", exact, about(printed))
    label, select = (outcome_count(kinds.family(one)[0].name, paper.size_of(one) or 1) for one in paper.FAMILIES[:2])
    more = math.log2(select / label)
    sentence = (
        f"Selections gather up to log2 |S| more bits than labels: {math.log2(paper.SIZE):g} for |S| = {paper.SIZE}."
    )
    exact = Estimate(more, more, more, f"log2 {select} / {label}, exact")
    yield claim_row("II-A", sentence, "mathematics", exact, about(math.log2(paper.SIZE)))
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
    yield from _black_box(source)
    yield from _table_five()


def _table_five() -> Iterator[Row]:
    """Whether Table V and the tests printed next to it can both be right."""
    for what, n, linear, other, p in (
        ("selections", 1648, 11.22, 11.36, 1e-5),
        ("rankings", 1256, 125.44, 127.69, 4e-5),
    ):
        z, needed = math.sqrt(n * math.log(other / linear) / 4), float(stats.norm.isf(p / 2))
        reason = "Vuong's statistic by Table V's mean squared errors, if errors are normal and the line is true"
        sentence = f"The linear form wins for {what} with p = {p:g}, that is a Vuong statistic of {needed:.1f}."
        yield claim_row("III-C", sentence, "mathematics", Estimate(z, z, z, reason), about(needed))


def _black_box(source: Source) -> Iterator[Row]:
    """Section II-C, on synthetic problems: spread between runs, and cost."""
    rows = {row["method"]: row for row in source("bbvi")}
    if not {PAPER, BLACK_BOX} <= set(rows):
        return
    sampled, closed = rows[BLACK_BOX], rows[PAPER]
    on = f"{sampled['problems']} problems"
    for sentence, measure, unit in (
        (
            "The closed form has less variance than black-box variational inference.",
            "spread_over_runs",
            "posterior sds",
        ),
        ("The closed form costs less than black-box variational inference.", "milliseconds", "ms per answer"),
    ):
        se = math.hypot(sampled[f"{measure}_se"] or 0.0, closed[f"{measure}_se"] or 0.0)
        reason = f"black box minus the paper's bound, {unit}, {on}"
        lead = Estimate.of(sampled[measure] - closed[measure], se, sampled["problems"], reason)
        yield claim_row("II-C", sentence, "paper", lead)
