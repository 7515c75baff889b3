"""Seconds of a person's time to a target accuracy: "auto" against every fixed kind, on all available pools, paired over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import kind_colour, new_figure
from tellmore.policy.cost import PAPER_COST
from tellmore.policy.rates import nested_bits, to_rates
from tellmore.rows import Row, Rows, distinct, where
from tellmore.sim.config import Config
from tellmore.sim.experiment import make_learner
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import mean_and_se
from tellmore.sim.summary import first_reached
from tellmore.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TARGETS = {"sentiment": 0.75, "valence": 0.75, "ratings": 0.90, "images": 0.75}
"""Accuracy to reach on each pool; VADER's words pass 75 % after two or three answers of any kind."""
SEEDS = 20
LABEL_ANSWERS = 1500
"""Labels are quick and many: their trials may last longer than others, so that most reach the target."""
FIXED = (
    (paper.LABEL, 1),
    *((paper.SELECT, size) for size in (2, 3, 4)),
    *((paper.RANK, size) for size in (4, 6)),
)
YARDSTICK = "label, paper mode"
STRICT_YARDSTICK = "label, paper mode, I/D"
"""Paper mode with the prior I/D; `YARDSTICK` has the laboratory's 2 I/D, under which the paper's own numbers are nearer."""


def seconds_to(trial: Trial, target: float) -> float:
    """Seconds until the target was first reached; the whole length of a trial that failed, which is a lower bound."""
    reached = first_reached(np.asarray(trial.column("accuracy")), target)
    return float(trial.rows[-1 if reached is None else reached - 1].seconds)


def settings(bench: Bench, part: str) -> dict[str, Config]:
    """The settings compared on a pool, by title."""
    source = bench.source(part)
    long = max(bench.plan.answers, LABEL_ANSWERS) if not bench.plan.quick else bench.plan.answers
    target = TARGETS[part]
    named: dict[str, Config] = {}
    for question, size in FIXED:
        title = paper.titled(question, size)
        answers = long if question == paper.LABEL else bench.plan.answers
        named[title] = bench.config(source, question=question, size=size, answers=answers, stop_at=target)
    named["auto"] = bench.config(source, question="auto", size=4, stop_at=target)
    if part == "sentiment":
        labelled = bench.config(source, question=paper.LABEL, size=1, mode="paper", answers=long, stop_at=target)
        named[YARDSTICK] = labelled
        named[STRICT_YARDSTICK] = replace(labelled, options=(("prior_options", (("scale", 1.0),)),))
    return named


def _collect(bench: Bench) -> Rows:
    seeds = range(2 if bench.plan.quick else SEEDS)
    return [row for part in TARGETS if bench.has(part) for row in _pool_rows(bench, part, list(seeds))]


def _pool_rows(bench: Bench, part: str, seeds: Sequence[int]) -> list[Row]:
    named, target = settings(bench, part), TARGETS[part]
    done = bench.trials(list(named.values()), seeds)
    seconds = {
        title: np.array([seconds_to(trial, target) for trial in done[config]]) for title, config in named.items()
    }
    reached = {title: sum(reaches(trial, target) for trial in done[config]) for title, config in named.items()}
    fixed = [title for title in named if title not in ("auto", YARDSTICK, STRICT_YARDSTICK)]
    best = min(fixed, key=lambda title: (-reached[title], float(seconds[title].mean())))
    promised = promised_seconds(bench, part)
    rows = []
    for title, config in named.items():
        against_best = paired_ratio(seconds[title], seconds[best])
        against_label = paired_ratio(seconds[title], seconds[paper.LABELS])
        rows.append(
            {
                "pool": bench.source(part).title,
                "setting": title,
                "seeds": len(seeds),
                "target": target,
                "reached": reached[title],
                "interactions": float(np.mean([len(trial.rows) for trial in done[config]])),
                "seconds": float(seconds[title].mean()),
                "seconds_se": mean_and_se(seconds[title].tolist())[1],
                "best_fixed": title == best,
                "to_best_fixed": against_best[0],
                "to_best_fixed_se": against_best[1],
                "to_label": against_label[0],
                "to_label_se": against_label[1],
                "promised_to_label": promised.get(title),
                "to_paper_label": _to(seconds, title, YARDSTICK),
                "to_strict_paper_label": _to(seconds, title, STRICT_YARDSTICK),
            }
        )
    return rows


def promised_seconds(bench: Bench, part: str) -> dict[str, float]:
    """What eq. 7 promises at the prior: seconds for the same bits, relative to labelling, by title of the setting."""
    source = bench.source(part)

    def measure() -> Rows:
        learner, _ = make_learner(bench.config(source), bench.truth(source), 0)
        sizes = sorted({size for kind, size in FIXED if kind != paper.LABEL})
        rng = np.random.default_rng(0)
        bits = nested_bits(
            learner.scan, learner.belief, learner.behaviour, kinds=paper.FAMILIES, sizes=sizes, rng=rng, repeats=3
        )
        return [dict(vars(rate)) for rate in to_rates(bits, PAPER_COST)]

    rates = bench.remembered(f"rates-{part}", [source], measure)
    label = where(rates, kind=paper.LABEL)[0]["bits_per_second"]
    promised = {paper.titled(row["kind"], row["size"]): label / row["bits_per_second"] for row in rates}
    return {**promised, "auto": min(promised.values())}


