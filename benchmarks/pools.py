"""The learner on many pools beside logistic regression: the same people, seeds and seconds.

    python benchmarks/pools.py [--data DIR] [--seeds 10] [--rows results/pools.csv] [--out docs/pools]

Words and pictures with human scores come from DIR (pools that are not there are left out), the other pools from scikit-learn and
from NumPy's generator. ROWS gets a line for every run and mark, and what is there already is not computed again. OUT gets the
means (summary.csv), all comparisons (tables.md) and a picture.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression

import tellmore as tm
from tellmore import kinds
from tellmore.core.coordinates import Coordinates, Moments
from tellmore.data.bundled import load_pool
from tellmore.policy.cost import PAPER_COST
from tellmore.sim.annotators import GaussianScores, Moment, ScoreRespondent

ANSWERS = (10, 20, 40, 80)
SECONDS = (30, 60, 120, 300, 600, 1800)
LABEL_SECONDS = PAPER_COST.seconds("label", 1)
OWN = {"label": None, "select": 4, "rank": 4, "tick": 12}
STRENGTHS = (1, 10, 100, 1000)  # C of logistic regression, in the learner's coordinates
MOST_ITEMS = 2500
WORDS = {
    "VADER": "words_vader_w2v300",
    "SocialSent": "words_socialsent2000_w2v300",
    "Warriner": "words_warriner_valence_w2v300",
    "OASIS": "images_oasis_valence_efflite2",
    "UTKFace": "images_utkface2000_facenet512",
}
THINNED = {"VADER, 15 %": 0.15, "VADER, 5 %": 0.05, "VADER, 2 %": 0.02}
DIGITS = [f"digits {what} {how}" for what in ("3", "8", "< 5") for how in ("raw", "unit", "standardised")]
TABLES = ["breast cancer raw", "breast cancer standardised", "wine 1 raw", "wine 1 standardised"]
GAUSSIANS = [f"Gaussian {d}" for d in (5, 20, 300)]
MEASURES = ("accuracy", "f1", "log_loss")
HEAD = """# Every comparison

Means over the seeds; in brackets the difference to the better of two peers, logistic regression on labels of random items and of
the items that it is least sure of, with the strength of its prior that does best in that very cell, and the standard error of the
difference. **Bold**: worse by more than that. The peers have as many labels, or as many seconds at 4.37 s a label.
[What it means](../pools.md)

