"""Whether probabilities come true: log loss and expected calibration error after 50 random checks, without and with correction.

    python benchmarks/calibration.py --data DIR [--seeds 6] [--rows results/calibration.csv] [--out docs/calibration]

ROWS gets a line for every run, and runs already there are not repeated; OUT gets calibration.csv, a line for every pool.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore.sim import annotators as people
from tellmore.sim.config import Config
from tellmore.sim.experiment import make_annotators, make_learner
from tellmore.sim.truth import Truth, load_truth
from tellmore.types import Array

TUNED = (  # the form of the correction and its prior were chosen on these, with other seeds
    "words_vader_w2v300.npz,2500",
    "digits=8",
    "digits<5",
)
NOT_TUNED = (
    "words_socialsent2000_w2v300.npz,2500",
    "words_warriner_valence_w2v300.npz,2500",
    "images_oasis_valence_efflite2.npz",
    "images_utkface2000_facenet512.npz",
    "wine=1",
    "breast-cancer",
    "gaussian=5",
    "gaussian=20",
    "words_vader_w2v300.npz,15%",
    "words_vader_w2v300.npz,5%",
)
POOLS = (*TUNED, *NOT_TUNED)
KINDS = ("label", "rank", "tick")
CHECKS, SHARE, LONGEST = 50, 0.2, 400
TARGET = 0.04
SURE = 1e-6
FIELDS = [
    "pool",
    "kind",
    "seed",
    "answers",
    "checks",
    "slope",
    "low",
    "high",
    "loss",
    "loss corrected",
    "error",
    "error corrected",
]


def run(pool: str, kind: str, seed: int, *, data: Path) -> tuple[object, ...]:
    """One run until 50 randomly drawn items are labelled, and the quality of its probabilities on the whole pool."""
    config = Config(pool=pool_path(pool, data) or pool, question=kind, options=(("check_share", SHARE),))
    truth = load_truth(config.pool, config.matrix)
    learner, _ = make_learner(config, truth, seed)
    annotator = make_annotators(config, truth)[0]
    rng, clock = (np.random.default_rng(child) for child in np.random.SeedSequence([seed, 0x7E11]).spawn(2))
    while len(learner.tally.checks) < CHECKS and learner.tally.answers < LONGEST:
        question, now = learner.ask(), people.Moment(rng, learner.tally.answers)
        learner.tell(question, annotator.reply(question, truth.pool.rows(question.items), now=now, clock=clock)[0])
    corrected, found = learner.probabilities(), learner.calibration
    learner.calibrate = False
    plain, positive = learner.probabilities(), said_positive(truth)
    measured = [measure(p, positive) for measure in (log_loss, calibration_error) for p in (plain, corrected)]
    slope = (found.slope, found.low, found.high)
    return learner.tally.answers, len(learner.tally.checks), *(f"{one:.5f}" for one in (*slope, *measured))


def said_positive(truth: Truth) -> Array:
    """The probability that the simulated person calls each item positive."""
    scores = truth.scores
    if scores.histogram is None or scores.histogram_values is None:
        return scores.probability_positive()
    return np.asarray(
        (scores.histogram * (scores.histogram_values > scores.threshold)).sum(axis=1) / scores.histogram.sum(axis=1)
    )


def log_loss(p: Array, positive: Array) -> float:
    """The expected log loss of labels, in nats."""
    p = np.clip(p, SURE, 1 - SURE)
    return float(-np.mean(positive * np.log(p) + (1 - positive) * np.log(1 - p)))


def calibration_error(p: Array, positive: Array, bins: int = 10) -> float:
    """The mean over the items of |mean probability - share positive| in their bin, with ten equal bins."""
    own = np.minimum((p * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(own, p - positive, minlength=bins)).sum() / len(p))


def summary(rows: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    """Means by pool with the standard error of the change, and the share of runs within the target; then over all tuned pools and
    all others."""
    groups = {pool: (pool,) for pool in POOLS} | {"all tuned on": TUNED, "all others": NOT_TUNED}
    for name, pools in groups.items():
        own = [row for row in rows if row["pool"] in pools]
        if not own:
            continue
        loss, less, error, fewer = (
            np.array([float(row[field]) for row in own])
            for field in ("loss", "loss corrected", "error", "error corrected")
        )
        line: dict[str, object] = {
            "pool": name,
            "runs": len(own),
            "slope": f"{np.exp(np.mean([np.log(float(row['slope'])) for row in own])):.2f}",
        }
        line |= {
            "loss": f"{loss.mean():.4f}",
            "corrected": f"{less.mean():.4f}",
            "change": f"{(less - loss).mean():+.4f}",
        }
        line |= {"change, se": f"{standard_error(less - loss, own):.4f}"}
        line |= {
            "error": f"{error.mean():.3f}",
            "error corrected": f"{fewer.mean():.3f}",
            "error, largest": f"{fewer.max():.3f}",
        }
        line |= {"within": f"{np.mean(error <= TARGET):.0%}", "within corrected": f"{np.mean(fewer <= TARGET):.0%}"}
        yield line


def standard_error(change: Array, rows: list[dict[str, str]]) -> float:
    """The standard error over runs of one pool, or over the means of several pools."""
    pools = sorted({row["pool"] for row in rows})
    if len(pools) > 1:
        change = np.array([change[[row["pool"] == pool for row in rows]].mean() for pool in pools])
    return float(change.std(ddof=1) / np.sqrt(len(change)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/calibration.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/calibration"))
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=7000, help="the first seed")
    args = parser.parse_args()
    pools = [pool for pool in POOLS if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [(pool, kind, seed) for seed, pool, kind in product(seeds, pools, KINDS)]
    rows = kept_rows(args.rows, FIELDS, cases, partial(run, data=args.data))
    args.out.mkdir(parents=True, exist_ok=True)
    found = list(summary(rows))
    write_rows(args.out / "calibration.csv", found)
    for line in found:
        if float(str(line["error corrected"])) > TARGET:
            print(f"missed: {line['pool']}, calibration error {line['error corrected']} above {TARGET}")


if __name__ == "__main__":
    main()
