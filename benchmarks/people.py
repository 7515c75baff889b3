"""What careless people cost a team: accuracy compared with the careful people alone, after the same number of careful answers.

    python benchmarks/people.py --data DIR [--part teams] [--seeds 3] [--rows docs/people/runs.csv] [--out results]

Parts: ``teams`` of five on pools that nothing was tuned on, ``tuned``: on the other pools, ``twenty`` people, ``parts`` of the
method switched off one at a time, ``habits`` of single people. ROWS gets a line for every run, and runs already there are not
repeated; OUT gets people.csv, the means with their standard errors. `people_tables.py` writes the tables of
docs/people/results.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from kept import kept_rows, pool_path, write_rows

from tellmore import rereading
from tellmore.core import habits, together
from tellmore.core.mixture import Mixture
from tellmore.rereading import Reader, Sites, Told
from tellmore.sim import experiment
from tellmore.sim.config import Config
from tellmore.sim.experiment import conversation, make_learner
from tellmore.sim.people import team_of
from tellmore.sim.truth import load_truth

TUNED = ("words_vader_w2v300.npz,2500", "digits<5,unit")
UNSEEN = (
    "words_socialsent2000_w2v300.npz,2500",
    "words_warriner_valence_w2v300.npz,2500",
    "images_oasis_valence_efflite2.npz",
    "images_utkface2000_facenet512.npz",
    "breast-cancer",
    "wine=1",
    "digits=8",
)
ANSWERS = {"label": 100, "select": 60, "rank": 40, "tick": 20}
"""Careful answers, by kind."""
CHECK_SHARE = 0.1
"""As in projects."""
FIVE = {
    "one random": ("4*good", "4*good,random"),
    "two random": ("3*good", "3*good,2*random"),
    "one reversed": ("4*good", "4*good,reversed"),
    "all good": ("5*good", "5*good"),
}
"""The careful people alone, and the whole team."""
TWENTY = {
    "four random": ("16*good", "16*good,4*random"),
    "two reversed": ("18*good", "18*good,2*reversed"),
}
HABITS = {
    "one takes the first": ("5*good", "4*good,first=0.5"),
    "one tires": ("5*good", "4*good,tiring=3"),
    "one blunt": ("5*good", "4*good,noise=1.5"),
    "one judges by contrast": ("5*good", "4*good,contrast=0.5"),
}
"""All five count as careful here: their answers are worth something."""
FIELDS = ["pool", "kind", "team", "learner", "seed", "accuracy"]


def forward_only(
    self: Reader, now: Mixture, _team: habits.Team, answers: Sequence[Told], sites: Sequence[Sites]
) -> tuple[Mixture, habits.Team, Sequence[Sites]]:
    """Estimate habits as usual, but learn nothing again."""
    return now, self._team(self._judged(answers), now, answers, sites), sites


def _without(module: Any, name: str, which: slice) -> Any:
    """A prior in which some cases are all but impossible."""
    prior = getattr(module, name).copy()
    prior[which] = 1e-12
    return patch.object(module, name, prior)


SWITCHED: dict[str, Callable[[], Any]] = {
    "compared with the belief": lambda: patch.object(
        rereading, "team_of", lambda found, lapse, _manners=None: habits.team_of(found, lapse)
    ),
    "one sharpness": lambda: patch.object(together, "SHARPNESS", (1.0,)),
    "one reading": lambda: patch.object(together, "READINGS", 1),
    "nobody reversed": lambda: _without(together, "PRIOR", slice(together.REVERSED, None)),
    "nothing learnt again": lambda: patch.object(Reader, "read", forward_only),
    "nobody apart": lambda: patch.object(Reader, "_fair", lambda _reader, team, *_: team),
    "nobody takes the first": lambda: _without(habits, "_ODDS", slice(len(habits.LAPSES), -1)),
}


@contextmanager
def learning(learner: str) -> Iterator[None]:
    """A block in which one part of the method is switched off."""
    if learner in SWITCHED:
        with SWITCHED[learner]():
            yield
    else:
        yield


def accuracy(pool: str, kind: str, team: str, learner: str, seed: int, *, data: Path) -> tuple[str]:
    """The accuracy at the end of a trial; ``trusting`` learns from everyone alike, ``alone`` has only the careful people."""
    alone, whole = next(each[team] for each in (FIVE, TWENTY, HABITS) if team in each)
    careful, line = len(team_of(alone)), alone if learner == "alone" else whole
    answers = round(ANSWERS[kind] * len(team_of(line)) / careful) * (4 if team in TWENTY else 1)
    return (f"{final_accuracy(pool_path(pool, data) or pool, kind, line, answers, learner, seed):.4f}",)


@cache
def final_accuracy(pool: str, kind: str, line: str, answers: int, learner: str, seed: int) -> float:
    """The accuracy for a team given as a line; cached, because several teams have the same careful people."""
    config = Config(pool=pool, question=kind, answers=answers, team=line, options=(("check_share", CHECK_SHARE),))
    truth = load_truth(config.pool, config.matrix)
    own, _ = make_learner(config, truth, seed)
    own.by_person = own.judges = learner not in ("alone", "trusting")  # nobody need be named
    own.own_sharpness = learner == "own sharpness"
    with learning(learner), patch.object(experiment, "question_bits", lambda *_: 0.0):
        for _ in conversation(config, own, truth, seed):
            pass
    return truth.quality(own.scores()[0]).accuracy


def cases(part: str, seeds: range) -> list[tuple[str, str, str, str, int]]:
    """The cases of each part, with all settings of a seed before the next seed."""
    everyone = ("alone", "trusting", "people")
    plans = {
        "teams": (UNSEEN, ANSWERS, FIVE, everyone),
        "tuned": (TUNED, ANSWERS, FIVE, everyone),
        "twenty": (UNSEEN, ("label", "rank"), TWENTY, everyone),
        "parts": (UNSEEN, ("label", "rank"), ("two random", "one reversed"), (*everyone, *list(SWITCHED)[:-1])),
        "habits": (UNSEEN[:2], ("select", "rank"), HABITS, (*everyone, "nobody takes the first", "own sharpness")),
    }
    pools, kinds, teams, learners = plans[part]
    found = [
        (pool, kind, team, learner, seed)
        for seed, pool, kind, team, learner in product(seeds, pools, kinds, teams, learners)
    ]
    # If all are good, the careful people alone are the whole team.
    return [case for case in found if not (case[2] == "all good" and case[3] == "trusting")]


def summary(rows: list[dict[str, str]]) -> Iterator[dict[str, object]]:
    """Points of accuracy lost or gained compared with the careful people alone: mean over seeds, standard error, and number."""
    of = {tuple(row[name] for name in FIELDS[:-1]): float(row["accuracy"]) for row in rows}
    settings = dict.fromkeys(key[:4] for key in of if key[3] != "alone")
    for pool, kind, team, learner in settings:
        pairs = [
            (value, of[*key[:3], "alone", key[4]])
            for key, value in of.items()
            if key[:4] == (pool, kind, team, learner) and (*key[:3], "alone", key[4]) in of
        ]
        if not pairs:
            continue
        lost = 100 * np.array([one - alone for one, alone in pairs])
        yield {
            "pool": pool,
            "kind": kind,
            "team": team,
            "learner": learner,
            "seeds": len(pairs),
            "alone": f"{100 * np.mean([alone for _, alone in pairs]):.1f}",
            "points": f"{lost.mean():+.1f}",
            "se": f"{lost.std(ddof=1) / np.sqrt(len(lost)):.1f}" if len(lost) > 1 else "",
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--part", action="append", choices=("teams", "tuned", "twenty", "parts", "habits"))
    parser.add_argument("--rows", type=Path, default=Path("docs/people/runs.csv"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--pool", action="append", help="only these pools of the part")
    parser.add_argument("--kind", action="append", help="only these kinds of the part")
    parser.add_argument("--team", action="append", help="only these teams of the part")
    parser.add_argument("--learner", action="append", help="only these learners of the part")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=500, help="the first seed")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    wanted = [case for part in args.part or ("teams", "twenty", "parts", "habits") for case in cases(part, seeds)]
    only = (args.pool, args.kind, args.team, args.learner)
    chosen = [case for case in wanted if all(not some or one in some for one, some in zip(case, only, strict=False))]
    here = [case for case in dict.fromkeys(chosen) if pool_path(case[0], args.data)]
    rows = kept_rows(args.rows, FIELDS, here, partial(accuracy, data=args.data))
    args.out.mkdir(parents=True, exist_ok=True)
    write_rows(args.out / "people.csv", list(summary(rows)))


if __name__ == "__main__":
    main()
