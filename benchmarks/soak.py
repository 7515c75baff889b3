"""A server under load for an hour: memory, open files and waiting times must not grow.

    python benchmarks/soak.py [--minutes 60] [--people 20] [--speed 4]

Simulated people answer without a pause. Each tenth of the time gives a row: resident memory, open files, and the time from an
answer to the next question. Fails if the last row exceeds that after the first fifth by more than the growth of the log explains:
20 % and 20 KB per answer of memory, 10 open files, twice the waiting time.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.bench_people import endless_project
from scripts.processes import open_files, resident_bytes
from tellmore.app.demo import known_scores
from tellmore.sim.drive import Report, drive, invite
from tests.app.serving import Server, free_port

ROWS = 10
MB = 1e6


def soak(minutes: float, people: int, speed: float, question: str = "auto") -> list[tuple[float, int, int, float]]:
    """(resident MB, open files, answers, p95 ms) at the end of each tenth; p95 is over the answers since the row before."""
    rows: list[tuple[float, int, int, float]] = []
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
                pid, new = server.process.pid, latency[before:]
                p95 = float(np.percentile(new, 95)) if new else float("nan")
                rows.append((resident_bytes(pid) / MB, open_files(pid), len(latency), p95))
                print(" ".join(f"{value:>10.4g}" for value in rows[-1]), flush=True)
            stop.set()
            worker.join()
            faults = [fault for report in reports for fault in report.faults]
            print(f"faults: {len(faults)} {sorted(set(faults))[:3]}")
        finally:
            server.end(signal.SIGTERM, 60.0)
    return rows


def grown(rows: list[tuple[float, int, int, float]]) -> list[str]:
    """What grew, in words."""
    first, last = rows[len(rows) // 5], rows[-1]
    may_have = 1.2 * first[0] + 0.02 * (last[2] - first[2])
    found = [f"memory {first[0]:.0f} to {last[0]:.0f} MB"] if last[0] > may_have else []
    found += [f"open files {first[1]} to {last[1]}"] if last[1] > first[1] + 10 else []
    return found + ([f"waiting {first[3]:.0f} to {last[3]:.0f} ms"] if last[3] > 2 * max(first[3], 50.0) else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--speed", type=float, default=4.0, help="divide think times by this")
    options = parser.parse_args()
    print(" ".join(f"{head:>10}" for head in ("MB", "files", "answers", "p95 ms")))
    if found := grown(soak(options.minutes, options.people, options.speed)):
        raise SystemExit("grown: " + "; ".join(found))


if __name__ == "__main__":
    main()
