"""Three people who mean one thing and two who mean something unrelated: whom the shared classifier follows, and who is named.

    python benchmarks/camps.py --data DIR [--seeds 3] [--first 8100] [--out docs/people/camps.csv]

OUT gets a line for every run, and what is there already is not computed again: accuracy of the shared classifier for the three
and for the two, and how many people of each are named.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from kept import kept_rows, pool_path

from tellmore.sim import experiment
from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_learner, other_mind
from tellmore.sim.truth import load_truth

POOLS = ("breast-cancer", "wine=1", "gaussian=20", "words_socialsent2000_w2v300.npz,2500")
TEAM = "3*good,2*camp=0"
ANSWERS = {"label": 150, "rank": 60}
FIELDS = ["pool", "kind", "learner", "seed", "three", "two", "named"]


def camps(pool: str, kind: str, learner: str, seed: int, *, data: Path) -> tuple[str, str, str]:
    """Accuracy for the three and for the two, and verdicts as "2 apart, 1 careless"; a ! where one of the three is named."""
    config = Config(
        pool=pool_path(pool, data) or pool,
        question=kind,
        answers=ANSWERS[kind],
        team=TEAM,
        options=(("check_share", 0.1),),
    )
    truth = load_truth(config.pool, config.matrix)
    own, _ = make_learner(config, truth, seed)
    own.by_person = learner == "people"
    with patch.object(experiment, "question_bits", lambda *_: 0.0):
        for _ in conversation(config, own, truth, seed):
            pass
    positive = own.scores()[0] > 0
    three = truth.quality(own.scores()[0]).accuracy
    two = float(np.mean(positive == (other_mind(truth) > 0)))
    verdicts = [(name in ("person 4", "person 5"), habits.verdict) for name, habits in own.people.items()]
    named = [f"{verdict}{'' if other else '!'}" for other, verdict in verdicts if verdict]
    return f"{three:.4f}", f"{two:.4f}", ", ".join(f"{named.count(one)} {one}" for one in sorted(set(named)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("docs/people/camps.csv"))
    parser.add_argument("--kind", action="append", help="only these of label and rank")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=8100, help="the first seed")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    cases = [
        (pool, kind, learner, seed)
        for seed, kind, pool, learner in product(seeds, args.kind or ANSWERS, POOLS, ("trusting", "people"))
        if pool_path(pool, args.data)
    ]
    kept_rows(args.out, FIELDS, cases, partial(camps, data=args.data))


if __name__ == "__main__":
    main()
