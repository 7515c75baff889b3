"""The baselines by name: as printed, as the authors' code, paper mode, and the default for comparison.

What the paper leaves open, the scale of the prior, is swept: a row for every scale, whatever it gives. The rule for the
strongest baseline was set before it was run: of each kind of question, the method and the scale with the fewest answers to the
target in the sweep, run anew on the seeds of the methods; of that and of all methods as they come, the one with the fewest.

Below the rows of settings are those of their trials, one for each seed, so that settings can be compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench, Source
from tellmore.figures.curves import MARKS_S, reach_row, reach_text
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.grid import BEFORE, WITHOUT_GRIDS
from tellmore.plotting import PALETTE, kind_colour, legend_below, new_figure
from tellmore.policy.asking import AUTO
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config, Option
from tellmore.sim.method import METHODS
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import at_seconds
from tellmore.sim.summary import first_reached

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SWEPT = ("as-printed", "as-authors")
MODES = (*SWEPT, "paper", "default")
# Answers of a trial, in the order of `paper.SETTINGS`: enough for most seeds to pass the target. None stops there, so that
# accuracies at later moments are of all seeds.
LENGTHS = {
    "as-printed": (2200, 1200, 900, 700, 400, 300),
    "as-authors": (2200, 0, 900, 700, 400, 400),
    "paper": (0, 1500, 0, 900, 0, 400),
    "default": (800, 800, 600, 600, 200, 200),
}
"""The authors' code asks labels of random items only."""
MOST_SWEPT = dict(zip(paper.FAMILIES, (1000, 600, 300), strict=True))
"""Answers of a trial of the sweep, which stops at the target: a scale that needs more than these counts with so many."""
AUTOS = {AUTO: 120, BEFORE: 400}
"""Answers of trials in which the default chooses the kinds too, with grids and without: about 40 minutes."""
PAIRS = {"as-printed": 300, "default": 200}
"""Answers of trials on two items, by mode: the paper compares choosing from two with ranking two."""
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
AT_ANSWER = 200
"""Curves of all settings are compared after so many answers."""
SWEEP_SEEDS = [100, 101, 102, 103]
"""Other seeds than those of the methods: a scale that is chosen by the sweep is then judged on trials that did not choose it."""
SHOWN_SEEDS = 3
"""Seeds of paper mode, which is neither the algorithm as printed nor the authors' code and takes no part in claims."""
Key = tuple[str, str, float | None]
"""Mode, setting and scale of the prior (None: the default's own prior)."""


def configs(bench: Bench, source: Source) -> dict[Key, Config]:
    """The trials of every method in all settings for which the paper prints a count."""
    found: dict[Key, Config] = {}
    for mode in MODES:
        scale = METHODS[mode].prior_options["scale"] if mode in METHODS else None
        for setting, answers in zip(paper.SETTINGS, LENGTHS[mode], strict=True):
            if answers:
                found[mode, setting, scale] = _config(bench, source, setting, answers, mode=mode)
    for setting, answers in {} if bench.plan.quick else AUTOS.items():
        options = WITHOUT_GRIDS if setting == BEFORE else ()
        found["default", setting, None] = _config(bench, source, AUTO, answers, options=options)
    return found


def pairs(bench: Bench, source: Source) -> dict[Key, Config]:
    """The same with two items, chosen and random."""
    found: dict[Key, Config] = {}
    for mode, answers in {} if bench.plan.quick else PAIRS.items():
        scale = METHODS[mode].prior_options["scale"] if mode in METHODS else None
        for family in paper.SETS:
            for random in (False, True):
                setting = paper.titled(family, 2, random=random)
                found[mode, setting, scale] = _config(bench, source, setting, answers, mode=mode)
    return found


def swept(bench: Bench, source: Source) -> dict[Key, Config]:
    """Scales of the prior, for the questions of which each method chooses the items; labels of random items where it does not."""
    found: dict[Key, Config] = {}
    for mode in SWEPT:
        lengths = dict(zip(paper.SETTINGS, LENGTHS[mode], strict=True))
        for chosen, random in zip(paper.CHOSEN, paper.RANDOM, strict=True):
            setting = chosen if lengths[chosen] else random
            if bench.plan.quick and chosen != paper.RANKINGS:
                continue
            for scale in (1.0, 4.0) if bench.plan.quick else SCALES:
                answers = MOST_SWEPT[family_of(setting)]
                short = _config(bench, source, setting, answers, mode=mode, options=_scaled(scale))
                found[mode, setting, scale] = replace(short, stop_at=paper.TARGET)
    return found


