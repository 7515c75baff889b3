"""Runs every suite and ends with one table: passed, failed, could not run.

    python scripts/run_tests.py [suite ...]

Suites with one process run two at a time; then those that use both cores run one after another. A suite that cannot run (no
Node, no chromium, no PostgreSQL) counts as failed only with CI=true.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from postgres_cluster import NoPostgresError, private_postgres

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / ".make" / "reports"
BIN = Path(sys.executable).parent
PYTEST = [sys.executable, "-m", "pytest", "-q"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCREENS = "tests/browser/test_screens.py"
APART = "not browser and not postgres and not slow and not docs"


class CannotRunError(Exception):
    """Something that a suite needs is missing on this machine."""


@dataclass(frozen=True)
class Outcome:
    """One row of the summary."""

    suite: str
    result: str
    tests: str
    seconds: float
    note: str


def nothing(_stack: ExitStack) -> dict[str, str]:
    """Prepare a suite that needs only Python."""
    return {}


@dataclass(frozen=True)
class Suite:
    """Commands that must all succeed; ``prepare`` may add to their environment or raise CannotRunError."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    prepare: Callable[[ExitStack], dict[str, str]] = nothing

    @property
    def both_cores(self) -> bool:
        """Whether it runs tests in two processes."""
        return any("-n" in command for command in self.commands)


def pytest_suite(name: str, *arguments: str, prepare: Callable[[ExitStack], dict[str, str]] = nothing) -> Suite:
    """A pytest suite, with a report in .make/reports/<name>.xml."""
    command = (*PYTEST, f"--junitxml={REPORTS / name}.xml", "--ignore=tests/integrations", *arguments)
    return Suite(name, (command,), prepare)


def with_node(_stack: ExitStack) -> dict[str, str]:
    """Put node and npm on PATH; the client must be built."""
    found = subprocess.run([ROOT / "scripts" / "node-path.sh"], text=True, capture_output=True)
    if found.returncode != 0:
        raise CannotRunError("no Node.js 20 or newer")
    if not (ROOT / "web" / "node_modules").is_dir():
        raise CannotRunError("the client's packages are not installed (scripts/build-client.sh)")
    return {"PATH": f"{found.stdout.strip()}{os.pathsep}{os.environ['PATH']}"}


def with_client(_stack: ExitStack) -> dict[str, str]:
    """The built client."""
    if not (ROOT / "src/tellmore/app/static/index.html").exists():
        raise CannotRunError("the client is not built (scripts/build-client.sh)")
    return {}


