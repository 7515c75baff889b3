"""What the kinds of question cost in seconds on further pools, and what grids save: seconds to a target and accuracy at fixed
seconds, paired over seeds, and the break-even of grids.

The seconds of a grid are assumed (`tellmore.kinds.tick`), so the result that matters is up to how many seconds per label a grid
still saves time. The trials are those of the race on the same pools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench, Source, raced
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.paired import paired_ratio
from tellmore.figures.verdict import Estimate
from tellmore.kinds.tick import TICK
from tellmore.plotting import GREY, kind_colour, legend_below, line_with_band, new_figure
from tellmore.policy.asking import AUTO
from tellmore.policy.cost import PAPER_COST
from tellmore.policy.rates import nested_bits, to_rates
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.config import Config, Option
from tellmore.sim.experiment import make_learner
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import lasting, mean_and_se
from tellmore.sim.summary import first_reached
from tellmore.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRID = 12
TICKS = f"{TICK.name}-{GRID}"
WORDS = Source("VADER words (bundled)", "words")
MOMENTS = (30, 60, 120, 300, 600)
"""Seconds after which the accuracy is compared; every trial is longer."""
LENGTH_S = float(MOMENTS[-1])
"""Human time of a trial, the same as in the race."""
TARGETS = {"ratings": 0.90, "sentiment": 0.70, "valence": 0.75, "images": 0.75}
"""The target accuracy on each pool: one that most kinds reach within the trial, but not with the first answers."""
BEFORE = "auto without grids"
"""What grids are compared with: the best choice among labels, selections and rankings."""
WITHOUT_GRIDS: tuple[tuple[str, Option], ...] = (("kinds", paper.MEMBERS), ("sizes", (2, 3, 4, 5, 6)))


class Setting(NamedTuple):
    """What is asked."""

    question: str
    size: int | None = None
    options: tuple[tuple[str, Option], ...] = ()


SETTINGS = {
    **{
        paper.titled(family, paper.size_of(family)): Setting(family, paper.size_of(family)) for family in paper.FAMILIES
    },
    TICKS: Setting(TICK.name, GRID),
    BEFORE: Setting(AUTO, options=WITHOUT_GRIDS),
    AUTO: Setting(AUTO),
}


def configs(bench: Bench, source: Source) -> dict[str, Config]:
    """The settings compared on a pool, by title; none stops early, so that accuracies at fixed seconds are over all seeds."""
    length = {"answers": bench.plan.answers} if bench.plan.quick else {"answers": None, "seconds": LENGTH_S}
    return {
        title: bench.config(source, **setting._asdict(), stop_at=None, **length) for title, setting in SETTINGS.items()
    }


def seconds_to(trial: Trial, target: float) -> float:
    """Seconds until the target was first reached; for a trial that failed, its whole length, which is a lower bound."""
    return float(trial.rows[_answers_to(trial, target) - 1].seconds)


def reaches(trial: Trial, target: float) -> bool:
    return first_reached(np.asarray(trial.column("accuracy")), target) is not None


def promised(bench: Bench, source: Source) -> dict[str, float]:
    """What eq. 7 predicts before the first answer: seconds for the same bits, relative to labelling, by title."""
    learner, _ = make_learner(bench.config(source), bench.truth(source), 0)
    bits = nested_bits(
        learner.scan,
        learner.belief,
        learner.behaviour,
        kinds=paper.FAMILIES,
        sizes=[paper.SIZE],
        rng=np.random.default_rng(0),
        repeats=3,
    )
    rates = {paper.titled(rate.kind, rate.size): rate.bits_per_second for rate in to_rates(bits, PAPER_COST)}
    return {title: rates[paper.LABELS] / rate for title, rate in rates.items()}


def accuracy_at(trial: Trial, moment: float) -> float | None:
    """The accuracy after ``moment`` seconds; None before the first answer and after the end of the trial."""
    seconds = np.asarray(trial.column("seconds"))
    answers = int(np.searchsorted(seconds, moment, side="right"))
    return None if answers == 0 or moment > seconds[-1] else float(trial.column("accuracy")[answers - 1])


def break_even_s(grids: Sequence[Trial], others: Sequence[Trial], target: float) -> tuple[float, float | None]:
    """Seconds per label up to which grids reach the target before the others: a ratio over seeds, and its error."""
    labels = np.array([GRID * _answers_to(trial, target) for trial in grids], dtype=float)
    return paired_ratio(_seconds(others, target), labels)


def _collect(bench: Bench) -> Rows:
    seeds = [0, 1] if bench.plan.quick else bench.plan.seed_list
    rows = (_pool_rows(bench, part, source, seeds) for part, source in sources(bench).items())
    return [row for own in rows for row in own]


def sources(bench: Bench) -> dict[str, Source]:
    """The pools by part: the bundled words, and those in the data folder; here the words do not replace other data."""
    found = {part: bench.source(part) for part in TARGETS if bench.has(part)}
    return {
        "ratings": WORDS,
        **{part: raced(part, source) for part, source in found.items() if part != "ratings" and source.pool != "words"},
    }


def _pool_rows(bench: Bench, part: str, source: Source, seeds: Sequence[int]) -> list[Row]:
    named = configs(bench, source)
    done = bench.trials(list(named.values()), seeds)
    if not all(done.values()):
        return []  # nothing is stored of this pool
    trials = {title: done[config] for title, config in named.items()}
    return rows_of(trials, pool=source.title, target=TARGETS[part], promises=promised(bench, source))


def rows_of(
    trials: dict[str, list[Trial]], *, pool: str, target: float, promises: dict[str, float] | None = None
) -> list[Row]:
    """One row per setting, compared with ``BEFORE`` and with labels on the same seeds."""
    before, labels = trials[BEFORE], trials[paper.LABELS]
    rows = []
    for title, own in trials.items():
        seconds = _seconds(own, target)
        ratio, ratio_se = paired_ratio(seconds, _seconds(before, target))
        to_label, to_label_se = paired_ratio(seconds, _seconds(labels, target))
        mean, se = mean_and_se(seconds.tolist())
        even = break_even_s(own, before, target) if title == TICKS else (None, None)
        asked = [row for trial in own for row in trial.rows]
        row: Row = {
            "pool": pool,
            "setting": title,
            "seeds": len(own),
            "target": target,
            "reached": sum(reaches(trial, target) for trial in own),
            "answers": float(np.mean([_answers_to(trial, target) for trial in own])),
            "seconds": mean,
            "seconds_se": se,
            "lasting_s": lasting(own, target),
            "to_before": ratio,
            "to_before_se": ratio_se,
            "to_label": to_label,
            "to_label_se": to_label_se,
            "promised_to_label": (promises or {}).get(title),
            "quicker_seeds": int((seconds < _seconds(before, target)).sum()),
            "grid_share": sum(row.kind == TICK.name for row in asked) / len(asked),
            "break_even_s": even[0],
            "break_even_s_se": even[1],
        }
        for moment in MOMENTS:
            row |= _at(own, before, moment)
        rows.append(row)
    return rows


def _at(own: Sequence[Trial], before: Sequence[Trial], moment: int) -> Row:
    """Accuracy at a moment, and how much higher it is than without grids, both with errors; None unless all trials lasted."""
    here, there = ([accuracy_at(trial, moment) for trial in trials] for trials in (own, before))
    known = [accuracy for accuracy in here if accuracy is not None]
    both = [a - b for a, b in zip(here, there, strict=True) if a is not None and b is not None]
    mean, se = mean_and_se(known) if len(known) == len(own) else (None, None)
    gain, gain_se = mean_and_se(both) if len(both) == len(own) else (None, None)
    return {
        f"accuracy_{moment}": mean,
        f"accuracy_{moment}_se": se,
        f"gain_{moment}": gain,
        f"gain_{moment}_se": gain_se,
    }


def _seconds(trials: Sequence[Trial], target: float) -> Array:
    return np.array([seconds_to(trial, target) for trial in trials])


def _answers_to(trial: Trial, target: float) -> int:
    """The number of answers to the target; for a trial that failed, its whole length."""
    return first_reached(np.asarray(trial.column("accuracy")), target) or len(trial.rows)


def grid_table(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Seconds to the target, and up to how many seconds per label grids win."""
    names = distinct(rows, "setting")
    body = []
    for pool in distinct(rows, "pool"):
        own = {row["setting"]: row for row in where(rows, pool=pool)}
        tick = own[TICKS]
        cells = [_both_crossings(own[name]) for name in names]
        even = f"{tick['break_even_s']:.1f} ± {tick['break_even_s_se']:.1f}"
        share = f"{tick['to_before']:.2f} ± {tick['to_before_se']:.2f}"
        quicker = f"{tick['quicker_seeds']} of {tick['seeds']}"
        body.append([f"{pool}, {tick['target']:.0%}", *cells, share, quicker, even])
    return [
        "seconds to the target (the mean stays there from)",
        *names,
        f"{TICKS} / {BEFORE}",
        "seeds quicker",
        "break-even, s per label",
    ], body


