"""Whether questions that tell people apart pay: some questions are about items whose label is nearly certain already.

    python benchmarks/telling_apart.py --data DIR [--seeds 20] [--first 100] [--rows docs/people/apart.csv] [--pool P] [--asked A]
    python benchmarks/telling_apart.py --data DIR --agreement
    python benchmarks/telling_apart.py --data DIR --bound [--rows docs/people/bound.csv]

The teams are those of `people.py`, with labels; answers count by person. ROWS gets a line for every run, and runs already there
are not repeated. --agreement prints how often a careful person agrees with the predictions of which the learner is surest.
--bound measures how well people could be told apart at best, by a judge who knows how probable every answer is.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from kept import kept_rows, pool_path
from people import ANSWERS, CHECK_SHARE, FIVE, UNSEEN

from tellmore import rereading
from tellmore.core import together
from tellmore.core.together import Facts, Judged
from tellmore.learner import Learner
from tellmore.questions import Question
from tellmore.sim import annotators, experiment
from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_annotators, make_learner
from tellmore.sim.people import team_of
from tellmore.sim.truth import Truth, load_truth
from tellmore.types import Answer, Array

POOLS = ("words_warriner_valence_w2v300.npz,2500", "words_vader_w2v300.npz,2500")
FIRST = 12
"""People are compared for the first time after this many answers; before, nothing is certain."""


@dataclass(frozen=True)
class Asked:
    """Which questions tell people apart. ``share``: of all questions; with ``by_doubt``, times the probability that this person
    guesses or is reversed, and at most half. ``early``: three times as many of a person's first 13 questions. ``same``: the same
    items for everybody."""

    share: float = 0.0
    early: bool = False
    same: bool = False
    by_doubt: bool = False

    def of(self, turn: int, doubt: float) -> float:
        """The share among the questions of a person with this many answers."""
        if self.by_doubt:
            return min(self.share * doubt, 0.5)
        return min(3 * self.share, 0.5) if self.early and turn < 13 else self.share


ASKED = {
    "as usual": Asked(),
    "5 %": Asked(0.05),
    "10 %": Asked(0.1),
    "15 %": Asked(0.15),
    "5 %, first 15 %": Asked(0.05, early=True),
    "10 %, first 30 %": Asked(0.1, early=True),
    "10 %, same items": Asked(0.1, same=True),
    "2 x doubt": Asked(2.0, by_doubt=True),
    "5 x doubt": Asked(5.0, by_doubt=True),
    "3 x doubt": Asked(3.0, by_doubt=True),
    "1.5 x doubt": Asked(1.5, by_doubt=True),
}
LEARNERS = {"alone": False, "trusting": False, "people": True, "told": True, "best": True}
"""Whether answers count by person; who is ``told`` knows from the first comparison on who guesses. The ``best`` judge knows from
the ratings how probable each answer of a careful person is, which no learner can know, and otherwise only the answers."""
SURE = 1e-3
"""A careful person gives the less probable answer at least this often."""
PRIORS = {"96, 3, 1": (0.96, 0.03, 0.01), "90, 7, 3": (0.90, 0.07, 0.03), "85, 10, 5": (0.85, 0.10, 0.05)}
FIELDS = ["pool", "team", "learner", "prior", "asked", "seed", "accuracy"]


class Asker:
    """A learner that puts questions on nearly certain items between its own; people answer in turn."""

    def __init__(self, own: Learner, people: int, asked: Asked, seed: int) -> None:
        self._own, self._people, self._how = own, people, asked
        self._rng, self._number = np.random.default_rng([seed, 0x1DE]), 0
        self._seen: dict[int, set[str]] = defaultdict(set)
        self._positive: dict[int, bool] = defaultdict(bool)
        self._certain: list[str] = []
        self.doubts: Mapping[int, float] = {}
        self.heard: dict[str, list[tuple[str, bool]]] = defaultdict(list)

    def ask(self) -> Question:
        turn, who = divmod(self._number, self._people)
        self._number += 1
        due = self._rng.random() < self._how.of(turn, self.doubts.get(who, 1 - together.PRIOR[0]))
        item = self._item(who) if due and self._number > FIRST else None
        question = self._own.ask() if item is None else Question("label", [item])
        self._seen[who].update(question.items)
        return question

    def tell(self, question: Question, answer: Answer, person: str = "") -> object:
        self.heard[person].append((question.items[0], answer.positive))  # type: ignore[attr-defined]
        return self._own.tell(question, answer, person)

    def scores(self) -> tuple[Array, Array]:
        return self._own.scores()

    def _item(self, who: int) -> str | None:
        """The most certain item, of both sides in turn, about which this person was not asked."""
        self._positive[who] = not self._positive[who]
        fit = [item for item in self._certain if item not in self._seen[who]]
        if self._how.same and fit:
            return fit[0]
        mean, variance = self._own.scores()
        certainty = mean / np.sqrt(1 / self._own.w**2 + variance) * (1 if self._positive[who] else -1)
        for row in np.argsort(-certainty)[:200]:
            item = self._own.pool.ids[row]
            if item not in self._seen[who] and item not in self._certain:
                self._certain.append(item)
                return item
        return None


def accuracy(pool: str, team: str, learner: str, prior: str, asked: str, seed: int, *, data: Path) -> tuple[str]:
    """The accuracy at the end of a trial."""
    alone, whole = FIVE[team]
    line = alone if learner == "alone" else whole
    people = team_of(line)
    answers = round(ANSWERS["label"] * len(people) / len(team_of(alone)))
    config = _config(pool, line, answers, data)
    truth = load_truth(config.pool, config.matrix)
    own, _ = make_learner(config, truth, seed)
    own.by_person = own.judges = LEARNERS[learner]
    asker = Asker(own, len(people), ASKED[asked], seed)
    names = [f"person {number}" for number in range(1, len(people) + 1)]
    manners = np.array([[person.attentive, person.random, person.reversed] for person in people]) * 0.999 + 0.001 / 3

    def judged(mean: Array, cov: Array, facts: Mapping[str, Facts]) -> Judged:
        told = dict(zip(names, manners, strict=True))
        found = together.judged(mean, cov, facts)
        if learner == "told":
            found = Judged({name: told[name] for name in facts}, 1.0)
        if learner == "best":
            chance = careful_chance(truth)
            found = Judged({name: best_judged(asker.heard[name], chance, truth) for name in facts}, 1.0)
        asker.doubts = {who: 1 - float(found.manners[name][0]) for who, name in enumerate(names) if name in facts}
        return found

    with (
        patch.object(together, "PRIOR", np.array(PRIORS[prior])),
        patch.object(rereading, "judged", judged),
        patch.object(experiment, "question_bits", lambda *_: 0.0),
    ):
        for _ in conversation(config, asker, truth, seed):
            pass
    return (f"{truth.quality(own.scores()[0]).accuracy:.4f}",)


def careful_chance(truth: Truth) -> Array:
    """How probable it is that a careful person calls each item positive [n]."""
    scores = truth.scores
    if scores.histogram is None or scores.histogram_values is None:
        return scores.probability_positive()
    above = np.where(scores.histogram_values == scores.threshold, 0.5, scores.histogram_values > scores.threshold)
    return np.asarray(scores.histogram @ above / scores.histogram.sum(axis=1))


def best_judged(heard: Sequence[tuple[str, bool]], chance: Array, truth: Truth) -> Array:
    """The probability of each manner [3] of a person with these answers: Bayes' rule with the true probabilities."""
    p = np.clip(chance[truth.pool.rows([item for item, _ in heard])], SURE, 1 - SURE)
    meant = np.where([positive for _, positive in heard], p, 1 - p)
    each = np.array([np.log(meant).sum(), len(heard) * np.log(0.5), np.log(1 - meant).sum()])
    told = np.log(together.PRIOR) + each
    return np.asarray(np.exp(told - np.logaddexp.reduce(told)))


