"""Many people at once on one server: how long they wait, and which questions they get.

    python benchmarks/bench_people.py [--quick] [--people 100 300 500] [--seconds 60] [--question select-3] [--items 1000000]
        [--process-from 2] [--csv FILE]

Simulated people with the published think times use a real server, both on this machine. Each number of people gives one row: the
time from an answer to the next question, the share of questions by the reason why they were asked, and the processor time of the
server. Targets: 300 people wait at most 500 ms (95 of 100 times), and at most 5 % of their questions are random because nothing
else was ready (`fallback`); 500 people wait no longer. If a target is missed, the run fails. --process-from is the setting of
this name: 1 always learns in a second process, a large number never. --csv adds the rows to a table, which benchmarks/far.py
draws.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.bench_scale import made_pool
from scripts.processes import cpu_seconds, learners, resident_bytes
from tellmore.app.demo import DEMO_SETTINGS, known_scores
from tellmore.data.bundled import demo_pool
from tellmore.data.project import create_project, open_project
from tellmore.pool import Pool
from tellmore.sim.drive import Report, drive, invite
from tellmore.store.events import end_event
from tellmore.store.repository import Event, Repository
from tests.app.serving import Server, free_port

START_S = 600.0
"""A million items take a while to load and check."""
MOST_MS = {300: 500.0, 500: 500.0}
MOST_RANDOM = {300: 0.05}
COLUMNS = ("people", "question", "seconds", "answers", "p50_ms", "p95_ms", "p99_ms", "random", "server_cores")
HEADS = "people", "seconds", "answers", "p50 ms", "p95 ms", "p99 ms", "server s/s", "lost", "same", "faults"


def measure(
    people: int, seconds: float, question: str, items: int = 0, process_from: int | None = None
) -> tuple[Report, Counter[str], list[int], float, list[int]]:
    """Let ``people`` answer for ``seconds``: what happened, why each question was asked, how many answers came after it was
    chosen, the server's processor time, and the resident memory of each of its processes."""
    with tempfile.TemporaryDirectory() as folder:
        project = endless_project(Path(folder) / "project", question, items, process_from)
        server = Server(project, free_port())
        try:
            links, stop = invite(server.start(START_S), people), threading.Event()
            assert server.process is not None
            before = cpu_seconds(server.process.pid)
            timer = threading.Timer(seconds, stop.set)
            timer.start()
            report = drive(links, answers=10**9, scores=known_scores(), stagger=True, stop=stop)
            timer.cancel()
            processes = [server.process.pid, *learners(server.process.pid)]
            used, memory = sum(map(cpu_seconds, processes)) - before, [resident_bytes(pid) for pid in processes]
        finally:
            server.end(signal.SIGTERM, 60.0)
        return report, *compared(report, project), used, memory


def compared(report: Report, project: Path) -> tuple[Counter[str], list[int]]:
    """Count in the report what the log lost or stored twice; returns why each question was asked, and how many answers it was
    behind."""
    store = Repository(open_project(project).database_url)
    events = list(store.since())
    store.close()
    found = Counter(event.question_id for event in events if event.kind in ("answer", "skip"))
    report.lost = sum(found[question_id] == 0 for question_id in report.acknowledged)
    report.duplicated = sum(found[question_id] > 1 for question_id in report.acknowledged)
    asked = [event.payload for event in events if event.kind == "question"]
    return Counter(each["why"] for each in asked), [each["behind"] for each in asked]


def endless_project(folder: Path, question: str, items: int = 0, process_from: int | None = None) -> Path:
    """A project on the bundled words, or on this many synthetic ``items`` of 300 dimensions; the owner has chosen to go on, so
    that a crowd does not reach the end within a minute."""
    kind, _, size = question.partition("-")
    learning = {"question": kind, "set_size": int(size) if size else None}
    pool = Pool(made_pool(items, 300), [f"item {row}" for row in range(items)]) if items else demo_pool()
    server = {} if process_from is None else {"process_from": process_from}
    create_project(folder, pool, DEMO_SETTINGS.changed(learning=learning, server=server))
    store = Repository(open_project(folder).database_url)
    store.append([end_event(None, "shown", "for the measurement"), Event("go_on", None, "owner")])
    store.close()
    return folder


def add_row(table: Path, row: Sequence[object]) -> None:
    """Append a row to a table, which is created if it does not exist."""
    new = not table.exists()
    with table.open("a", newline="", encoding="utf-8") as file:
        plain = [f"{value:.4g}" if isinstance(value, float) else value for value in row]
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, plain] if new else [plain])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[1, 100, 300, 500], help="how many at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each number of people answers")
    parser.add_argument("--question", default="auto", help="what is asked: auto, select-3, rank-4")
    parser.add_argument("--items", type=int, default=0, help="this many synthetic items in place of the bundled words")
    parser.add_argument("--process-from", type=int, help="people from whom on a second process learns")
    parser.add_argument("--csv", type=Path, help="a table to add the rows to")
    parser.add_argument("--quick", action="store_true", help="100 people for 30 seconds, without targets")
    options, _ = parser.parse_known_args()
    if options.quick:
        options.people, options.seconds = [100], 30.0
    print(" ".join(f"{head:>10}" for head in HEADS), "  shares by why")
    missed = []
    for people in options.people:
        report, asked, behind, used, memory = measure(
            people, options.seconds, options.question, options.items, options.process_from
        )
        row, total = report.summary(), max(sum(asked.values()), 1)
        values = (
            *(row[key] for key in ("seconds", "answers", "p50_ms", "p95_ms", "p99_ms")),
            used / max(report.seconds, 1e-9),
            *(row[key] for key in ("lost", "same_question_at_once", "faults")),
        )
        shares = " ".join(f"{why} {count / total:.1%}" for why, count in asked.most_common())
        shares += "; answers behind: " + ", ".join(f"{q} % {np.percentile(behind, q):.0f}" for q in (50, 95, 100))
        shares += "; " + " + ".join(f"{one / 1e6:.0f} MB" for one in memory)
        print(f"{people:>10}", " ".join(f"{value:>10.4g}" for value in values), f"  {shares}", flush=True)
        if options.csv is not None:
            add_row(options.csv, (people, options.question, *values[:5], asked["fallback"] / total, values[5]))
        for fault, count in Counter(report.faults).most_common(3):
            print(f"  problem ({count} times): {fault}")
        if not options.quick and np.isfinite(row["p95_ms"]) and row["p95_ms"] > MOST_MS.get(people, np.inf):
            missed.append(f"{people} people wait {row['p95_ms']:.0f} ms")
        if not options.quick and asked["fallback"] / total > MOST_RANDOM.get(people, 1.0):
            missed.append(f"{people} people get {asked['fallback'] / total:.1%} random questions")
    if missed:
        raise SystemExit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
