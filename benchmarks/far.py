"""How far it scales: time and memory against items, dimensions, items in a question and people; and Dask workers.

    python benchmarks/far.py [--out docs/scale] [--most 10000000] [--dask]

Times are medians of CPU time on one BLAS thread, each point in a separate process, next to the time of one product X v over the
same pool. A run that was stopped continues where it stopped. Writes far.csv, dask.csv (with --dask) and far.png. The numbers for
people come from people.csv, if `bench_people.py --csv` has written it there.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from bench_scale import Person, begun, cpu_s, made_pool
from kept import kept_rows

from tellmore import Learner, Pool
from tellmore.cluster.matrix import Matrix
from tellmore.cluster.pool import DaskPool

FIELDS = [
    "panel",
    "n",
    "d",
    "k",
    "kind",
    "dtype",
    "pass_ms",
    "start_ms",
    "ask_ms",
    "tell_ms",
    "probabilities_ms",
    "memory",
]
CASES = [
    *(("items", n, 300, 4, "rank", "float32") for n in (10**3, 10**4, 10**5, 10**6)),
    *(("items", n, 64, 4, "rank", "float16") for n in (10**5, 10**6, 10**7)),
    *(("dimensions", 10**5, d, 4, "rank", "float32") for d in (64, 128, 300, 768, 1536)),
    *(("shown", 10**5, 300, k, "rank", "float32") for k in (2, 4, 6, 8, 10)),
    *(("shown", 10**5, 300, k, "tick", "float32") for k in (2, 4, 8, 12, 24)),
    ("shown", 10**5, 300, 1, "label", "float32"),
]
MANY_ROWS = 3 * 10**6
"""Larger pools are asked only three times."""


def one(n: int, d: int, k: int, kind: str, dtype: str) -> tuple[float, ...]:
    """Milliseconds and memory of one case; a float16 matrix is mapped from a file."""
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(mapped(n, d, Path(folder) / "X.npy") if dtype == "float16" else made_pool(n, d))
        repeats = 3 if n > MANY_ROWS else 5
        one_pass = cpu_s(
            lambda: [pool.X[at : at + 65_536] @ np.ones(d, dtype=pool.X.dtype) for at in range(0, n, 65_536)], 3
        )
        made: list[Learner] = []
        start = cpu_s(lambda: made.append(begun(pool, None)), 1)
        learner, person = made[0], Person(pool)
        asking = cpu_s(lambda: learner.ask(kind=kind, size=k), repeats)
        given = [(question, person.answer(question)) for question in learner.ask(repeats, kind=kind, size=k)]
        telling = cpu_s(lambda: learner.tell(*given.pop()), repeats)
        probable = cpu_s(learner.probabilities, 3)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    times = (round(1e3 * took, 3) for took in (one_pass, start, asking, telling, probable))
    return (*times, round(memory / 2**20))


def mapped(n: int, d: int, path: Path) -> Any:
    """Embeddings in a float16 file."""
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=(n, d))
    for start in range(0, n, 10**6):
        X[start : start + 10**6] = made_pool(min(10**6, n - start), d, seed=start)
    X.flush()
    return np.load(path, mmap_mode="r")


def apart(_panel: str, *case: Any) -> tuple[float, ...]:
    """Run `one` in a separate process, so that its memory is measured alone."""
    shown = subprocess.run(
        [sys.executable, __file__, "--one", json.dumps(case)], check=True, capture_output=True, text=True
    ).stdout
    print(_panel, *case, shown.strip(), flush=True)
    return tuple(json.loads(shown))


# Dask

DASK_FIELDS = ["workers", "n", "d", "what", "wall_ms", "cpu_ms", "sent_bytes", "back_bytes"]


def on_workers(workers: int, n: int, d: int = 300) -> list[tuple[Any, ...]]:
    """The cost of asking and telling on a local cluster: wall and CPU time of the workers, and bytes sent."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, made_pool(n, d))
        ids = [str(row) for row in range(n)]
        matrix = Matrix.of(path, ids)
        began = time.monotonic()
        pool = DaskPool(matrix, ids, "", "local", workers=workers)
        rows.append((workers, n, d, "read and check the matrix", round(1e3 * (time.monotonic() - began)), "", "", ""))
        traffic = counted(pool)
        person = Person(Pool(np.load(path, mmap_mode="r"), ids))
        learner = Learner(pool)

        def measured(what: str, call: Any) -> Any:
            traffic.clear()
            cpu, wall = worker_cpu(pool), time.monotonic()
            result = call()
            wall, cpu = time.monotonic() - wall, worker_cpu(pool) - cpu
            sent, back = (sum(each) for each in zip(*traffic, strict=True)) if traffic else (0, 0)
            rows.append((workers, n, d, what, round(1e3 * wall), round(1e3 * cpu), sent, back))
            print(*rows[-1], flush=True)
            return result

        measured("score all items for the first time", lambda: learner.progress)
        for _ in range(3):
            question = measured("ask rank 4", lambda: learner.ask(kind="rank", size=4))
            measured("tell rank 4", lambda: learner.tell(question, person.answer(question)))  # noqa: B023
        victim = sorted(pool.client.run(os.getpid).items())[0][1]
        os.kill(victim, signal.SIGKILL)
        question = measured("ask rank 4, a worker was killed", lambda: learner.ask(kind="rank", size=4))
        pool.close()
    return rows


