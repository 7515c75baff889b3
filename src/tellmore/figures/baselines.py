"""The baselines by their true names: as printed, as the authors' code, paper mode, and the default beside them.

What the paper leaves open, the scale of the prior, is swept: a row for every scale, whatever it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tellmore.figures.bench import Bench, Source
from tellmore.figures.curves import MARKS_S, reach_row, reach_text
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import kind_colour, legend_below, new_figure
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.method import METHODS
from tellmore.sim.rows import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TARGET = 0.75
ANSWERS = {"label": 1500, "select": 900, "rank": 400}
"""Answers of a trial: enough for most seeds to pass the target; none stops there, so that later accuracies are of all."""
SWEPT = ("as-printed", "as-authors")
SCALES = (0.5, 1.0, 2.0, 4.0, 8.0, 30.0)
PRINTED = {"label, random": "> 2000", "label": "1310", "select-4, random": "about 700", "select-4": "468",
           "rank-4, random": "315", "rank-4": "191"}  # fmt: skip
"""Interactions to 75 % in the paper's text and Fig. 3."""


def configs(bench: Bench, source: Source) -> dict[tuple[str, str, float | None], Config]:
    """The trials by mode, setting and scale of the prior (None: the default's own prior)."""
    found: dict[tuple[str, str, float | None], Config] = {}
    for mode in (*SWEPT, "paper", "default"):
        for question in ANSWERS:
            for acquisition in ("greedy", "random"):
                if (mode, question, acquisition) == ("as-authors", "label", "greedy"):
                    continue  # their code has no such thing
                config = _config(bench, source, mode=mode, question=question, acquisition=acquisition)
                scale = METHODS[mode].prior_options["scale"] if mode in METHODS else None
                found[mode, config.title, scale] = config
    return found


def swept(bench: Bench, source: Source) -> dict[tuple[str, str, float | None], Config]:
    """The same over scales, for the questions that each method chooses items of."""
    found: dict[tuple[str, str, float | None], Config] = {}
    for mode in SWEPT:
        for question in ("rank",) if bench.plan.quick else ANSWERS:
            for scale in (1.0, 4.0) if bench.plan.quick else SCALES:
                acquisition = "random" if (mode, question) == ("as-authors", "label") else "greedy"
                options = (("prior_options", (("scale", scale),)),)
                config = _config(bench, source, mode=mode, question=question, acquisition=acquisition, options=options)
                found[mode, config.title, scale] = config
    return found


def _config(bench: Bench, source: Source, *, question: str, **setting: Any) -> Config:
    answers = bench.plan.answers if bench.plan.quick else ANSWERS[question]
    size = None if question == "label" else 4
    return bench.config(source, question=question, size=size, answers=answers, stop_at=None, **setting)


def _collect(bench: Bench) -> Rows:
    source = bench.source("sentiment")
    rows: list[Row] = []
    for part, named, seeds in (("methods", configs, bench.plan.seed_list), ("scales", swept, bench.plan.few_seeds)):
        wanted = named(bench, source)
        done = bench.trials(list(wanted.values()), seeds)
        rows += [row_of(part, key, config, done[config], source.title) for key, config in wanted.items()]
    return rows


def row_of(part: str, key: tuple[str, str, float | None], config: Config, trials: Sequence[Trial], pool: str) -> Row:
    """First and lasting crossings of the target, and accuracies at fixed seconds, of one setting."""
    mode, setting, scale = key
    own = {"mode": mode, "setting": setting, "scale": scale, "printed": PRINTED.get(setting)}
    return {"pool": pool, "part": part, **reach_row(config, trials, TARGET), **own}


def baselines(rows: Rows) -> Figure:
    """Interactions of every method beside the printed ones, and what the scale of the prior changes."""
    methods, scales = where(rows, part="methods"), where(rows, part="scales")
    figure, grid = new_figure(1, 1 + len(distinct(scales, "mode")), width=4.4, height=3.8)
    _draw_methods(grid[0, 0], methods)
    for axes, mode in zip(grid[0, 1:], distinct(scales, "mode"), strict=True):
        _draw_scales(axes, where(scales, mode=mode))
        axes.set_title(f"{mode}: scale of the prior, s I / D")
    legend_below(figure, grid[0, 1])
    figure.suptitle(f"{rows[0]['pool']}, interactions to {TARGET:.0%}; open: not all seeds reached it", fontsize=10)
    return figure


def _draw_methods(axes: Axes, rows: Rows) -> None:
    modes, settings = distinct(rows, "mode"), list(PRINTED)
    for row in rows:
        place = settings.index(row["setting"]) + 0.18 * (modes.index(row["mode"]) - 1.5)
        whole = row["reached"] == row["seeds"]
        colour = kind_colour(str(row["setting"]).split("-")[0].split(",")[0])
        axes.plot(row["interactions_at_least"], place, "osD^"[modes.index(row["mode"])], color=colour, ms=5,
                  markerfacecolor=colour if whole else "white")  # fmt: skip
    for place, printed in enumerate(PRINTED.values()):
        axes.plot(float(printed.split()[-1]), place, "|", color="black", ms=16)
    axes.set_yticks(range(len(settings)), settings)
    axes.invert_yaxis()
    axes.set(xscale="log", title=", ".join(f"{mark} {mode}" for mark, mode in zip("●■◆▲", modes, strict=False)))
    axes.set_xlabel("interactions (bar: the paper)")


def _draw_scales(axes: Axes, rows: Rows) -> None:
    for setting in distinct(rows, "setting"):
        own = where(rows, setting=setting)
        colour = kind_colour(str(setting).split("-")[0].split(",")[0])
        axes.plot(
            [row["scale"] for row in own],
            [row["interactions_at_least"] for row in own],
            "o-",
            color=colour,
            label=setting,
        )
        axes.axhline(float(PRINTED[setting].split()[-1]), color=colour, linewidth=0.8, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="s (dotted: the paper)", ylabel="interactions")


def _compare(rows: Rows) -> str:
    methods, scales = where(rows, part="methods"), where(rows, part="scales")
    said = []
    for mode in distinct(methods, "mode"):
        counts = ", ".join(f"{row['setting']} {reach_text(row)}" for row in where(methods, mode=mode))
        said.append(f"{mode}: {counts}")
    changes = [
        f"{setting} {mode}: "
        + ", ".join(f"{row['scale']:g} {reach_text(row)}" for row in where(scales, mode=mode, setting=setting))
        for mode in distinct(scales, "mode")
        for setting in distinct(where(scales, mode=mode), "setting")
    ]
    printed = ", ".join(f"{setting} {count}" for setting, count in PRINTED.items())
    return (
        f"Interactions to {TARGET:.0%} in the paper: {printed}. Here, first crossings, {rows[0]['seeds']} seeds: "
        f"{'; '.join(said)}. "
        f"By the scale of the prior, {scales[0]['seeds']} seeds: {'; '.join(changes)}. Lasting crossings and accuracies after "
        f"{', '.join(map(str, MARKS_S))} seconds are in the rows."
    )


EXHIBITS = (
    Exhibit("baselines", "The baselines by their names, and the scale of the prior", _collect, baselines, _compare),
)
