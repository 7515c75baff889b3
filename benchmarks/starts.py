"""What a start is worth: words, another model's verdicts, nothing, or junk, with the same people, seeds and seconds.

    python benchmarks/starts.py --data DIR [--seeds 10] [--question auto] [--rows results/starts.csv] [--out docs/starts]

Pools with human scores come from DIR (those that are not there are left out), others from scikit-learn. ROWS gets a line for
every run and mark, and what is there already is not computed again. OUT gets the means (summary.csv) and the tables (tables.md).
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn import datasets

from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tellmore.sim.seconds import MARKS_S, quality_at
from tellmore.sim.truth import load_truth

WORDS = {
    "VADER": "words_vader_w2v300",
    "SocialSent": "words_socialsent2000_w2v300",
    "Warriner": "words_warriner_valence_w2v300",
}
PICTURES = {"OASIS": "images_oasis_valence_efflite2", "UTKFace": "images_utkface2000_facenet512"}
TABLES = {
    "digits 8": (datasets.load_digits, 8),
    "breast cancer": (datasets.load_breast_cancer, 0),
    "wine 1": (datasets.load_wine, 1),
}
LIKE = ("good", "happy", "excellent", "love", "beautiful", "wonderful")
UNLIKE = ("bad", "sad", "terrible", "hate", "ugly", "awful")
WORD_STARTS = {"2 words": 1, "6 words": 3, "12 words": 6}
VERDICTS = {"verdicts 70 %": 0.7, "verdicts 85 %": 0.85}
NOTHING, JUNK, REVERSED = "nothing", "junk", "reversed"
LONGEST_S = max(MARKS_S)
HEAD = """# What a start is worth, in numbers

Accuracy in % at human time, mean and standard error over the seeds; questions by `{question}`. **Bold**: below what the start
alone had at 0 s by more than one point and one standard error of the difference. _Italic_: below no start by more than one
standard error of the paired difference. [What it means](../starts.md)

"""


def pool_files(data: Path, made: Path) -> dict[str, Path]:
    """The file of every pool; those of scikit-learn are written into ``made``."""
    found = {name: data / f"{stem}.npz" for name, stem in (WORDS | PICTURES).items()}
    found = {name: path for name, path in found.items() if path.exists()}
    for name, (load, positive) in TABLES.items():
        X, label = load(return_X_y=True)
        found[name] = made / f"{name.replace(' ', '-')}.npz"
        np.savez(found[name], X=X, mean=np.where(label == positive, 1.0, -1.0), sd=np.zeros(len(X)), threshold=0.0)
    return found


def config(start: str, seed: int, path: str, question: str) -> Config:
    """The trial of a pool and a start; junk is drawn anew for every seed."""
    plain = Config(pool=path, question=question, answers=None, seconds=float(LONGEST_S)).__dict__
    if start in VERDICTS:
        return Config(**{**plain, "scores_right": VERDICTS[start]})
    if start == NOTHING:
        return Config(**plain)
    if start == JUNK:
        ids = np.random.default_rng([seed, 0x1C]).choice(load_truth(path, "X").pool.ids, 6, replace=False).tolist()
        return Config(**{**plain, "like": tuple(ids[:3]), "unlike": tuple(ids[3:])})
    count = WORD_STARTS["6 words" if start == REVERSED else start]
    like, unlike = _present(path, LIKE)[:count], _present(path, UNLIKE)[:count]
    sides = (unlike, like) if start == REVERSED else (like, unlike)
    return Config(**{**plain, "like": sides[0], "unlike": sides[1]})


def _present(path: str, words: tuple[str, ...]) -> tuple[str, ...]:
    pool = load_truth(path, "X").pool
    return tuple(word for word in words if pool.find(word) is not None)


def run(pool: str, start: str, seed: int, path: str, question: str) -> list[dict[str, object]]:
    """One trial at every mark. A pool whose people are done before a mark keeps what it had."""
    found = trial(config(start, seed, path, question), seed)
    rows = []
    for measure in ("accuracy", "f1"):
        values = quality_at(found, measure, np.array(MARKS_S, dtype=float))
        rows.append(dict(zip(MARKS_S, np.where(np.isnan(values), found.column(measure)[-1], values), strict=True)))
    key = {"pool": pool, "question": question, "start": start, "seed": seed}
    return [{**key, "mark_s": mark, "accuracy": rows[0][mark], "f1": rows[1][mark]} for mark in MARKS_S]


def cells(files: dict[str, Path]) -> Iterator[tuple[str, str]]:
    for pool in files:
        yield pool, NOTHING
        yield from ((pool, start) for start in VERDICTS)
        if pool in WORDS:
            yield from ((pool, start) for start in (*WORD_STARTS, JUNK, REVERSED))


def compute(args: argparse.Namespace, files: dict[str, Path]) -> list[dict[str, str]]:
    """All rows: those of an earlier run, and the missing ones."""
    known = list(csv.DictReader(args.rows.open(encoding="utf-8"))) if args.rows.exists() else []
    done = {(row["pool"], row["question"], row["start"], int(row["seed"])) for row in known}
    seeds = range(args.first, args.first + args.seeds)
    wanted = [(pool, start, seed) for seed in seeds for pool, start in cells(files)]
    missing = [each for each in wanted if (each[0], args.question, *each[1:]) not in done]
    args.rows.parent.mkdir(parents=True, exist_ok=True)
    with args.rows.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.jobs) as workers:
        writer = csv.DictWriter(file, ["pool", "question", "start", "seed", "mark_s", "accuracy", "f1"])
        if not known:
            writer.writeheader()
        jobs = [workers.submit(run, *each, str(files[each[0]]), args.question) for each in missing]
        for number, job in enumerate(as_completed(jobs), start=1):
            writer.writerows(job.result())
            file.flush()
            print(f"\r{number} of {len(missing)} runs", end="", flush=True)
    every = list(csv.DictReader(args.rows.open(encoding="utf-8")))
    return [row for row in every if row["question"] == args.question and int(row["seed"]) in seeds]


Curves = dict[tuple[str, str], np.ndarray]


def curves_of(rows: list[dict[str, str]], measure: str) -> Curves:
    """[seeds, marks] of every pool and start."""
    found: dict[tuple[str, str], dict[tuple[int, int], float]] = defaultdict(dict)
    for row in rows:
        found[row["pool"], row["start"]][int(row["seed"]), int(row["mark_s"])] = float(row[measure])
    return {
        cell: np.array([[values[seed, mark] for mark in MARKS_S] for seed in sorted({seed for seed, _ in values})])
        for cell, values in found.items()
    }


def se(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))


def below_itself(curve: np.ndarray) -> np.ndarray:
    """Where the mean falls below that at 0 s by more than a point and more than a standard error of the difference."""
    lost = curve[:, :1] - curve
    return np.asarray(lost.mean(axis=0) > np.maximum(se(lost), 0.01))


def below_nothing(curve: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Where it is below no start by more than a standard error of the paired difference."""
    lost = plain - curve
    return np.asarray(lost.mean(axis=0) > se(lost))