def counted(pool: DaskPool) -> list[tuple[int, int]]:
    """A list that collects the bytes sent to workers and back, call by call."""
    traffic: list[tuple[int, int]] = []
    submit, gather = pool.client.submit, pool.client.gather

    def submitting(function: Any, errand: Any, **options: Any) -> Any:
        traffic.append((len(pickle.dumps(errand)), 0))
        return submit(function, errand, **options)

    def gathering(futures: Any, **options: Any) -> Any:
        found = gather(futures, **options)
        traffic.append((0, len(pickle.dumps(found))))
        return found

    pool.client.submit, pool.client.gather = submitting, gathering
    return traffic


def worker_cpu(pool: DaskPool) -> float:
    return sum(each for each in pool.client.run(time.process_time, on_error="ignore").values())


# The picture


def draw(folder: Path) -> None:
    import matplotlib.pyplot as plt

    rows = list(csv.DictReader((folder / "far.csv").open(encoding="utf-8")))
    panels = [
        ("items", "n", "items in the pool"),
        ("dimensions", "d", "dimensions"),
        ("shown", "k", "items in a question"),
    ]
    panels = [each for each in panels if len({row[each[1]] for row in rows if row["panel"] == each[0]}) > 1]
    people = folder / "people.csv"
    figure, axes = plt.subplots(
        2, len(panels) + people.exists(), figsize=(4 * (len(panels) + people.exists()), 7), squeeze=False
    )
    curves = {"ask_ms": "ask", "tell_ms": "tell", "probabilities_ms": "all probabilities", "pass_ms": "one product X v"}
    for column, (panel, key, title) in enumerate(panels):
        own = [row for row in rows if row["panel"] == panel]
        groups = sorted(
            {(row["kind"], row["d"] if panel == "items" else "", row["dtype"]) for row in own}, reverse=True
        )
        for style, group in zip(("-o", "--s", ":^"), groups, strict=False):
            some = sorted(
                (r for r in own if (r["kind"], r["d"] if panel == "items" else "", r["dtype"]) == group),
                key=lambda row: float(row[key]),
            )
            where = [float(row[key]) for row in some]
            label = f"{group[0]}{f', {group[1]}-d {group[2]}' if group[1] else ''}"
            for color, (curve, name) in enumerate(curves.items()):
                axes[0, column].plot(
                    where,
                    [float(r[curve]) for r in some],
                    style,
                    color=f"C{color}",
                    ms=4,
                    label=name if style == "-o" else None,
                )
                if curve != "pass_ms":
                    ratios = [float(r[curve]) / float(r["pass_ms"]) for r in some]
                    axes[1, column].plot(where, ratios, style, color=f"C{color}", ms=4)
            axes[1, column].plot([], [], style, color="grey", label=label)
        for row_of_axes, unit in ((0, "milliseconds"), (1, "products X v")):
            axes[row_of_axes, column].set(xscale="log", yscale="log", xlabel=title, ylabel=unit)
        axes[1, column].legend(fontsize=8)
    axes[0, 0].legend(fontsize=7, loc="lower right")
    if people.exists():
        load = list(csv.DictReader(people.open(encoding="utf-8")))
        for question in sorted({row["question"] for row in load}):
            own = sorted((row for row in load if row["question"] == question), key=lambda row: int(row["people"]))
            where = [int(row["people"]) for row in own]
            axes[0, -1].plot(where, [float(row["p95_ms"]) for row in own], "-o", ms=4, label=question)
            axes[1, -1].plot(where, [100 * float(row["random"]) for row in own], "-o", ms=4, label=question)
        axes[0, -1].set(xlabel="people at once", ylabel="p95 from submit to next, ms", xscale="log", yscale="log")
        axes[1, -1].set(xlabel="people at once", ylabel="random questions, %", xscale="log")
        axes[0, -1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "far.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/scale"))
    parser.add_argument("--most", type=int, default=10**7, help="leave out pools with more items")
    parser.add_argument("--dask", action="store_true", help="measure a local cluster instead")
    parser.add_argument("--one", help="one case, as JSON; for the script itself")
    options, _ = parser.parse_known_args()
    if options.one:
        print(json.dumps(one(*json.loads(options.one))))
        return
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}")
    options.out.mkdir(parents=True, exist_ok=True)
    if options.dask:
        found = [row for workers in (1, 2) for row in on_workers(workers, min(options.most, 10**6))]
        with (options.out / "dask.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([DASK_FIELDS, *found])
        return
    kept_rows(options.out / "far.csv", FIELDS, [case for case in CASES if case[1] <= options.most], apart)
    draw(options.out)


if __name__ == "__main__":
    main()
