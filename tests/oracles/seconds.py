"""Marks in seconds, the slow way: one trial, one moment, one answer at a time."""

from __future__ import annotations

from fractions import Fraction

from tellmore.sim.rows import Trial


def at(trial: Trial, measure: str, moment: float) -> float | None:
    """Replay the trial up to ``moment``; None if it ended before."""
    if moment > trial.rows[-1].seconds:
        return None
    level = float(getattr(trial.start, measure))
    for row in trial.rows:
        if row.seconds <= moment:
            level = float(getattr(row, measure))
    return level


def lasting(trials: list[Trial], target: float) -> float | None:
    """The first moment at which anything changes such that the mean is at least ``target`` then and at all later ones."""
    end = min(trial.rows[-1].seconds for trial in trials)
    moments = sorted({0.0} | {row.seconds for trial in trials for row in trial.rows if row.seconds <= end})

    def mean(moment: float) -> Fraction:
        return sum((Fraction(at(trial, "accuracy", moment) or 0) for trial in trials), Fraction(0)) / len(trials)

    for moment in moments:
        if all(mean(later) >= Fraction(target) for later in moments if later >= moment):
            return moment
    return None