def reaches(trial: Trial, target: float) -> bool:
    return first_reached(np.asarray(trial.column("accuracy")), target) is not None


def _to(seconds: dict[str, Array], title: str, yardstick: str) -> float | None:
    return paired_ratio(seconds[title], seconds[yardstick])[0] if yardstick in seconds else None


def paired_ratio(values: Array, reference: Array) -> tuple[float, float | None]:
    """Ratio of means over the same seeds, with its standard error by linearisation."""
    ratio = float(values.mean() / reference.mean())
    spread = mean_and_se((values - ratio * reference).tolist())[1]
    return ratio, None if spread is None else spread / float(reference.mean())


def times(rows: Rows) -> Figure:
    """A column a pool: seconds of each setting with its standard error, and against what bits per second promise."""
    pools = distinct(rows, "pool")
    figure, axes = new_figure(2, len(pools), width=3.4, height=3.2)
    for axis, pool in zip(axes[1], pools, strict=True):
        _draw_promise(axis, where(rows, pool=pool))
    for axis, pool in zip(axes[0], pools, strict=True):
        own = sorted(where(rows, pool=pool), key=lambda row: float(row["seconds"]), reverse=True)
        for place, row in enumerate(own):
            kind = str(row["setting"]).split("-")[0].split(",")[0]
            failed = row["reached"] < row["seeds"]
            axis.barh(
                place,
                row["seconds"],
                xerr=row["seconds_se"],
                color=kind_colour(kind),
                alpha=0.5 if failed else 0.9,
                error_kw={"elinewidth": 1},
            )
        names = [f"{row['setting']}{' (≥)' if row['reached'] < row['seeds'] else ''}" for row in own]
        axis.set_yticks(range(len(own)), names)
        axis.set_xlabel(f"seconds to {own[0]['target']:.0%}")
        axis.set_title(str(pool), fontsize=9)
        axis.grid(axis="y", visible=False)
    return figure


def _draw_promise(axis: Axes, rows: Rows) -> None:
    """Seconds relative to labelling: measured (filled), and what bits per second promise (open)."""
    shown = [row for row in rows if row["promised_to_label"] is not None]
    shown.sort(key=lambda row: float(row["seconds"]), reverse=True)
    for place, row in enumerate(shown):
        colour = kind_colour(str(row["setting"]).split("-")[0])
        axis.errorbar(row["to_label"], place, xerr=row["to_label_se"], fmt="o", color=colour, elinewidth=1)
        axis.plot(row["promised_to_label"], place, "o", color=colour, markerfacecolor="white", zorder=5)
    axis.set_yticks(range(len(shown)), [str(row["setting"]) for row in shown])
    axis.set(xlim=(0, None), xlabel="seconds, relative to labelling\n(open: promised by bits per second)")
    axis.grid(axis="y", visible=False)


def _compare(rows: Rows) -> str:
    said = []
    for pool in distinct(rows, "pool"):
        own = {row["setting"]: row for row in where(rows, pool=pool)}
        best = next(row for row in own.values() if row["best_fixed"])
        auto = own["auto"]
        said.append(
            f"{pool}, to {best['target']:.0%}: {best['setting']} is the quickest fixed kind ({best['seconds']:.0f} s); "
            f"auto takes {auto['seconds']:.0f} s, "
            f"{auto['to_best_fixed']:.2f} ± {auto['to_best_fixed_se'] or 0:.2f} of it and {auto['to_label']:.2f} of labelling"
        )
    compared = [row for row in rows if row["to_paper_label"] is not None and "paper mode" not in row["setting"]]
    if compared:
        quickest = min(compared, key=lambda row: float(row["to_paper_label"]))
        said.append(
            f"against paper mode's active labels the best setting ({quickest['setting']}) takes "
            f"{quickest['to_paper_label']:.0%} of the seconds with the prior 2 I/D, {quickest['to_strict_paper_label']:.0%} with "
            "I/D (the paper: 43 %, of its own labels)"
        )
    off = max(
        (row for row in rows if row["promised_to_label"] is not None and row["setting"] != paper.LABELS),
        key=lambda row: abs(np.log(row["to_label"] / row["promised_to_label"])),
    )
    said.append(
        f"bits per second at the start misjudge {off['setting']} on {off['pool']} most: they promise "
        f"{off['promised_to_label']:.2f} of the seconds of labelling, it took {off['to_label']:.2f}"
    )
    return "; ".join(said) + ". Trials that failed count with their length, a lower bound."


EXHIBITS = (Exhibit("times", "Seconds to a target accuracy by kind of question", _collect, times, _compare),)
