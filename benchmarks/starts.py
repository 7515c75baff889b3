"""What a start is worth: words, another model's verdicts, junk or nothing, with the same people, seeds and seconds.

    python benchmarks/starts.py --data DIR [--seeds 10] [--first 0] [--cache results/starts] [--out docs/starts]

Finished runs are stored in CACHE and not repeated. OUT gets the means at every mark (summary.csv), the seconds from which the
mean accuracy stays at a target (lasting.csv), and both as tables (tables.md).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from kept import pool_path, write_rows

from tellmore.figures.race import held
from tellmore.sim.config import Config
from tellmore.sim.contenders import config_of
from tellmore.sim.distribute import Workforce, run_trials
from tellmore.sim.rows import Trial
from tellmore.sim.seconds import MARKS_S, lasting, mean_and_se
from tellmore.sim.trials import Ledger
from tellmore.types import Array

NOTHING, RIGHT, WRONG = "auto", ("verdicts-70", "verdicts-85", "words-1", "words-3", "words-6"), ("junk", "reversed")
POOLS = {  # title, and the target accuracy of the lasting crossing
    "words_vader_w2v300.npz": ("VADER", 0.9),
    "words_socialsent2000_w2v300.npz": ("SocialSent", 0.7),
    "words_warriner_valence_w2v300.npz": ("Warriner", 0.75),
    "images_oasis_valence_efflite2.npz": ("OASIS", 0.8),
    "images_utkface2000_facenet512.npz": ("UTKFace", 0.85),
    "digits=8": ("digits 8", 0.95),
    "breast-cancer": ("breast cancer", 0.95),
    "wine=1": ("wine 1", 0.95),
}
NAMES = {"": "nothing", "verdicts-70": "verdicts 70 %", "verdicts-85": "verdicts 85 %", "words-1": "2 words"}
NAMES |= {"words-3": "6 words", "words-6": "12 words", "junk": "junk", "reversed": "reversed"}
HEAD = """# How much a start helps, in numbers

Accuracy in % at human time, mean and standard error over the {seeds} seeds; questions by `auto`. **Bold**: below what the start
alone had at 0 s by more than one point and one standard error of the difference. _Italic_: below no start by more than one
standard error of the paired difference. Last column: seconds from which the mean stays at the pool's target.
[What it means](../starts.md)

"""


def starts_of(pool: str) -> tuple[str, ...]:
    """The starts that make sense on a pool: words, right and wrong, only if it consists of words."""
    return ("", *RIGHT, *WRONG) if pool.startswith("words") else ("", *RIGHT[:2])


def task(pool: str, start: str, seed: int, data: Path) -> tuple[Config, int]:
    """The run of a start on a pool."""
    base = Config(pool=pool_path(pool, data) or pool, answers=None, seconds=float(MARKS_S[-1]), sparse=True)
    found = config_of(f"{NOTHING}+{start}" if start else NOTHING, base, seed)
    if found is None:
        raise SystemExit(f"{pool} has no words to start from")
    return found, seed


def finished(pools: list[str], seeds: range, args: argparse.Namespace) -> dict[tuple[str, str], list[Trial]]:
    """The trials of every pool and start, seed after seed."""
    cells = [(pool, start) for pool in pools for start in starts_of(pool)]
    tasks = {(*cell, seed): task(*cell, seed, args.data) for seed in seeds for cell in cells}
    done: list[int] = []

    def report(_config: Config, _trial: Trial) -> None:
        done.append(1)
        print(f"\r{len(done)} of {len(tasks)} runs", end="", flush=True)

    found = run_trials(list(tasks.values()), workforce=Workforce(args.jobs), ledger=Ledger(args.cache), report=report)
    print()
    return {cell: [found[tasks[*cell, seed]] for seed in seeds] for cell in cells}


def summary(pool: str, start: str, own: Array, nothing: Array) -> Iterator[dict[str, object]]:
    """One line per mark: accuracy, and its differences from 0 s and from no start; own and nothing are [seeds, marks]."""
    for column, mark in enumerate(MARKS_S):
        line: dict[str, object] = {"pool": POOLS[pool][0], "start": NAMES[start], "mark_s": mark, "seeds": len(own)}
        parts = {"accuracy": own, "to_own_start": own - own[:, :1], "to_nothing": own - nothing}
        for name, values in parts.items():
            mean, se = mean_and_se(values[:, column])
            line |= {name: round(mean or 0.0, 5), f"{name}_se": round(se or 0.0, 5)}
        yield line


def below_itself(line: dict[str, object]) -> bool:
    """Whether the mean fell below that at 0 s by more than a point and more than a standard error."""
    return -float(str(line["to_own_start"])) > max(float(str(line["to_own_start_se"])), 0.01)


def below_nothing(line: dict[str, object]) -> bool:
    """Whether the mean is below that without a start by more than a standard error."""
    return -float(str(line["to_nothing"])) > float(str(line["to_nothing_se"]))


def table(title: str, lines: list[dict[str, object]], crossings: dict[object, float | None]) -> str:
    """A table in Markdown: the starts of a pool by marks."""
    head = [f"{mark} s" for mark in MARKS_S] + [f"stays at {POOL_TARGETS[title]:.0%}"]
    out = [f"## {title}", "", f"| start | {' | '.join(head)} |", "|---" * (len(head) + 1) + "|"]
    for start in dict.fromkeys(line["start"] for line in lines):
        cells = []
        for line in (each for each in lines if each["start"] == start):
            text = f"{100 * float(str(line['accuracy'])):.1f} ± {100 * float(str(line['accuracy_se'])):.1f}"
            wrong = start in WRONG
            text = f"**{text}**" if not wrong and below_itself(line) else text
            cells.append(f"_{text}_" if start != "nothing" and below_nothing(line) else text)
        at = crossings[start]
        out.append(f"| {start} | {' | '.join(cells)} | {'never' if at is None else f'{at:.0f} s'} |")
    return "\n".join(out) + "\n"


POOL_TARGETS = dict(POOLS.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("results/starts"))
    parser.add_argument("--out", type=Path, default=Path("docs/starts"))
    args = parser.parse_args()
    pools = [pool for pool in POOLS if not pool.endswith(".npz") or (args.data / pool).exists()]
    trials = finished(pools, range(args.first, args.first + args.seeds), args)
    lines, crossings, tables = [], [], HEAD.format(seeds=args.seeds)
    for pool in pools:
        title, target = POOLS[pool]
        curves = {
            start: np.array([held(one, "accuracy", MARKS_S) for one in trials[pool, start]])
            for start in starts_of(pool)
        }
        own = [line for start in curves for line in summary(pool, start, curves[start], curves[""])]
        at: dict[object, float | None] = {NAMES[start]: lasting(trials[pool, start], target) for start in curves}
        lines += own
        crossings += [{"pool": title, "target": target, "start": start, "seconds": when} for start, when in at.items()]
        tables += table(title, own, at) + "\n"
    write_rows(args.out / "summary.csv", lines)
    write_rows(args.out / "lasting.csv", crossings)
    (args.out / "tables.md").write_text(tables, encoding="utf-8")
    marks = [line for line in lines if line["start"] not in ("nothing", *WRONG) and line["mark_s"]]
    print(
        f"{len(marks)} marks: {sum(map(below_itself, marks))} below the start itself, "
        f"{sum(map(below_nothing, marks))} below no start"
    )


if __name__ == "__main__":
    main()
