"""The tables of docs/people/results.md, from the runs of `people.py`, `camps.py`, `telling_apart.py` and `tiring_auto.py`.

    python benchmarks/people_tables.py [--page docs/people/results.md]

Each table is written between <!-- name --> and <!-- end name -->. A test compares the page with the runs.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

POOLS = {
    "words_socialsent2000_w2v300.npz,2500": "SocialSent",
    "words_warriner_valence_w2v300.npz,2500": "Warriner",
    "images_oasis_valence_efflite2.npz": "OASIS",
    "images_utkface2000_facenet512.npz": "UTKFace",
    "breast-cancer": "breast cancer",
    "wine=1": "wine = 1",
    "digits=8": "digits = 8",
    "gaussian=20": "Gaussian, 20 columns",
}
FIVE = ("one random", "two random", "one reversed", "all good")
TWENTY = ("four random", "two reversed")
HABITS = ("one takes the first", "one tires", "one blunt", "one judges by contrast")
PARTS = {
    "trusting": "trusting",
    "people": "by person",
    "compared with the belief": "… each person compared with the belief from the others, not all judged together",
    "one sharpness": "… answers expected to be as sharp as a single person's",
    "one reading": "… only the most probable reading continued",
    "nobody reversed": "… nobody expected to be reversed",
    "nothing learnt again": "… earlier answers not learnt again",
    "nobody apart": "… nobody said to mean something else",
}
APART = {"words_warriner_valence_w2v300.npz,2500": "Warriner", "words_vader_w2v300.npz,2500": "VADER", **POOLS}
"""Shares of questions were chosen on the first two."""
COUNTED = {"trusting": "all alike", "told": "by person, who guesses is told"}
BEST = "by person, judged with the true probabilities, {prior}"
TIRING = {
    "good": "steady",
    "slowing=1": "twice as slow after 100 answers, …",
    "several=1": "the same, only with several items",
    "several=3": "four times as slow after 100 answers, …, only with several items",
    "tiring=0.5": "half of the answers random after 100, all after 200",
}
FRESH = 9950
"""The first seed of the last runs with labels; the priors were compared before."""
NAMED = {"apart": "means something else", "careless": "guesses", "reversed": "reversed"}
Row = dict[str, str]
Runs = dict[tuple[str, str, str, str], dict[int, float]]
"""Accuracies in % by pool, kind, team and learner, and then by seed."""


def runs_of(rows: Iterable[Row]) -> Runs:
    found: Runs = {}
    for row in rows:
        key = (row["pool"], row["kind"], row["team"], row["learner"])
        found.setdefault(key, {})[int(row["seed"])] = 100 * float(row["accuracy"])
    return found


def before(runs: Runs, seed: int) -> Runs:
    """The runs with earlier seeds."""
    return {key: {own: value for own, value in each.items() if own < seed} for key, each in runs.items()}


def differences(one: dict[int, float], other: dict[int, float]) -> list[float]:
    """Points by which ``one`` is better, for each seed that both have."""
    return [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]


def shown(points: Sequence[float]) -> str:
    """The mean, with its standard error if there are several."""
    if not points:
        return ""
    mean = f"{np.mean(points) + 0.0:+.1f}".replace("-", "−")
    return mean if len(points) == 1 else f"{mean} ± {np.std(points, ddof=1) / len(points) ** 0.5:.1f}"


def teams(runs: Runs, kind: str, names: Sequence[str]) -> list[str]:
    """Points compared with the careful people alone, for every pool and team."""
    lines = [
        "| pool | team | seeds | careful alone, % | trusting | by person | by person − trusting |",
        "|---|---|---|---|---|---|---|",
    ]
    means: dict[str, list[list[float]]] = {}
    for pool, pool_name in POOLS.items():
        for team in names:
            own, alone = (runs.get((pool, kind, team, learner), {}) for learner in ("people", "alone"))
            trusting = alone if team == "all good" else runs.get((pool, kind, team, "trusting"), {})
            seeds = own.keys() & alone.keys() & trusting.keys()
            if not seeds:
                continue
            columns = [differences(trusting, alone), differences(own, alone), differences(own, trusting)]
            means.setdefault(team, []).append([float(np.mean(each)) for each in columns])
            points = ["0" if team == "all good" else shown(columns[0]), *map(shown, columns[1:])]
            careful = np.mean([alone[seed] for seed in seeds])
            lines.append(f"| {pool_name} | {team} | {len(seeds)} | {careful:.1f} | {' | '.join(points)} |")
    for team, each in means.items():
        if len(each) == 1:
            continue
        trusted, by_person, gained = (shown(column) for column in zip(*each, strict=True))
        trusted = "0" if team == "all good" else trusted
        lines.append(f"| **mean of {len(each)} pools** | {team} | | | {trusted} | {by_person} | **{gained}** |")
    return lines


def parts(runs: Runs) -> list[str]:
    """Points compared with the careful people alone, for every part that is switched off: means over pools, ± over pools."""
    names = ("two random", "one reversed")
    lines = ["| | pools, seeds | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    seeds = [runs[key].keys() for key in runs if key[1] == "label" and key[3] == "one sharpness"]
    size = f"{len(seeds) // len(names)}, {min(map(len, seeds))}"
    for learner, words in PARTS.items():
        cells = []
        for team in names:
            means = []
            for pool in POOLS:
                same = runs.get((pool, "label", team, "one sharpness"), {})
                own = {seed: one for seed, one in runs.get((pool, "label", team, learner), {}).items() if seed in same}
                points = differences(own, runs.get((pool, "label", team, "alone"), {}))
                means += [float(np.mean(points))] if points else []
            cells.append(shown(means))
        lines.append(f"| {words} | {size} | {' | '.join(cells)} |")
    return lines


def priors(rows: Sequence[Row], last: Runs) -> list[str]:
    """Points by person over trusting, as means over pools, for each prior that was run on these pools, in this order."""
    lines = [f"| prior: meant, guessed, reversed, % | seeds | {' | '.join(FIVE)} |", "|---" * (len(FIVE) + 2) + "|"]
    lots = {
        name: runs_of(row for row in rows if row["prior"] == name)
        for name in dict.fromkeys(row["prior"] for row in rows)
    }
    for name, runs in [*lots.items(), ("96, 3, 1, again", last)]:
        seeds = sorted({seed for key, each in runs.items() if key[1] == "label" and key[2] in FIVE for seed in each})
        cells = [_gained(runs, team) for team in FIVE]
        lines.append(f"| {name} | {seeds[0]} to {seeds[-1]} | {' | '.join(cells)} |")
    return lines


def _gained(runs: Runs, team: str) -> str:
    usual = "alone" if team == "all good" else "trusting"
    each = [
        differences(runs.get((pool, "label", team, "people"), {}), runs.get((pool, "label", team, usual), {}))
        for pool in POOLS
    ]
    return shown([float(np.mean(points)) for points in each if points])


def camps(rows: Sequence[Row]) -> list[str]:
    """Accuracy of the shared classifier for both camps, and who is named."""
    lines = [
        "| pool | kind | seeds | trusting: the three / the two | by person | named by person, of those who differ |",
        "|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for pool, name in POOLS.items():
            own = [row for row in rows if (row["pool"], row["kind"]) == (pool, kind)]
            of = {who: [row for row in own if row["learner"] == who] for who in ("trusting", "people")}
            if of["people"]:
                cells = [" / ".join(_accuracy(of[who], camp) for camp in ("three", "two")) for who in of]
                seeds = len(of["people"])
                lines.append(f"| {name} | {kind} | {seeds} | {' | '.join(cells)} | {_named(of['people'])} |")
    return lines


def apart(rows: Sequence[Row]) -> list[str]:
    """Points compared with the careful people alone, for every way to judge people and share of questions that tell them
    apart."""
    lines = [
        f"| pool | answers count | questions on sure items | seeds | {' | '.join(FIVE)} |",
        "|---" * (4 + len(FIVE)) + "|",
    ]
    runs: dict[tuple[str, ...], dict[int, float]] = {}
    for row in rows:
        key = (row["pool"], row["learner"], row["prior"], row["asked"], row["team"])
        runs.setdefault(key, {})[int(row["seed"])] = 100 * float(row["accuracy"])
    ways = dict.fromkeys(key[:4] for key in runs if key[1] != "alone")
    (prior_of_alone,) = {key[2] for key in runs if key[1] == "alone"}
    for pool, learner, prior, asked in sorted(ways, key=lambda way: (list(APART).index(way[0]), *map(_order, way[1:]))):
        own = [runs.get((pool, learner, prior, asked, team), {}) for team in FIVE]
        alone = [runs[pool, "alone", prior_of_alone, "as usual", team] for team in FIVE]
        cells = [shown(differences(*pair)) for pair in zip(own, alone, strict=True)]
        counted = COUNTED.get(learner, (BEST if learner == "best" else "by person, {prior}").format(prior=prior))
        questions = "none" if asked == "as usual" else asked.replace(" x ", " × ")
        seeds = max(len(each) for each in own)
        lines.append(f"| {APART[pool]} | {counted} | {questions} | {seeds} | {' | '.join(cells)} |")
    return lines


def _order(word: str) -> tuple[int, str]:
    """The rows begin with who counts everybody alike, and who knows."""
    first = (
        "trusting",
        "told",
        "best",
        "people",
        "96, 3, 1",
        "90, 7, 3",
        "85, 10, 5",
        "as usual",
        "5 %",
        "10 %",
        "15 %",
    )
    return (first.index(word) if word in first else len(first), word)


def auto(rows: Sequence[Row]) -> list[str]:
    """Points that `auto` gains by weighing kinds by this person now, compared with the same seed without."""
    marks = [name for name in rows[0] if name.startswith("after ")]
    lines = [
        f"| person | pools | runs | noticed | {' | '.join(f'{mark}, %: not weighed | gained' for mark in marks)} |",
        "|---" * (4 + 2 * len(marks)) + "|",
    ]
    for habit, words in TIRING.items():
        of = {
            weighed: {
                (row["pool"], row["seed"]): row for row in rows if (row["habit"], row["weighed"]) == (habit, weighed)
            }
            for weighed in ("no", "yes")
        }
        both = sorted(of["no"].keys() & of["yes"].keys())
        pools = sorted({pool for pool, _ in both})
        noticed = sum(bool(of["no"][key]["noticed"]) for key in both)
        cells = []
        for mark in marks:
            gained = [100 * (float(of["yes"][key][mark]) - float(of["no"][key][mark])) for key in both]
            without = np.mean([100 * float(of["no"][key][mark]) for key in both])
            cells += [f"{without:.1f}", shown(gained)]
        lines.append(f"| {words} | {len(pools)} | {len(both)} | {noticed} | {' | '.join(cells)} |")
    return lines


def _accuracy(rows: Sequence[Row], camp: str) -> str:
    values = [100 * float(row[camp]) for row in rows]
    error = f" ± {np.std(values, ddof=1) / len(values) ** 0.5:.0f}" if len(values) > 1 else ""
    return f"{np.mean(values):.0f}{error}"


def _named(rows: Sequence[Row]) -> str:
    counts: dict[str, int] = {}
    for row in rows:
        for part in filter(None, row["named"].split(", ")):
            count, verdict = part.split(" ")
            counts[verdict] = counts.get(verdict, 0) + int(count)
    right = [f"{counts[one]} {words}" for one, words in NAMED.items() if one in counts]
    wrong = [f"{counts[one + '!']} {words}" for one, words in NAMED.items() if one + "!" in counts]
    found = ", ".join(right) or "nobody"
    return f"{found} (of {2 * len(rows)})" + (f"; of the three: {', '.join(wrong)}" if wrong else "")


def tables(
    runs: Runs,
    camp_rows: Sequence[Row],
    prior_rows: Sequence[Row],
    apart_rows: Sequence[Row],
    bound_rows: Sequence[Row],
    auto_rows: Sequence[Row],
) -> dict[str, Callable[[], list[str]]]:
    """What makes each table, by its name on the page."""
    return {
        **{kind: lambda kind=kind: teams(runs, kind, FIVE) for kind in ("label", "select", "rank", "tick")},
        "twenty": lambda: teams(runs, "label", TWENTY),
        "habits": lambda: teams(runs, "select", HABITS),
        "parts": lambda: parts(runs),
        "priors": lambda: priors(prior_rows, before(runs, FRESH)),
        "camps": lambda: camps(camp_rows),
        "apart": lambda: apart(apart_rows),
        "bound": lambda: apart(bound_rows),
        "auto": lambda: auto(auto_rows),
    }


def filled(page: str, rows: Path) -> str:
    """The page with all its tables written from the runs in this folder."""
    run_rows, *others = (
        list(csv.DictReader((rows / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
        for name in ("runs", "camps", "priors", "apart", "bound", "auto")
    )
    runs = runs_of(run_rows)
    for name, lines in tables(runs, *others).items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)"
        if re.search(pattern, page, flags=re.DOTALL):
            text = "\n".join(["", *lines(), "", ""])
            page = re.sub(pattern, lambda found, text=text: found[1] + text + found[2], page, flags=re.DOTALL)
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=Path("docs/people/results.md"))
    args = parser.parse_args()
    page = args.page.read_text(encoding="utf-8")
    args.page.write_text(filled(page, args.page.parent), encoding="utf-8")


if __name__ == "__main__":
    main()
