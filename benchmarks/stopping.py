"""What automatic stopping costs: accuracy (F1 if a class is rare) when the default rule stops, and 200 answers later.

    python benchmarks/stopping.py --data DIR [--kinds label tick] [--seeds 2] [--rows results/stopping.csv] [--out docs/pools]

ROWS gets a line for every run, and runs already there are not repeated; OUT gets stopping.csv, the same lines in order.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_learner
from tellmore.sim.truth import load_truth

SEEN = (  # while the limits of the rule were chosen, with other seeds
    "words_vader_w2v300.npz,2500",
    "words_vader_w2v300.npz,15%",
    "words_vader_w2v300.npz,5%",
    "words_vader_w2v300.npz,2%",
    "words_socialsent2000_w2v300.npz,2500",
    "words_warriner_valence_w2v300.npz,2500",
    "images_oasis_valence_efflite2.npz",
    "images_utkface2000_facenet512.npz",
    "digits=8",
    "digits=8,unit",
    "digits=3,standardised",
    "digits<5,unit",
    "breast-cancer",
    "wine=1",
    "gaussian=5",
    "gaussian=20",
)
UNSEEN = (
    "words,10%",
    "words_warriner_valence_w2v300.npz,5%",
    "images_oasis_valence_efflite2.npz,10%",
    "digits=0",
    "digits=1,unit",
    "digits=5",
    "digits=9,standardised",
    "digits<3",
    "digits<7,unit",
    "breast-cancer,10%",
    "wine=0",
    "wine=2,standardised",
)
POOLS = (*SEEN, *UNSEEN)
LONGEST, FURTHER, HALFWAY = 400, 200, 200
RARE = 0.2  # if fewer of the counted items are positive, F1 is measured
NEAR = 0.02
LAST = 5  # answers over which quality is averaged
FIELDS = ["pool", "kind", "seed", "measure", "stopped after", "quality then", "quality later", "gain later", "flat"]


def run(pool: str, kind: str, seed: int, *, data: Path) -> tuple[object, ...]:
    """One run with default options: until 200 answers after it stops, or 400 answers if it does not stop.

    flat: whether those 200 answers, or the last 200 of a run that did not stop, gained at most 0.02.
    """
    config = Config(pool=pool_path(pool, data) or pool, question=kind, answers=LONGEST + FURTHER)
    truth = load_truth(config.pool, config.matrix)
    learner, _ = make_learner(config, truth, seed)
    measure = "f1" if truth.labels[truth.counted].mean() < RARE else "accuracy"
    curve: list[float] = []
    stopped: int | None = None
    for _ in conversation(config, learner, truth, seed):
        curve.append(getattr(truth.quality(learner.scores()[0]), measure))
        if stopped is None and learner.should_stop():
            stopped = len(curve)
        enough = len(curve) >= (LONGEST if stopped is None else stopped + FURTHER)
        if enough or len(learner.labels()) == len(learner.pool):
            break
    then = HALFWAY if stopped is None else stopped
    quality = [float(np.mean(curve[max(end - LAST, 0) : end])) for end in (then, len(curve))]
    gain = quality[1] - quality[0]
    return measure, stopped or "", *(f"{one:.4f}" for one in (*quality, gain)), int(gain <= NEAR)


def summary(rows: list[dict[str, str]]) -> str:
    """How many stops were not too early, and how many of the flat runs stopped, by kind and by whether pools were seen."""
    lines = []
    for kind, (title, pools) in product(
        dict.fromkeys(row["kind"] for row in rows), (("seen", SEEN), ("unseen", UNSEEN))
    ):
        own = [row for row in rows if row["kind"] == kind and row["pool"] in pools]
        stops = [row for row in own if row["stopped after"]]
        right = sum(row["flat"] == "1" for row in stops)
        flat = sum(row["flat"] == "1" for row in own)
        lines.append(
            f"{kind}, {title}: {right} of {len(stops)} stops within {NEAR}, {right} of {flat} flat runs stopped"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/stopping.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/pools"))
    parser.add_argument("--kinds", nargs="+", default=["label", "tick"], choices=["label", "select", "rank", "tick"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=4000, help="the first seed")
    args = parser.parse_args()
    pools = [pool for pool in POOLS if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [(pool, kind, seed) for seed, kind, pool in product(seeds, args.kinds, pools)]
    rows = kept_rows(args.rows, FIELDS, cases, partial(run, data=args.data))
    rows.sort(key=lambda row: (row["kind"], POOLS.index(row["pool"]), int(row["seed"])))
    write_rows(args.out / "stopping.csv", rows)
    print(summary(rows))


if __name__ == "__main__":
    main()