def tables(curves: Curves, question: str) -> str:
    text = HEAD.format(question=question)
    for pool in dict.fromkeys(pool for pool, _ in curves):
        text += (
            f"## {pool}\n\n| start | {' | '.join(f'{mark} s' for mark in MARKS_S)} |\n|---{'|---' * len(MARKS_S)}|\n"
        )
        for (name, start), curve in curves.items():
            if name == pool:
                text += f"| {start} | {' | '.join(_cells(curve, curves[pool, NOTHING], start))} |\n"
        text += "\n"
    return text


def _cells(curve: np.ndarray, plain: np.ndarray, start: str) -> list[str]:
    shown = [f"{100 * mean:.1f} ± {100 * error:.1f}" for mean, error in zip(curve.mean(axis=0), se(curve), strict=True)]
    if start in (NOTHING, JUNK, REVERSED):
        return shown
    worse, lost = below_itself(curve), below_nothing(curve, plain)
    marked = [f"_{cell}_" if one else cell for cell, one in zip(shown, lost, strict=True)]
    return [f"**{cell}**" if one else cell for cell, one in zip(marked, worse, strict=True)]


def write_summary(curves: Curves, f1: Curves, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["pool", "start", "mark_s", "runs", "accuracy", "accuracy_se", "f1", "f1_se"])
        for cell, curve in curves.items():
            parts = curve.mean(axis=0), se(curve), f1[cell].mean(axis=0), se(f1[cell])
            for mark, *values in zip(MARKS_S, *parts, strict=True):
                writer.writerow([*cell, mark, len(curve), *(f"{value:.4f}" for value in values)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the pools with human scores")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--question", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=Path, default=Path("results/starts.csv"))
    parser.add_argument("--out", type=Path, default=Path("results/starts"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        rows = compute(args, pool_files(args.data, Path(made)))
    accuracy, f1 = curves_of(rows, "accuracy"), curves_of(rows, "f1")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "tables.md").write_text(tables(accuracy, args.question), encoding="utf-8")
    write_summary(accuracy, f1, args.out / "summary.csv")
    print(f"\nwrote {args.out}")


if __name__ == "__main__":
    main()
