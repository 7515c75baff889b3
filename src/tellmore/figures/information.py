"""Information gain and information rate of question kinds and sizes: Figs. 9, 10 and 11."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tellmore import kinds
from tellmore.core.time_model import TimeModel
from tellmore.figures import paper
from tellmore.figures.bench import Bench, once
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.paired import each_text
from tellmore.learner import Learner
from tellmore.plotting import PALETTE, kind_colour, legend_below, line_with_band, new_figure
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.rates import nested_bits, to_rates
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_learner
from tellmore.sim.seconds import mean_and_se

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODES = ("as-printed", "default")
"""Gains depend on the prior, so both are shown."""
REPEATS = 10
"""Measurements of each gain before the first answer; all kinds, sizes and a/sigma have the same random numbers in each."""
FIXED, SCALED = "w fixed", "w in proportion to K"
SYNTHETIC_COST = CostModel(
    {
        paper.LABEL: TimeModel("constant", 4.37),
        paper.SELECT: TimeModel("linear", 0.5, 1.6),
        paper.RANK: TimeModel("quadratic", 2.0, 2.5),
    }
)
"""Our own choice: an interface in which every further option takes long (label 4.37 s, select 0.5 + 1.6 k, rank 2 + 2.5 k^2)."""


def _learner(bench: Bench, mode: str) -> Learner:
    """A learner in this mode before any answer."""
    source = bench.source("sentiment")
    return make_learner(bench.config(source, mode=mode), bench.truth(source), 0)[0]


def _place(bench: Bench, mode: str) -> Row:
    return {"pool": bench.source("sentiment").title, "mode": mode}


def _dashes(kind: str) -> str:
    """The line style: solid, or dashed and dotted for the members of a family that has several."""
    family = [member.name for member in kinds.family(kinds.named(kind).family)]
    return "-" if len(family) == 1 else ("--", ":")[family.index(kind) % 2]


def fig9(rows: Rows) -> Figure:
    """Gain of several questions over interactions, and its ratio to that of a label, one row of panels per mode."""
    modes, sizes = distinct(rows, "mode"), distinct(rows, "size")
    figure, grid = new_figure(len(modes), 2, width=4.8, height=3.2)
    for line, mode in zip(grid, modes, strict=True):
        for question in distinct(rows, "question"):
            own = where(rows, question=question, mode=mode)
            colour = PALETTE[sizes.index(own[0]["size"])]
            for axes, measure in zip(line, ("bits", "ratio"), strict=True):
                x, mean, se = (column(own, name) for name in ("answer", measure, f"{measure}_se"))
                dashes = _dashes(own[0]["kind"])
                line_with_band(axes, x, mean, se, label=question, colour=colour, linestyle=dashes)
        line[0].set(title=f"information gain, {mode} mode", xlabel="interactions", ylabel="bits per question")
        line[1].set(title=f"ratio to a label, {mode} mode", xlabel="interactions", ylabel="bits / bits of a label")
        for axes in line:
            axes.set_ylim(bottom=0)
    legend_below(figure, grid[0, 0], columns=5)
    figure.suptitle(f"{rows[0]['pool']}, mean and standard error of {rows[0]['seeds']} seeds", fontsize=10)
    return figure


@once("fig9", "sentiment")
def gains_along(bench: Bench) -> Rows:
    """Gains of all kinds and sizes at beliefs along a run of active rankings of 4, mean and se over seeds, in both modes."""
    plan, source = bench.plan, bench.source("sentiment")
    answers = 12 if plan.quick else 200
    sizes = (2, 4) if plan.quick else (2, 4, 6)
    stops = sorted({0, *np.unique(np.linspace(0, answers, 4 if plan.quick else 11).astype(int)).tolist()})
    rows: list[Row] = []
    for mode in MODES:
        asked = {"question": paper.RANK, "size": paper.SIZE, "mode": mode}
        config = bench.config(source, answers=answers, stop_at=None, **asked)
        measured: dict[tuple[int, str, int], list[float]] = {}
        for seed in plan.seed_list:
            for answer, gains in _gains_of_seed(bench, config, seed, stops, sizes).items():
                for (kind, size), bits in gains.items():
                    measured.setdefault((answer, kind, size), []).append(bits)
        place = _place(bench, mode)
        rows += [_gain_row(place, key, bits, measured[key[0], paper.LABEL, 1]) for key, bits in measured.items()]
    return rows


def _gains_of_seed(
    bench: Bench, config: Config, seed: int, stops: list[int], sizes: tuple[int, ...]
) -> dict[int, dict[tuple[str, int], float]]:
    truth = bench.truth(bench.source("sentiment"))
    learner, _ = make_learner(config, truth, seed)
    rng = np.random.default_rng(seed)

    def gains() -> dict[tuple[str, int], float]:
        bits = nested_bits(learner.scan, learner.belief, learner.behaviour, kinds=paper.MEMBERS, sizes=sizes, rng=rng)
        return {key: float(values.mean()) for key, values in bits.items()}

    found = {0: gains()}
    for number, _ in enumerate(conversation(config, learner, truth, seed), start=1):
        if number in stops:
            found[number] = gains()
    return found


def _gain_row(place: Row, key: tuple[int, str, int], bits: list[float], label_bits: list[float]) -> Row:
    mean, se = mean_and_se(bits)
    ratios = (np.asarray(bits) / np.asarray(label_bits)).tolist()
    ratio, ratio_se = mean_and_se(ratios)
    each = {"bits_each": each_text(bits), "ratio_each": each_text(ratios)}
    asked = {"answer": key[0], "question": paper.titled(key[1], key[2]), "kind": key[1], "size": key[2]}
    means = {"seeds": len(bits), "bits": mean, "bits_se": se, "ratio": ratio, "ratio_se": ratio_se}
    return {**place, **asked, **means, **each}


def _compare_fig9(rows: Rows) -> str:
    said = []
    for mode in distinct(rows, "mode"):
        parts = []
        for question in distinct(rows, "question"):
            ratios = column(where(rows, question=question, mode=mode), "ratio")
            if question != paper.LABELS:
                parts.append(f"{question} {ratios[0]:.1f} at the start and {ratios[-1]:.1f} at the end")
        said.append(f"in {mode} mode {'; '.join(parts)}")
    return (
        "The paper finds the ratios of gain between question types approximately constant over interactions; "
        f"here, relative to a label: {'. '.join(said)} (after {rows[-1]['answer']} answers)."
    )


def fig10(rows: Rows) -> Figure:
    """Gain of several questions against a/sigma at the prior: with w fixed, as in the paper, and with w scaled too."""
    modes = distinct(rows, "mode")
    figure, grid = new_figure(len(modes), 2, width=4.8, height=3.2)
    for line, mode in zip(grid, modes, strict=True):
        for axes, sharpness in zip(line, (FIXED, SCALED), strict=True):
            own = where(rows, mode=mode, sharpness=sharpness)
            for colour, question in zip(PALETTE, distinct(own, "question"), strict=False):
                shown = where(own, question=question)
                axes.plot(column(shown, "K"), column(shown, "bits"), "o-", markersize=3, color=colour, label=question)
            axes.set(xscale="log", xlabel="K = a/σ, in the mode's own coordinates", ylabel="bits per question")
            note = f"w = {own[0]['w']:.1f}" if sharpness == FIXED else sharpness
            axes.set_title(f"{mode} mode, {note}")
            axes.set_xticks(distinct(own, "K"), [f"{K:.1f}" for K in distinct(own, "K")])
            axes.minorticks_off()
            axes.set_ylim(bottom=0)
    legend_below(figure, grid[0, 0], columns=5)
    figure.suptitle(f"{rows[0]['pool']}, before the first answer", fontsize=10)
    return figure


@once("fig10", "sentiment")
def gains_by_sharpness(bench: Bench) -> Rows:
    """Gains at the prior for a/sigma from a quarter to eight times that of the mode, with w fixed and with w scaled too."""
    plan = bench.plan
    factors = (0.25, 1.0, 4.0) if plan.quick else (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    sizes, repeats = ((2, 4), 1) if plan.quick else ((2, 4, 6), REPEATS)
    rows: list[Row] = []
    for mode in MODES:
        learner = _learner(bench, mode)
        own = learner.behaviour
        for sharpness in (FIXED, SCALED):
            for factor in factors:
                sharper = replace(own, K=factor * own.K) if sharpness == FIXED else own.sharper(factor)
                rng = np.random.default_rng(0)
                bits = nested_bits(
                    learner.scan, learner.belief, sharper, kinds=paper.FAMILIES, sizes=sizes, rng=rng, repeats=repeats
                )
                given = {**_place(bench, mode), "sharpness": sharpness, "K": sharper.K, "w": sharper.w}
                for (kind, size), values in bits.items():
                    mean, se = mean_and_se(values.tolist())
                    measured = {"bits": mean, "bits_se": se, "bits_each": each_text(values)}
                    rows.append({**given, "question": paper.titled(kind, size), **measured})
    return rows


def _compare_fig10(rows: Rows) -> str:
    said = []
    for mode in distinct(rows, "mode"):
        for sharpness in (FIXED, SCALED):
            own = where(rows, mode=mode, sharpness=sharpness)
            low, high = distinct(own, "K")[0], distinct(own, "K")[-1]
            gain = {(row["K"], row["question"]): row["bits"] for row in own}
            worth = [gain[k, paper.RANKINGS] / gain[k, paper.LABELS] for k in (low, high)]
            said.append(
                f"{mode} mode, {sharpness}: {worth[0]:.1f} labels at K = {low:.1f}, {worth[1]:.1f} at {high:.0f}"
            )
    return (
        "The paper's figure shows gains that grow with a/σ and with |S|, rankings ahead of selections of the same size. What a "
        f"ranking of 4 is worth here: {'; '.join(said)}. Only with w fixed does the ratio a/σ alone change, as in the paper."
    )


def fig11(rows: Rows) -> Figure:
    """Bits per second against |S| under the paper's fitted times and under synthetic ones, one row of panels per mode."""
    times, modes = distinct(rows, "times"), distinct(rows, "mode")
    figure, grid = new_figure(len(modes), len(times), width=4.8, height=3.2)
    for line, mode in zip(grid, modes, strict=True):
        for axes, name in zip(line, times, strict=True):
            own = where(rows, times=name, mode=mode)
            for kind in paper.SETS:
                of_kind = where(own, kind=kind)
                x, y = (column(of_kind, measure) for measure in ("size", "bits_per_second"))
                axes.plot(x, y, "o-", color=kind_colour(kind), label=kind)
            label = where(own, kind=paper.LABEL)[0]["bits_per_second"]
            axes.axhline(label, color=kind_colour(paper.LABEL), linestyle="--", label=paper.LABEL)
            best = where(own, best=True)[0]
            axes.plot(best["size"], best["bits_per_second"], "*", markersize=13, color="black", label="best")
            axes.set(title=f"{name}, {mode} mode", xlabel="|S|, items shown", ylabel="bits per second")
            axes.set_xticks(distinct([row for row in own if row["size"] > 1], "size"))
            axes.set_ylim(0, 1.12 * max(column(own, "bits_per_second")))
    legend_below(figure, grid[0, 0])
    figure.suptitle(f"{rows[0]['pool']}, before the first answer", fontsize=10)
    return figure


