"""One plain style for all figures: light background, colours that colour-blind readers can distinguish, visible spread."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tellmore import kinds
from tellmore.errors import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette; a kind of question keeps its colour in every figure.
ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE, GREY = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
    "#555555",
)
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)
LINE_STYLES = {"greedy": "-", "random": "--"}

FAMILY_COLOURS = (VERMILION, BLUE, GREEN, ORANGE, SKY, GREY)


def kind_colour(name: str) -> str:
    """The colour that a kind of question, its family or "auto" has in all figures."""
    if name == "auto":
        return PURPLE
    return FAMILY_COLOURS[kinds.families().index(kinds.family(name)[0].family) % len(FAMILY_COLOURS)]


_SETTINGS: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "font.family": "DejaVu Sans",
    "lines.linewidth": 1.6,
    "svg.hashsalt": "tellmore",  # the same rows give the same bytes
    "svg.fonttype": "none",
    "savefig.dpi": 150,
}


def new_figure(rows: int = 1, columns: int = 1, *, width: float = 5.2, height: float = 3.6) -> tuple[Figure, Any]:
    """A figure and its axes [rows, columns]; width and height, in inches, are those of one panel."""
    with needs("matplotlib", "lab"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    look: Any = mpl.rcParams
    look.update(_SETTINGS)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def line_with_band(
    axes: Axes, x: ArrayLike, mean: ArrayLike, se: ArrayLike, *, label: str, colour: str, **line: Any
) -> None:
    """A mean curve with its standard-error band, or without one if se is not finite (a single seed)."""
    x, mean, se = (np.asarray(values, dtype=float) for values in (x, mean, se))
    axes.plot(x, mean, color=colour, label=label, **line)
    if np.isfinite(se).any():
        axes.fill_between(x, mean - se, mean + se, color=colour, alpha=0.18, linewidth=0)


def legend_below(figure: Figure, axes: Axes, *, columns: int = 4, sizes: bool = True) -> None:
    """One legend for all panels, below them, where it hides nothing; without ``sizes``, "rank-4" becomes "rank"."""
    handles, labels = axes.get_legend_handles_labels()
    if not sizes:
        labels = [re.sub(r"-\d+", "", label) for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, max(len(labels), 1)))


def table_figure(
    header: list[str], body: list[list[str]], *, title: str, widths: list[float] | None = None, width: float = 12.0
) -> Figure:
    """A table as a picture; a cell may hold several lines. ``widths`` are shares of ``width`` inches."""
    lines = [max(text.count("\n") + 1 for text in row) for row in [header, *body]]
    height = sum(0.12 + 0.16 * count for count in lines)
    figure, grid = new_figure(width=width, height=height + 0.45)
    axes = grid[0, 0]
    axes.axis("off")
    axes.set_title(title, loc="left")
    table = axes.table(cellText=body, colLabels=header, bbox=(0, 0, 1, 1), cellLoc="left", colWidths=widths)
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for (row, _), cell in table.get_celld().items():
        cell.set_height((0.12 + 0.16 * lines[row]) / height)
        cell.set_edgecolor("#CCCCCC")
        cell.PAD = 0.02
        if row == 0:
            cell.set_text_props(weight="bold")
            cell.set_facecolor("#F2F2F2")
    return figure
