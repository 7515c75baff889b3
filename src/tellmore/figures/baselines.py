"""The baselines by name: as printed, as in the authors' code, paper mode, and the default for comparison.

The rule for the strongest baseline was set before it was run: for each kind of question, the method and the scale with the
fewest answers to the target in the sweep (`tellmore.figures.scales`) are run again on the seeds of the methods; the strongest is
the one with the fewest answers among these and all methods at their own scale.

Each setting's row is followed by those of its trials, one per seed, so that settings can be compared seed by seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tellmore.figures import paper, scales
from tellmore.figures.bench import Bench, Source
from tellmore.figures.curves import MARKS_S, reach_text
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.grid import BEFORE, WITHOUT_GRIDS
from tellmore.figures.joined import earlier_rows, joined, seeds_by_setting
from tellmore.figures.methods import LENGTHS, Key, config_of, in_order, rows_of, seeds_text
from tellmore.plotting import PALETTE, new_figure
from tellmore.policy.asking import AUTO
from tellmore.rows import Rows, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.method import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODES = (*scales.SWEPT, "paper", "default")
AUTOS = {AUTO: 120, BEFORE: 600}
"""Answers of trials in which the default also chooses the kinds, with and without grids."""
PAIRS = {"as-printed": 300, "default": 200}
"""Answers of trials on two items, by mode: the paper compares choosing from two with ranking two."""
TICKS = (50, 100, 200, 500, 1000, 2000)


def configs(bench: Bench, source: Source) -> dict[Key, Config]:
    """The trials of every method in all settings for which the paper prints a count."""
    found: dict[Key, Config] = {}
    for mode in MODES:
        scale = METHODS[mode].prior_options["scale"] if mode in METHODS else None
        for setting, answers in zip(paper.SETTINGS, LENGTHS[mode], strict=True):
            if answers:
                found[mode, setting, scale] = config_of(bench, source, setting, answers, mode=mode)
    for setting, answers in {} if bench.plan.quick else AUTOS.items():
        options = WITHOUT_GRIDS if setting == BEFORE else ()
        found["default", setting, None] = config_of(bench, source, AUTO, answers, options=options)
    return found


def pairs(bench: Bench, source: Source) -> dict[Key, Config]:
    """The trials on two items, chosen and random."""
    found: dict[Key, Config] = {}
    for mode, answers in {} if bench.plan.quick else PAIRS.items():
        scale = METHODS[mode].prior_options["scale"] if mode in METHODS else None
        for family in paper.SETS:
            for random in (False, True):
                setting = paper.titled(family, 2, random=random)
                found[mode, setting, scale] = config_of(bench, source, setting, answers, mode=mode)
    return found


def _collect(bench: Bench) -> Rows:
    """All methods, and the strongest of the sweep as far as it was run, seed by seed, so that an interrupted run has all
    settings of the first seeds. Trials of an earlier run are not repeated."""
    source, seeds = bench.source("sentiment"), bench.plan.seed_list
    known = seeds_by_setting(earlier_rows(bench, "baselines"))
    sweep = joined(scales.stored(bench, source), earlier_rows(bench, "scales"))

    def missing(part: str, wanted: dict[Key, Config]) -> dict[Key, Config]:
        return {key: config for key, config in wanted.items() if known.get((part, *key, None), 0) < len(seeds)}

    best = scales.strongest(bench, source, where(sweep, part="scales"))
    named = {"methods": configs(bench, source), "strongest": best, "pairs": pairs(bench, source)}
    parts = {part: missing(part, wanted) for part, wanted in named.items()}
    if not bench.stored:
        bench.trials([*parts["methods"].values(), *parts["strongest"].values()], seeds)
    return [row for part, wanted in parts.items() for row in rows_of(bench, part, wanted, seeds, source.title)]


def baselines(rows: Rows) -> Figure:
    """Interactions of every method next to the printed ones."""
    figure, grid = new_figure(1, 1, width=7.0, height=4.2)
    _draw_methods(grid[0, 0], in_order(where(rows, part="methods")))
    known = "open: a lower bound, as not all seeds reached it; black: the paper"
    figure.suptitle(f"{rows[0]['pool']}, answers to {paper.TARGET:.0%}\n{known}", fontsize=10)
    return figure


def _draw_methods(axes: Axes, rows: Rows) -> None:
    modes, settings = distinct(rows, "mode"), list(paper.SETTINGS)
    for row in [row for row in rows if row["setting"] in settings]:
        place = settings.index(row["setting"]) + 0.18 * (modes.index(row["mode"]) - 1.5)
        colour = PALETTE[modes.index(row["mode"])]
        axes.errorbar(
            row["interactions_at_least"],
            place,
            xerr=row["interactions_se"] or 0.0,
            fmt="osD^"[modes.index(row["mode"])],
            color=colour,
            ms=5,
            markerfacecolor=colour if row["reached"] == row["seeds"] else "white",
            label=row["mode"] if row["setting"] == where(rows, mode=row["mode"])[0]["setting"] else None,
        )
    for place, setting in enumerate(settings):
        axes.plot(paper.COUNTS[setting], place, "|", color="black", ms=16)
    axes.set_yticks(range(len(settings)), settings)
    axes.invert_yaxis()
    axes.set(xscale="log", title=f"all methods, {seeds_text(rows)}", xlabel="answers")
    axes.set_xticks(TICKS, [str(count) for count in TICKS])
    axes.minorticks_off()
    axes.legend(loc="upper left")


def _compare(rows: Rows) -> str:
    methods = in_order(where(rows, part="methods"))
    said = []
    for mode in distinct(methods, "mode"):
        own = where(methods, mode=mode)
        counts = ", ".join(f"{row['setting']} {reach_text(row)}" for row in own)
        said.append(f"{mode} ({seeds_text(own)}): {counts}")
    printed = ", ".join(f"{setting} {count}" for setting, count in paper.COUNT_WORDS.items())
    return (
        f"Interactions to {paper.TARGET:.0%} in the paper: {printed}. Here, first crossings: {'; '.join(said)}. "
        f"Lasting crossings and accuracies after {', '.join(map(str, MARKS_S))} seconds are in the rows."
    )


EXHIBITS = (Exhibit("baselines", "The baselines by their names", _collect, baselines, _compare),)