"""
POOLS = [*WORDS, *THINNED, *DIGITS, *TABLES, *GAUSSIANS]


@dataclass(frozen=True)
class Task:
    """Items X [n, d] with the mean and spread [n] of what people think of them, positive above 0; ``counted``: not neutral."""

    X: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    counted: np.ndarray


@lru_cache(maxsize=4)
def task(name: str, data: str) -> Task:
    """The pool of this name."""
    if name in WORDS or name in THINNED:
        return scored(Path(data) / f"{WORDS[name.split(',')[0]]}.npz", THINNED.get(name))
    what, _, how = name.rpartition(" ")
    if what.startswith("digits"):
        X, digit = datasets.load_digits(return_X_y=True)
        return certain(prepared(X, how), digit < 5 if "<" in what else digit == int(what[-1]))
    if what == "breast cancer":
        X, kind = datasets.load_breast_cancer(return_X_y=True)
        return certain(prepared(X, how), kind == 0)
    if what == "wine 1":
        X, cultivar = datasets.load_wine(return_X_y=True)
        return certain(prepared(X, how), cultivar == 1)
    return gaussian(int(how))


def scored(path: Path, share: float | None) -> Task:
    """A pool with human scores; ``share``: so few of its non-neutral items are positive."""
    pool = load_pool(str(path))
    assert pool.scores is not None
    rng, scores = np.random.default_rng(0), pool.scores
    positive, rows = scores.labels(), np.arange(len(pool))
    if share is not None:
        rows = rows[scores.non_neutral()]
        few = round(share / (1 - share) * np.sum(~positive[rows]))
        rows = np.concatenate([rng.permutation(rows[positive[rows]])[:few], rows[~positive[rows]]])
    rows = np.sort(rng.permutation(rows)[:MOST_ITEMS])
    X = np.asarray(pool.X, dtype=float)[rows]
    return Task(X, (scores.mean - scores.threshold)[rows], scores.spread()[rows], scores.non_neutral()[rows])


def certain(X: np.ndarray, positive: np.ndarray) -> Task:
    return Task(X, np.where(positive, 1.0, -1.0), np.zeros(len(X)), np.ones(len(X), dtype=bool))


def prepared(X: np.ndarray, how: str) -> np.ndarray:
    if how == "unit":
        return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)) if how == "standardised" else X


def gaussian(d: int) -> Task:
    """Half of the axes vary ten times as much as the others, and only the others matter."""
    rng = np.random.default_rng(d)
    scale = np.where(np.arange(d) < d // 2, 10.0, 1.0)
    X = rng.normal(size=(2000 if d > 100 else 1000, d)) * scale
    z = X @ np.where(scale > 1, 0.0, rng.normal(size=d))
    return Task(X, z / z.std(), np.zeros(len(X)), np.ones(len(X), dtype=bool))


# Runs: (seconds so far, probabilities of all items) after each answer


def own_run(found: Task, kind: str, seed: int, random: bool) -> Iterator[tuple[float, np.ndarray]]:
    """The learner, with every option as it comes."""
    learner = tm.Learner(tm.Pool(found.X), kind, OWN[kind], seed=seed, acquisition="random" if random else "greedy")
    people, rng = ScoreRespondent(GaussianScores(found.mean, found.spread), 0.0), np.random.default_rng([seed, 5])
    seconds = 0.0
    yield seconds, learner.probabilities()
    for number in range(10_000):
        question = learner.ask()
        answer = people.respond(question, learner.pool.rows(question.items), now=Moment(rng, number))
        learner.tell(question, answer)
        seconds += PAPER_COST.seconds(question.kind, question.size, marks=kinds.named(question.kind).marks(answer))
        yield seconds, learner.probabilities()


def regression_run(found: Task, C: float, seed: int, random: bool) -> Iterator[tuple[float, np.ndarray]]:
    """Labels of random items, or of the one nearest to probability 1/2, and logistic regression of strength C."""
    Z = Coordinates.of(Moments.of(found.X)).into(found.X)
    rng, order = np.random.default_rng([seed, 5]), np.random.default_rng([seed, 9]).permutation(len(Z)).tolist()
    p = np.full(len(Z), 0.5)
    rows: list[int] = []
    labels: list[bool] = []
    yield 0.0, p
    while order:
        row = order[0] if random or len(set(labels)) < 2 else min(order, key=lambda one: abs(p[one] - 0.5))
        order.remove(row)
        rows.append(row)
        labels.append(bool(found.mean[row] + found.spread[row] * rng.standard_normal() > 0))
        if len(set(labels)) > 1:
            p = LogisticRegression(C=C, max_iter=300).fit(Z[rows], labels).predict_proba(Z)[:, 1]
        else:
            p = np.full(len(Z), 0.9 if labels[0] else 0.1)
        yield LABEL_SECONDS * len(rows), p
    yield np.inf, p


def measured(found: Task, p: np.ndarray) -> dict[str, float]:
    p, true = np.clip(p[found.counted], 1e-6, 1 - 1e-6), found.mean[found.counted] > 0
    called = p > 0.5
    f1 = 2 * np.sum(called & true) / max(called.sum() + true.sum(), 1)
    loss = -np.mean(np.where(true, np.log(p), np.log(1 - p)))
    return {"accuracy": float(np.mean(called == true)), "f1": float(f1), "log_loss": float(loss)}


def run(name: str, method: str, seed: int, data: str) -> list[dict[str, object]]:
    """One run, at every mark. ``method``: a kind or "regression C", with " random" where items are."""
    found, random = task(name, data), method.endswith(" random")
    plain = method.removesuffix(" random")
    longest = LABEL_SECONDS * max(ANSWERS) if plain.startswith("regression") or plain == "label" else max(SECONDS) / 3
    steps = (
        regression_run(found, float(plain.split()[1]), seed, random)
        if plain.startswith("regression")
        else own_run(found, plain, seed, random)
    )
    rows: list[dict[str, object]] = []
    key = {"pool": name, "method": method, "seed": seed}
    marks, before = list(SECONDS), np.empty(0)
    for answers, (seconds, p) in enumerate(steps):
        while marks and seconds > marks[0]:
            rows.append({**key, "mark": f"{marks.pop(0)} s", **measured(found, before)})
        if answers in ANSWERS:
            rows.append({**key, "mark": str(answers), **measured(found, p)})
        if (answers >= max(ANSWERS) and seconds > longest) or not marks:
            break
        before = p
    return rows


def compute(args: argparse.Namespace) -> list[dict[str, str]]:
    """All rows: those of an earlier run, and the missing ones."""
    warnings.filterwarnings("ignore")
    path = args.rows
    known = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    done = {(row["pool"], row["method"], int(row["seed"])) for row in known}
    methods = [*OWN, "label random", *(f"regression {C}{how}" for C in STRENGTHS for how in ("", " random"))]
    there = [pool for pool in POOLS if _is_there(pool, args.data)]
    seeds = range(args.first, args.first + args.seeds)
    every = [(pool, method, seed) for seed in seeds for pool in there for method in methods]
    wanted = [each for each in every if each not in done]
    with path.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.processes) as workers:
        writer = csv.DictWriter(file, ["pool", "method", "seed", "mark", "accuracy", "f1", "log_loss"])
        if not known:
            writer.writeheader()
        futures = [workers.submit(run, *each, str(args.data)) for each in wanted]
        for number, future in enumerate(as_completed(futures), start=1):
            for row in future.result():
                writer.writerow({name: f"{v:.4f}" if isinstance(v, float) else v for name, v in row.items()})
            file.flush()
            if number % 50 == 0:
                print(f"{number} of {len(wanted)} runs", flush=True)
    return list(csv.DictReader(path.open(encoding="utf-8")))


def _is_there(pool: str, data: Path) -> bool:
    return pool not in {*WORDS, *THINNED} or (data / f"{WORDS[pool.split(',')[0]]}.npz").exists()


# Tables


def values(rows: list[dict[str, str]], pool: str, method: str, mark: str, measure: str) -> np.ndarray:
    return np.array(
        [float(row[measure]) for row in rows if (row["pool"], row["method"], row["mark"]) == (pool, method, mark)]
    )


def best_regression(rows: list[dict[str, str]], pool: str, how: str, mark: str, measure: str) -> np.ndarray:
    """The strength that does best on this pool and mark, in hindsight: nobody could choose better."""
    sign = -1 if measure == "log_loss" else 1
    found = [values(rows, pool, f"regression {C}{how}", mark, measure) for C in STRENGTHS]
    return max(found, key=lambda one: sign * one.mean() if one.size else -np.inf)


def cell(own: np.ndarray, peers: list[np.ndarray], measure: str) -> str:
    """The learner's mean, its difference to the better peer, and whether that is a miss: by more than its standard error."""
    sign = -1 if measure == "log_loss" else 1
    peer = max(peers, key=lambda one: sign * one.mean())
    gap = own.mean() - peer.mean()
    error = np.hypot(own.std(ddof=1) / np.sqrt(own.size), peer.std(ddof=1) / np.sqrt(peer.size))
    missed = sign * gap < -error
    text = f"{own.mean():.3f} ({gap:+.3f} ± {error:.3f})"
    return f"**{text}**" if missed else text


