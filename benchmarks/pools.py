"""The learner on pools of many sorts, compared with logistic regression and with its own choice of random items.

    python benchmarks/pools.py --data DIR [--seeds 10] [--first 8000] [--pools …] [--rows results/pools.csv …] [--out docs/pools]

The first file of ROWS gets a line for every run, and runs that it has are not repeated; the others have been written by processes
that took other pools. OUT gets the means (summary.csv), every comparison (tables.md) and a picture (pools.png); the page next to
it gets the number of comparisons that are lost. Peers are scikit-learn's logistic regression on labels of random or of uncertain
items, with C tuned on its own labels as in `tellmore race`.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore.plotting import PALETTE, new_figure
from tellmore.sim.config import Config
from tellmore.sim.experiment import Asker, conversation, make_learner
from tellmore.sim.peers import make_peer
from tellmore.sim.seconds import mean_and_se
from tellmore.sim.truth import Truth, load_truth
from tellmore.types import Array

POOLS = {
    "words_vader_w2v300.npz,2500": "VADER",
    "words_socialsent2000_w2v300.npz,2500": "SocialSent",
    "words_warriner_valence_w2v300.npz,2500": "Warriner",
    "images_oasis_valence_efflite2.npz": "OASIS",
    "images_utkface2000_facenet512.npz": "UTKFace",
    "words_socialsent2000_w2v300.npz,2500,30%": "SocialSent, 30 %",
    "images_oasis_valence_efflite2.npz,30%": "OASIS, 30 %",
    "words_warriner_valence_w2v300.npz,2500,10%": "Warriner, 10 %",
    "words_vader_w2v300.npz,15%": "VADER, 15 %",
    "words_vader_w2v300.npz,5%": "VADER, 5 %",
    "words_vader_w2v300.npz,2%": "VADER, 2 %",
    "digits=3": "digits 3",
    "digits=3,unit": "digits 3, unit",
    "digits=3,standardised": "digits 3, standardised",
    "digits=8": "digits 8",
    "digits=8,unit": "digits 8, unit",
    "digits=8,standardised": "digits 8, standardised",
    "digits<5": "digits < 5",
    "digits<5,unit": "digits < 5, unit",
    "digits<5,standardised": "digits < 5, standardised",
    "breast-cancer": "breast cancer",
    "wine=1": "wine 1",
    "iris=2": "iris 2",
    "diabetes": "diabetes",
    "gaussian=5": "Gaussian 5",
    "gaussian=20": "Gaussian 20",
    "gaussian=300": "Gaussian 300",
    "tails=15": "long tails",
    "tails=15,10%": "long tails, 10 %",
    "strays=20": "strays",
    "group=50": "far group, 3 %",
}
KINDS = ("label", "select", "rank", "tick")
RANDOM = ", random"
PEERS = ("random", "uncertain")
METHODS = (*KINDS, *(kind + RANDOM for kind in KINDS), *PEERS)
ANSWERS, SECONDS = (10, 20, 40, 80), (30, 60, 120, 300, 600)
MARKS = (*map(str, ANSWERS), *(f"{mark} s" for mark in SECONDS))
MEASURES = ("accuracy", "f1", "average precision", "log loss")
RARE = 0.2
"""If fewer of the counted items are positive, F1 is compared, else accuracy; average precision and log loss always are."""
LIMITS = {"accuracy": 0.03, "f1": 0.1}
FIELDS = ["pool", "method", "seed", "rare", *(f"{measure} {mark}" for measure, mark in product(MEASURES, MARKS))]
CERTAIN = 1e-6
LOST, LOST_END = "<!-- lost -->", "<!-- end lost -->"
HEAD = """# Every comparison

