"""Learning curves of simulated annotators: Figs. 3, 4, 5 and 12."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tellmore.figures import baselines, paper
from tellmore.figures.bench import Bench
from tellmore.figures.curves import (
    MARKS_S,
    accuracy_at,
    crossing,
    curve_rows,
    last_value,
    lasting_crossing,
    settings,
)
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import LINE_STYLES, PALETTE, kind_colour, legend_below, line_with_band, new_figure
from tellmore.rows import Rows, column, distinct, where
from tellmore.sim.config import Config

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODES = ("as-printed", "default")
IMAGE_ANSWERS = dict(zip(paper.FAMILIES, (450, 300, 120), strict=True))
AXIS_LABELS = {
    "accuracy": "accuracy on non-neutral items",
    "mse": "MSE to the unit-norm classifier",
    "answer": "interactions",
    "seconds": "seconds of human time",
}


def draw_curves(
    axes: Axes, rows: Rows, measure: str, *, over: str = "answer", colours: dict[str, str] | None = None
) -> None:
    """One line with its standard-error band for every setting in the rows."""
    for setting in settings(rows):
        own = where(rows, setting=setting)
        colour = kind_colour(own[0]["question"]) if colours is None else colours[setting]
        style = LINE_STYLES.get(own[0]["acquisition"], ":")
        x, mean, se = (column(own, name) for name in (over, measure, f"{measure}_se"))
        line_with_band(axes, x, mean, se, label=setting, colour=colour, linestyle=style)
    axes.set(xlabel=AXIS_LABELS[over], ylabel=AXIS_LABELS[measure])


def _of_size(rows: Rows, size: int) -> list[dict[str, Any]]:
    """The rows of this size and of labels; labels, whose trials are far longer, are cut where the trials on two items end."""
    longest = max(row["answer"] for row in rows if size == paper.SIZE or row["size"] == size)
    return [row for row in rows if row["size"] in (1, size) and row["answer"] <= longest]


def fig3(rows: Rows) -> Figure:
    """MSE and accuracy against interactions: rows of panels for |S| = 2 and 4 as printed, and for |S| = 4 in default mode."""
    printed, ours = where(rows, mode="as-printed"), where(rows, mode="default")
    lines = [(printed, size) for size in (2, 4) if any(row["size"] == size for row in printed)] + [(ours, 4)]
    figure, grid = new_figure(len(lines), 2, width=4.8, height=3.1)
    for panels, (own, size) in zip(grid, lines, strict=True):
        shown = _of_size(own, size)
        for axes, measure in zip(panels, ("mse", "accuracy"), strict=True):
            draw_curves(axes, shown, measure)
            axes.set_title(f"|S| = {size}, {own[0]['mode']} mode, {_seeds(shown)}")
        panels[1].axhline(paper.TARGET, color="#999999", linewidth=0.8)
    legend_below(figure, grid[0, 0], columns=3, sizes=False)
    ends = "curves end with their trials; next to two items, labels are cut"
    figure.suptitle(f"{rows[0]['pool']}, mean and standard error; {ends}", fontsize=10)
    return figure


def _seeds(rows: Rows) -> str:
    """The number of seeds of the curves, in words."""
    counts = sorted({int(row["seeds"]) for row in rows})
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def fig3_configs(bench: Bench) -> list[Config]:
    """The trials of the baselines, as printed and in default mode, with four items and with two."""
    source = bench.source("sentiment")
    named = {**baselines.configs(bench, source), **baselines.pairs(bench, source)}
    return [config for (mode, name, _), config in named.items() if mode in MODES and name not in baselines.AUTOS]


def _collect_fig3(bench: Bench) -> Rows:
    runs = bench.trials(fig3_configs(bench))
    return curve_rows(
        {config: trials for config, trials in runs.items() if trials}, pool=bench.source("sentiment").title
    )


def _crossings(rows: Rows, names: Iterable[str], target: float) -> str:
    """First crossings of the mean curve, and in brackets from when it stays there, if that is later."""
    parts = []
    for name in names:
        at, stays = crossing(rows, name, target), lasting_crossing(rows, name, target)
        if at is None:
            parts.append(f"{name} not within {where(rows, setting=name)[-1]['answer']}")
        else:
            later = "" if stays == at else " (not lasting)" if stays is None else f" (lasting from {stays:.0f})"
            parts.append(f"{name} {at:.0f}{later}")
    return ", ".join(parts)


def _at_seconds(rows: Rows, names: Iterable[str]) -> str:
    """Accuracies after fixed seconds of human time, with a dash if trials had ended."""
    parts = []
    for name in names:
        found = [accuracy_at(rows, name, mark) for mark in MARKS_S]
        parts.append(f"{name} {' / '.join('–' if one is None else format(100 * one, '.1f') for one in found)}")
    return ", ".join(parts)


def _compare_fig3(rows: Rows) -> str:
    printed = "; ".join(f"{name} {count}" for name, count in paper.COUNT_WORDS.items())
    said = []
    for mode in MODES:
        own = where(rows, mode=mode)
        names = [name for name in paper.SETTINGS if where(own, setting=name)]
        said.append(
            f"In {mode} mode: {_crossings(own, names, paper.TARGET)}; mean accuracy in % after "
            f"{' / '.join(map(str, MARKS_S))} s of human time: {_at_seconds(own, names)}"
        )
    return f"Interactions until the mean accuracy is 75 % in the paper: {printed}. Here, curves of the mean: {'. '.join(said)}."


def fig4(rows: Rows) -> Figure:
    """MSE over interactions for selection of 2 to 10 items, and the MSE at the end against |S|."""
    figure, grid = new_figure(1, 2, width=4.8, height=3.6)
    names = settings(rows)
    colours = dict(zip(names, PALETTE, strict=False))
    draw_curves(grid[0, 0], rows, "mse", colours=colours)
    grid[0, 0].set_title(f"selection, {rows[0]['mode']} mode, {_seeds(rows)}")
    last = [where(rows, setting=name)[-1] for name in names]
    sizes, mse, se = (column(last, name) for name in ("size", "mse", "mse_se"))
    grid[0, 1].errorbar(sizes, mse, yerr=se, fmt="o-", color=kind_colour(paper.SELECT), capsize=3)
    grid[0, 1].set(
        title=f"after {last[0]['answer']} interactions", xlabel="|S|, items shown", ylabel=AXIS_LABELS["mse"]
    )
    grid[0, 0].legend()
    figure.suptitle(rows[0]["pool"], fontsize=10)
    return figure


def fig4_configs(bench: Bench) -> list[Config]:
    """Selection of 2 to 10 items as printed, to the end."""
    sizes, answers = ((2, 4, 10), 40) if bench.plan.quick else ((2, 3, 4, 6, 8, 10), 1000)
    source = bench.source("sentiment")
    return [
        bench.config(
            source, question=paper.SELECT, size=size, mode=MODES[0], answers=answers, stop_at=None, sparse=True
        )
        for size in sizes
    ]


def _collect_fig4(bench: Bench) -> Rows:
    return curve_rows(bench.trials(fig4_configs(bench)), pool=bench.source("sentiment").title, each=("mse",))


def _compare_fig4(rows: Rows) -> str:
    two, ten = (last_value(rows, paper.titled(paper.SELECT, size), "mse") for size in (2, 10))
    return (
        "In the paper the MSE after 1000 selections is about 20 % lower with 10 options than with 2; "
        f"here it is {two:.3f} with 2 and {ten:.3f} with 10 after {rows[-1]['answer']}: {1 - ten / two:.0%} lower."
    )


def fig5(rows: Rows) -> Figure:
    """Accuracy on the image task against interactions, as printed and in default mode."""
    figure, grid = new_figure(1, 2, width=4.8, height=3.6)
    for axes, mode in zip(grid[0], MODES, strict=True):
        draw_curves(axes, where(rows, mode=mode), "accuracy")
        axes.set_title(f"{mode} mode, {_seeds(where(rows, mode=mode))}")
    low = min(axes.get_ylim()[0] for axes in grid[0])
    high = max(axes.get_ylim()[1] for axes in grid[0])
    for axes in grid[0]:
        axes.set_ylim(low, high)
    legend_below(figure, grid[0, 0])
    figure.suptitle(f"{rows[0]['pool']}; curves end with their trials", fontsize=10)
    return figure


def fig5_configs(bench: Bench) -> list[Config]:
    """Label, select-4 and rank-4 on the images, in both modes, each long enough for half an hour of human time."""
    source = bench.source("images")
    answers = dict.fromkeys(paper.FAMILIES, bench.plan.answers) if bench.plan.quick else IMAGE_ANSWERS
    return [
        bench.config(
            source, question=family, size=paper.size_of(family), mode=mode, answers=count, stop_at=None, sparse=True
        )
        for mode in MODES
        for family, count in answers.items()
    ]


def _collect_fig5(bench: Bench) -> Rows:
    return curve_rows(bench.trials(fig5_configs(bench)), pool=bench.source("images").caption, each=("accuracy",))


def _compare_fig5(rows: Rows) -> str:
    names = paper.CHOSEN
    parts = [f"in {mode} mode {_crossings(where(rows, mode=mode), names, 0.65)}" for mode in distinct(rows, "mode")]
    timed = [f"in {mode} mode {_at_seconds(where(rows, mode=mode), names)}" for mode in distinct(rows, "mode")]
    return (
        "On AVA the paper needs about 400 and 900 interactions with selections and rankings for 65 %, in this order, although it "
        "calls rankings the fastest; labels do not reach it within 2000; "
        f"on OASIS, which stands in for it and is easier, the mean curve crosses 65 % {'; '.join(parts)}. "
        f"Accuracy in % after {' / '.join(map(str, MARKS_S))} s: {'; '.join(timed)}."
    )


def fig12(rows: Rows) -> Figure:
    """MSE over interactions and over human time for small and large questions."""
    figure, grid = new_figure(1, 2, width=4.8, height=3.6)
    colours = dict(zip(settings(rows), PALETTE, strict=False))
    # Soon after the time of the shortest setting there is nothing left to compare.
    shortest = min(max(column(where(rows, setting=name), "seconds")) for name in settings(rows))
    early = [row for row in rows if row["seconds"] <= 1.5 * shortest]
    for axes, over, shown in zip(grid[0], ("answer", "seconds"), (rows, early), strict=True):
        draw_curves(axes, shown, "mse", over=over, colours=colours)
    grid[0, 0].set_title("sample complexity")
    grid[0, 1].set_title("time, the paper's response times")
    legend_below(figure, grid[0, 0], columns=5)
    figure.suptitle(f"{rows[0]['pool']}, {rows[0]['mode']} mode, {_seeds(rows)}", fontsize=10)
    return figure


def fig12_configs(bench: Bench) -> list[Config]:
    """Label, select-3, select-10, rank-4 and rank-10 as printed."""
    answers = 30 if bench.plan.quick else 300
    kinds = [(paper.LABEL, 1), *((paper.SELECT, size) for size in (3, 10)), *((paper.RANK, size) for size in (4, 10))]
    source = bench.source("sentiment")
    return [
        bench.config(
            source, question=question, size=max(size, 2), mode=MODES[0], answers=answers, stop_at=None, sparse=True
        )
        for question, size in kinds
    ]


def _collect_fig12(bench: Bench) -> Rows:
    return curve_rows(bench.trials(fig12_configs(bench)), pool=bench.source("sentiment").title, each=("mse",))


def mse_at(rows: Rows, setting: str, seconds: float) -> float | None:
    """Mean MSE of a setting after the last answer within this time; None if there is none."""
    within = [row for row in where(rows, setting=setting) if row["seconds"] <= seconds]
    return float(within[-1]["mse"]) if within else None


def _compare_fig12(rows: Rows) -> str:
    common = min(max(column(where(rows, setting=name), "seconds")) for name in settings(rows))
    at_time = ", ".join(f"{name} {mse_at(rows, name, common) or float('nan'):.3f}" for name in settings(rows))
    at_end = ", ".join(f"{name} {last_value(rows, name, 'mse'):.3f}" for name in settings(rows))
    return (
        "In the paper select-10 beats select-3 per interaction but loses to it per second, and rank-10 leads in both. "
        f"Here the MSE after {rows[-1]['answer']} interactions is {at_end}; after {common:.0f} s it is {at_time}."
    )


EXHIBITS = (
    Exhibit("fig3", "Fig. 3: MSE and accuracy against interactions, words", _collect_fig3, fig3, _compare_fig3),
    Exhibit("fig4", "Fig. 4: MSE against the number of options", _collect_fig4, fig4, _compare_fig4),
    Exhibit("fig5", "Fig. 5: the image task", _collect_fig5, fig5, _compare_fig5),
    Exhibit("fig12", "Fig. 12: MSE over interactions and over time", _collect_fig12, fig12, _compare_fig12),
)
