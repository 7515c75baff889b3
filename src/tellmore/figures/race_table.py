"""The race as one table and one picture; what the learner loses is red."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures.race import gap_of, main_measure, rival, sentence, verdict
from tellmore.plotting import new_figure
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.contenders import OWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

LOSS = "🔴"
TITLES = {"accuracy": "accuracy", "f1": "F1", "average_precision": "average precision"}
SHOWN = OWN[::-1]
"""Panels of the picture, if they took part."""
RED, BLUE, WHITE = "#C62828", "#0072B2", "#F4F4F4"
STRONG = 10.0
"""Points of difference that have the full colour."""
HEAD = """# The race, in numbers

{sentence}

In %, mean ± standard error over the seeds, after this many seconds of human time. **Bold**: the highest mean. {loss}: a value of
the learner that is below the best {rival} by more than one standard error of the paired difference. If few items are
positive, F1 and average precision are shown instead of accuracy. The same numbers with all differences: [race.csv](race.csv).
[What it means](../race.md)
"""


def tables(rows: Rows) -> str:
    """Markdown: a table for every pool and each of its measures."""
    parts = [HEAD.format(sentence=sentence(rows), loss=LOSS, rival=rival(rows))]
    for pool in distinct(rows, "pool"):
        own = where(rows, pool=pool)
        for measure in ("f1", "average_precision") if own[0]["rare"] else ("accuracy",):
            parts.append(_table(where(own, measure=measure), f"{pool}: {TITLES[measure]}"))
    return "\n".join(parts)


def _table(rows: Rows, title: str) -> str:
    marks = distinct(rows, "mark_s")
    best = {mark: max(where(rows, mark_s=mark), key=lambda row: float(row["mean"]))["contender"] for mark in marks}
    lines = [f"## {title}", "", f"| | {' | '.join(f'{mark} s' for mark in marks)} |", "|---" * (len(marks) + 1) + "|"]
    for name in distinct(rows, "contender"):
        cells = [_cell(row, best[row["mark_s"]] == name) for row in where(rows, contender=name)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row, best: bool) -> str:
    text = f"{100 * row['mean']:.1f}" + ("" if row["se"] is None else f" ± {100 * row['se']:.1f}")
    text = f"**{text}**" if best else text
    return f"{LOSS} {text}" if not row["peer"] and verdict(row) < 0 else text


def picture(rows: Rows) -> Figure:
    """A panel for each of the learner's own: the difference to the best rival on every pool at every mark."""
    counted = main_measure(rows)
    names = [name for name in SHOWN if where(counted, contender=name)] or distinct(
        where(counted, peer=False), "contender"
    )
    marks = distinct(rows, "mark_s")
    shown = {row["pool"]: f"{row['pool']} (F1)" if row["rare"] else str(row["pool"]) for row in rows}
    columns = min(3, len(names))
    figure, grid = new_figure(
        -(-len(names) // columns), columns, width=1.9 + 0.62 * len(marks), height=1.0 + 0.36 * len(shown)
    )
    for number, axes in enumerate(np.ravel(grid)):
        if number >= len(names):
            axes.axis("off")
            continue
        _panel(axes, where(counted, contender=names[number]), shown, marks)
        axes.set_title(names[number])
        if number % columns:
            axes.set_yticklabels([])
    figure.suptitle(
        f"Points of accuracy (F1 where positives are rare) against the best {rival(rows)}, {rows[0]['seeds']} seeds; red: behind",
        fontsize=10,
    )
    return figure


def _panel(axes: Axes, rows: Rows, shown: dict[str, str], marks: list[int]) -> None:
    pools = list(shown)
    for row in rows:
        x, y, gap = marks.index(row["mark_s"]), pools.index(row["pool"]), 100 * gap_of(row)[0]
        sure = verdict(row)
        colour = {1: BLUE, -1: RED, 0: WHITE}[sure]
        depth = 1.0 if sure == 0 else 0.25 + 0.75 * min(1.0, abs(gap) / STRONG)
        axes.add_patch(_tile(x, y, colour, depth))
        axes.text(
            x,
            y,
            f"{gap:+.1f}",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if depth > 0.6 and sure else "black",
        )
    axes.set_yticks(range(len(pools)), list(shown.values()))
    axes.set_xticks(range(len(marks)), [f"{mark} s" for mark in marks])
    axes.set(xlim=(-0.5, len(marks) - 0.5), ylim=(len(pools) - 0.5, -0.5))
    axes.grid(visible=False)


def _tile(x: int, y: int, colour: str, depth: float) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, facecolor=colour, alpha=depth, linewidth=0)
