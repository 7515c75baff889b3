"""The app under load: many simulated people at once, with and without think times, and a server killed at random moments.

    python benchmarks/bench_app.py [--quick] [--people 100] [--answers 6] [--speed 1] [--crashes 45] [--only-crashes]

Targets: p95 from an answer to the next question under 500 ms with think times, no answer lost or stored twice, and no two people
asked the same question at the same time; if one is missed, it ends with an error. Every third kill waits until the server learns
in a second process, and then ends that process, the server, or both.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.postgres_cluster import NoPostgresError, private_postgres
from scripts.processes import learners
from tellmore.app.demo import DEMO_SETTINGS, known_scores
from tellmore.app.session import FIRST_PATIENCE_S
from tellmore.data.bundled import demo_pool
from tellmore.data.project import create_project, open_project
from tellmore.sim.drive import Report, compare_with_log, drive, invite
from tellmore.store.repository import Repository
from tests.app.serving import Server, free_port

CRASH_PEOPLE = 8
QUICK_CRASHES = 8
MOST_MS = 500.0
SECOND_WITHIN_S = 60.0
"""A second process opens within this time if the machine is busy."""


def new_project(folder: Path, database: str = "") -> Path:
    settings = DEMO_SETTINGS.changed(server={"database": database})
    create_project(folder / "project", demo_pool(), settings)
    return folder / "project"


def load(name: str, people: int, answers: int, *, think: bool, speed: float) -> list[str]:
    """Run one server with ``people`` at once, and print one row; returns the targets missed."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(new_project(Path(folder)), free_port())
        link = server.start()
        report = drive(
            invite(link, people), answers=answers, think=think, speed=speed, scores=known_scores(), stagger=think
        )
        row = compare_with_log(report, link).summary()
        server.end(signal.SIGTERM)
    print_row(name, row, report)
    slow = [f"{name}: p95 {row['p95_ms']:.0f} ms"] if think and row["p95_ms"] > MOST_MS else []
    return slow + faults_in(name, row, ("lost", "duplicated", "same_question_at_once", "faults"))


def faults_in(name: str, row: dict[str, float], counts: Sequence[str]) -> list[str]:
    """What happened that never should."""
    return [f"{name}: {count} {row[count]:.0f}" for count in counts if row[count]]


def print_row(name: str, row: dict[str, float], report: Report) -> None:
    """Print the numbers, and each error that people got, once."""
    shown = " ".join(f"{key}={value:.4g}" for key, value in row.items())
    print(f"{name:<34} {shown}", flush=True)
    for fault in sorted(set(report.faults)):
        print(f"  problem: {fault}")


def crashes(moments: int, name: str, database: str, killed: Counter[str]) -> list[str]:
    """Kill the server ``moments`` times under load, and print what was lost or stored twice; returns the targets missed."""
    rng = random.Random(name)
    reports: list[Report] = []
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        project = new_project(Path(folder), database)
        server = Server(project, free_port())
        links = invite(server.start(), CRASH_PEOPLE)
        people = threading.Thread(
            target=lambda: reports.append(drive(links, answers=10**9, think=False, stop=stop, give_up_s=600))
        )
        people.start()
        time.sleep(FIRST_PATIENCE_S + 1)  # newcomers may wait this long for a question, longer than a server runs below
        ended: Counter[str] = Counter()
        for moment in range(moments):
            time.sleep(rng.uniform(0.05, 1.0))
            ended.update(end_some(server, rng, together=moment % 3 == 2))
            killed[name] += 1
            print(f"\rkilled {dict(killed)} of {moments} times", end="", file=sys.stderr, flush=True)
        stop.set()
        people.join()
        server.end(signal.SIGTERM)
        store = Repository(open_project(project).database_url)
        found = Counter(event.question_id for event in store.since() if event.kind in ("answer", "skip"))
        store.close()
    acknowledged = reports[0].acknowledged
    row = {
        "moments": moments,
        **{f"killed_{what}": count for what, count in sorted(ended.items())},
        "acknowledged": len(acknowledged),
        "lost": sum(found[question_id] == 0 for question_id in acknowledged),
        "doubled": sum(count > 1 for count in found.values()),
        "faults": len(reports[0].faults),
    }
    print_row(f"\nkilled, {name}", row, reports[0])
    return faults_in(f"killed, {name}", row, ("lost", "doubled", "faults"))


def end_some(server: Server, rng: random.Random, *, together: bool) -> list[str]:
    """Kill the server, and start it again; if ``together``, wait for the process that learns, and kill one of the two or both.
    Returns what was killed."""
    assert server.process is not None
    pid, deadline = server.process.pid, time.monotonic() + SECOND_WITHIN_S
    while together and not learners(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    others = learners(pid) if together else []
    if others:
        time.sleep(rng.uniform(0.05, 1.0))
    what = rng.choice(["learner", "both", "server"]) if others else "server"
    if what != "server":
        with suppress(ProcessLookupError):
            os.kill(others[0], signal.SIGKILL)
        if what == "learner":
            return ["learner"]
    server.end(signal.SIGKILL)
    server.start()
    return ["server_with_learner" if others else "server"]


def crashes_on_both(moments: int) -> list[str]:
    """Run `crashes` on SQLite and PostgreSQL at once: a starting server keeps only one core busy."""
    with ExitStack() as stack:
        databases = {"sqlite": ""}
        try:
            url = stack.enter_context(private_postgres())
            databases["postgresql"] = url.replace("postgresql:", "postgresql+psycopg:")
        except NoPostgresError as problem:
            print(f"killed, postgresql: not measured, {problem}")
        killed: Counter[str] = Counter()
        workers = stack.enter_context(ThreadPoolExecutor(len(databases)))
        runs = [workers.submit(crashes, moments, name, database, killed) for name, database in databases.items()]
        return [missed for run in runs for missed in run.result()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100, help="simulated annotators at once")
    parser.add_argument("--answers", type=int, default=6, help="answers per person")
    parser.add_argument("--speed", type=float, default=1.0, help="divide think times by this")
    parser.add_argument("--crashes", type=int, default=45, help="how often the server is killed, on each database")
    parser.add_argument("--quick", action="store_true", help=f"kill it only {QUICK_CRASHES} times")
    parser.add_argument("--only-crashes", action="store_true", help="measure no times")
    options, _ = parser.parse_known_args()
    missed: list[str] = []
    if not options.only_crashes:
        people, answers, speed = options.people, options.answers, options.speed
        missed += load("1 person, think times", 1, answers, think=True, speed=speed)
        missed += load(f"{people} people, think times", people, answers, think=True, speed=speed)
        missed += load(f"{people} people, no think times", people, answers, think=False, speed=1.0)
    moments = min(options.crashes, QUICK_CRASHES) if options.quick else options.crashes
    if moments:
        missed += crashes_on_both(moments)
    if missed:
        sys.exit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
