"""A server under load for an hour: memory, open files and waiting times must not grow.

    python benchmarks/soak.py [--minutes 60] [--people 20] [--speed 4]

Simulated people answer without a pause. Each tenth of the time gives a row: resident memory of the server and of the process that
learns, the server's open files, the answers so far, the time from an answer to the next question, and the processor time of both.
Fails if the last row exceeds that after the first fifth by more than the growth of the log explains: 20 % and 20 KB per answer of
memory, 10 open files, twice the waiting time.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
from dataclasses import astuple, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.bench_people import endless_project
from scripts.processes import cpu_seconds, learners, open_files, resident_bytes
from tellmore.app.demo import known_scores
from tellmore.sim.drive import Report, drive, invite
from tests.app.serving import Server, free_port

ROWS = 10
MB = 1e6


@dataclass(frozen=True)
class Row:
    """The end of a tenth: resident memory of the server and of the process that learns, the server's open files, answers so far,
    95th percentile of the waiting times since the row before, and the processor time of both processes so far."""

    server_mb: float
    learner_mb: float
    files: int
    answers: int
    p95_ms: float
    cpu_s: float

    @classmethod
    def of(cls, pid: int, answers: int, p95_ms: float) -> Row:
        """As it is now, of the server with this ``pid``."""
        others = learners(pid)
        learner_mb = sum(map(resident_bytes, others)) / MB
        cpu_s = sum(map(cpu_seconds, [pid, *others]))
        return cls(resident_bytes(pid) / MB, learner_mb, open_files(pid), answers, p95_ms, cpu_s)


def soak(minutes: float, people: int, speed: float, question: str = "auto") -> list[Row]:
    """What was used at the end of each tenth."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(endless_project(Path(folder) / "project", question), free_port())
        try:
            links, stop = invite(server.start(), people), threading.Event()
            assert server.process is not None
            latency: list[float] = []
            reports: list[Report] = []

            def work() -> None:
                while not stop.is_set():
                    report = drive(links, answers=5, scores=known_scores(), speed=speed, stop=stop)
                    reports.append(report)
                    latency.extend(report.latency_ms)

            worker = threading.Thread(target=work)
            worker.start()
            for _ in range(ROWS):
                before = len(latency)
                time.sleep(60 * minutes / ROWS)
                new = latency[before:]
                p95 = float(np.percentile(new, 95)) if new else float("nan")
                rows.append(Row.of(server.process.pid, len(latency), p95))
                print(" ".join(f"{value:>10.4g}" for value in astuple(rows[-1])), flush=True)
            stop.set()
            worker.join()
            faults = [fault for report in reports for fault in report.faults]
            print(f"faults: {len(faults)} {sorted(set(faults))[:3]}")
        finally:
            server.end(signal.SIGTERM, 60.0)
    return rows


def grown(rows: list[Row]) -> list[str]:
    """What grew, in words."""
    first, last = rows[len(rows) // 5], rows[-1]
    log_mb, found = 0.02 * (last.answers - first.answers), []
    for name in ("server_mb", "learner_mb"):
        was, now = getattr(first, name), getattr(last, name)
        found += [f"{name} {was:.0f} to {now:.0f}"] if now > 1.2 * was + log_mb else []
    found += [f"open files {first.files} to {last.files}"] if last.files > first.files + 10 else []
    waits = last.p95_ms > 2 * max(first.p95_ms, 50.0)
    return found + ([f"waiting {first.p95_ms:.0f} to {last.p95_ms:.0f} ms"] if waits else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--speed", type=float, default=4.0, help="divide think times by this")
    options = parser.parse_args()
    print(" ".join(f"{head:>10}" for head in ("server MB", "learner MB", "files", "answers", "p95 ms", "CPU s")))
    if found := grown(soak(options.minutes, options.people, options.speed)):
        raise SystemExit("grown: " + "; ".join(found))


if __name__ == "__main__":
    main()