def _both_crossings(row: Row) -> str:
    """The mean of first crossings, a lower bound if seeds failed, and in brackets the lasting crossing."""
    bound = "> " if row["reached"] < row["seeds"] else ""
    lasting = row.get("lasting_s")
    return f"{bound}{_seconds_text(row)} ({'–' if lasting is None else format(lasting, '.0f')})"


def in_short(rows: Rows) -> str:
    """On how many pools grids save time, cost time, or neither, by the 95 % intervals of the ratios."""
    ticks = where(rows, setting=TICKS)
    shares = {row["pool"]: Estimate.of(row["to_before"], row["to_before_se"], row["seeds"]) for row in ticks}
    saved = [pool for pool, share in shares.items() if share.high < 1]
    lost = [pool for pool, share in shares.items() if share.low > 1]
    open_ = [pool for pool in shares if pool not in saved + lost]
    parts = [
        f"{what} on {len(pools)} of {len(shares)} pools ({'; '.join(pools)})"
        for what, pools in (("less time", saved), ("more time", lost), ("neither clearly less nor more", open_))
        if pools
    ]
    seeds = ticks[0]["seeds"]
    return f"Compared with `{BEFORE}`, grids of {GRID} need {', '.join(parts)}, by 95 % intervals over {seeds} paired seeds."