def with_browser(stack: ExitStack) -> dict[str, str]:
    """Find chromium, or the one that TELLMORE_CHROMIUM names; the client must be built."""
    browser = os.environ.get("TELLMORE_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise CannotRunError("no chromium (Debian: apt install chromium)")
    return {"TELLMORE_CHROMIUM": browser, **with_client(stack)}


def with_postgres(stack: ExitStack) -> dict[str, str]:
    """Use the server that TELLMORE_TEST_POSTGRES names, or start a private one."""
    if url := os.environ.get("TELLMORE_TEST_POSTGRES"):
        return {"TELLMORE_TEST_POSTGRES": url}
    try:
        return {"TELLMORE_TEST_POSTGRES": stack.enter_context(private_postgres())}
    except NoPostgresError as missing:
        raise CannotRunError(str(missing)) from None


def suites() -> tuple[Suite, ...]:
    """All suites, in the order of the summary."""
    npm = ("npm", "--prefix", str(ROOT / "web"), "run", "--silent")
    return (
        Suite("lint", ((str(BIN / "ruff"), "check", "."), (str(BIN / "ruff"), "format", "--check", "."))),
        Suite("types", ((str(BIN / "mypy"),),)),
        Suite("imports", ((str(BIN / "lint-imports"), "--no-logo"),)),
        pytest_suite("python", "-n", "2", "-m", APART, "--ignore=tests/browser", "tests"),
        pytest_suite("postgres", "-m", "postgres", "tests", prepare=with_postgres),
        Suite("client", ((*npm, "check"), (*npm, "test")), with_node),
        pytest_suite(
            "browser",
            "-n",
            "2",
            "--dist",
            "loadfile",
            "-m",
            "browser",
            f"--ignore={SCREENS}",
            "tests",
            prepare=with_browser,
        ),
        pytest_suite("screens", "-n", "2", "-m", "browser", SCREENS, prepare=with_browser),
        pytest_suite("docs", "-n", "2", "--dist", "loadscope", "-m", "docs", "tests"),
        pytest_suite("doctests", "--doctest-modules", "--ignore=src/tellmore/store/migrations", "src/tellmore"),
        pytest_suite("wheel", "-n", "2", "--dist", "loadscope", "-m", "slow", "tests", prepare=with_client),
    )


def counts(suite: Suite) -> str:
    """How many tests ran and were skipped, as reported by pytest; empty for other tools."""
    report = REPORTS / f"{suite.name}.xml"
    if not report.exists():
        return ""
    totals = ET.parse(report).getroot().find("testsuite")
    assert totals is not None
    skipped = int(totals.get("skipped", 0))
    run = int(totals.get("tests", 0)) - skipped
    return f"{run}" + (f" ({skipped} skipped)" if skipped else "")


def skips(suite: Suite) -> str:
    """Why tests of the suite were skipped, each reason once."""
    report = REPORTS / f"{suite.name}.xml"
    if not report.exists():
        return ""
    reasons = (skipped.get("message", "") for skipped in ET.parse(report).getroot().iter("skipped"))
    return "; ".join(dict.fromkeys(f"skipped: {reason.splitlines()[0]}" for reason in reasons if reason))


def run(suite: Suite, *, quiet: bool = False) -> Outcome:
    """Run one suite to its end; with ``quiet``, its output is shown only when it has ended."""
    if not quiet:
        print(f"\n== {suite.name}", flush=True)
    (REPORTS / f"{suite.name}.xml").unlink(missing_ok=True)
    start = time.monotonic()
    with ExitStack() as stack:
        try:
            environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | suite.prepare(stack)
        except CannotRunError as missing:
            print(f"{suite.name} could not run: {missing}", flush=True)
            return Outcome(suite.name, "could not run", "", time.monotonic() - start, str(missing))
        pipe = subprocess.PIPE if quiet else None
        done = [
            subprocess.run(command, cwd=ROOT, env=environment, text=True, stdout=pipe, stderr=subprocess.STDOUT)
            for command in suite.commands
        ]
    if quiet:
        print(f"\n== {suite.name}\n{''.join(each.stdout for each in done)}", end="", flush=True)
    failed = [each.args for each in done if each.returncode != 0]
    note = ", ".join(" ".join(Path(part).name for part in command[:2]) for command in failed) or skips(suite)
    return Outcome(suite.name, "failed" if failed else "passed", counts(suite), time.monotonic() - start, note)


def run_all(chosen: Sequence[Suite]) -> list[Outcome]:
    """Outcomes in the order of ``chosen``."""
    with ThreadPoolExecutor(2) as pool:
        of_one_process = [suite for suite in chosen if not suite.both_cores]
        ended = dict(zip(of_one_process, pool.map(lambda suite: run(suite, quiet=True), of_one_process), strict=True))
    ended |= {suite: run(suite) for suite in chosen if suite.both_cores}
    return [ended[suite] for suite in chosen]


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """The table at the end."""
    lines = [f"{'suite':<10}{'result':<15}{'tests':<20}{'seconds':>8}  note"]
    lines += [f"{o.suite:<10}{o.result:<15}{o.tests:<20}{o.seconds:>8.0f}  {o.note}" for o in outcomes]
    lines.append(f"{'':<10}{'':<15}{'':<20}{seconds:>8.0f}  in all")
    if not os.environ.get("TELLMORE_DATA"):
        lines.append("TELLMORE_DATA is not set: tests on other pools than the bundled one were skipped.")
    return "\n".join(lines)


def main() -> None:
    """Run the named suites, or all; exit with 1 if one failed, or could not run and CI=true."""
    known = {suite.name: suite for suite in suites()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", choices=[*known, []], metavar="suite", help=f"of: {', '.join(known)}")
    chosen = parser.parse_args().suites or list(known)
    REPORTS.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    outcomes = run_all([known[name] for name in chosen])
    print(f"\n{summary(outcomes, time.monotonic() - start)}")
    bad = {"failed", "could not run"} if os.environ.get("CI") == "true" else {"failed"}
    sys.exit(any(outcome.result in bad for outcome in outcomes))


if __name__ == "__main__":
    main()
