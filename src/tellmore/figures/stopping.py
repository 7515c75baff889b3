"""Theorem 1 and measured stopping times of the ideal algorithm (Section III-A)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tellmore import kinds
from tellmore.core.evidence import Behaviour
from tellmore.figures import paper
from tellmore.figures.bench import Bench, once
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import GREY, kind_colour, legend_below, new_figure
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim import theory
from tellmore.sim.ideal import ideal_problem, stopping_times
from tellmore.sim.seconds import mean_and_se

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIMENSIONS = 2
ITEMS = 12
SHARPNESS = Behaviour(w=12.0, K=9.0)
QUESTIONS = tuple((kinds.family(family)[0].name, paper.size_of(family) or 1) for family in paper.FAMILIES)


def theorem1(rows: Rows) -> Figure:
    """Measured stopping times between the bounds, against the threshold epsilon, one panel per kind of question."""
    names = distinct(rows, "question")
    figure, grid = new_figure(1, len(names), width=3.7, height=3.6)
    for axes, name in zip(grid[0], names, strict=True):
        own = where(rows, question=name)
        epsilon, measured, se = (column(own, measure) for measure in ("epsilon", "measured", "measured_se"))
        colour = kind_colour(name.split("-")[0])
        axes.errorbar(epsilon, measured, yerr=se, fmt="o-", color=colour, capsize=3, label="measured")
        axes.plot(epsilon, np.maximum(column(own, "lower"), 0.01), "--", color=GREY, label="lower bound")
        axes.plot(epsilon, column(own, "upper_printed"), ":", color=GREY, label="upper bound, as printed")
        axes.plot(epsilon, column(own, "upper_corrected"), "-.", color=GREY, label="upper bound, corrected")
        axes.set(xscale="log", yscale="log", xlabel="ε, per dimension", ylabel="interactions", title=name)
        axes.set_ylim(bottom=0.3)
        axes.set_xticks(epsilon, [f"{value:g}" for value in epsilon])
        axes.set_xticks([], minor=True)
        axes.invert_xaxis()
    legend_below(figure, grid[0, 0])
    return figure


@once("theorem1")
def stopping_rows(bench: Bench) -> Rows:
    """Runs of Algorithm 1 on an exact grid in two dimensions; the classifier is drawn from the hypercube."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ITEMS, DIMENSIONS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    runs, per_axis, epsilons = (5, 32, (0.1, 0.03)) if bench.plan.quick else (100, 64, (0.1, 0.03, 0.01, 0.005))
    rows: list[Row] = []
    for kind, size in QUESTIONS:
        problem = ideal_problem(X, kind, size, SHARPNESS, rng=np.random.default_rng(1), max_sets=32, per_axis=per_axis)
        for epsilon in epsilons:
            found = stopping_times(problem, epsilon, runs, rng=np.random.default_rng(2))
            times = [float(run.stopping_time) for run in found]
            rows.append(
                _row(kind, size, epsilon, times, theory.smallest_gain(g for run in found for g in run.gains_bits))
            )
    return rows


def _row(kind: str, size: int, epsilon: float, times: list[float], least_bits: float) -> Row:
    constants = theory.lemma_constants(DIMENSIONS, size, K=SHARPNESS.K, w=SHARPNESS.w)
    mean, se = mean_and_se(times)
    return {
        "question": paper.titled(kinds.named(kind).family, size),
        "epsilon": epsilon,
        "runs": len(times),
        "measured": mean,
        "measured_se": se,
        "lower": theory.lower_bound(DIMENSIONS, theory.outcome_count(kind, size), epsilon),
        "least_gain_bits": least_bits,
        "upper_printed": theory.upper_bound_printed(DIMENSIONS, least_bits, epsilon),
        "upper_corrected": theory.upper_bound_corrected(DIMENSIONS, least_bits, epsilon, constants.gamma_bits),
    }


def _compare(rows: Rows) -> str:
    inside = sum(row["lower"] <= row["measured"] <= row["upper_corrected"] for row in rows)
    printed = sum(row["measured"] <= row["upper_printed"] for row in rows)
    tightest = rows[-1]["epsilon"]
    parts = [
        f"{row['question']} {row['lower']:.1f} ≤ {row['measured']:.1f} ≤ {row['upper_corrected']:.0f}"
        for row in where(rows, epsilon=tightest)
    ]
    return (
        f"Theorem 1 in {DIMENSIONS} dimensions, exactly: {inside} of {len(rows)} mean stopping times lie between the lower and "
        f"the corrected upper bound, {printed} below the printed upper bound too; at ε = {tightest:g}: {', '.join(parts)}. "
        "At d = 301, M = 1, ε = 0.001 the lower bound is "
        + ", ".join(
            f"{theory.lower_bound(301, theory.outcome_count(kind, size), 1e-3):.0f} ({kind.split('_')[0]})"
            for kind, size in QUESTIONS
        )
        + "."
    )


EXHIBITS = (Exhibit("theorem1", "Theorem 1 and measured stopping times", stopping_rows, theorem1, _compare),)
