"""How many answers a team with careless people needs until it is as good as the careful ones alone after as many careful answers.

    python benchmarks/people_longer.py --data DIR [--kind label] [--seeds 10] [--first 9600] [--rows docs/people/longer.csv]

ROWS gets a line for every run, and runs already there are not repeated. The last lines printed are a table in Markdown: points of
accuracy compared with the careful people alone, mean and standard error over seeds.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from itertools import product
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from kept import kept_rows, pool_path
from people import CHECK_SHARE, FIVE

from tellmore.sim import experiment
from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_learner
from tellmore.sim.people import team_of
from tellmore.sim.seconds import mean_and_se
from tellmore.sim.truth import load_truth

POOLS = {  # those on which 100 labels do not suffice, and three that nothing about people was chosen on
    "words_socialsent2000_w2v300.npz,2500": "SocialSent",
    "words_warriner_valence_w2v300.npz,2500": "Warriner",
    "images_oasis_valence_efflite2.npz": "OASIS",
    "diabetes": "diabetes",
    "digits<7,unit": "digits < 7, unit",
    "words_socialsent2000_w2v300.npz,2500,30%": "SocialSent, 30 %",
}
MARKS = {"label": (50, 100, 200, 400), "tick": (10, 20, 40, 80), "rank": (20, 40, 80, 160)}
"""Careful answers, by kind."""
LEARNERS = ("alone", "trusting", "people")
TEAMS = tuple(FIVE)


def accuracies(pool: str, kind: str, team: str, learner: str, seed: int, *, data: Path) -> tuple[str, ...]:
    """The accuracy after each number of careful answers."""
    alone, whole = FIVE[team]
    line = alone if learner == "alone" else whole
    people = team_of(line)
    careful = len(team_of(alone))
    at = [round(mark * len(people) / careful) for mark in MARKS[kind]]
    options = (("check_share", CHECK_SHARE),)
    config = Config(pool=pool_path(pool, data) or pool, question=kind, answers=at[-1], team=line, options=options)
    truth = load_truth(config.pool, config.matrix)
    own, _ = make_learner(config, truth, seed)
    own.by_person = own.judges = learner == "people"
    found: list[str] = []
    with patch.object(experiment, "question_bits", lambda *_: 0.0):  # nobody looks at them here
        for number, _ in enumerate(conversation(config, own, truth, seed), start=1):
            if number in at:
                found.append(f"{truth.quality(own.scores()[0]).accuracy:.4f}")
    return (*found, *found[-1:] * (len(at) - len(found)))  # every item has a label


def table(rows: list[dict[str, str]], kind: str) -> str:
    """Differences from the careful people alone."""
    marks = MARKS[kind]
    head = ["pool", "team", "counted", *(f"after {mark}" for mark in marks)]
    out = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    of = {(row["pool"], row["team"], row["learner"], int(row["seed"])): row for row in rows if row["kind"] == kind}
    for pool, team, learner in product(POOLS, TEAMS, LEARNERS[1:]):
        seeds = [key[3] for key in of if key[:3] == (pool, team, learner) and (pool, team, "alone", key[3]) in of]
        if len(seeds) < 2:
            continue
        cells = []
        for name in NAMES:
            pairs = [(of[pool, team, learner, seed], of[pool, team, "alone", seed]) for seed in seeds]
            mean, se = mean_and_se(np.array([100 * (float(own[name]) - float(other[name])) for own, other in pairs]))
            cells.append(f"{mean or 0.0:+.1f} ± {se or 0.0:.1f}")
        called = "by person" if learner == "people" else "alike"
        out.append(f"| {POOLS[pool]} | {team} | {called} | {' | '.join(cells)} |")
    return "\n".join(out)


NAMES = [f"accuracy {number}" for number in range(1, 5)]
FIELDS = ["pool", "kind", "team", "learner", "seed", *NAMES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--kind", default="label", choices=list(MARKS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=9600)
    parser.add_argument("--pools", nargs="+", default=list(POOLS), choices=list(POOLS), metavar="POOL")
    parser.add_argument("--rows", type=Path, default=Path("docs/people/longer.csv"))
    args = parser.parse_args()
    pools = [pool for pool in args.pools if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [
        (pool, args.kind, team, learner, seed)
        for seed, pool, team, learner in product(seeds, pools, TEAMS, LEARNERS)
        if not (team == "all good" and learner == "trusting")  # the careful people alone are the whole team
    ]
    rows = kept_rows(args.rows, FIELDS, cases, partial(accuracies, data=args.data))
    print(table(rows, args.kind))


if __name__ == "__main__":
    main()
