"""The race as tables and a picture; the learner's losses are red."""

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
"""The difference in points that gets the full colour."""
HEAD = """# The race, in numbers

{sentence}

In %, mean ± standard error over the seeds, after this many seconds of human time. **Bold**: the highest mean. {loss}: a value of
the learner that is below the best {rival} by more than one standard error of the difference. If few items are
positive, F1 and average precision are shown instead of accuracy. The same numbers with all differences: [race.csv](race.csv).
[What it means](../race.md)
"""


def tables(rows: Rows) -> str:
    """The race in Markdown: a table for every pool and each of its measures."""
    parts = [HEAD.format(sentence=sentence(rows), loss=LOSS, rival=rival(rows))]
    for pool in distinct(rows, "pool"):
        own = where(rows, pool=pool)
        for measure in ("f1", "average_precision") if own[0]["rare"] else ("accuracy",):
            parts.append(_table(where(own, measure=measure), f"{pool}: {TITLES[measure]}"))
    return "\n".join(parts)


def at_mark(rows: Rows, mark_s: int) -> tuple[list[str], list[list[str]]]:
    """After this many seconds, on every pool: the best peer, and the learner's contenders with their differences from it."""
    counted = [row for row in main_measure(rows) if row["mark_s"] == mark_s]
    names = distinct([row for row in counted if not row["peer"]], "contender")
    body = []
    for pool in distinct(counted, "pool"):
        own = {row["contender"]: row for row in where(counted, pool=pool)}
        best = max((row for row in own.values() if row["peer"]), key=lambda row: float(row["mean"]))
        title = f"{pool}, F1" if best["rare"] else str(pool)
        cells = [_difference(own[name]) if name in own else "–" for name in names]
        body.append([title, f"{100 * best['mean']:.1f} `{best['contender']}`", *cells])
    return [f"after {mark_s} s", "best peer", *(f"`{name}`" for name in names)], body


def _difference(row: Row) -> str:
    gap = f"{100 * row['mean']:.1f} ({100 * row['to_best_peer']:+.1f} ± {100 * row['to_best_peer_se']:.1f})"
    return f"{LOSS} {gap}" if verdict(row) < 0 else gap


LATER_S = 300


def cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """How often each of the learner's contenders is ahead of the best peer and behind it: at all marks and from five minutes."""
    own = [row for row in main_measure(rows) if not row["peer"]]
    body = []
    for name in distinct(own, "contender"):
        found = where(own, contender=name)
        later = [row for row in found if row["mark_s"] >= LATER_S]
        counts = [[sum(verdict(row) == sign for row in among) for among in (found, later)] for sign in (1, -1)]
        body.append([f"`{name}`", f"{len(found)} ({len(later)})", *(f"{whole} ({part})" for whole, part in counts)])
    what = [f"{side} by more than a standard error" for side in ("ahead", "behind")]
    return [f"of all cells (from {LATER_S} s on)", "cells", *what], body


def in_short(rows: Rows, name: str) -> str:
    """One sentence about a contender, from five minutes on."""
    own = [row for row in main_measure(where(rows, contender=name)) if row["mark_s"] >= LATER_S]
    ahead, behind = (sum(verdict(row) == sign for row in own) for sign in (1, -1))
    pools, minutes = len(distinct(own, "pool")), [str(mark // 60) for mark in distinct(own, "mark_s")]
    marks = " and ".join(filter(None, (", ".join(minutes[:-1]), minutes[-1])))
    return (
        f"On {pools} pools, {own[0]['seeds']} seeds each, `{name}` is ahead of the best of them in {ahead} of {len(own)} "
        f"comparisons after {marks} minutes, and behind in {behind}."
    )


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
    """A panel for each of the learner's contenders: the difference from the best rival on every pool at every mark."""
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