@once("fig11", "sentiment")
def rates_by_size(bench: Bench) -> Rows:
    """Information rates of all kinds and sizes at the prior, under both time models, in both modes."""
    sizes, repeats = (range(2, 7), 1) if bench.plan.quick else (range(2, 11), REPEATS)
    rows: list[Row] = []
    for mode in MODES:
        learner, rng = _learner(bench, mode), np.random.default_rng(0)
        scan, belief, own = learner.scan, learner.belief, learner.behaviour
        bits = nested_bits(scan, belief, own, kinds=paper.FAMILIES, sizes=sizes, rng=rng, repeats=repeats)
        for name, cost in (("the paper's fitted times", PAPER_COST), ("synthetic times", SYNTHETIC_COST)):
            rows += [
                {**_place(bench, mode), "times": name, **vars(rate), "bits_each": each_text(bits[rate.kind, rate.size])}
                for rate in to_rates(bits, cost)
            ]
    return rows


def _compare_fig11(rows: Rows) -> str:
    said = []
    for mode in distinct(rows, "mode"):
        fitted, synthetic = (where(rows, times=name, mode=mode) for name in distinct(rows, "times"))
        peak = max(where(fitted, kind=paper.SELECT), key=lambda row: row["bits_per_second"])
        best, other = where(fitted, best=True)[0], where(synthetic, best=True)[0]
        rank = column(where(fitted, kind=paper.RANK), "bits_per_second")
        growing = "grows with |S|" if all(np.diff(rank) > 0) else "does not always grow with |S|"
        said.append(
            f"in {mode} mode selection peaks at {peak['size']}, the rate of ranking {growing}, the best is "
            f"{paper.titled(best['kind'], best['size'])} ({best['bits_per_second']:.3f} bits/s), under synthetic times "
            f"{paper.titled(other['kind'], other['size'])}"
        )
    return (
        "The paper: under the fitted times selection peaks at 3 items, the rate of ranking grows up to 10 and wins, and under "
        f"other times selection of 2 wins. Here {'; '.join(said)}. The synthetic times are ours: label 4.37 s, select "
        "0.5 + 1.6 k, rank 2 + 2.5 k²."
    )


EXHIBITS = (
    Exhibit("fig9", "Fig. 9: information gain over interactions", gains_along, fig9, _compare_fig9),
    Exhibit("fig10", "Fig. 10: information gain against a/σ", gains_by_sharpness, fig10, _compare_fig10),
    Exhibit("fig11", "Fig. 11: information rate against |S|", rates_by_size, fig11, _compare_fig11),
)