def family_of(setting: str) -> str:
    """The family of a setting, as in "rank-4, random"."""
    return setting.split(",")[0].split("-")[0]


def _scaled(scale: float) -> tuple[tuple[str, Option], ...]:
    return (("prior_options", (("scale", scale),)),)


def _config(bench: Bench, source: Source, setting: str, answers: int, **other: Any) -> Config:
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


def _collect(bench: Bench) -> Rows:
    """What is compared first, then the sweep and what follows from it: a run that is stopped has the more important rows."""
    source, seeds = bench.source("sentiment"), bench.plan.seed_list
    methods = configs(bench, source)

    def rows(part: str, wanted: dict[Key, Config], of: Sequence[int] = seeds) -> list[Row]:
        return _rows_of(bench, part, wanted, of, source.title)

    compared = rows("methods", {key: config for key, config in methods.items() if key[0] != "paper"})
    scales = _scales(bench, source)
    best = rows("strongest", strongest(bench, source, where(scales, part="scales")))
    two = rows("pairs", pairs(bench, source))
    shown = rows("methods", {key: config for key, config in methods.items() if key[0] == "paper"}, seeds[:SHOWN_SEEDS])
    return [*compared, *shown, *two, *scales, *best]


def _scales(bench: Bench, source: Source) -> list[Row]:
    """The sweep: every scale on the first of its seeds, and on the others those that reached the target there."""
    wanted, seeds = swept(bench, source), SWEEP_SEEDS[: 1 if bench.plan.quick else None]
    first = bench.trials(list(wanted.values()), seeds[:1])
    able = {key for key, config in wanted.items() if any(map(_reaches, first[config]))}
    found: list[Row] = []
    for mode in SWEPT:
        for of, reached in ((seeds, True), (seeds[:1], False)):
            own = {key: config for key, config in wanted.items() if key[0] == mode and (key in able) == reached}
            found += _rows_of(bench, "scales", own, of, source.title)
    return found


def _reaches(trial: Trial) -> bool:
    return first_reached(np.asarray(trial.column("accuracy")), paper.TARGET) is not None


def _rows_of(bench: Bench, part: str, wanted: dict[Key, Config], seeds: Sequence[int], pool: str) -> list[Row]:
    """A row for each setting of which there are trials, followed by those of the trials."""
    done = bench.trials(list(wanted.values()), seeds)
    rows: list[Row] = []
    for key, config in wanted.items():
        if done[config]:
            rows.append(row_of(part, key, config, done[config], pool))
            rows += [trial_row(part, key, trial, pool) for trial in done[config]]
    return rows


def strongest(bench: Bench, source: Source, scales: Rows) -> dict[Key, Config]:
    """Of each kind of question, the method and scale that needed fewest answers in the sweep, among those of most seeds; to be
    run in full, unless it is a method as it comes, which is run anyway."""
    found: dict[Key, Config] = {}
    for family in paper.FAMILIES:
        own = [row for row in scales if family_of(row["setting"]) == family]
        most = max((row["seeds"] for row in own), default=0)
        best = min(
            (row for row in own if row["seeds"] == most), key=lambda row: row["interactions_at_least"], default=None
        )
        if best is not None and best["scale"] != METHODS[best["mode"]].prior_options["scale"]:
            mode, setting, scale = best["mode"], best["setting"], best["scale"]
            answers = dict(zip(paper.SETTINGS, LENGTHS[mode], strict=True))[setting]
            found[mode, setting, scale] = _config(bench, source, setting, answers, mode=mode, options=_scaled(scale))
    return found


def row_of(part: str, key: Key, config: Config, trials: Sequence[Trial], pool: str) -> Row:
    """First and lasting crossings of the target, and accuracies at fixed seconds, of one setting."""
    mode, setting, scale = key
    own = {"mode": mode, "setting": setting, "scale": scale, "printed": paper.COUNT_WORDS.get(setting)}
    return {"pool": pool, "part": part, "seed": None, **reach_row(config, trials, paper.TARGET), **own}


def trial_row(part: str, key: Key, trial: Trial, pool: str) -> Row:
    """One trial: when the target was first reached (none: not within its length), and how good it was at fixed moments."""
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


