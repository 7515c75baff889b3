"""Whether quick questions are worth asking: accuracy with a search for each question, with one search for many, and at random.

    python benchmarks/crowd.py [--seeds 5] [--people 64] [--rounds 6] [--pools words socialsent]

This many people answer at the same time: all questions of a round are chosen before any of its answers is known. Prints the mean
accuracy over the pool after each round, and the difference from a search for each question with its standard error, paired by
seed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from tellmore.kinds import perceived
from tellmore.learner import Learner
from tellmore.questions import Question, answer_from
from tellmore.sim.pools import open_pool
from tellmore.types import Array

FORMS = (("label", 1), ("select", 3), ("rank", 4), ("tick", 12))
WAYS = "each", "quick", "random"


def questions(learner: Learner, way: str, people: int) -> list[Question]:
    """One question for each of ``people``, on different items."""
    asked: list[Question] = []
    while len(asked) < people:
        taken = [item for question in asked for item in question.items]
        left = people - len(asked)
        asked += learner.ask(left, quick=True, avoid=taken) if way == "quick" else [learner.ask(avoid=taken)]
    return asked[:people]


def run(pool: str, kind: str, size: int, way: str, seed: int, people: int, rounds: int) -> list[float]:
    """Accuracy over the pool after each round."""
    items = open_pool(pool)
    assert items.scores is not None
    truth = np.asarray(items.scores.mean - items.scores.threshold, dtype=float)
    rng = np.random.default_rng([seed, 7])
    learner = Learner(
        items,
        kind,
        size if size > 1 else None,
        seed=seed,
        exclude_last=0,
        acquisition="random" if way == "random" else "greedy",
    )
    accuracy = []
    for _ in range(rounds):
        told = [(question, answered(items, truth, question, rng)) for question in questions(learner, way, people)]
        learner.tell_all(told)
        accuracy.append(float(np.mean(learner.predict() == (truth > 0))))
    return accuracy


def answered(pool, truth: Array, question: Question, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """The answer of a person with a little noise."""
    seen = truth[pool.rows(question.items)] + 0.15 * float(np.std(truth)) * rng.standard_normal(question.size)
    return answer_from(question, perceived(seen, rng))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--people", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--pools", nargs="+", default=["words"])
    options = parser.parse_args()
    for pool in options.pools:
        for kind, size in FORMS:
            found = {
                way: np.array(
                    [run(pool, kind, size, way, seed, options.people, options.rounds) for seed in range(options.seeds)]
                )
                for way in WAYS
            }
            for way, values in found.items():
                apart = values - found["each"]
                error = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
                shown = " ".join(
                    f"{mean:.3f} ({gap:+.3f}±{one:.3f})"
                    for mean, gap, one in zip(values.mean(axis=0), apart.mean(axis=0), error, strict=True)
                )
                print(f"{pool:<12} {kind + '-' + str(size):<9} {way:<7} {shown}", flush=True)


if __name__ == "__main__":
    main()
