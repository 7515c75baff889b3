"""The paper's methods in their settings: how long trials are, and the rows of settings and of single trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench, Source
from tellmore.figures.curves import MARKS_S, reach_row
from tellmore.rows import Row, Rows
from tellmore.sim.config import Config
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import at_seconds
from tellmore.sim.summary import first_reached

# Answers of a trial, in the order of `paper.SETTINGS`: enough for most seeds to pass the target. No trial stops there, so that
# later accuracies are means over all seeds.
LENGTHS = {
    "as-printed": (2200, 1400, 1000, 800, 450, 350),
    "as-authors": (2500, 0, 1000, 900, 450, 450),
    "paper": (0, 1500, 0, 900, 0, 400),
    "default": (1200, 1400, 700, 600, 300, 250),
}
"""The authors' code asks only for labels of random items."""
AT_ANSWER = 200
"""The number of answers after which the curves of all settings are compared."""
Key = tuple[str, str, float | None]
"""Mode, setting and scale of the prior (None: the default prior)."""


def in_order(rows: Rows) -> list[Row]:
    """Rows by mode, setting and scale, in the order of the paper; other settings come last."""
    places = {setting: place for place, setting in enumerate(paper.SETTINGS)}
    modes = list(LENGTHS)
    return sorted(
        rows, key=lambda row: (modes.index(row["mode"]), places.get(row["setting"], len(places)), row["scale"] or 0.0)
    )


def family_of(setting: str) -> str:
    """The family of a setting, as in "rank-4, random"."""
    return setting.split(",")[0].split("-")[0]


def config_of(bench: Bench, source: Source, setting: str, answers: int, **other: Any) -> Config:
    asked, _, how = setting.partition(", ")
    question, _, size = asked.partition("-")
    return bench.config(
        source,
        question=question,
        size=int(size) if size else None,
        acquisition=how or "greedy",
        answers=bench.plan.answers if bench.plan.quick else answers,
        stop_at=None,
        sparse=True,
        **other,
    )


def rows_of(bench: Bench, part: str, wanted: dict[Key, Config], seeds: Sequence[int], pool: str) -> list[Row]:
    """A row for each setting that has trials, followed by the rows of its trials."""
    done = bench.trials(list(wanted.values()), seeds)
    rows: list[Row] = []
    for key, config in wanted.items():
        if done[config]:
            rows.append(row_of(part, key, config, done[config], pool))
            rows += [trial_row(part, key, trial, pool) for trial in done[config]]
    return rows


def row_of(part: str, key: Key, config: Config, trials: Sequence[Trial], pool: str) -> Row:
    """The row of one setting: first and lasting crossings of the target, and accuracies at fixed seconds."""
    mode, setting, scale = key
    own = {"mode": mode, "setting": setting, "scale": scale, "printed": paper.COUNT_WORDS.get(setting)}
    return {"pool": pool, "part": part, "seed": None, **reach_row(config, trials, paper.TARGET), **own}


def trial_row(part: str, key: Key, trial: Trial, pool: str) -> Row:
    """The row of one trial: when it first reached the target (None if it never did), and its accuracy at fixed seconds."""
    mode, setting, scale = key
    first = first_reached(np.asarray(trial.column("accuracy")), paper.TARGET)
    marks = at_seconds([trial], MARKS_S)
    mse = trial.rows[AT_ANSWER - 1].mse if len(trial.rows) >= AT_ANSWER else None
    return {
        "pool": pool,
        "part": f"{part}, trials",
        "seed": trial.seed,
        "setting": setting,
        "mode": mode,
        "target": paper.TARGET,
        "seeds": 1,
        "reached": int(first is not None),
        "interactions": first,
        "seconds": None if first is None else trial.rows[first - 1].seconds,
        "longest": len(trial.rows),
        "longest_s": trial.rows[-1].seconds,
        **{f"accuracy_{mark}_s": found["accuracy"]["mean"] for mark, found in marks.items()},
        "mse": mse,
        "scale": scale,
    }


def seeds_text(rows: Rows) -> str:
    """The number of seeds in words, as in "4 to 20 seeds"."""
    counts = sorted({int(row["seeds"]) for row in rows})
    return (
        f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 1 else f"{counts[0]} seed{'s' if counts[0] > 1 else ''}"
    )
