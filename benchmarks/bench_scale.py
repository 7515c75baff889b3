"""A large pool, measured in passes: multiples of one product X v over it in the same run. Fails if a target is missed.

    python benchmarks/bench_scale.py [--quick] [--items 1000000] [--dimensions 300] [--curves FILE] [--answers 2000]

Times are medians of CPU time on one BLAS thread, so that a busy machine matters little. --quick uses a tenth of the items and
has no targets. --answers 50000 replays that many answers, instead of 2,000. --curves also measures other numbers of items,
dimensions and items in a question, and writes them as a table.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from tellmore import Learner, Pool, Question, Start
from tellmore.kinds import perceived
from tellmore.questions import answer_from
from tellmore.types import Answer

TARGETS = {  # passes
    "Learner() and its first look": 30.0,
    "load a saved learner": 3.0,
    "ask label": 1.0,
    "ask select 4": 1.0,
    "ask rank 4": 1.0,
    "ask tick 12": 1.0,
    "ask rank 10": 3.0,
    "ask auto, all measured": 3.0,
    "tell rank 4": 2.0,
    "tell rank 10": 3.0,
    "ask 8 labels at once": 1.0,
    "tell 8 labels at once": 4.0,
    "probabilities": 1.0,
}
MEMORY = 1.3
"""Most resident memory at the peak, in multiples of the pool's size."""
WITH_START = 1.5
"""The factor on the targets of asking and telling for a learner with several beliefs."""
REPLAY_MS = 2.4
"""Most CPU milliseconds per answer in a replay at 300 dimensions: 50,000 answers in two minutes."""
KINDS = (("label", 1), ("select_high", 4), ("rank", 4), ("tick", 12), ("rank", 10))


def made_pool(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Unit-norm embeddings with a decaying spectrum, like that of real ones."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 50_000):
        part = X[start : start + 50_000]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32) * np.arange(1, d + 1, dtype=np.float32) ** -0.5
        part += 0.1
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return X