def _config(pool: str, line: str, answers: int, data: Path) -> Config:
    path = pool_path(pool, data) or pool
    return Config(pool=path, question="label", answers=answers, team=line, options=(("check_share", CHECK_SHARE),))


def bound_cases(seeds: range, pools: Sequence[str]) -> list[tuple[str, str, str, str, str, int]]:
    """All teams with each way to judge people, as usual asked."""
    learners = [("alone", "96, 3, 1"), ("trusting", "96, 3, 1"), ("people", "96, 3, 1")]
    learners += [("best", prior) for prior in ("96, 3, 1", "85, 10, 5")] + [("told", "96, 3, 1")]
    found = [(pool, team, *one, "as usual", seed) for seed, pool, team, one in product(seeds, pools, FIVE, learners)]
    return [case for case in found if not (case[1] == "all good" and case[2] in ("trusting", "told"))]


def cases(asked: str, prior: str, seeds: range, pools: Sequence[str]) -> list[tuple[str, str, str, str, str, int]]:
    """All teams, with the questions ``asked`` and, as usual, what they are compared with."""
    usual = [(learner, "85, 10, 5", "as usual") for learner in ("alone", "trusting", "told")]
    each = [*usual, ("people", prior, asked)]
    found = [(pool, team, *one, seed) for seed, pool, team, one in product(seeds, pools, FIVE, each)]
    return [case for case in found if not (case[1] == "all good" and case[2] in ("trusting", "told"))]


