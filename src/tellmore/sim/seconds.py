"""Quality after fixed times, and the time from which the mean curve stays at a target.

A trial's quality over time is a step function: at t seconds, it is the quality after the last answer finished at or before t,
and before the first answer, that of the start. It is known up to the trial's last answer, and unknown (NaN) beyond. Seconds are
the sum of those that the simulated people took.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellmore.sim.rows import Trial
from tellmore.types import Array

MARKS_S = (0, 30, 60, 120, 300, 600, 1800)
MEASURES = ("accuracy", "f1", "average_precision")


def mean_and_se(values: Sequence[float] | Array) -> tuple[float | None, float | None]:
    """Mean and standard error; None without a value, and without a second one for the error."""
    if not len(values):
        return None, None
    se = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return float(np.mean(values)), se


def quality_at(trial: Trial, measure: str, moments_s: Array) -> Array:
    """A measure of one trial at each of ``moments_s`` [t]; NaN beyond its last answer."""
    levels = np.array([getattr(trial.start, measure), *trial.column(measure)], dtype=float)
    finished_s = np.array(trial.column("seconds"), dtype=float)
    at = levels[np.searchsorted(finished_s, moments_s, side="right")]
    return np.where(np.asarray(moments_s) <= (finished_s[-1] if finished_s.size else 0.0), at, np.nan)


def at_seconds(trials: Sequence[Trial], marks_s: Sequence[int] = MARKS_S) -> dict[str, dict[str, Any]]:
    """Each measure at each mark: mean and se over the ``runs`` that last until then, and ``each`` run's value, None beyond its
    end."""
    found = {
        measure: np.array([quality_at(trial, measure, np.array(marks_s)) for trial in trials]) for measure in MEASURES
    }
    return {
        str(mark): {
            "runs": int(np.isfinite(found["accuracy"][:, column]).sum()),
            **{measure: _spread(values[:, column]) for measure, values in found.items()},
        }
        for column, mark in enumerate(marks_s)
    }


def _spread(values: Array) -> dict[str, Any]:
    mean, se = mean_and_se(values[np.isfinite(values)])
    return {"mean": mean, "se": se, "each": [float(value) if np.isfinite(value) else None for value in values]}


def known_until(trials: Sequence[Trial]) -> float:
    """Seconds up to which all trials, and so their mean, are known."""
    return float(min(trial.rows[-1].seconds for trial in trials))


def lasting(trials: Sequence[Trial], target: float) -> float | None:
    """The first time from which the mean accuracy of all trials stays at or above ``target``; None if it ends below.

    The mean is taken at equal times, from 0 s to the end of the shortest trial.
    """
    moments_s = np.unique([0.0, *(second for trial in trials for second in trial.column("seconds"))])
    moments_s = moments_s[moments_s <= known_until(trials)]
    mean = np.mean([quality_at(trial, "accuracy", moments_s) for trial in trials], axis=0)
    below = np.flatnonzero(mean < target)
    start = int(below[-1]) + 1 if below.size else 0
    return float(moments_s[start]) if start < len(moments_s) else None
