"""Learning curves as rows: the mean over seeds with its standard error, after each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import mean_and_se
from tellmore.sim.summary import first_reached, padded, to_accuracy
from tellmore.types import Array

MEASURES = ("accuracy", "mse", "mse_scores", "logdet", "bits", "seconds")
DENSE = 50
"""Every answer is kept up to here, then every tenth: small files, and no visible difference."""


def curve_rows(runs: Mapping[Config, Sequence[Trial]], *, pool: str) -> list[Row]:
    """One row per setting and kept answer; a trial that stopped early keeps its last value."""
    return [row for config, trials in runs.items() for row in _curve(config, trials, pool)]


def _curve(config: Config, trials: Sequence[Trial], pool: str) -> list[Row]:
    matrices = {name: padded([trial.column(name) for trial in trials]) for name in MEASURES}
    length = matrices["accuracy"].shape[1]
    kept = [t for t in range(1, length + 1) if t <= DENSE or t % 10 == 0 or t == length]
    setting = {
        "pool": pool,
        "setting": config.title,
        "mode": config.mode,
        "question": config.question,
        "size": config.shown,
        "acquisition": config.acquisition,
        "seeds": len(trials),
    }
    return [{**setting, "answer": t, **_moments(matrices, t)} for t in kept]


def _moments(matrices: Mapping[str, Array], answer: int) -> Row:
    moments: Row = {}
    for name, matrix in matrices.items():
        moments[name], moments[f"{name}_se"] = mean_and_se(matrix[:, answer - 1].tolist())
    return moments


def reach_row(config: Config, trials: Sequence[Trial], target: float) -> Row:
    """Interactions and seconds of one setting to ``target`` accuracy; a lower bound where seeds failed."""
    reach = to_accuracy(trials, target)
    return {
        "setting": config.title,
        "mode": config.mode,
        "target": target,
        "seeds": len(trials),
        "reached": reach["interactions"]["reached"],
        "interactions": reach["interactions"]["mean"],
        "interactions_se": reach["interactions"]["se"],
        "interactions_mean_curve": reach["interactions"]["mean_curve"],
        "interactions_at_least": at_least(trials, target),
        "seconds": reach["seconds"]["mean"],
        "seconds_se": reach["seconds"]["se"],
        "longest": max(len(trial.rows) for trial in trials),
    }


def at_least(trials: Sequence[Trial], target: float) -> float:
    """Mean interactions over all seeds, counting a seed that failed with its whole length: a lower bound."""
    reached = [first_reached(np.asarray(trial.column("accuracy")), target) for trial in trials]
    return float(
        np.mean([len(t.rows) if answers is None else answers for t, answers in zip(trials, reached, strict=True)])
    )


def reach_text(row: Row) -> str:
    """Interactions as text: "191 ± 12", or "> 540 (3 of 10 reached)"."""
    if row["reached"] == row["seeds"]:
        se = "" if row["interactions_se"] is None else f" ± {row['interactions_se']:.0f}"
        return f"{row['interactions']:.0f}{se}"
    return f"> {row['interactions_at_least']:.0f} ({row['reached']} of {row['seeds']})"


def last_value(rows: Rows, setting: str, measure: str) -> float:
    """A measure of a setting after its last answer."""
    return column(where(rows, setting=setting), measure)[-1]


def crossing(rows: Rows, setting: str, target: float) -> float | None:
    """Answers at which the mean accuracy of a setting crosses ``target``, from the rows."""
    for row in where(rows, setting=setting):
        if row["accuracy"] >= target:
            return float(row["answer"])
    return None


def settings(rows: Rows) -> list[str]:
    """The settings in order of appearance."""
    return [str(name) for name in distinct(rows, "setting")]