def gain_table(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """How many points higher the accuracy is with grids after the same seconds."""
    body = []
    for row in where(rows, setting=TICKS):
        gains = [(row[f"gain_{m}"], row[f"gain_{m}_se"], row[f"accuracy_{m}"]) for m in MOMENTS]
        cells = ["–" if g is None else f"{100 * g:+.1f} ± {100 * se:.1f} (to {100 * a:.1f} %)" for g, se, a in gains]
        body.append([row["pool"], *cells])
    return [f"accuracy, {TICKS} minus {BEFORE}, in points", *(f"after {m} s" for m in MOMENTS)], body


def grid(rows: Rows) -> Figure:
    """One column per pool: accuracy by seconds, and how long a label of a grid may take before it no longer saves time."""
    pools = distinct(rows, "pool")
    figure, axes = new_figure(2, len(pools), width=3.4, height=3.0)
    for top, bottom, pool in zip(axes[0], axes[1], pools, strict=True):
        own = where(rows, pool=pool)
        _draw_accuracy(top, own)
        _draw_break_even(bottom, {row["setting"]: row for row in own})
        top.set_title(str(pool), fontsize=9)
    legend_below(figure, axes[0, 0], columns=len(SETTINGS))
    figure.suptitle(
        f"default mode, {rows[0]['seeds']} seeds, mean and standard error; seconds of grids are assumed", fontsize=10
    )
    return figure


def _draw_accuracy(axis: Axes, rows: Rows) -> None:
    for row in rows:
        title = str(row["setting"])
        colour = GREY if title == BEFORE else kind_colour(title.split("-")[0])
        mean, se = (np.array([column([row], f"accuracy_{m}{end}")[0] for m in MOMENTS]) for end in ("", "_se"))
        line_with_band(axis, np.array(MOMENTS), mean, se, label=title, colour=colour)
    axis.axhline(rows[0]["target"], color="black", linewidth=0.8, linestyle=":")
    axis.set_xscale("log")
    axis.set_xticks(MOMENTS, [str(moment) for moment in MOMENTS])
    axis.minorticks_off()
    axis.set(xlabel="seconds", ylabel="accuracy")


def _draw_break_even(axis: Axes, rows: dict[str, Row]) -> None:
    """Seconds to the target as a function of the seconds per label of a grid; the dot is the assumption."""
    tick, before = rows[TICKS], rows[BEFORE]
    labels = GRID * tick["answers"]
    limit = 1.6 * max(tick["break_even_s"], tick["seconds"] / labels)
    x = np.array([0.0, limit])
    error = before["seconds_se"] or 0.0
    flat = np.full(2, before["seconds"])
    line_with_band(axis, x, flat, np.full(2, error), label=BEFORE, colour=GREY)
    axis.plot(x, labels * x, color=kind_colour(TICK.name))
    axis.plot(tick["seconds"] / labels, tick["seconds"], "o", color=kind_colour(TICK.name))
    axis.axvline(tick["break_even_s"], color="black", linewidth=0.8, linestyle=":")
    axis.set(
        xlim=(0, limit),
        ylim=(0, None),
        xlabel=f"seconds per label of a grid (dot: assumed)\nbreak-even {tick['break_even_s']:.1f} s",
        ylabel=f"seconds to {tick['target']:.0%}",
    )


def _compare(rows: Rows) -> str:
    said = []
    for pool in distinct(rows, "pool"):
        own = {row["setting"]: row for row in where(rows, pool=pool)}
        tick, auto, before = own[TICKS], own[AUTO], own[BEFORE]
        said.append(
            f"{pool}, to {tick['target']:.0%}: {_timed(before)} by {BEFORE}, {_timed(tick)} by grids of {GRID} "
            f"({tick['to_before']:.2f} ± {tick['to_before_se'] or 0:.2f} of it, quicker for {tick['quicker_seeds']} of "
            f"{tick['seeds']} seeds), {_timed(auto)} by auto, which asks grids in {auto['grid_share']:.0%} of its questions; "
            f"break-even at {tick['break_even_s']:.1f} ± {tick['break_even_s_se'] or 0:.1f} s per label (assumed: "
            f"{tick['seconds'] / (GRID * tick['answers']):.1f}){_promise(own[paper.RANKINGS])}"
        )
    start = (
        f"The paper has no grids, and their seconds are assumed, not measured: {PAPER_COST.seconds(TICK.name, GRID):.1f} s for "
        f"{GRID} items of which half are ticked. "
    )
    return start + "; ".join(said) + "."


def _promise(row: Row) -> str:
    """What bits per second predicted for a setting, and what it took, if both are known."""
    if row.get("promised_to_label") is None:
        return ""
    return (
        f"; bits per second before the first answer promise {row['promised_to_label']:.2f} of the seconds of labelling by "
        f"{row['setting']}, it took {row['to_label']:.2f} ± {row['to_label_se'] or 0:.2f}"
    )


def _seconds_text(row: Row) -> str:
    return f"{row['seconds']:.0f} ± {row['seconds_se'] or 0:.0f}"


def _timed(row: Row) -> str:
    """Seconds to the first crossing, and the time from which the mean stays there, if known."""
    if "lasting_s" not in row:
        return f"{_seconds_text(row)} s"
    stays = "not lasting" if row["lasting_s"] is None else f"lasting from {row['lasting_s']:.0f} s"
    return f"{_seconds_text(row)} s ({stays})"


EXHIBITS = (Exhibit("grid", "Seconds on further pools, and what the grid question saves", _collect, grid, _compare),)
