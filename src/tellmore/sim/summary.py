"""Summaries of trials: curves, and the interactions and seconds needed to reach an accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellmore.sim.config import Config
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import at_seconds, known_until, lasting, mean_and_se, quality_at
from tellmore.types import Array

TARGETS = (0.70, 0.75, 0.80)
CURVES = ("accuracy", "f1", "average_precision", "mse", "mse_scores", "logdet", "bits", "seconds")


def first_reached(accuracy: Array, target: float) -> int | None:
    """The number of answers after which the accuracy is first at least ``target``; None if never."""
    hits = np.flatnonzero(np.asarray(accuracy) >= target)
    return int(hits[0]) + 1 if hits.size else None


def sustained_from(accuracy: Array, target: float) -> int | None:
    """The number of answers from which the accuracy is never below ``target`` again; None if it ends below."""
    below = np.flatnonzero(np.asarray(accuracy) < target)
    start = int(below[-1]) + 1 if below.size else 0
    return start + 1 if start < len(accuracy) else None


def together(curves: Sequence[Sequence[float]]) -> Array:
    """Curves of trials as a matrix [seeds, answers], cut at the end of the shortest: no value is carried forward."""
    width = min(len(curve) for curve in curves)
    return np.array([list(curve)[:width] for curve in curves], dtype=float)


def mean_curve_seconds(trials: Sequence[Trial], target: float) -> float | None:
    """Seconds at which the accuracy, averaged over seeds at equal times, is first at least ``target``; None if it is not before
    the shortest trial ends."""
    moments = np.unique([0.0, *(second for trial in trials for second in trial.column("seconds"))])
    moments = moments[moments <= known_until(trials)]
    hits = np.flatnonzero(np.mean([quality_at(trial, "accuracy", moments) for trial in trials], axis=0) >= target)
    return float(moments[hits[0]]) if hits.size else None


def to_accuracy(
    trials: Sequence[Trial], target: float, *, stopped: bool = False
) -> dict[str, dict[str, float | int | None]]:
    """Interactions and seconds to ``target``: mean and se over the seeds that reached it, until it was sustained, and of the mean
    curve.

    ``stopped``: trials ended at an accuracy, so that it is not known whether it would have been sustained.
    """
    first = [first_reached(np.asarray(trial.column("accuracy")), target) for trial in trials]
    lasting = [None if stopped else sustained_from(np.asarray(trial.column("accuracy")), target) for trial in trials]
    crossing = first_reached(together([trial.column("accuracy") for trial in trials]).mean(axis=0), target)

    def seconds(answers: Sequence[int | None]) -> list[float]:
        pairs = zip(trials, answers, strict=True)
        return [trial.column("seconds")[answer - 1] for trial, answer in pairs if answer is not None]

    return {
        "interactions": _reach([a for a in first if a is not None], [a for a in lasting if a is not None], crossing),
        "seconds": _reach(seconds(first), seconds(lasting), mean_curve_seconds(trials, target)),
    }


def _reach(first: Sequence[float], lasting: Sequence[float], crossing: float | None) -> dict[str, float | int | None]:
    mean, se = mean_and_se(first)
    return {
        "mean": mean,
        "se": se,
        "reached": len(first),
        "sustained": mean_and_se(lasting)[0],
        "sustained_reached": len(lasting),
        "mean_curve": crossing,
    }


def target_name(target: float) -> str:
    """The key of a target: two digits, or more if it has more.

    >>> target_name(0.7), target_name(0.925)
    ('0.70', '0.925')
    """
    return max(f"{target:.2f}", f"{target:g}", key=len)


def summarise(
    config: Config, trials: Sequence[Trial], *, pool: dict[str, Any], targets: Sequence[float] = TARGETS
) -> dict[str, Any]:
    """The JSON of `tellmore simulate`: curves per seed, quality after fixed times, and what it took to reach each target."""
    return {
        "pool": pool,
        "config": {**config.as_dict(), **trials[0].notes},
        "seeds": [trial.seed for trial in trials],
        "curves": {name: [trial.column(name) for trial in trials] for name in CURVES},
        "at_seconds": at_seconds(trials),
        "to_accuracy": {
            target_name(target): to_accuracy(trials, target, stopped=config.stop_at is not None) for target in targets
        },
        "lasting": {target_name(target): lasting(trials, target) for target in targets},
        "known_until_seconds": known_until(trials),
        **({"people": [people_of(trials, at) for at in range(len(trials[0].people))]} if trials[0].people else {}),
    }


def people_of(trials: Sequence[Trial], at: int) -> dict[str, Any]:
    """What was seen of one person in a team: in how many trials a change was noticed and at which answer, and by how much context
    changed the answers, as mean and standard error over the trials in which this was estimated."""
    each = [trial.people[at] for trial in trials if at < len(trial.people)]
    noticed = [one["at"] for one in each if one["at"] is not None]
    found: dict[str, Any] = {"person": each[0]["person"], "trials": len(each), "noticed": len(noticed)}
    found["at"] = float(np.median(noticed)) if noticed else None
    for name in ("first", "before"):
        known = [one[name] for one in each if one[name] is not None]
        mean, se = mean_and_se([estimate for estimate, _ in known])
        found[name], found[f"{name}_se"] = mean, known[0][1] if len(known) == 1 else se
    return found
