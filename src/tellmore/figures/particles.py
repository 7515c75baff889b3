"""Algorithm 5 with particles compared with the quick search that replaces it, on the same seeds.

Particles score every item of the pool at every step, so the smallest available pool is used, the images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.paired import Runs, fewer
from tellmore.figures.verdict import Estimate
from tellmore.plotting import kind_colour, new_figure
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.config import Acquisition, Config

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODE = "as-printed"
PARTICLES: Acquisition = "particles"
QUICK: Acquisition = "greedy"
ANSWERS = dict(zip(paper.FAMILIES, (100, 40, 20), strict=True))
EQUAL = 0.05
"""Searches whose accuracies differ by less than this, with 95 % confidence, reach the same."""
MEASURES = {"accuracy": "accuracy", "mse": "MSE", "bits": "bits of a question"}


def configs(bench: Bench) -> dict[tuple[str, Acquisition], Config]:
    """Both searches for each family of the paper."""
    source = bench.source("images" if bench.has("images") else "sentiment")
    found: dict[tuple[str, Acquisition], Config] = {}
    for family, answers in ANSWERS.items():
        size, count = paper.size_of(family), 3 if bench.plan.quick else answers
        for search in (PARTICLES, QUICK):
            found[paper.titled(family, size), search] = bench.config(
                source, question=family, size=size, mode=MODE, acquisition=search, answers=count, stop_at=None
            )
    return found


def _collect(bench: Bench) -> Rows:
    wanted = configs(bench)
    done = bench.trials(list(wanted.values()))
    pool = bench.source("images" if bench.has("images") else "sentiment").title
    rows: list[Row] = []
    for (setting, search), config in wanted.items():
        for trial in done[config]:
            last = trial.rows[-1]
            own = {"pool": pool, "mode": MODE, "setting": setting, "search": search, "seed": trial.seed}
            bits = float(np.mean(trial.column("bits")))
            rows.append({**own, "answers": last.answer, "accuracy": last.accuracy, "mse": last.mse, "bits": bits})
    return rows


def draw(rows: Rows) -> Figure:
    """One point for each seed: particles across, the quick search up."""
    figure, grid = new_figure(1, len(MEASURES), width=3.6, height=3.4)
    for axes, (measure, label) in zip(grid[0], MEASURES.items(), strict=True):
        for setting in distinct(rows, "setting"):
            first, second = (_runs(rows, setting, search, measure) for search in (PARTICLES, QUICK))
            seeds = sorted(set(first.values) & set(second.values))
            colour = kind_colour(str(setting).split("-")[0])
            axes.plot(first.on(seeds), second.on(seeds), "o", color=colour, label=setting)
        axes.axline((axes.get_xlim()[0],) * 2, slope=1, color="#999999", linewidth=0.8)
        axes.set(title=label, xlabel="particles (Algorithm 5)", ylabel="quick search")
    grid[0, 0].legend()
    figure.suptitle(f"{rows[0]['pool']}, {MODE} mode, one point per seed", fontsize=10)
    return figure


def _runs(rows: Rows, setting: str, search: str, measure: str) -> Runs:
    return Runs.of(where(rows, setting=setting, search=search), measure)


def _compare(rows: Rows) -> str:
    said = []
    for setting in distinct(rows, "setting"):
        parts = []
        for measure, label in MEASURES.items():
            gain = fewer(*(_runs(rows, setting, search, measure) for search in (PARTICLES, QUICK)))
            text = "not known" if gain.value is None else f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
            parts.append(f"{label} {text}")
        own = where(rows, setting=setting, search=PARTICLES)
        same = equal(fewer(*(_runs(rows, setting, search, "accuracy") for search in (PARTICLES, QUICK))))
        said.append(
            f"{setting}, {len(own)} seeds of {own[0]['answers']} answers, accuracies {same}: {', '.join(parts)}"
        )
    return (
        f"{rows[0]['pool']}, {MODE} mode. The quick search minus Algorithm 5 with 1000 particles at the end of the trials, with "
        f"95 % intervals over paired seeds; accuracies are called equal if the interval is within {100 * EQUAL:.0f} points of 0: "
        f"{'; '.join(said)}."
    )


def equal(gain: Estimate) -> str:
    """Whether two accuracies are the same, by the interval of their difference.

    >>> equal(Estimate(0.01, -0.02, 0.04)), equal(Estimate(0.01, -0.08, 0.1)), equal(Estimate(0.09, 0.02, 0.16))
    ('equal', 'not shown to be equal', 'different')
    """
    if gain.value is None:
        return "not known"
    if gain.low >= -EQUAL and gain.high <= EQUAL:
        return "equal"
    return "different" if gain.low > 0 or gain.high < 0 else "not shown to be equal"


EXHIBITS = (Exhibit("particles", "Algorithm 5 by particles and by the quick search", _collect, draw, _compare),)
