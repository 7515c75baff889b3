"""Table I with measured columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tellmore.figures import paper
from tellmore.figures.baselines import configs
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

MODES = ("as-printed", "default")


def table1(rows: Rows) -> Figure:
    """The table as a picture."""
    header = ["question", "answers N", "bits ≤", "bits, first 20", "seconds", "to 75 %:\npaper", "to 75 %:\nas-printed"]
    header += ["to 75 %:\ndefault mode", "seconds to 75 %:\ndefault mode"]
    body = []
    for printed in where(rows, mode="as-printed"):
        ours = where(rows, mode="default", setting=printed["setting"])[0]
        seconds = "–" if ours["seconds"] is None else f"{ours['seconds']:.0f}"
        if ours["reached"] < ours["seeds"]:
            seconds += f" ({ours['reached']} of {ours['seeds']})"
        body.append(
            [
                printed["setting"],
                str(printed["outcomes"]),
                f"{printed['bits_at_most']:.2f}",
                f"{printed['bits']:.2f} / {ours['bits']:.2f}",
                f"{printed['seconds_each']:.2f}",
                str(printed["paper_interactions"]),
                reach_text(printed),
                reach_text(ours),
                seconds,
            ]
        )
    return table_figure(header, body, title=f"Table I, measured on {rows[0]['pool']} (bits: as-printed / default mode)")


def _row(pool: str, config: Config, trials: list[Trial]) -> Row:
    outcomes = outcome_count(config.question, config.shown or 1)
    early = [row.bits for trial in trials for row in trial.rows[:20]]
    return {
        "pool": pool,
        **reach_row(config, trials, paper.TARGET),
        "outcomes": outcomes,
        "bits_at_most": math.log2(outcomes),
        "paper_bits": paper.BITS[config.title],
        "bits": sum(early) / len(early),
        "seconds_each": PAPER_COST.seconds(config.question, config.shown or 1),
        "paper_interactions": paper.COUNTS[config.title],
    }


def _collect(bench: Bench) -> Rows:
    """Active label, select-4 and rank-4: the same trials as in the comparison of baselines."""
    source = bench.source("sentiment")
    wanted = [
        config
        for (mode, setting, _), config in configs(bench, source).items()
        if mode in MODES and setting in paper.CHOSEN
    ]
    return [_row(source.title, config, trials) for config, trials in bench.trials(wanted).items() if trials]


def _compare(rows: Rows) -> str:
    def reach(mode: str) -> str:
        return "; ".join(f"{row['setting']} {reach_text(row)}, {time_text(row)}" for row in where(rows, mode=mode))

    printed = ", ".join(f"{name} {paper.COUNT_WORDS[name]}" for name in paper.CHOSEN)
    return (
        f"Interactions to 75 % in the paper: {printed}. Measured in as-printed mode: {reach('as-printed')}. In default mode: "
        f"{reach('default')} (> is a lower bound: seeds that failed count with their length; in brackets how many reached it; "
        f"{rows[0]['seeds']} seeds). A ranking of 4 carries at most log2 5! = 6.91 bits, not 4.3."
    )


EXHIBITS = (Exhibit("table1", "Table I with measured columns", _collect, table1, _compare),)
