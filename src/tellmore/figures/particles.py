"""Algorithm 5 with particles compared with the quick search that replaces it, on the same seeds.

Algorithm 5 as printed draws its particles from the belief; the authors' code scales them to length 1. Particles score every item
of the pool at every step, so a sample of the smallest available pool is used, the images.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench, Source
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.paired import Runs, fewer
from tellmore.figures.verdict import Estimate
from tellmore.plotting import kind_colour, new_figure
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.config import Acquisition, Config, Mode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEARCHED: dict[Mode, tuple[str, ...]] = {"as-printed": paper.FAMILIES, "as-authors": paper.SETS}
"""Modes, with the kinds of question for which they choose items."""
PARTICLES: Acquisition = "particles"
QUICK: Acquisition = "greedy"
ANSWERS = dict(zip(paper.FAMILIES, (100, 40, 20), strict=True))
ITEMS = 300
EQUAL = 0.05
"""Searches whose accuracies differ by less than this, with 95 % confidence, reach the same."""
MEASURES = {"accuracy": "accuracy", "mse": "MSE", "bits": "bits of a question"}
Key = tuple[Mode, str, Acquisition]


def source_of(bench: Bench) -> Source:
    """The pool: always the same sample of the images, or of the words if there are none."""
    whole = bench.source("images" if bench.has("images") else "sentiment")
    return replace(whole, title=f"{whole.title}, {ITEMS}", pool=f"{whole.pool},{ITEMS}")


def configs(bench: Bench) -> dict[Key, Config]:
    """Both searches for each mode and family."""
    source = source_of(bench)
    found: dict[Key, Config] = {}
    for mode, families in SEARCHED.items():
        for family in families:
            size, count = paper.size_of(family), 3 if bench.plan.quick else ANSWERS[family]
            for search in (PARTICLES, QUICK):
                found[mode, paper.titled(family, size), search] = bench.config(
                    source, question=family, size=size, mode=mode, acquisition=search, answers=count, stop_at=None
                )
    return found


def _collect(bench: Bench) -> Rows:
    wanted = configs(bench)
    done = bench.trials(list(wanted.values()))
    pool = source_of(bench).title
    rows: list[Row] = []
    for (mode, setting, search), config in wanted.items():
        for trial in done[config]:
            last = trial.rows[-1]
            own = {"pool": pool, "mode": mode, "setting": setting, "search": search, "seed": trial.seed}
            bits = float(np.mean(trial.column("bits")))
            rows.append({**own, "answers": last.answer, "accuracy": last.accuracy, "mse": last.mse, "bits": bits})
    return rows


def draw(rows: Rows) -> Figure:
    """One point for each seed: particles across, the quick search up; one row of panels per mode."""
    modes = distinct(rows, "mode")
    figure, grid = new_figure(len(modes), len(MEASURES), width=3.6, height=3.2)
    for panels, mode in zip(grid, modes, strict=True):
        for axes, (measure, label) in zip(panels, MEASURES.items(), strict=True):
            for setting in distinct(where(rows, mode=mode), "setting"):
                first, second = _both(rows, mode, setting, measure)
                seeds = sorted(set(first.values) & set(second.values))
                colour = kind_colour(str(setting).split("-")[0])
                axes.plot(first.on(seeds), second.on(seeds), "o", ms=4, alpha=0.7, color=colour, label=setting)
            axes.axline((axes.get_xlim()[0],) * 2, slope=1, color="#999999", linewidth=0.8)
            axes.set(title=f"{label}, {mode}", xlabel="particles (Algorithm 5)", ylabel="quick search")
        panels[0].legend()
    figure.suptitle(f"{rows[0]['pool']}, one point per seed", fontsize=10)
    return figure


def _both(rows: Rows, mode: str, setting: str, measure: str) -> tuple[Runs, Runs]:
    first, second = (
        Runs.of(where(rows, mode=mode, setting=setting, search=search), measure) for search in (PARTICLES, QUICK)
    )
    return first, second


def _compare(rows: Rows) -> str:
    said = []
    for mode in distinct(rows, "mode"):
        parts = [_setting(rows, mode, setting) for setting in distinct(where(rows, mode=mode), "setting")]
        said.append(f"In {mode} mode: {'; '.join(parts)}.")
    scaled = " (in as-authors mode scaled to length 1)" if where(rows, mode="as-authors") else ""
    return (
        f"{rows[0]['pool']}. The quick search minus Algorithm 5 with 1000 particles{scaled} at the end "
        f"of the trials, with 95 % intervals over paired seeds; accuracies are called equal if the interval is within "
        f"{100 * EQUAL:.0f} points of 0. {' '.join(said)}"
    )


def _setting(rows: Rows, mode: str, setting: str) -> str:
    gains = {measure: fewer(*_both(rows, mode, setting, measure)) for measure in MEASURES}
    parts = [
        f"{label} "
        + ("not known" if gain.value is None else f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})")
        for label, gain in zip(MEASURES.values(), gains.values(), strict=True)
    ]
    own = where(rows, mode=mode, setting=setting, search=PARTICLES)
    told = f"{setting}, {len(own)} seeds of {own[0]['answers']} answers, accuracies {equal(gains['accuracy'])}"
    return f"{told}: {', '.join(parts)}"


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
