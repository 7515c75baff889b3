"""What `auto` saves for a person who tires, by weighing kinds by this person's speed and reliability now.

    python benchmarks/tiring_auto.py --data DIR [--seeds 6] [--first 920] [--rows docs/people/auto.csv] [--pool P]

One simulated person answers for an hour of their own time, with one random question in ten, as in a project. Each case is run
twice with the same seed: with the prices of `tellmore.core.steadiness`, as in the app, and without. ``several=1`` is a
person who takes longer by this fraction per 100 answers, but only for questions on several items; the other habits are those of
`tellmore.sim.people`. ROWS gets a line for every run, and runs already there are not repeated.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import product
from pathlib import Path

from kept import kept_rows, pool_path
from tiring import CHECKS, UNSEEN, answered

from tellmore.core.steadiness import STEADY
from tellmore.sim import annotators as people
from tellmore.sim.config import Config
from tellmore.sim.experiment import chances_of, make_annotators, make_learner
from tellmore.sim.people import PER_ANSWERS
from tellmore.sim.truth import load_truth

HABITS = ("good", "slowing=1", "tiring=0.5", "several=1", "several=3")
MARKS = (1800, 3600)
"""Seconds after which the accuracy is measured."""
FIELDS = [
    "pool",
    "habit",
    "weighed",
    "seed",
    *(f"after {mark} s" for mark in MARKS),
    "answers",
    "noticed",
    "asked otherwise",
]


def run(pool: str, habit: str, weighed: str, seed: int, *, data: Path) -> tuple[object, ...]:
    """The accuracy after each of MARKS, the number of answers, the first change noticed, and how many questions were of another
    kind than the first one, random ones left out."""
    several = float(habit.removeprefix("several=")) if habit.startswith("several=") else 0.0
    line = "good" if several else habit
    config = Config(pool=pool_path(pool, data) or pool, question="auto", team=line, options=(("check_share", CHECKS),))
    truth = load_truth(config.pool, config.matrix)
    learner, _ = make_learner(config, truth, seed)
    (annotator,), (rng, clock) = make_annotators(config, truth), chances_of(seed, 0)
    usual, state, noticed, before, spent = learner.cost, STEADY, "", None, 0.0
    kinds, found = [], []
    for number in range(10**6):
        if weighed == "yes":
            learner.cost = usual.of("", state.price)
        question = learner.ask()
        rows = truth.pool.rows(question.items)
        answer, seconds = annotator.reply(question, rows, now=people.Moment(rng, number, before), clock=clock)
        seconds *= 1 + (several * number / PER_ANSWERS if question.size > 1 else 0.0)
        before, spent = rows, spent + seconds
        state = state.after(answered(learner, question, answer, seconds))
        learner.tell(question, answer)
        noticed = noticed or (state.seen.change if state.seen is not None else "")
        kinds += [] if question.check else [question.kind]
        found += [truth.quality(learner.scores()[0]).accuracy for mark in MARKS[len(found) :] if spent >= mark]
        if len(found) == len(MARKS):
            return *(f"{one:.4f}" for one in found), number + 1, noticed, sum(kind != kinds[0] for kind in kinds)
    raise AssertionError("an hour has an end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("docs/people/auto.csv"))
    parser.add_argument("--pool", action="append", help="only these pools")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=920, help="the first seed")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    cases = [
        (pool, habit, weighed, seed)
        for seed, pool, habit, weighed in product(seeds, args.pool or UNSEEN, HABITS, ("no", "yes"))
        if pool_path(pool, args.data)
    ]
    kept_rows(args.rows, FIELDS, cases, partial(run, data=args.data))


if __name__ == "__main__":
    main()
