"""Figures and tables of a response-time study: Figs. 8, 15, 16, 17 and Tables II to V, drawn from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tellmore import kinds as question_kinds
from tellmore.plotting import BLUE, GREEN, PALETTE, kind_colour, line_with_band, new_figure, table_figure
from tellmore.rows import Row, Rows, column, distinct, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = tuple[list[str], list[list[str]]]
FORM_NAMES = {"linear": "Linear", "logarithmic": "Logarithmic", "quadratic": "Quadratic", "constant": "Constant"}


def noun(kind: str) -> str:
    """What a study calls a kind of question."""
    asked = question_kinds.family(kind)[0]
    return asked.noun or asked.title


def fig8(rows: Rows) -> Figure:
    """Mean time and standard error by set size, with the fitted line.

    Rows: kind, size, mean_s, se_s, n, fitted_s (the model at that size; None draws no line).
    """
    figure, grid = new_figure(width=5.6, height=3.8)
    axes = grid[0, 0]
    for kind in distinct(rows, "kind"):
        own = sorted(where(rows, kind=kind), key=lambda row: row["size"])
        sizes, mean, se = (column(own, name) for name in ("size", "mean_s", "se_s"))
        style = {"color": kind_colour(kind), "label": f"{noun(kind)}, mean ± s.e."}
        axes.errorbar(sizes, mean, yerr=se, fmt="o", markersize=5, capsize=3, **style)
        if all(row["fitted_s"] is not None for row in own):
            style["label"] = f"{noun(kind)}, linear fit"
            axes.plot(sizes, column(own, "fitted_s"), linestyle="--", linewidth=1.2, **style)
    axes.set(xlabel="items shown |S|", ylabel="response time (s)")
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({row["size"] for row in rows}))
    axes.legend(loc="upper left")
    return figure


def fig15(rows: Rows) -> Figure:
    """Histogram of ages in bins of five years. Rows: age."""
    figure, grid = new_figure(width=5.2, height=3.2)
    axes = grid[0, 0]
    values = np.array(column(rows, "age"))
    low, high = 5 * np.floor(values.min() / 5), 5 * np.ceil((values.max() + 1) / 5)
    axes.hist(values, bins=np.arange(low, high + 1, 5), color=BLUE, edgecolor="white", linewidth=1.0)
    _mark_centre(axes, values, "{:.1f} years")
    axes.set(xlabel="age (years)", ylabel="participants")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(loc="upper right")
    return figure


def _mark_centre(axes: Axes, values: Any, wording: str) -> None:
    mean, median = float(np.mean(values)), float(np.median(values))
    axes.axvline(mean, color="black", linewidth=1.2, label=f"mean {wording.format(mean)}")
    axes.axvline(median, color="black", linewidth=1.2, linestyle=":", label=f"median {wording.format(median)}")


def fig16(rows: Rows) -> Figure:
    """Violin plot of total times with every participant as a dot. Rows: minutes."""
    figure, grid = new_figure(width=5.6, height=2.6)
    axes = grid[0, 0]
    minutes = np.array(column(rows, "minutes"))
    if len(minutes) > 2 and np.ptp(minutes) > 0:
        violin = axes.violinplot(minutes, orientation="horizontal", widths=0.8, showextrema=False)
        for body in violin["bodies"]:
            body.set(facecolor=GREEN, alpha=0.25, edgecolor=GREEN)
    # Dots are spread by rank, not at random, so that the same rows give the same picture.
    offsets = 0.22 * (((np.argsort(np.argsort(minutes)) * 7) % 11) / 10 - 0.5)
    axes.scatter(minutes, 1 + offsets, s=9, color=GREEN, alpha=0.75, linewidths=0)
    _mark_centre(axes, minutes, "{:.1f} min")
    axes.set(xlabel="total time (min)", yticks=[], ylim=(0.45, 1.55))
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.legend(loc="upper left")
    return figure


def fig17(rows: Rows) -> Figure:
    """Mean time by set size and learning stage, one panel per kind, with bands of one standard error.

    Rows: kind, stage, size, mean_s, se_s.
    """
    kinds = distinct(rows, "kind")
    figure, grid = new_figure(1, len(kinds), width=4.4, height=3.6)
    stages = distinct(rows, "stage")
    for axes, kind in zip(grid[0], kinds, strict=True):
        for colour, stage in zip(PALETTE, stages, strict=False):
            own = sorted(where(rows, kind=kind, stage=stage), key=lambda row: row["size"])
            sizes, mean, se = (column(own, name) for name in ("size", "mean_s", "se_s"))
            line_with_band(axes, sizes, mean, se, label=stage, colour=colour, marker="o", markersize=3.5)
        axes.set(title=noun(kind), xlabel="items shown |S|", ylabel="response time (s)")
        axes.set_ylim(bottom=0)
        axes.set_xticks(sorted({row["size"] for row in rows}))
    grid[0, 0].legend(title="learning stage", loc="upper left", title_fontsize=8)
    return figure


def demographic_table(rows: Rows, heading: str) -> Table:
    """Header and body of Tables II and III. Rows: value, count."""
    body = [[str(row["value"]), str(row["count"])] for row in rows]
    return [heading, "Count"], [*body, ["Total", str(sum(row["count"] for row in rows))]]


def table2(rows: Rows) -> Figure:
    """Ethnicity. Rows: value, count."""
    return table_figure(*demographic_table(rows, "Ethnicity"), title="Ethnicity")


def table3(rows: Rows) -> Figure:
    """Country of birth. Rows: value, count."""
    return table_figure(*demographic_table(rows, "Country"), title="Country of birth")


def counts_table(rows: Rows) -> Table:
    """Header and body of Table IV. Rows: size, and one count per kind."""
    kinds = [key for key in (rows[0] if rows else {}) if key != "size"]
    header = ["|S|", *(noun(kind) for kind in kinds)]
    body = [[str(row["size"]), *(str(row[kind]) for kind in kinds)] for row in rows]
    return header, [*body, ["Total", *(str(sum(row[kind] for row in rows)) for kind in kinds)]]


def table4(rows: Rows) -> Figure:
    """Answers by set size after exclusions. Rows: size, and one count per kind."""
    return table_figure(*counts_table(rows), title="Answers by set size")


def candidates_table(rows: Rows) -> Table:
    """Header and body of Table V. Rows: `study.analysis.CandidateFit` as dicts."""
    header = ["Question", "Model", "b0 (s.e.)", "b1 (s.e.)", "R²", "Adjusted R²", "MSE (s²)", "N"]
    marked = any("per_mark" in row for row in rows)
    if marked:
        header.insert(4, "per mark (s.e.)")
    body = [
        [
            noun(row["kind"]),
            FORM_NAMES[row["form"]],
            f"{row['b0']:.2f} ({row['b0_se']:.2f})",
            f"{row['b1']:.2f} ({row['b1_se']:.2f})",
            *([_mark_cell(row)] if marked else []),
            f"{row['r2']:.3f}",
            f"{row['r2_adjusted']:.3f}",
            f"{row['mse']:.2f}",
            str(row["n"]),
        ]
        for row in rows
    ]
    return header, body


def _mark_cell(row: Row) -> str:
    return f"{row['per_mark']:.2f} ({row['per_mark_se']:.2f})" if "per_mark" in row else "–"


def table5(rows: Rows) -> Figure:
    """Candidate time models fitted by least squares."""
    return table_figure(*candidates_table(rows), title="Candidate time models")


def rates_figure(rows: Rows) -> Figure:
    """Information gains and rates by size, one panel each; the best rate is marked.

    Rows: `policy.rates.Rate` as dicts.
    """
    figure, grid = new_figure(1, 2, width=4.4, height=3.6)
    for axes, measure, label in (
        (grid[0, 0], "bits", "bits per question"),
        (grid[0, 1], "bits_per_second", "bits per second"),
    ):
        for kind in distinct(rows, "kind"):
            own = sorted(where(rows, kind=kind), key=lambda row: row["size"])
            values = column(own, measure)
            if own[0]["size"] == 1:
                axes.axhline(values[0], color=kind_colour(kind), linestyle="--", linewidth=1.2, label=kind)
                continue
            errors = [row["bits_se"] * (1 if measure == "bits" else 1 / row["seconds"]) for row in own]
            sizes = column(own, "size")
            axes.errorbar(
                sizes, values, yerr=errors, color=kind_colour(kind), marker="o", markersize=4, capsize=2, label=kind
            )
        axes.set(xlabel="items shown |S|", ylabel=label)
        axes.set_ylim(0, 1.1 * max(row[measure] for row in rows))
    best = next(row for row in rows if row["best"])
    if best["size"] > 1:
        place = (best["size"], best["bits_per_second"])
        grid[0, 1].plot(*place, marker="o", markersize=11, fillstyle="none", color="black", linestyle="", label="best")
    grid[0, 1].legend(loc="best")
    return figure