def agreement(pool: str, line: str, data: Path, seeds: range, top: int = 5, times: int = 20) -> list[float]:
    """How often a careful person agrees with the 2 x ``top`` surest predictions, after 12 and 33 answers of each person."""
    people, found = len(team_of(line)), defaultdict(list)
    for seed in seeds:
        config = _config(pool, line, 33 * people, data)
        truth = load_truth(config.pool, config.matrix)
        own, _ = make_learner(config, truth, seed)
        own.by_person = own.judges = False
        careful, rng = make_annotators(config, truth)[0], np.random.default_rng(seed)
        with patch.object(experiment, "question_bits", lambda *_: 0.0):
            for number, _ in enumerate(conversation(config, own, truth, seed), start=1):
                if number in (12 * people, 33 * people):
                    found[number].append(_agreeing(own, careful, truth, rng, top, times))
    return [float(np.mean(each)) for each in found.values()]


def _agreeing(
    own: Learner, careful: annotators.Annotator, truth: Truth, rng: np.random.Generator, top: int, times: int
) -> float:
    mean, variance = own.scores()
    order = np.argsort(mean / np.sqrt(1 / own.w**2 + variance))
    same = []
    for row, positive in [*((row, False) for row in order[:top]), *((row, True) for row in order[-top:])]:
        question, now = Question("label", [truth.pool.ids[row]]), annotators.Moment(rng)
        answers = [careful.respondent.respond(question, np.array([row]), now=now) for _ in range(times)]
        same.append(np.mean([answer.positive == positive for answer in answers]))  # type: ignore[union-attr]
    return float(np.mean(same))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, help="default: docs/people/apart.csv, or bound.csv")
    parser.add_argument("--pool", action="append", help="only these pools")
    parser.add_argument("--asked", action="append", choices=tuple(ASKED))
    parser.add_argument("--prior", choices=tuple(PRIORS), default="85, 10, 5")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--agreement", action="store_true")
    parser.add_argument("--bound", action="store_true")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    if args.agreement:
        for pool, line in product(args.pool or dict.fromkeys((*POOLS, *UNSEEN)), ("3*good", "3*good,2*random")):
            print(pool, line, *(f"{each:.2f}" for each in agreement(pool, line, args.data, seeds)), flush=True)
        return
    wanted = [case for asked in args.asked or ASKED for case in cases(asked, args.prior, seeds, args.pool or POOLS)]
    if args.bound:
        wanted = bound_cases(seeds, args.pool or UNSEEN[:4])
    here = [case for case in dict.fromkeys(wanted) if pool_path(case[0], args.data)]
    rows = args.rows or Path("docs/people") / ("bound.csv" if args.bound else "apart.csv")
    kept_rows(rows, FIELDS, here, partial(accuracy, data=args.data))


if __name__ == "__main__":
    main()
