"""What random answers must cost: how much less a label says if one in ten is random, to a learner that loses nothing else.

    python benchmarks/lapse_bound.py --data DIR [--seeds 6] [--first 3000]

For the items that a learner asks about until it reaches the target of `lapses.py`, the probability q of a positive label is
estimated from many answers of the simulated person. A label then says h(mean q) - mean h(q) bits about which of these items it
is of, with h the binary entropy; if a share r is random, q becomes (1 - r) q + r / 2. The ratio is the factor by which labels
must grow to say as much.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from kept import pool_path
from lapses import LAST, MOST, RATES, TARGETS

from tellmore.questions import Question, labels_in
from tellmore.sim.annotators import IntArray, Moment, Respondent
from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_annotators, make_learner
from tellmore.sim.truth import load_truth
from tellmore.types import Array

ANSWERS = 400


def positive_shares(pool: str, target: float, seed: int) -> Array:
    """For every item asked about until the target: how often the simulated person calls it positive."""
    config = Config(pool=pool, question="label", answers=MOST["label"])
    truth = load_truth(config.pool, config.matrix)
    learner, _ = make_learner(config, truth, seed)
    curve: list[float] = []
    asked: list[str] = []
    for question, _, _ in conversation(config, learner, truth, seed):
        asked += question.items
        curve.append(truth.quality(learner.scores()[0]).accuracy)
        if len(curve) >= LAST and np.mean(curve[-LAST:]) >= target:
            break
    person, rng = make_annotators(config, truth)[0], np.random.default_rng(seed)
    return np.array([_share(person.respondent, truth.pool.rows([item]), item, rng) for item in asked])


def _share(respondent: Respondent, row: IntArray, item: str, rng: np.random.Generator) -> float:
    question = Question("label", [item])
    replies = (respondent.respond(question, row, now=Moment(rng, 0, None)) for _ in range(ANSWERS))
    return float(np.mean([labels_in(question, reply)[item] for reply in replies]))


def entropy_bits(p: Array | float) -> Array:
    """Of a yes or no with this probability of yes."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


def label_bits(q: Array, random: float) -> float:
    """What a label says about which item it is of, if this share of the answers is random."""
    q = (1 - random) * q + random / 2
    return float(entropy_bits(q.mean()) - entropy_bits(q).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=3000, help="the first seed")
    args = parser.parse_args()
    logs = []
    for pool, target in TARGETS.items():
        path = pool_path(pool, args.data)
        if path is None:
            continue
        bits = np.array(
            [
                [label_bits(q, rate) for rate in RATES]
                for q in (positive_shares(path, target, seed) for seed in range(args.first, args.first + args.seeds))
            ]
        )
        ratio = np.log(bits[:, 0] / bits[:, 1])
        logs.append(ratio.mean())
        print(
            f"{pool}: {bits[:, 0].mean():.2f} bits, random {bits[:, 1].mean():.2f}, factor {np.exp(ratio.mean()):.2f}"
        )
    print(f"all: factor {np.exp(np.mean(logs)):.2f}")


if __name__ == "__main__":
    main()
