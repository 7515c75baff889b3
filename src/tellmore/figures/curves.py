"""Learning curves as rows: the mean over seeds with its standard error, after each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tellmore.figures.paired import each_text
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.rows import Trial, on_curves
from tellmore.sim.seconds import at_seconds, lasting, mean_and_se
from tellmore.sim.summary import first_reached, to_accuracy
from tellmore.types import Array

MEASURES = ("accuracy", "mse", "mse_scores", "logdet", "bits", "seconds")
MARKS_S = (300, 600, 1800)
"""Seconds of human time at which the accuracy is shown with every crossing, because a first crossing depends on luck."""


def curve_rows(runs: Mapping[Config, Sequence[Trial]], *, pool: str, each: Sequence[str] = ()) -> list[Row]:
    """One row per setting and stored answer, to the end of its shortest trial: every point is the mean of all seeds.

    each: the measures of which the rows also have the value of each seed, so that settings can be compared seed by seed.
    """
    return [row for config, trials in runs.items() for row in _curve(config, trials, pool, each)]


def _curve(config: Config, trials: Sequence[Trial], pool: str, each: Sequence[str]) -> list[Row]:
    length = min(len(trial.rows) for trial in trials)
    matrices = {name: np.array([trial.column(name)[:length] for trial in trials], dtype=float) for name in MEASURES}
    kept = [t for t in range(1, length + 1) if on_curves(t) or t == length]
    setting = {
        "pool": pool,
        "setting": config.title,
        "mode": config.mode,
        "question": config.question,
        "size": config.shown,
        "acquisition": config.acquisition,
        "seeds": len(trials),
    }
    return [{**setting, "answer": t, **_moments(matrices, t), **_each(matrices, t, each)} for t in kept]


def _each(matrices: Mapping[str, Array], answer: int, names: Sequence[str]) -> Row:
    return {f"{name}_each": each_text(matrices[name][:, answer - 1]) for name in names}


def _moments(matrices: Mapping[str, Array], answer: int) -> Row:
    moments: Row = {}
    for name, matrix in matrices.items():
        moments[name], moments[f"{name}_se"] = mean_and_se(matrix[:, answer - 1].tolist())
    return moments


def reach_row(config: Config, trials: Sequence[Trial], target: float) -> Row:
    """Interactions and seconds of one setting to ``target`` accuracy; a lower bound if seeds failed. In addition, the time
    from which the mean accuracy stays there, and the accuracy at fixed seconds if all trials lasted that long."""
    reach, marks = to_accuracy(trials, target), at_seconds(trials, MARKS_S)
    whole = {mark: found["accuracy"] if found["runs"] == len(trials) else {} for mark, found in marks.items()}
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
        "lasting_s": lasting(trials, target),
        **{
            f"accuracy_{mark}_s{end}": found.get(name)
            for mark, found in whole.items()
            for end, name in (("", "mean"), ("_se", "se"))
        },
    }


def at_least(trials: Sequence[Trial], target: float) -> float:
    """Mean interactions over all seeds, where a seed that failed counts with its whole length: a lower bound."""
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


def time_text(row: Row) -> str:
    """The lasting crossing and the accuracies at fixed seconds as text; unknown values are left out."""
    known = []
    if "lasting_s" in row:
        known = [f"lasting from {row['lasting_s']:.0f} s" if row["lasting_s"] is not None else "not lasting"]
    known += [f"{row[f'accuracy_{s}_s']:.1%} at {s} s" for s in MARKS_S if row.get(f"accuracy_{s}_s") is not None]
    return ", ".join(known)


def last_value(rows: Rows, setting: str, measure: str) -> float:
    """The value of a measure after the last answer of a setting."""
    return column(where(rows, setting=setting), measure)[-1]


def crossing(rows: Rows, setting: str, target: float) -> float | None:
    """The number of answers at which the mean accuracy of a setting first reaches ``target``; None if never."""
    for row in where(rows, setting=setting):
        if row["accuracy"] >= target:
            return float(row["answer"])
    return None


def lasting_crossing(rows: Rows, setting: str, target: float) -> float | None:
    """The number of answers from which the mean accuracy of a setting stays at ``target``; None if it ends below."""
    own = where(rows, setting=setting)
    below = [number for number, row in enumerate(own) if row["accuracy"] < target]
    start = below[-1] + 1 if below else 0
    return float(own[start]["answer"]) if start < len(own) else None


def accuracy_at(rows: Rows, setting: str, seconds: float) -> float | None:
    """The mean accuracy of a setting after this many seconds; None before its first row and after its last."""
    own = where(rows, setting=setting)
    within = [row for row in own if row["seconds"] <= seconds]
    return float(within[-1]["accuracy"]) if within and len(within) < len(own) else None


def settings(rows: Rows) -> list[str]:
    """The settings in order of appearance."""
    return [str(name) for name in distinct(rows, "setting")]
