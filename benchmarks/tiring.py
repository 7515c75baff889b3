"""How soon a person who tires is noticed, and how often a steady person is noticed by mistake, with the real learner.

    python benchmarks/tiring.py --data DIR [--seeds 5] [--rows results/tiring.csv] [--out docs/people] [--pool P] [--kind K]

One simulated person answers (see `tellmore.sim.people`), with one random question in ten, as in a project. ROWS gets a line for
every run, and runs already there are not repeated; OUT gets tiring.csv, a line for every habit and kind of question.

    python benchmarks/tiring.py --made-up

prints the same for people without a learner, whose answers are exactly as probable as predicted.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore import kinds
from tellmore.core.steadiness import STEADY, Answered
from tellmore.learner import Learner
from tellmore.policy.cost import PAPER_COST
from tellmore.questions import Question
from tellmore.sim import annotators as people
from tellmore.sim.config import Config
from tellmore.sim.experiment import chances_of, make_annotators, make_learner
from tellmore.sim.truth import load_truth
from tellmore.types import Answer
from tests.core.test_steadiness import HOUR, first, labels, states

TUNED = ("words_vader_w2v300.npz,2500", "digits<5,unit")
UNSEEN = (
    "words_socialsent2000_w2v300.npz,2500",
    "images_oasis_valence_efflite2.npz",
    "images_utkface2000_facenet512.npz",
    "breast-cancer",
)
HABITS = (
    "good",
    "slowing=0.5",
    "tiring=0.5",
    "slowing=0.5+tiring=0.5",
    "drift=1",
    "pace=2",
    "first=0.3",
    "contrast=0.5",
)
ANSWERS = {"label": 300, "select": 240, "rank": 160}
CHECKS = 0.1
FIELDS = ["pool", "kind", "habit", "seed", "change", "answers", "minutes", "lasted"]


def run(pool: str, kind: str, habit: str, seed: int, *, data: Path) -> tuple[object, ...]:
    """The first change seen, after how many answers and minutes of the person's time, and how many minutes the run lasted."""
    config = Config(pool=pool_path(pool, data) or pool, question=kind, team=habit, options=(("check_share", CHECKS),))
    truth = load_truth(config.pool, config.matrix)
    learner, _ = make_learner(config, truth, seed)
    (annotator,), (rng, clock) = make_annotators(config, truth), chances_of(seed, 0)
    before, minutes, state = None, 0.0, STEADY
    seen: tuple[object, ...] = "", "", ""
    for number in range(ANSWERS[kind]):
        question = learner.ask()
        rows = truth.pool.rows(question.items)
        answer, seconds = annotator.reply(question, rows, now=people.Moment(rng, number, before), clock=clock)
        before, minutes = rows, minutes + seconds / 60
        state = state.after(answered(learner, question, answer, seconds))
        learner.tell(question, answer)
        if state.seen is not None and not seen[0]:
            seen = state.seen.change, number + 1, f"{minutes:.1f}"
    return *seen, f"{minutes:.1f}"


def answered(learner: Learner, question: Question, answer: Answer, seconds: float) -> Answered:
    kind, known = kinds.named(question.kind), learner.answer_probability(question, answer)
    usual = PAPER_COST.seconds(kind.name, question.size, marks=kind.marks(answer))
    return Answered(kind.family, math.log(seconds / usual), known.log_score - known.expected, known.spread)


def summary(rows: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    """In how many runs a change was seen, the median answer and minute at which it was, and the hours of all runs."""
    for kind, habit in product(ANSWERS, HABITS):
        own = [row for row in rows if row["kind"] == kind and row["habit"] == habit]
        seen = [row for row in own if row["change"]]
        if own:
            yield {
                "kind": kind,
                "habit": habit,
                "runs": len(own),
                "seen": len(seen),
                "slower": sum(row["change"] == "slower" for row in seen),
                "worse": sum(row["change"] == "worse" for row in seen),
                "median answer": f"{np.median([int(row['answers']) for row in seen]):.0f}" if seen else "",
                "median minute": f"{np.median([float(row['minutes']) for row in seen]):.0f}" if seen else "",
                "hours in all": f"{sum(float(row['lasted']) for row in own) / 60:.1f}",
            }


def made_up() -> None:
    """Print how often and when made-up people are noticed: steady ones in an hour of labels, others in 400 labels."""
    steady = [("steady, an hour", 300, HOUR, {})]
    changing = [
        (f"{name}={rate}", 60, 400, {name: rate}) for name in ("slowing", "tiring") for rate in (0.25, 0.5, 1.0)
    ]
    for title, count, answers, habit in steady + changing:
        rng = np.random.default_rng(sum(map(ord, title)))
        seen = [first(states(labels(answers, rng, **habit))) for _ in range(count)]
        at = [found[0] for found in seen if found is not None]
        share = len(at) / count
        se = math.sqrt(share * (1 - share) / count)
        print(
            f"{title}: noticed {share:.1%} ± {se:.1%} of {count}, median answer {np.median(at) if at else '–'}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/tiring.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/people"))
    parser.add_argument("--pool", action="append", help="only these pools; tuned: those that the limits were set on")
    parser.add_argument("--kind", action="append", choices=tuple(ANSWERS))
    parser.add_argument("--habit", action="append", choices=HABITS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=900, help="the first seed")
    parser.add_argument("--made-up", action="store_true", help="people without a learner")
    args = parser.parse_args()
    if args.made_up:
        made_up()
        return
    pools = TUNED if args.pool == ["tuned"] else args.pool or UNSEEN
    seeds = range(args.first, args.first + args.seeds)
    cases = product(pools, args.kind or ANSWERS, args.habit or HABITS, seeds)
    here = sorted((case for case in cases if pool_path(case[0], args.data)), key=lambda case: case[3])
    rows = kept_rows(args.rows, FIELDS, here, partial(run, data=args.data))
    args.out.mkdir(parents=True, exist_ok=True)
    write_rows(args.out / "tiring.csv", list(summary(rows)))


if __name__ == "__main__":
    main()
