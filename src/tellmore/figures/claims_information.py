"""Claims about information, about the data and about the mathematics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import stats

from tellmore import kinds
from tellmore.figures import paper
from tellmore.figures.black_box import BLACK_BOX, PAPER
from tellmore.figures.claims_learning import WORDS, Source
from tellmore.figures.information import FIXED
from tellmore.figures.paired import difference, each_of, smallest
from tellmore.figures.verdict import Allowed, Estimate, about, claim_row, least
from tellmore.policy.cost import PAPER_COST
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.theory import lower_bound, outcome_count, upper_bound_printed
from tellmore.types import Array

REPEATED = "measurements"
"""What gains before the first answer are paired over: measurements with the same random numbers."""


def rates(source: Source) -> Iterator[Row]:
    """What the paper says about gains and rates at the prior, in each mode."""
    rows = source("fig11")
    rows = where(rows, times=rows[0]["times"]) if rows else []
    for mode in distinct(rows, "mode"):
        yield from _rates(where(rows, mode=mode), mode)


def _rates(rows: Rows, mode: str) -> Iterator[Row]:
    """Bits and bits per second by kind and size, compared measurement by measurement."""
    bits = {kind: {row["size"]: each_of(row, "bits_each") for row in where(rows, kind=kind)} for kind in paper.FAMILIES}
    seconds = {(row["kind"], row["size"]): float(row["seconds"]) for row in rows}
    rate = {kind: {size: one / seconds[kind, size] for size, one in own.items()} for kind, own in bits.items()}
    selections, rankings = rate[paper.SELECT], rate[paper.RANK]
    for kind in paper.SETS:
        steps = smallest(_steps(bits[kind], kind), f"step of {kind}, in bits", REPEATED)
        yield claim_row("II-B", f"Information gain of {kind} grows with |S|.", mode, steps)
        falls = smallest(_falls(bits[kind], kind), f"fall of a step of {kind}, in bits", REPEATED)
        yield claim_row("II-B", f"Returns of further items diminish for {kind}.", mode, falls)
    lead = smallest(_leads(bits[paper.RANK], bits[paper.SELECT]), "lead in bits", REPEATED)
    yield claim_row("II-B", "At equal |S| a ranking is worth at least a selection.", mode, lead)
    lead = smallest(_leads(rankings, selections), "lead in bits per second", REPEATED)
    yield claim_row("III-C", "At every |S| rankings have the higher rate.", mode, lead)
    steps = smallest(_steps(rankings, paper.RANK), "step in bits per second", REPEATED)
    yield claim_row("III-C", "The information rate of ranking grows up to 10.", mode, steps)
    others = {f"over {paper.titled(paper.SELECT, k)}": selections[3] - one for k, one in selections.items() if k != 3}
    lead = smallest(others, "lead in bits per second", REPEATED)
    yield claim_row("III-C", "The information rate of selection peaks at 3.", mode, lead)
    largest = max(rankings)
    rest = {
        f"over {paper.titled(kind, size)}": rankings[largest] - one
        for kind, own in rate.items()
        for size, one in own.items()
        if (kind, size) != (paper.RANK, largest)
    }
    sentence = "With the fitted times, rankings of 10 have the highest rate of all."
    yield claim_row("III-C", sentence, mode, smallest(rest, "lead in bits per second", REPEATED))


def _steps(values: dict[int, Array], kind: str) -> dict[str, Array]:
    """What each size adds to the one before."""
    sizes = sorted(values)
    return {f"{kind} from {one} to {other}": values[other] - values[one] for one, other in pairwise(sizes)}


def _falls(values: dict[int, Array], kind: str) -> dict[str, Array]:
    """By how much each step is smaller than the one before."""
    sizes = sorted(values)
    return {
        f"{kind} of {middle}": 2 * values[middle] - values[one] - values[other]
        for one, middle, other in zip(sizes, sizes[1:], sizes[2:], strict=False)
    }


def _leads(first: dict[int, Array], second: dict[int, Array]) -> dict[str, Array]:
    return {f"|S| = {size}": first[size] - second[size] for size in sorted(set(first) & set(second))}


def ratios(source: Source) -> Iterator[Row]:
    """What the paper says about ratios of gains: along a run, between the two ends of a selection, and by a/sigma."""
    for mode in distinct(source("fig9"), "mode"):
        rows = where(source("fig9"), mode=mode)
        ranked = where(rows, question=paper.RANKINGS)
        start, end = ranked[0], ranked[-1]
        yield claim_row(
            "III-C", "The ratio of gains between kinds stays about constant.", mode, _stays(start, end), about(1.0)
        )
        yield claim_row(
            "III-C", "The ratios of gains are stable across initialisations.", mode, _varies(end), Allowed(high=0.1)
        )
        ends = [paper.titled(kind.name, paper.SIZE) for kind in kinds.family(paper.SELECT)]
        high, low = sorted(
            (where(rows, question=name, answer=end["answer"])[0] for name in ends), key=lambda row: -float(row["bits"])
        )
        sentence = "Actively choosing between highest and lowest makes no significant difference."
        yield claim_row("II-B", sentence, mode, _better_end(high, low), Allowed(-0.05, 0.05))
    for mode in distinct(source("fig10"), "mode"):
        yield from _by_sharpness(where(source("fig10"), mode=mode, sharpness=FIXED), mode)


def _stays(start: Row, end: Row) -> Estimate:
    """The ratio of gains at the end of a run over that at its start, seed by seed."""
    ratio = each_of(end, "ratio_each") / each_of(start, "ratio_each")
    return difference(ratio, f"rank-4 / label after {end['answer']} answers over that at the start")


def _better_end(high: Row, low: Row) -> Estimate:
    """What the better end of a selection gains over a random end, seed by seed."""
    better, worse = (each_of(row, "bits_each") for row in (high, low))
    gain = 2 * better / (better + worse) - 1
    return difference(gain, "bits of the better end of 4 over those of a random end, minus 1")


def _varies(row: Row) -> Estimate:
    """The relative standard deviation of a ratio over seeds, with the interval for normal values."""
    n = row["seeds"]
    spread = row["ratio_se"] * math.sqrt(n) / row["ratio"]
    low, high = (spread * math.sqrt((n - 1) / stats.chi2.ppf(p, n - 1)) for p in (0.975, 0.025))
    return Estimate(spread, low, high, f"relative standard deviation of rank-4 / label over {n} seeds, at most a tenth")


def _by_sharpness(rows: Rows, mode: str) -> Iterator[Row]:
    """With w fixed: how many labels a ranking of 4 is worth, from one a/sigma to the next, and how much returns diminish."""
    bits = {(row["question"], row["K"]): each_of(row, "bits_each") for row in rows}
    worth = {K: bits[paper.RANKINGS, K] / bits[paper.LABELS, K] for K in distinct(rows, "K")}
    first, last = min(worth), max(worth)
    steps = {f"K from {one:.1f} to {other:.1f}": worth[other] - worth[one] for one, other in pairwise(sorted(worth))}
    grows = f"step of rank-4 / label, which grows from {worth[first].mean():.1f} to {worth[last].mean():.1f}"
    sentence = "The benefit of rankings over labels grows with a/sigma."
    yield claim_row("III-C", sentence, mode, smallest(steps, grows, REPEATED))
    for kind in paper.SETS:
        small, large = (_kept(bits, kind, K) for K in (first, last))
        sentence = f"Returns of further items diminish more if a/sigma is small, for {kind}."
        reason = f"gain from 4 to 6 over that from 2 to 4, at K = {last:.1f} minus at {first:.1f}"
        yield claim_row("III-C", sentence, mode, difference(large - small, reason, REPEATED))


def _kept(bits: dict[tuple[str, float], Array], kind: str, K: float) -> Array:
    """The share of the gain from 2 to 4 items that 6 items add again."""
    two, four, six = (bits.get((paper.titled(kind, size), K), np.empty(0)) for size in (2, 4, 6))
    return (six - four) / (four - two)


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
    yield from _theorem(source("theorem1"))
    yield from _black_box(source)
    yield from _table_five()


BOUNDS = {"lower": (1, "bound"), "upper_printed": (-1, "printed bound, with L as measured in the same runs")}


def _theorem(rows: Rows) -> Iterator[Row]:
    """Theorem 1 in runs of the ideal algorithm, and what the paper says about its bounds."""
    for bound, (sign, note) in BOUNDS.items() if rows else ():
        margins = {
            f"{row['question']}, epsilon {row['epsilon']:g}": Estimate.of(
                sign * (row["measured"] - row[bound]), row["measured_se"], row["runs"], among=len(rows)
            )
            for row in rows
        }
        margin = least(margins, f"distance to the {note}, {rows[0]['runs']} runs each")
        sentence = f"Theorem 1: the {bound.split('_')[0]} bound on the stopping time."
        yield claim_row("III-A", sentence, "ideal", margin)
    sizes = range(2, 11)
    select, rank = ({size: outcome_count(kind, size) for size in sizes} for kind in paper.SETS)
    more = float(min(rank[size] - select[size] for size in sizes))
    sentence = "N is larger for rankings than for selections, so that the lower bound is lower."
    yield claim_row(
        "III-A", sentence, "mathematics", Estimate(more, more, more, "smallest lead for |S| = 2 to 10, exact")
    )
    for name, bound_of in (("lower", lower_bound), ("upper", upper_bound_printed)):
        values = [bound_of(d, 2, 1e-3) for d in range(1, 1001)]
        step = min(other - one for one, other in pairwise(values))
        reason = "smallest step for d = 1 to 1000, M = 1, epsilon 0.001, N = L = 2, exact"
        sentence = f"The {name} bound on the stopping time grows with d."
        yield claim_row("III-A", sentence, "mathematics", Estimate(step, step, step, reason))


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
        reason = f"black box minus the paper's bound, {unit}, {on}, errors of both added: the closed form's are small"
        lead = Estimate.of(sampled[measure] - closed[measure], se, sampled["problems"], reason)
        yield claim_row("II-C", sentence, "paper", lead)
