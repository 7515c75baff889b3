"""Whether chosen items are better than random ones, after the same seconds, for the same learner.

    python benchmarks/chosen.py --data DIR [--seeds 6] [--rows results/chosen.csv] [--out docs/pools]

ROWS gets a line for every run, and runs already there are not repeated; OUT gets chosen.csv: for every pool, kind and mark, the
quality (F1 if a class is rare) with chosen items, and its difference from random ones, paired over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tellmore.sim.seconds import mean_and_se, quality_at
from tellmore.sim.truth import load_truth

POOLS = (
    "words_vader_w2v300.npz,2500",
    "words_vader_w2v300.npz,15%",
    "words_vader_w2v300.npz,5%",
    "words_socialsent2000_w2v300.npz,2500",
    "words_warriner_valence_w2v300.npz,2500",
    "images_oasis_valence_efflite2.npz",
    "images_utkface2000_facenet512.npz",
    "digits=8",
    "digits=3,standardised",
    "digits<5,unit",
    "breast-cancer",
    "wine=1",
    "gaussian=20",
)
KINDS = ("label", "select", "rank", "tick")
MARKS_S = (30, 60, 120, 300, 600, 1800)
RARE = 0.2  # if fewer of the counted items are positive, F1 is measured
FIELDS = ["pool", "kind", "seed", "acquisition", "measure", *map(str, MARKS_S)]


def quality(pool: str, kind: str, seed: int, acquisition: str, *, data: Path, seconds: float) -> tuple[object, ...]:
    """Accuracy or F1 of one run at every mark; empty beyond ``seconds``."""
    config = Config(
        pool=pool_path(pool, data) or pool,
        question=kind,
        answers=None,
        seconds=seconds,
        acquisition=acquisition,  # type: ignore[arg-type]
    )
    truth = load_truth(config.pool, config.matrix)
    measure = "f1" if truth.labels[truth.counted].mean() < RARE else "accuracy"
    found = quality_at(trial(config, seed, truth=truth), measure, np.array(MARKS_S))
    return measure, *("" if np.isnan(one) else f"{one:.4f}" for one in found)


def summary(rows: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    for pool, kind, mark in product(POOLS, KINDS, map(str, MARKS_S)):
        of: dict[str, dict[str, float]] = {"greedy": {}, "random": {}}
        own = [row for row in rows if (row["pool"], row["kind"]) == (pool, kind) and row[mark]]
        for row in own:
            of[row["acquisition"]][row["seed"]] = float(row[mark])
        both = sorted(of["greedy"].keys() & of["random"].keys())
        if len(both) > 1:
            chosen, random = (np.array([of[how][seed] for seed in both]) for how in ("greedy", "random"))
            gain, se = mean_and_se(chosen - random)
            line = {"pool": pool, "kind": kind, "seconds": mark, "measure": own[0]["measure"], "seeds": len(both)}
            numbers = {"chosen": chosen.mean(), "less random": gain, "se": se}
            yield line | {name: f"{number:.4f}" for name, number in numbers.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/chosen.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/pools"))
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=5000, help="the first seed")
    parser.add_argument("--seconds", type=float, default=600, help="how long a run is")
    args = parser.parse_args()
    pools = [pool for pool in POOLS if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [(p, kind, seed, how) for seed, p, kind, how in product(seeds, pools, KINDS, ("greedy", "random"))]
    measure = partial(quality, data=args.data, seconds=args.seconds)
    write_rows(args.out / "chosen.csv", list(summary(kept_rows(args.rows, FIELDS, cases, measure))))


if __name__ == "__main__":
    main()
