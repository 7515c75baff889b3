"""What random answers cost: answers to a target accuracy if none or one in ten is random, with and without a model of lapses.

    python benchmarks/lapses.py --data DIR [--seeds 6] [--rows results/lapses.csv] [--out docs/pools]

ROWS gets a line for every run, and runs already there are not repeated; OUT gets lapses.csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_learner
from tellmore.sim.truth import load_truth

TARGETS = {
    "words_socialsent2000_w2v300.npz,2500": 0.7,
    "words_warriner_valence_w2v300.npz,2500": 0.75,
    "words_vader_w2v300.npz,2500": 0.9,
    "images_oasis_valence_efflite2.npz": 0.75,
    "digits<5,unit": 0.8,
}
RATES = (0.0, 0.1)
LEARNERS = ("robust", "trusting")
MOST = {"label": 500, "select": 300, "rank": 150, "tick": 60}
LAST = 3  # answers over which the accuracy is averaged, to reduce the effect of luck
FIELDS = ["pool", "kind", "seed", "rate", "learner", "answers"]


def answers_to_target(pool: str, kind: str, seed: int, rate: float, learner: str, *, data: Path) -> tuple[int]:
    """How many answers it takes until the mean accuracy of the last few reaches the pool's target; at most MOST."""
    config = Config(pool=pool_path(pool, data) or pool, question=kind, answers=MOST[kind], lapse=rate)
    truth = load_truth(config.pool, config.matrix)
    own, _ = make_learner(config, truth, seed)
    if learner == "trusting":
        own.behaviour = replace(own.behaviour, lapse=0.0)
    curve: list[float] = []
    for _ in conversation(config, own, truth, seed):
        curve.append(truth.quality(own.scores()[0]).accuracy)
        if len(curve) >= LAST and np.mean(curve[-LAST:]) >= TARGETS[pool]:
            break
    return (len(curve),)


def summary(rows: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    """Mean answers by pool and kind, and the ratios between cases: geometric means, each with the factor that corresponds to one
    standard error. Last, all pools together."""
    ratios = {"robust / trusting at 0 %": (("0.0", "robust"), ("0.0", "trusting"))}
    ratios |= {f"{each}: 10 % / 0 %": (("0.1", each), ("0.0", each)) for each in LEARNERS}
    for kind, pool in product(MOST, (*TARGETS, "all")):
        own = [row for row in rows if row["kind"] == kind and pool in (row["pool"], "all")]
        own.sort(key=lambda row: (row["pool"], int(row["seed"])))
        of = {
            (rate, learner): np.array(
                [float(r["answers"]) for r in own if (r["rate"], r["learner"]) == (rate, learner)]
            )
            for rate, learner in product(map(str, RATES), LEARNERS)
        }
        line: dict[str, object] = {"kind": kind, "pool": pool, "runs": len(of["0.0", "robust"])}
        line |= {f"{learner} at {float(rate):.0%}": f"{found.mean():.1f}" for (rate, learner), found in of.items()}
        for name, (one, other) in ratios.items():
            ratio = np.log(of[one] / of[other])
            line[name] = f"{np.exp(ratio.mean()):.2f}"
            line[f"{name}, se"] = f"{np.exp(ratio.std(ddof=1) / np.sqrt(len(ratio))):.2f}"
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/lapses.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/pools"))
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=2000, help="the first seed")
    args = parser.parse_args()
    pools = [pool for pool in TARGETS if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [
        (pool, kind, seed, rate, learner)
        for seed, pool, kind, rate, learner in product(seeds, pools, MOST, RATES, LEARNERS)
    ]
    rows = kept_rows(args.rows, FIELDS, cases, partial(answers_to_target, data=args.data))
    write_rows(args.out / "lapses.csv", list(summary(rows)))


if __name__ == "__main__":
    main()
