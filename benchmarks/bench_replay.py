"""A log replayed as the server does it: every answer learnt again from nothing, and from a snapshot. Fails if a target is missed.

    python benchmarks/bench_replay.py [--quick] [--answers 2000] [--people 1]

The log is in SQLite: rankings of 4 over 3,062 x 300 items. The server reads it, learns the answers 512 at a time, computes what
each of them changed and how probable it was, and saves snapshots on the way. The same answers are also learnt by the library
alone, 100 of them and then 100 by the server in turn, so that the ratio of both depends little on how busy the machine is. Times
are CPU time on one BLAS thread. --answers 50000 --people 20 is the aim: two minutes. With several people, their answers are also
compared, most often among the first 2,000, so that few answers take longer each than many.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.bench_scale import Person, made_pool
from tellmore import Learner, Pool, Question
from tellmore.app.desk import Desk
from tellmore.app.engine import LocalEngine
from tellmore.app.planner import TELL_AT_ONCE
from tellmore.data.project import Project, create_project
from tellmore.store.events import answer_event, question_event
from tellmore.store.fold import Fold, Pairs
from tellmore.store.repository import Repository
from tellmore.store.snapshots import SnapshotKeeper

N, D = 3_062, 300
MOST_MS = 2.4
"""Most CPU milliseconds per answer: 50,000 in two minutes."""
MOST_TIMES = 1.7
"""Most times that the server takes as long as the library for the same answers of one person."""
SNAPSHOT_S = 10.0
"""Most seconds until 50,000 answers are there from a snapshot, after the log is read."""
IN_TURN = 100


def filled(folder: Path, answers: int, people: int) -> Project:
    """A project with so many answers in its log."""
    pool = Pool(made_pool(N, D), [f"item {row}" for row in range(N)])
    project, person, rng = create_project(folder, pool), Person(pool), np.random.default_rng(2)
    with closing(Repository(project.database_url)) as store:
        for start in range(0, answers, 1_000):
            batch = []
            for number in range(start, min(start + 1_000, answers)):
                rows, who = rng.choice(N, 4, replace=False), f"person {number % people}"
                question = Question("rank", [pool.ids[row] for row in rows], id=f"q{number}")
                timing = {"onset_ms": 0, "submit_ms": 9_000, "hidden_ms": 0}
                batch += [
                    question_event(question, who, check=number % 10 == 0),
                    answer_event(question.id, who, person.answer(question), timing=timing),
                ]
            store.append(batch)
    return project


def replayed(fold: Fold, pairs: Pairs, keeper: SnapshotKeeper) -> None:
    """Learn ``pairs`` as the server does, with snapshots on the way."""
    engine = LocalEngine(fold, pairs, fold.settings)
    while not engine.learn(pairs, fold.settings, TELL_AT_ONCE):
        keeper.save_if_due(engine)
    keeper._saved_at = -len(pairs)
    keeper.save_if_due(engine)


def ratio(project: Project, pairs: Pairs) -> tuple[float, float]:
    """CPU milliseconds per answer, by the library and by the server, which take turns."""
    learner, fold = Learner(project.pool), Fold(project.pool, project.settings)
    took = np.zeros(2)
    for start in range(0, len(pairs), IN_TURN):
        some = pairs[start : start + IN_TURN]
        exchanges = [(asked.question, given.answer) for asked, given in some if given.answer is not None]
        begin = time.process_time()
        learner.tell_all(exchanges)
        middle = time.process_time()
        fold.catch_up(pairs[: start + len(some)])
        took += middle - begin, time.process_time() - middle
    library, server = 1e3 * took / len(pairs)
    return float(library), float(server)


def measure(answers: int, people: int) -> list[str]:
    """Print what it takes; returns the targets missed."""
    with tempfile.TemporaryDirectory() as folder:
        project = filled(Path(folder) / "project", answers, people)
        with closing(Repository(project.database_url)) as store:
            begin = time.process_time()
            pairs: Pairs = Desk(project.settings, store.since(0)).counting()
            read = time.process_time() - begin
            keeper, fold = SnapshotKeeper(store, project.pool), Fold(project.pool, project.settings)
            begin = time.process_time()
            replayed(fold, pairs, keeper)
            whole = time.process_time() - begin
            anew = Fold(project.pool, project.settings)
            begin = time.process_time()
            assert keeper.restore(anew, pairs)
            restored = time.process_time() - begin
            assert np.array_equal(anew.learner.posterior.mean, fold.learner.posterior.mean)
        print(f"{answers:,} rankings of 4 by {people} people over {N:,} x {D}, CPU time")
        print(f"  reading the log                {read:8.2f} s")
        print(f"  learning all of it             {whole:8.2f} s  {1e3 * whole / answers:.2f} ms per answer")
        print(f"  from a snapshot instead        {restored:8.2f} s  1/{whole / restored:.0f}")
    each, missed = 1e3 * whole / answers, []
    if each > MOST_MS and (people == 1 or answers >= 50_000):
        missed.append(f"replay: {each:.2f} ms per answer, at most {MOST_MS}")
    if restored > SNAPSHOT_S:
        missed.append(f"snapshot: {restored:.1f} s, at most {SNAPSHOT_S}")
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="300 answers, without targets")
    parser.add_argument("--answers", type=int, default=2_000)
    parser.add_argument("--people", type=int, default=1)
    options, _ = parser.parse_known_args()
    answers = 300 if options.quick else options.answers
    missed = measure(answers, options.people)
    with tempfile.TemporaryDirectory() as folder:
        project = filled(Path(folder) / "project", min(answers, 1_000), 1)
        with closing(Repository(project.database_url)) as store:
            library, server = ratio(project, Desk(project.settings, store.since(0)).counting())
    print(f"  the library alone {library:.2f} ms, the server {server:.2f} ms per answer: {server / library:.2f} times")
    if server / library > MOST_TIMES:
        missed.append(f"the server takes {server / library:.2f} times as long as the library, at most {MOST_TIMES}")
    if missed and not options.quick:
        sys.exit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
