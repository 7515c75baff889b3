"""Table I with measured columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tellmore.figures.bench import Bench
from tellmore.figures.curves import reach_row, reach_text, time_text
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import table_figure
from tellmore.policy.cost import PAPER_COST
from tellmore.rows import Row, Rows, where
from tellmore.sim.config import Config
from tellmore.sim.rows import Trial
from tellmore.sim.theory import outcome_count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TARGET = 0.75
PAPER = {"label": (1.0, 1310), "select-4": (3.0, 468), "rank-4": (4.3, 191)}
"""Bits at most, and interactions to 75 %, as printed."""


def table1(rows: Rows) -> Figure:
    """The table as a picture."""
    header = ["question", "answers N", "bits ≤", "bits, first 20", "seconds", "to 75 %:\npaper", "to 75 %:\npaper mode"]
    header += ["to 75 %:\ndefault mode", "seconds to 75 %:\ndefault mode"]
    body = []
    for paper in where(rows, mode="paper"):
        ours = where(rows, mode="default", setting=paper["setting"])[0]
        seconds = "–" if ours["seconds"] is None else f"{ours['seconds']:.0f}"
        if ours["reached"] < ours["seeds"]:
            seconds += f" ({ours['reached']} of {ours['seeds']})"
        body.append(
            [
                paper["setting"],
                str(paper["outcomes"]),
                f"{paper['bits_at_most']:.2f}",
                f"{paper['bits']:.2f} / {ours['bits']:.2f}",
                f"{paper['seconds_each']:.2f}",
                str(paper["paper_interactions"]),
                reach_text(paper),
                reach_text(ours),
                seconds,
            ]
        )
    return table_figure(header, body, title="Table I, measured (bits: paper mode / default mode)")


def configs(bench: Bench) -> list[Config]:
    """Label, select-4 and rank-4, active, both modes: the same trials as in Fig. 3."""
    source = bench.source("sentiment")
    return [
        bench.config(source, question=question, size=1 if question == "label" else 4, mode=mode)
        for mode in ("paper", "default")
        for question in ("label", "select", "rank")
    ]


def _row(config: Config, trials: list[Trial]) -> Row:
    outcomes = outcome_count(config.question, config.shown or 1)
    early = [row.bits for trial in trials for row in trial.rows[:20]]
    return {
        **reach_row(config, trials, TARGET),
        "outcomes": outcomes,
        "bits_at_most": math.log2(outcomes),
        "paper_bits": PAPER[config.title][0],
        "bits": sum(early) / len(early),
        "seconds_each": PAPER_COST.seconds(config.question, config.shown or 1),
        "paper_interactions": PAPER[config.title][1],
    }


def _collect(bench: Bench) -> Rows:
    return [_row(config, trials) for config, trials in bench.trials(configs(bench)).items()]


def _compare(rows: Rows) -> str:
    def reach(mode: str) -> str:
        return "; ".join(f"{row['setting']} {reach_text(row)}, {time_text(row)}" for row in where(rows, mode=mode))

    return (
        "Interactions to 75 % in the paper: label 1310, select-4 468, rank-4 191. "
        f"Measured in paper mode: {reach('paper')}. In default mode: {reach('default')} (> is a lower bound: seeds that failed "
        "count with their length; in brackets how many reached it). A ranking of 4 carries at most log2 5! = 6.91 bits, not 4.3."
    )


EXHIBITS = (Exhibit("table1", "Table I with measured columns", _collect, table1, _compare),)
