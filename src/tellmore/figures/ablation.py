"""Ours against the paper's statistics, each difference switched alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures.bench import Bench
from tellmore.figures.curves import reach_row, reach_text, time_text
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import BLUE, GREY, VERMILION, new_figure
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config, Option
from tellmore.sim.seconds import mean_and_se

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TARGET = 0.75
DEFAULT, PAPER = "default", "paper mode"
UNANCHORED = "paper mode, zero start,\nnot renormalised"
# Name -> what is switched from the default. A bias variance of 1 is that of the weights, as in the isotropic prior.
SWITCHES: dict[str, tuple[tuple[str, Option], ...]] = {
    DEFAULT: (),
    "isotropic prior": (("paper_parts", ("prior",)),),
    "wide bias": (("prior_options", (("bias_sd", 1.0),)),),
    "paper's bound": (("paper_parts", ("bound",)),),
    "random start, renormalised": (("paper_parts", ("start", "norm")),),
    "one factor after another": (("paper_parts", ("factors",)),),
    "asks as sharply as it learns": (("paper_parts", ("asking",)),),
}


def ablation(rows: Rows) -> Figure:
    """Interactions to 75 % and accuracy at the end for each switch; open marks are lower bounds."""
    pools = distinct(rows, "pool")
    figure, grid = new_figure(len(pools), 2, width=5.0, height=2.9)
    for line, pool in zip(grid, pools, strict=True):
        own = where(rows, pool=pool)
        names = [row["switched"] for row in own]
        places = np.arange(len(own))[::-1]
        for place, row in zip(places, own, strict=True):
            colour = BLUE if row["switched"] == DEFAULT else VERMILION if row["switched"] == PAPER else GREY
            failed = row["reached"] < row["seeds"]
            line[0].errorbar(
                row["interactions_at_least"],
                place,
                xerr=row["interactions_se"] or 0.0,
                fmt=">" if failed else "o",
                color=colour,
                markerfacecolor="white" if failed else colour,
                capsize=3,
            )
        line[1].errorbar(
            column(own, "accuracy"), places, xerr=column(own, "accuracy_se"), fmt="o", color=BLUE, capsize=3
        )
        line[0].set_yticks(places, names)
        line[1].set_yticks(places, [])
        line[0].set(xlabel=f"interactions to {TARGET:.0%} (▷: at least)", title=pool)
        line[0].set_xlim(left=0)
        line[1].set(xlabel=f"accuracy after {own[0]['answers']} answers")
    return figure


def configs(bench: Bench) -> dict[tuple[str, str], Config]:
    """Rank-4 on two word pools: the default, each switch alone, all of paper mode, and paper mode with a free mean."""
    answers = 30 if bench.plan.quick else 200
    found: dict[tuple[str, str], Config] = {}
    for part in ("sentiment",) if bench.plan.quick else ("sentiment", "valence"):
        source = bench.source(part)
        for name, options in SWITCHES.items():
            found[source.title, name] = bench.config(source, answers=answers, stop_at=None, options=options)
        found[source.title, PAPER] = bench.config(source, answers=answers, stop_at=None, mode="paper")
        kept: tuple[tuple[str, Option], ...] = (("paper_parts", ("prior", "bound", "factors", "asking")),)
        found[source.title, UNANCHORED] = bench.config(
            source, answers=answers, stop_at=None, mode="paper", options=kept
        )
    return found


def _collect(bench: Bench) -> Rows:
    chosen = configs(bench)
    runs = bench.trials(list(chosen.values()), bench.plan.few_seeds)
    rows: list[Row] = []
    for (pool, name), config in chosen.items():
        accuracy, se = mean_and_se([trial.rows[-1].accuracy for trial in runs[config]])
        reach = reach_row(config, runs[config], TARGET)
        measured = {"answers": config.answers, "accuracy": accuracy, "accuracy_se": se}
        rows.append({"pool": pool, "switched": name, **measured, **reach})
    return rows


def _compare(rows: Rows) -> str:
    parts = []
    for pool in distinct(rows, "pool"):
        own = where(rows, pool=pool)
        each = "; ".join(
            ", ".join(
                filter(
                    None,
                    [
                        f"{' '.join(row['switched'].split())} {reach_text(row)}",
                        f"{row['accuracy']:.3f}",
                        time_text(row),
                    ],
                )
            )
            for row in own
        )
        parts.append(f"{pool}: {each}")
    return (
        f"Rank-4, interactions to 75 % and accuracy after {rows[0]['answers']} answers, {rows[0]['seeds']} seeds, each "
        f"difference from the default switched alone. {'. '.join(parts)}."
    )


EXHIBITS = (Exhibit("ablation", "Default against paper mode, part by part", _collect, ablation, _compare),)