Means over {seeds} seeds ({first} to {last}). In brackets is the lead over the better of two peers, ± its standard error, paired
over seeds: logistic regression on labels of random items, and of the items with the most uncertain predictions, with C tuned
on these labels. After the stroke is the lead over the same kind of question about random items. **Bold**: behind the peers,
_italic_: behind random items, by more than that error. A lead in log loss is a smaller log loss. Marks without a unit are
numbers of labels, as many for the peers. [What it means](../pools.md)
"""
Cell = tuple[float, float, int]
"""A mean difference, its standard error and the number of seeds."""


def measured(pool: str, method: str, seed: int, *, data: Path) -> tuple[object, ...]:
    """All measures of one run at every mark."""
    kind, chance = method.removesuffix(RANDOM), method.endswith(RANDOM)
    config = Config(pool=pool_path(pool, data) or pool, answers=None, seconds=float(SECONDS[-1]), sparse=True)
    truth = load_truth(config.pool, config.matrix)
    learner: Asker
    if method in PEERS:
        config = replace(config, question="label", peer=method)
        learner = make_peer(config, truth, seed)
    else:
        config = replace(config, question=kind, acquisition="random" if chance else "greedy")
        learner, _ = make_learner(config, truth, seed)
    by_answers: dict[int, Array] = {}
    by_seconds: dict[int, Array] = {}
    now = quality(truth, learner)
    for number, (_, _, seconds) in enumerate(conversation(config, learner, truth, seed), start=1):
        by_seconds |= {mark: now for mark in SECONDS if mark < seconds and mark not in by_seconds}
        now = quality(truth, learner)
        by_answers |= {number: now} if number in ANSWERS else {}
    at = [by_answers.get(mark, now) for mark in ANSWERS] + [by_seconds.get(mark, now) for mark in SECONDS]
    rare = truth.labels[truth.counted].mean() < RARE
    return int(rare), *(f"{value:.5f}" for value in np.array(at).T.ravel())


def quality(truth: Truth, learner: Asker) -> Array:
    """Accuracy, F1, average precision and log loss on the counted items."""
    z = learner.scores()[0]
    found, label = truth.quality(z), truth.labels[truth.counted]
    p = learner.probabilities() if hasattr(learner, "probabilities") else 1 / (1 + np.exp(-z))
    p = np.clip(p[truth.counted], CERTAIN, 1 - CERTAIN)
    loss = -float(np.mean(np.log(np.where(label, p, 1 - p))))
    return np.array([found.accuracy, found.f1, found.average_precision, loss])


class Runs:
    """The values of all runs, by pool, method, measure and mark."""

    def __init__(self, rows: Sequence[dict[str, str]]) -> None:
        self.rows = {(row["pool"], row["method"], int(row["seed"])): row for row in rows}
        self.pools = [pool for pool in POOLS if any(pool == key[0] for key in self.rows)]
        self.rare = {pool: row["rare"] == "1" for (pool, _, _), row in self.rows.items()}

    def values(self, pool: str, method: str, measure: str, mark: str) -> dict[int, float]:
        """The value of every seed."""
        own = {key[2]: row for key, row in self.rows.items() if key[:2] == (pool, method)}
        return {seed: float(row[f"{measure} {mark}"]) for seed, row in own.items()}

    def lead(self, pool: str, one: str, other: str, measure: str, mark: str) -> Cell | None:
        """How much better the first method is, paired over seeds."""
        first, second = (self.values(pool, method, measure, mark) for method in (one, other))
        both = sorted(first.keys() & second.keys())
        if len(both) < 2:
            return None
        sign = -1 if measure == "log loss" else 1
        mean, se = mean_and_se(np.array([sign * (first[seed] - second[seed]) for seed in both]))
        return float(mean or 0), float(se or 0), len(both)

    def over_peers(self, pool: str, kind: str, measure: str, mark: str) -> Cell | None:
        """The lead over the better peer."""
        leads = [self.lead(pool, kind, peer, measure, mark) for peer in PEERS]
        return min((lead for lead in leads if lead is not None), default=None)

    def over_random(self, pool: str, kind: str, measure: str, mark: str) -> Cell | None:
        """The lead over the same kind of question about random items."""
        return self.lead(pool, kind, kind + RANDOM, measure, mark)

    def main_measure(self, pool: str) -> str:
        """F1 if a class is rare, else accuracy."""
        return "f1" if self.rare[pool] else "accuracy"


def summary(runs: Runs) -> Iterator[dict[str, object]]:
    """A line for every pool, method and mark."""
    for pool, method, mark in product(runs.pools, METHODS, MARKS):
        line: dict[str, object] = {"pool": POOLS[pool], "method": method, "mark": mark}
        for measure in MEASURES:
            values = list(runs.values(pool, method, measure, mark).values())
            mean, se = mean_and_se(np.array(values))
            line |= {"seeds": len(values), measure: _number(mean), f"{measure} se": _number(se)}
        yield line


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def shown_marks(kind: str) -> tuple[str, ...]:
    """The marks at which a kind is compared with peers: by the number of labels, or by seconds."""
    return MARKS if kind == "label" else MARKS[len(ANSWERS) :]


def behind(cell: Cell) -> bool:
    """Worse by more than a standard error."""
    return cell[0] < -cell[1]


def tables(runs: Runs) -> str:
    """Every comparison: a table for each kind and measure."""
    seeds = sorted({key[2] for key in runs.rows})
    out = [HEAD.format(seeds=len(seeds), first=seeds[0], last=seeds[-1])]
    for kind, measure in product(KINDS, MEASURES):
        marks = shown_marks(kind)
        out += [f"## {kind}: {measure}\n", f"| pool | {' | '.join(marks)} |", "|---" * (len(marks) + 1) + "|"]
        for pool in runs.pools:
            cells = [_text(runs, pool, kind, measure, mark) for mark in marks]
            out.append(f"| {POOLS[pool]} | {' | '.join(cells)} |")
        out.append("")
    return "\n".join(out)


def _text(runs: Runs, pool: str, kind: str, measure: str, mark: str) -> str:
    values = list(runs.values(pool, kind, measure, mark).values())
    parts = []
    for cell, style in (
        (runs.over_peers(pool, kind, measure, mark), "**"),
        (runs.over_random(pool, kind, measure, mark), "_"),
    ):
        text = "–" if cell is None else f"{cell[0]:+.3f} ± {cell[1]:.3f}"
        parts.append(f"{style}{text}{style}" if cell is not None and behind(cell) else text)
    return f"{np.mean(values):.3f} ({' / '.join(parts)})" if values else "–"


def lost(runs: Runs) -> str:
    """How many comparisons are behind, by kind: against peers and against random items."""
    head = ["questions", "compared with", "measure", "cells", "ahead by more than a standard error"]
    head += ["behind by more than that", "behind by more than 3 points, or 0.1 of F1"]
    out = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for kind, (title, lead) in product(KINDS, (("peers", runs.over_peers), ("random items", runs.over_random))):
        for measure in ("accuracy, or F1 if rare", *MEASURES[2:]):
            cells = []
            for pool, mark in product(runs.pools, shown_marks(kind)):
                own = runs.main_measure(pool) if measure.startswith("accuracy") else measure
                cell = lead(pool, kind, own, mark)
                if cell is not None:
                    cells.append((cell, LIMITS.get(own, np.inf)))
            ahead = sum(cell[0] > cell[1] for cell, _ in cells)
            far = sum(behind(cell) and cell[0] < -limit for cell, limit in cells)
            big = str(far) if measure.startswith("accuracy") else "–"
            row = [kind, title, measure, str(len(cells)), str(ahead), str(sum(behind(cell) for cell, _ in cells)), big]
            out.append(f"| {' | '.join(row)} |")
    return "\n".join(out) + "\n"


def picture(runs: Runs, path: Path) -> None:
    """Each kind and the better peer on every pool after five minutes."""
    figure, grid = new_figure(1, 2, width=5.0, height=0.3 * len(runs.pools) + 1.2)
    for axes, rare in zip(grid[0], (False, True), strict=True):
        pools = [pool for pool in runs.pools if runs.rare[pool] is rare]
        measure = "f1" if rare else "accuracy"
        for number, method in enumerate((*KINDS, *PEERS)):
            points = [np.mean(list(runs.values(pool, method, measure, "300 s").values()) or [np.nan]) for pool in pools]
            peer = method in PEERS
            axes.plot(
                points,
                range(len(pools)),
                "d" if peer else "o",
                color="#777777" if peer else PALETTE[number],
                markerfacecolor="white" if method == PEERS[0] else None,
                label=f"regression, {method} labels" if peer else method,
                ms=6,
            )
        axes.set_yticks(range(len(pools)), [POOLS[pool] for pool in pools])
        axes.invert_yaxis()
        axes.grid(axis="y", alpha=0.3)
        axes.set(xlabel=measure.replace("f1", "F1"), title="a class is rare" if rare else "neither class is rare")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("After 300 seconds of a person's time", fontsize=10)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, nargs="+", default=[Path("results/pools.csv")])
    parser.add_argument("--out", type=Path, default=Path("docs/pools"))
    parser.add_argument("--pools", nargs="+", default=list(POOLS), choices=list(POOLS), metavar="POOL")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=8000, help="the first seed")
    parser.add_argument("--no-runs", action="store_true", help="only write the tables of finished runs")
    args = parser.parse_args()
    pools = [pool for pool in args.pools if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [] if args.no_runs else [(p, m, seed) for seed, p, m in product(seeds, pools, METHODS)]
    first, *others = args.rows
    rows = kept_rows(first, FIELDS, cases, partial(measured, data=args.data))
    rows += [row for path in others for row in kept_rows(path, FIELDS, [], partial(measured, data=args.data))]
    runs = Runs(rows)
    args.out.mkdir(parents=True, exist_ok=True)
    write_rows(args.out / "summary.csv", list(summary(runs)))
    (args.out / "tables.md").write_text(tables(runs), encoding="utf-8")
    page = args.out.with_suffix(".md")
    if page.exists():
        table = f"{LOST}\n\n{lost(runs)}\n{LOST_END}"
        text = re.sub(f"{LOST}.*{LOST_END}", lambda _: table, page.read_text(encoding="utf-8"), flags=re.S)
        page.write_text(text, encoding="utf-8")
    picture(runs, args.out / "pools.png")


if __name__ == "__main__":
    main()