def baselines(rows: Rows) -> Figure:
    """Interactions of every method next to the printed ones, and what the scale of the prior changes."""
    methods, scales = where(rows, part="methods"), where(rows, part="scales")
    figure, grid = new_figure(1, 1 + len(distinct(scales, "mode")), width=4.4, height=3.8)
    _draw_methods(grid[0, 0], methods)
    for axes, mode in zip(grid[0, 1:], distinct(scales, "mode"), strict=True):
        _draw_scales(axes, where(scales, mode=mode))
        axes.set_title(f"{mode}, {_seeds(where(scales, mode=mode))}")
    if len(grid[0]) > 1:
        legend_below(figure, grid[0, 1])
    pool = f"{rows[0]['pool']}, answers to {paper.TARGET:.0%}"
    figure.suptitle(f"{pool}; open: a lower bound, as not all seeds reached it; black: the paper", fontsize=10)
    return figure


def _draw_methods(axes: Axes, rows: Rows) -> None:
    modes, settings = distinct(rows, "mode"), list(paper.SETTINGS)
    for row in [row for row in rows if row["setting"] in settings]:
        place = settings.index(row["setting"]) + 0.18 * (modes.index(row["mode"]) - 1.5)
        colour = PALETTE[modes.index(row["mode"])]
        axes.errorbar(
            row["interactions_at_least"],
            place,
            xerr=row["interactions_se"] or 0.0,
            fmt="osD^"[modes.index(row["mode"])],
            color=colour,
            ms=5,
            markerfacecolor=colour if row["reached"] == row["seeds"] else "white",
            label=row["mode"] if row["setting"] == where(rows, mode=row["mode"])[0]["setting"] else None,
        )
    for place, setting in enumerate(settings):
        axes.plot(paper.COUNTS[setting], place, "|", color="black", ms=16)
    axes.set_yticks(range(len(settings)), settings)
    axes.invert_yaxis()
    axes.set(xscale="log", title=f"all methods, {_seeds(rows)}", xlabel="answers")
    axes.legend(loc="upper left")


def _draw_scales(axes: Axes, rows: Rows) -> None:
    for setting in distinct(rows, "setting"):
        own = sorted(where(rows, setting=setting), key=lambda row: float(row["scale"]))
        colour = kind_colour(family_of(setting))
        scales, counts = column(own, "scale"), column(own, "interactions_at_least")
        axes.plot(scales, counts, "-", color=colour, label=setting)
        for row, count in zip(own, counts, strict=True):
            filled = colour if row["reached"] == row["seeds"] else "white"
            axes.plot(row["scale"], count, "o", color=colour, markerfacecolor=filled)
        axes.axhline(paper.COUNTS[setting], color=colour, linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="s, where the prior is N(0, s I / D) (dotted: the paper)", ylabel="answers")
    scales = sorted(distinct(rows, "scale"))
    axes.set_xticks(scales, [f"{scale:g}" for scale in scales])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)


def _seeds(rows: Rows) -> str:
    """How many seeds, as in "4 to 20 seeds"."""
    counts = sorted({int(row["seeds"]) for row in rows})
    return (
        f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 1 else f"{counts[0]} seed{'s' if counts[0] > 1 else ''}"
    )


def _compare(rows: Rows) -> str:
    methods, scales = where(rows, part="methods"), where(rows, part="scales")
    said = []
    for mode in distinct(methods, "mode"):
        own = where(methods, mode=mode)
        counts = ", ".join(f"{row['setting']} {reach_text(row)}" for row in own)
        said.append(f"{mode} ({_seeds(own)}): {counts}")
    changes = [
        f"{setting} {mode}: "
        + ", ".join(f"{row['scale']:g} {reach_text(row)}" for row in where(scales, mode=mode, setting=setting))
        for mode in distinct(scales, "mode")
        for setting in distinct(where(scales, mode=mode), "setting")
    ]
    printed = ", ".join(f"{setting} {count}" for setting, count in paper.COUNT_WORDS.items())
    sweep = f"By the scale of the prior, {_seeds(scales)}: {'; '.join(changes)}. " if scales else ""
    return (
        f"Interactions to {paper.TARGET:.0%} in the paper: {printed}. Here, first crossings: {'; '.join(said)}. {sweep}"
        f"Lasting crossings and accuracies after {', '.join(map(str, MARKS_S))} seconds are in the rows."
    )


EXHIBITS = (
    Exhibit("baselines", "The baselines by their names, and the scale of the prior", _collect, baselines, _compare),
)
