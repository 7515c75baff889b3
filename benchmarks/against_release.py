"""Processor time of asking and learning compared with an earlier version, on the same pool, belief, questions and answers.

    python benchmarks/against_release.py 51f59ad [--runs 5] [--rounds 60] [--only tell]

51f59ad is the last commit of version 0.1.0. The revision is unpacked into a temporary folder. Each version runs in its own
process with one BLAS thread, and they take turns, a few calls each, so that other work on the machine slows both alike; the
one that goes first alternates. The ratio of a run is the median over its rounds of this version's time divided by the other's.
The lowest, middle and highest of several runs are printed; each run starts new processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from itertools import cycle, islice
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
CALLS = {  # how many at a time: some milliseconds
    "learn a label": 20,
    "learn a selection of 4": 6,
    "learn a ranking of 4": 4,
    "choose a label": 6,
    "choose a selection of 4": 1,
    "choose a ranking of 4": 1,
    "choose a selection of 10": 1,
    "choose a ranking of 10": 1,
    "tell a label": 10,
    "tell a selection of 4": 4,
    "tell a ranking of 4": 4,
}
KINDS = {"label": "label", "selection": "select_high", "ranking": "rank"}
TOLD = 40  # answers to one learner, before the next begins


def what(name: str) -> tuple[str, str, int]:
    """(verb, kind, items) of a row."""
    verb, _, noun, *size = name.split()
    return verb, KINDS[noun], int(size[-1]) if size else 1


def calls(name: str, X: Any, prior: tuple[Any, Any]) -> Iterator[Callable[[], object]]:
    """Endless calls of one row, each on other items or with another seed."""
    import numpy as np

    verb, kind, size = what(name)
    rng = np.random.default_rng(7)
    shown = [rng.choice(len(X), size, replace=False) for _ in range(TOLD)]
    if verb == "tell":
        yield from tellings(kind, X, shown)
    update, search = core_of(kind, X, prior)
    outcome = {"label": 1, "select_high": (1, 1), "rank": (tuple(range(size)), size // 2)}[kind]
    for number, rows in enumerate(cycle(shown)):
        if verb == "learn":
            yield partial(update, X[rows], outcome)
        else:
            yield partial(search, size, np.random.default_rng(number))


def core_of(kind: str, X: Any, prior: tuple[Any, Any]) -> tuple[Callable[..., object], Callable[..., object]]:
    """How the version that is imported learns an outcome on some rows, and how it searches a number of items."""
    from tellmore.core.evidence import Behaviour
    from tellmore.core.gaussian import Gaussian
    from tellmore.core.scan import PoolScan

    belief, behaviour = Gaussian.from_moments(*prior), Behaviour()
    try:
        from tellmore.core.coordinates import Coordinates, Rows
        from tellmore.kinds import named
    except ImportError:  # version 0.1
        from tellmore.core.acquire import greedy_set
        from tellmore.core.update import update

        scan = PoolScan.of(X, belief)
        return (
            lambda rows, outcome: update(belief, rows, kind, outcome, behaviour),
            lambda size, rng: greedy_set(scan, belief, kind, size, behaviour, rng=rng),
        )
    scan = PoolScan.of(Rows(X, Coordinates.plain(X.shape[1])), belief)
    return (
        lambda rows, outcome: named(kind).update(belief, rows, outcome, behaviour),
        lambda size, rng: named(kind).search(scan, belief, size, behaviour, rng=rng),
    )


def tellings(kind: str, X: Any, shown: list[Any]) -> Iterator[Callable[[], object]]:
    """The same questions and answers told to one fresh learner after another."""
    from tellmore import LabelAnswer, Learner, Pool, Question, RankAnswer, SelectAnswer

    fresh = Learner(Pool(X), question="label")
    while True:
        learner = fresh.copy()
        for number, rows in enumerate(shown):
            items = [fresh.pool.ids[row] for row in rows]
            answers = {
                "label": lambda: LabelAnswer(number % 2 == 0),  # noqa: B023
                "select_high": lambda: SelectAnswer(items[1], number % 2 == 0),  # noqa: B023
                "rank": lambda: RankAnswer(items, 2),  # noqa: B023
            }
            yield partial(learner.tell, Question(kind, items, id=str(number)), answers[kind]())


def serve() -> None:
    """Answer lines "name" from the other process with the seconds of processor time that the row's calls took."""
    import numpy as np

    with np.load(sys.stdin.readline().strip()) as given:
        X, prior = given["X"], (given["mean"], given["cov"])
    rows: dict[str, Iterator[Callable[[], object]]] = {}
    for line in sys.stdin:
        name = line.strip()
        rows.setdefault(name, calls(name, X, prior))
        batch = list(islice(rows[name], CALLS[name]))
        start = time.process_time()
        for call in batch:
            call()
        print(json.dumps(time.process_time() - start), flush=True)


class Version:
    """A process that runs one version."""

    def __init__(self, source: Path, data: Path) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), "--serve"],
            env={**os.environ, **threads, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send(str(data))

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        print(line, file=self.process.stdin, flush=True)

    def seconds(self, name: str) -> float:
        """Processor time of the calls of a row."""
        assert self.process.stdout is not None
        self._send(name)
        return float(json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        """End it."""
        self.process.communicate()


def one_run(sources: tuple[Path, Path], data: Path, names: list[str], rounds: int) -> dict[str, float]:
    """The ratio of the second version's time to the first's, by row."""
    import numpy as np

    versions = [Version(source, data) for source in sources]
    ratios: dict[str, list[float]] = {name: [] for name in names}
    try:
        for round_ in range(-3, rounds):
            for name in names:
                order = (0, 1) if round_ % 2 else (1, 0)
                took = {number: versions[number].seconds(name) for number in order}
                if round_ >= 0:  # the first ones warm up
                    ratios[name].append(took[1] / took[0])
    finally:
        for version in versions:
            version.close()
    return {name: float(np.median(values)) for name, values in ratios.items()}


def unpacked(revision: str, folder: Path) -> Path:
    """The sources of a revision."""
    archive = subprocess.run(
        ["git", "archive", revision, "src"], cwd=HERE.parents[1], stdout=subprocess.PIPE, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


def main() -> None:
    """Compare the versions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="the version to compare with: a commit or a tag")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=60, help="turns of each version in a run")
    parser.add_argument("--only", default="", help="only rows that contain this text")
    options = parser.parse_args()
    names = [name for name in CALLS if options.only in name]
    import numpy as np
    from bench_engine import prior_of, words

    with tempfile.TemporaryDirectory() as folder:
        X = words()
        prior = prior_of(X)
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, mean=prior.mean, cov=prior.cov)
        sources = unpacked(options.revision, Path(folder) / "then"), HERE.parents[1] / "src"
        runs = [one_run(sources, data, names, options.rounds) for _ in range(options.runs)]
    print(f"{X.shape[0]:,} x {X.shape[1]}; time of this version / time of {options.revision}")
    for name in names:
        low, middle, high = np.quantile([run[name] for run in runs], (0.0, 0.5, 1.0))
        print(f"  {name:26s} {low:6.2f} {middle:6.2f} {high:6.2f}")


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else main()