def cpu_s(call: Callable[[], object], repeats: int = 5) -> float:
    """Median CPU seconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))


@dataclass
class Person:
    """Answers by a random direction, with half of the items positive."""

    pool: Pool
    seed: int = 1

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.scores = self.pool.X @ self.rng.standard_normal(self.pool.d).astype(np.float32)
        self.scores -= np.median(self.scores)

    def answer(self, question: Question) -> Answer:
        seen = self.scores[self.pool.rows(question.items)].astype(float)
        return answer_from(question, perceived(seen, self.rng))


def measure(pool: Pool, start: Start | None, repeats: int = 5) -> dict[str, float]:
    """CPU seconds of asking, telling and related operations."""
    found: dict[str, float] = {}
    made: list[Learner] = []
    found["Learner() and its first look"] = cpu_s(lambda: made.append(begun(pool, start)), 1)
    learner, person = made[0], Person(pool)
    for kind, size in KINDS:
        name = f"{kind.split('_')[0]} {size}".removesuffix(" 1")
        found[f"ask {name}"] = cpu_s(lambda: learner.ask(kind=kind, size=size), repeats)  # noqa: B023
        asked = [learner.ask(kind=kind, size=size) for _ in range(repeats)]
        given = [(question, person.answer(question)) for question in asked]
        found[f"tell {name}"] = cpu_s(lambda: learner.tell(*given.pop()), repeats)  # noqa: B023
    several = [learner.ask(8, kind="label", quick=True) for _ in range(repeats)]
    found["ask 8 labels at once"] = cpu_s(lambda: learner.ask(8, kind="label", quick=True), repeats)
    told = [[(question, person.answer(question)) for question in each] for each in several]
    found["tell 8 labels at once"] = cpu_s(lambda: learner.tell_all(told.pop()), repeats)
    found["ask auto, all measured"] = cpu_s(lambda: (learner.ask_for("auto"), learner.ask()), 2)
    found["probabilities"] = cpu_s(learner.probabilities, 3)
    found["undo"] = cpu_s(learner.undo, 3)
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "saved.npz")
        found["load a saved learner"] = cpu_s(lambda: Learner.load(Path(folder) / "saved.npz", pool).scores(), 1)
    return found


def begun(pool: Pool, start: Start | None) -> Learner:
    learner = Learner(pool, start=start)
    learner.scores()
    return learner


def report(found: dict[str, float], one_pass: float, factor: float = 1.0) -> list[str]:
    """Print ratios next to their targets, and return those missed."""
    missed = []
    for name, seconds in found.items():
        target = TARGETS[name] * factor if name in TARGETS else None
        print(f"  {name:32s} {seconds / one_pass:8.2f} passes  {1e3 * seconds:9.1f} ms   target {target or '-'}")
        if target is not None and seconds / one_pass > target:
            missed.append(f"{name}: {seconds / one_pass:.2f} passes, at most {target}")
    return missed


def bench_pool(n: int, d: int) -> list[str]:
    X = made_pool(n, d)
    pool = Pool(X)
    one_pass = cpu_s(lambda: X @ np.ones(d, dtype=np.float32), 7)
    print(f"\n{n:,} x {d}; one pass {1e3 * one_pass:.1f} ms")
    missed = report(measure(pool, None), one_pass)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / X.nbytes
    print(f"  resident memory at the peak, with loading: {peak:.2f} pools, at most {MEMORY}")
    if peak > MEMORY:
        missed.append(f"memory: {peak:.2f} pools, at most {MEMORY}")
    start = Start.of_items(pool, positive=pool.ids[:3], negative=pool.ids[3:6])
    print("  with a start:")
    found = measure(pool, start)
    kept = {name: seconds for name, seconds in found.items() if not name.startswith(("Learner", "load"))}
    return missed + [f"with a start, {each}" for each in report(kept, one_pass, WITH_START)]


def bench_replay(n: int = 3_062, d: int = 300, answers: int = 2_000) -> list[str]:
    """Measure learning many answers at once."""
    pool = Pool(made_pool(n, d))
    person, rng = Person(pool), np.random.default_rng(2)
    asked = [Question("rank", [pool.ids[row] for row in rng.choice(n, 4, replace=False)]) for _ in range(answers)]
    given = [(question, person.answer(question)) for question in asked]
    learner = Learner(pool)
    took = 1e3 * cpu_s(lambda: learner.tell_all(given), 1) / answers
    print(f"\nReplay of {answers:,} rankings of 4 over {n:,} x {d}: {took:.2f} ms per answer, at most {REPLAY_MS}")
    deep = cpu_s(lambda: learner.back_to(answers - 1_000), 1)
    print(
        f"  going back a thousand answers: {1e3 * deep:.1f} ms, to a stored state with {len(learner.history)} answers"
    )
    return [f"replay: {took:.2f} ms per answer, at most {REPLAY_MS}"] if took > REPLAY_MS else []


def curves(path: Path, quick: bool) -> None:
    """Milliseconds and passes against n, d and k, one varied at a time."""
    base = {"n": 100_000, "d": 300, "k": 4}
    ranges = {
        "n": [1_000, 10_000, 100_000] + ([] if quick else [1_000_000]),
        "d": [64, 128, 300, 768, 1_536],
        "k": [2, 4, 6, 8, 10],
    }
    lines = [
        "| items | dimensions | items shown | one pass | ask rank | tell | ask tick | probabilities |",
        "|---" * 8 + "|",
    ]
    for what, values in ranges.items():
        for value in values:
            at = {**base, what: value}
            lines.append(_curve_line(**at))
            print(lines[-1], flush=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _curve_line(n: int, d: int, k: int) -> str:
    pool = Pool(made_pool(n, d))
    one_pass = cpu_s(lambda: pool.X @ np.ones(d, dtype=np.float32), 7)
    learner, person = begun(pool, None), Person(pool)
    asking = cpu_s(lambda: learner.ask(kind="rank", size=k), 5)
    given = [(question, person.answer(question)) for question in learner.ask(5, kind="rank", size=k)]
    telling = cpu_s(lambda: learner.tell(*given.pop()), 5)
    grid = cpu_s(lambda: learner.ask(kind="tick", size=max(k, 2)), 5)
    shown = (
        f"{1e3 * took:.1f} ms ({took / one_pass:.1f})" for took in (asking, telling, grid, cpu_s(learner.probabilities))
    )
    return f"| {n:,} | {d:,} | {k} | {1e3 * one_pass:.1f} ms | {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the items, without targets")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--curves", type=Path, help="also measure growth, and write the table to this file")
    parser.add_argument("--answers", type=int, default=2_000, help="how many answers to replay")
    options, _ = parser.parse_known_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}")
    missed = bench_pool(options.items // (10 if options.quick else 1), options.dimensions)
    missed += bench_replay(answers=options.answers)
    if options.curves:
        curves(options.curves, options.quick)
    if missed and not options.quick:
        sys.exit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
