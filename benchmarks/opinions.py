"""What personal classifiers are worth: accuracy for what each person means, and how often two camps are found.

    python benchmarks/opinions.py --data DIR [--seeds 4] [--rows results/opinions.csv] [--out docs/calibration]

Teams of five people who all mean the same, or two of whom have other views (see `tellmore.sim.people`). ROWS gets a line for
every run, and runs already there are not repeated; OUT gets opinions.csv, a line for every team and kind of question.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore.core.gaussian import Gaussian
from tellmore.learner import Learner
from tellmore.opinions import Opinions, learn
from tellmore.sim import annotators as people
from tellmore.sim.config import Config
from tellmore.sim.experiment import make_annotators, make_learner, other_mind
from tellmore.sim.people import Person, team_of
from tellmore.sim.truth import Truth, load_truth
from tellmore.types import Array

TUNED = ("words_vader_w2v300.npz,2500", "digits<5")
NOT_TUNED = (
    "words_socialsent2000_w2v300.npz,2500",
    "words_warriner_valence_w2v300.npz,2500",
    "images_utkface2000_facenet512.npz",
    "wine=1",
    "breast-cancer",
    "gaussian=5",
    "gaussian=20",
    "words_vader_w2v300.npz,15%",
    "digits=8",
    "words,2500",
)
POOLS = (*TUNED, *NOT_TUNED)
TEAMS = ("5*good", "3*good, 2*camp=0.3", "3*good, 2*camp=0")
ANSWERS = {"label": 300, "rank": 100}
RIGHT = (("0", "1", "2"), ("3", "4"))
FIELDS = ["pool", "team", "kind", "seed", "own", "camps", "shared", "alone", "personal"]


def run(pool: str, team: str, kind: str, seed: int, *, data: Path) -> tuple[object, ...]:
    """One run with people who answer in turn: the mean accuracy for what each person means, with the shared classifier, with one
    learnt from the person's answers alone, and with the personal one."""
    config = Config(pool=pool_path(pool, data) or pool, question=kind, team=team)
    truth = load_truth(config.pool, config.matrix)
    learner, _ = make_learner(config, truth, seed)
    names = taught(learner, config, truth, ANSWERS[kind], seed)
    found = Opinions(learner, learner.history, names)
    camps = "none" if found.camps is None else "right" if is_right(found) else "wrong"
    accuracies = []
    for name, person in zip("01234", team_of(team), strict=True):
        own = [told for told, who in zip(learner.history, names, strict=True) if who == name]
        alone = learner.begun.moments
        for question, answer in own:
            alone, _ = learn(learner, alone, question, answer)
        means = (learner.beliefs.moments, alone, found.belief(name).moments)
        accuracies.append([accuracy(learner, belief, meant(truth, person)) for belief in means])
    return found.own, camps, *(f"{one:.4f}" for one in np.mean(accuracies, axis=0))


def taught(learner: Learner, config: Config, truth: Truth, answers: int, seed: int) -> list[str]:
    """Teach the learner this many answers, given in turn, and return who gave each."""
    team = make_annotators(config, truth)
    chances = [np.random.default_rng([seed, who]) for who in range(len(team))]
    clock, names = np.random.default_rng(seed), []
    for number in range(answers):
        who, question = number % len(team), learner.ask()
        now = people.Moment(chances[who], number // len(team))
        learner.tell(question, team[who].reply(question, truth.pool.rows(question.items), now=now, clock=clock)[0])
        names.append(str(who))
    return names


def is_right(found: Opinions) -> bool:
    return found.camps is not None and {found.camps.first, found.camps.second} == set(RIGHT)


def meant(truth: Truth, person: Person) -> Array:
    """Which items [n] a person means."""
    above = np.asarray(truth.scores.mean, dtype=float) - truth.scores.threshold
    return np.asarray(person.camp * above + np.sqrt(1 - person.camp**2) * other_mind(truth) > 0)


def accuracy(learner: Learner, belief: Gaussian, positive: Array) -> float:
    return float(np.mean((belief.scores(learner.coordinates.into(learner.pool.X))[0] > 0) == positive))


def summary(rows: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    """Mean accuracies in percent over pools and seeds, the gain over the shared classifier with its standard error over pools,
    and how often two camps were reported."""
    for (title, pools), team, kind in product((("tuned on", TUNED), ("others", NOT_TUNED)), TEAMS, ANSWERS):
        own = [row for row in rows if row["pool"] in pools and row["team"] == team and row["kind"] == kind]
        if not own:
            continue
        shared, alone, personal = (
            100 * np.array([float(row[field]) for row in own]) for field in ("shared", "alone", "personal")
        )
        gains = [
            (personal - shared)[[row["pool"] == pool for row in own]].mean()
            for pool in pools
            if any(row["pool"] == pool for row in own)
        ]
        line: dict[str, object] = {"pools": title, "team": team, "kind": kind, "runs": len(own)}
        line |= {"shared": f"{shared.mean():.1f}", "alone": f"{alone.mean():.1f}", "personal": f"{personal.mean():.1f}"}
        line |= {"gain": f"{np.mean(gains):+.1f}", "gain, se": f"{np.std(gains, ddof=1) / np.sqrt(len(gains)):.1f}"}
        line |= {"worst pool": f"{min(gains):+.1f}"}
        line |= {f"camps {each}": sum(row["camps"] == each for row in own) for each in ("right", "wrong", "none")}
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/opinions.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/calibration"))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=8000, help="the first seed")
    args = parser.parse_args()
    pools = [pool for pool in POOLS if pool_path(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    cases = [(pool, team, kind, seed) for seed, pool, team, kind in product(seeds, pools, TEAMS, ANSWERS)]
    rows = kept_rows(args.rows, FIELDS, cases, partial(run, data=args.data))
    args.out.mkdir(parents=True, exist_ok=True)
    write_rows(args.out / "opinions.csv", list(summary(rows)))


if __name__ == "__main__":
    main()