def tables(rows: list[dict[str, str]]) -> str:
    pools = [pool for pool in POOLS if any(row["pool"] == pool for row in rows)]
    parts = []
    for measure, what in (("accuracy", "Accuracy"), ("f1", "F1"), ("log_loss", "Log loss")):
        for title, methods, marks in (
            ("labels", ["label"], [str(n) for n in ANSWERS]),
            ("seconds", ["select", "rank", "tick"], [f"{s} s" for s in (60, 300)]),
        ):
            head = [f"{method} {mark}" for method in methods for mark in marks]
            lines = [
                f"### {what}, by {title}",
                "",
                "| pool | " + " | ".join(head) + " |",
                "|---" * (len(head) + 1) + "|",
            ]
            for pool in pools:
                cells = []
                for method in methods:
                    for mark in marks:
                        own = values(rows, pool, method, mark, measure)
                        peers = [best_regression(rows, pool, how, mark, measure) for how in ("", " random")]
                        enough = own.size > 1 and all(one.size > 1 for one in peers)
                        cells.append(cell(own, peers, measure) if enough else "–")
                lines.append(f"| {pool} | " + " | ".join(cells) + " |")
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def write_summary(rows: list[dict[str, str]], path: Path) -> None:
    """Mean and standard error over the seeds of every pool, method and mark."""
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["pool"], row["method"], row["mark"]), []).append(row)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["pool", "method", "mark", "seeds", *(f"{m}{part}" for m in MEASURES for part in ("", "_se"))])
        for key, group in sorted(groups.items()):
            found = [np.array([float(row[measure]) for row in group]) for measure in MEASURES]
            cells = [
                f"{number:.4f}" for one in found for number in (one.mean(), one.std() / np.sqrt(max(len(one) - 1, 1)))
            ]
            writer.writerow([*key, len(group), *cells])


def figure(rows: list[dict[str, str]], path: Path) -> None:
    """Accuracy and F1 of every pool after five minutes, of the learner and of the better regression."""
    from tellmore.plotting import new_figure

    pools = [pool for pool in POOLS if any(row["pool"] == pool for row in rows)]
    drawn, grid = new_figure(1, 2, width=4.2, height=0.27 * len(pools) + 1.2)
    places = np.arange(len(pools))[::-1]
    marks = {"label": "o", "select": "^", "rank": "s", "tick": "D"}
    for axes, measure in zip(np.ravel(grid), ("accuracy", "f1"), strict=True):
        for method, marker in marks.items():
            axes.plot(
                [values(rows, pool, method, "300 s", measure).mean() for pool in pools],
                places,
                marker,
                label=method,
                ms=4,
            )
        for how, colour, name in (
            ("", "black", "regression, uncertain items"),
            (" random", "grey", "regression, random items"),
        ):
            best = [best_regression(rows, pool, how, "300 s", measure).mean() for pool in pools]
            axes.plot(best, places, "|", color=colour, ms=11, mew=2, label=name)
        axes.set_yticks(places, pools if measure == "accuracy" else [])
        axes.set_title("Accuracy after 300 s" if measure == "accuracy" else "F1 after 300 s")
        axes.grid(axis="y", alpha=0.3)
    handles, names = np.ravel(grid)[0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    drawn.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=Path, default=Path("results/pools.csv"))
    parser.add_argument("--out", type=Path, default=Path("docs/pools"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.rows.parent.mkdir(parents=True, exist_ok=True)
    rows = compute(args)
    (args.out / "tables.md").write_text(HEAD + tables(rows), encoding="utf-8")
    write_summary(rows, args.out / "summary.csv")
    figure(rows, args.out / "pools.png")


if __name__ == "__main__":
    main()
