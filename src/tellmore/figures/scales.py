"""The scale of the prior, which the paper leaves open, swept for both baselines: one row per scale, whatever the result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tellmore.figures import paper
from tellmore.figures.bench import Bench, Source
from tellmore.figures.curves import reach_text
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.methods import LENGTHS, Key, config_of, family_of, in_order, rows_of, seeds_text
from tellmore.plotting import kind_colour, legend_below, new_figure
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config, Option
from tellmore.sim.method import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SWEPT = ("as-printed", "as-authors")
MOST_SWEPT = dict(zip(paper.FAMILIES, (1000, 600, 300), strict=True))
"""Most answers of a trial in the sweep, which stops at the target: a scale that needs more counts as needing this many."""
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SWEEP_SEEDS = list(range(100, 105))
"""Not the seeds of the methods, so that a scale chosen by the sweep is judged on trials that did not choose it."""


def swept(bench: Bench, source: Source) -> dict[Key, Config]:
    """The trials at every scale of the prior, on items that each method chooses, or on random items if it cannot choose them."""
    found: dict[Key, Config] = {}
    for mode in SWEPT:
        lengths = dict(zip(paper.SETTINGS, LENGTHS[mode], strict=True))
        for chosen, random in zip(paper.CHOSEN, paper.RANDOM, strict=True):
            setting = chosen if lengths[chosen] else random
            if bench.plan.quick and chosen != paper.RANKINGS:
                continue
            for scale in (1.0, 4.0) if bench.plan.quick else SCALES:
                answers = MOST_SWEPT[family_of(setting)]
                short = config_of(bench, source, setting, answers, mode=mode, options=_scaled(scale))
                found[mode, setting, scale] = replace(short, stop_at=paper.TARGET)
    return found


def _scaled(scale: float) -> tuple[tuple[str, Option], ...]:
    return (("prior_options", (("scale", scale),)),)


def _collect(bench: Bench) -> Rows:
    """Every scale on every seed."""
    source, seeds = bench.source("sentiment"), SWEEP_SEEDS[: 1 if bench.plan.quick else None]
    return rows_of(bench, "scales", swept(bench, source), seeds, source.title)


def stored(bench: Bench, source: Source) -> list[Row]:
    """The sweep as far as it was run."""
    return rows_of(replace(bench, stored=True), "scales", swept(bench, source), SWEEP_SEEDS, source.title)


def strongest(bench: Bench, source: Source, scales: Rows) -> dict[Key, Config]:
    """For each kind of question, the method and scale that needed the fewest answers in the sweep, among those with the most
    seeds; to be run in full, unless it is a method at its own scale, which is run anyway."""
    found: dict[Key, Config] = {}
    for family in paper.FAMILIES:
        own = [row for row in scales if family_of(row["setting"]) == family]
        most = max((row["seeds"] for row in own), default=0)
        best = min(
            (row for row in own if row["seeds"] == most), key=lambda row: row["interactions_at_least"], default=None
        )
        if best is not None and best["scale"] != METHODS[best["mode"]].prior_options["scale"]:
            mode, setting, scale = best["mode"], best["setting"], best["scale"]
            answers = dict(zip(paper.SETTINGS, LENGTHS[mode], strict=True))[setting]
            found[mode, setting, scale] = config_of(bench, source, setting, answers, mode=mode, options=_scaled(scale))
    return found


def draw(rows: Rows) -> Figure:
    """Interactions by the scale of the prior, one panel per mode."""
    own = in_order(where(rows, part="scales"))
    modes = distinct(own, "mode")
    figure, grid = new_figure(1, len(modes), width=4.4, height=3.8)
    for axes, mode in zip(grid[0], modes, strict=True):
        _draw_scales(axes, where(own, mode=mode))
        note = "; labels of random items" if where(own, mode=mode, setting=paper.RANDOM[0]) else ""
        axes.set_title(f"{mode}, {seeds_text(where(own, mode=mode))}{note}")
    legend_below(figure, grid[0, 0])
    known = "bars: standard errors; open: a lower bound, as not all seeds reached it; dotted: the paper"
    figure.suptitle(f"{rows[0]['pool']}, answers to {paper.TARGET:.0%}\n{known}", fontsize=10)
    return figure


def _draw_scales(axes: Axes, rows: Rows) -> None:
    for setting in distinct(rows, "setting"):
        own = sorted(where(rows, setting=setting), key=lambda row: float(row["scale"]))
        colour = kind_colour(family_of(setting))
        scales, counts = column(own, "scale"), column(own, "interactions_at_least")
        axes.plot(scales, counts, "-", color=colour, label=setting)
        for row, count in zip(own, counts, strict=True):
            filled = colour if row["reached"] == row["seeds"] else "white"
            error = row["interactions_se"] or 0.0
            axes.errorbar(row["scale"], count, yerr=error, fmt="o", color=colour, markerfacecolor=filled)
        axes.axhline(paper.COUNTS[setting], color=colour, linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="s, where the prior is N(0, s I / D)", ylabel="answers")
    scales = sorted(distinct(rows, "scale"))
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)


def _compare(rows: Rows) -> str:
    own = in_order(where(rows, part="scales"))
    said = [
        f"{setting} {mode}: "
        + ", ".join(f"{row['scale']:g} {reach_text(row)}" for row in where(own, mode=mode, setting=setting))
        for mode in distinct(own, "mode")
        for setting in distinct(where(own, mode=mode), "setting")
    ]
    return (
        f"The paper does not state the scale s of its prior N(0, s I / D). Interactions to {paper.TARGET:.0%} by the scale, "
        f"{seeds_text(own)}: {'; '.join(said)}."
    )


EXHIBITS = (Exhibit("scales", "The scale of the prior", _collect, draw, _compare),)
