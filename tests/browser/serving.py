"""A real server in a separate process, and the contents of its log, read through the export."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

from tests.browser.forked import running

ROOT = Path(__file__).resolve().parents[2]
START_WITHIN_LINES = 50


@dataclass(frozen=True)
class Invited:
    """One person's way in."""

    participant: str
    url: str


@dataclass(frozen=True)
class Server:
    """A running server; ``url`` is the owner's address with its token."""

    url: str
    folder: Path

    @property
    def base(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.url).query)["token"][0]

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """One request of the owner; returns JSON, or text if it is not JSON."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if method == "GET" else json.dumps(body or {}).encode()
        with urlopen(Request(self.base + path, data, headers, method=method), timeout=30) as response:
            text = response.read().decode()
            return json.loads(text) if response.headers.get_content_type() == "application/json" else text

    def invite(self, name: str) -> Invited:
        made = self.call("POST", "/api/invitations", {"name": name})
        return Invited(made["participant"], made["url"])

    def events(self, participant: str, *kinds: str) -> list[dict[str, Any]]:
        """Events of one person in the exported log, oldest first."""
        lines = self.call("GET", "/api/export/jsonl").splitlines()
        rows = [json.loads(line) for line in lines]
        return [row for row in rows if row.get("participant") == participant and row["kind"] in kinds]

    def answers(self, participant: str) -> list[tuple[str, dict[str, Any]]]:
        """Answers and skips of one person that were not undone, oldest first, as (question id, answer)."""
        undone = {row["question_id"] for row in self.events(participant, "undo")}
        given = self.events(participant, "answer", "skip")
        return [(row["question_id"], row["payload"]["answer"]) for row in given if row["question_id"] not in undone]

    def timings(self, participant: str) -> list[dict[str, Any]]:
        """What the browser measured, one for each answer or skip, oldest first."""
        return [row["payload"]["timing"] for row in self.events(participant, "answer", "skip")]


def _address(printed: TextIO) -> str:
    """The owner's address, from what the server prints on its start."""
    said = []
    for _ in range(START_WITHIN_LINES):
        line = printed.readline()
        if not line:
            break
        said.append(line)
        if found := re.search(r"http://\S+\?token=\S+", line):
            return found.group()
    raise AssertionError("the server printed no address:\n" + "".join(said))


@contextmanager
def serving(folder: Path, *command: str, packages: Sequence[Path] = ()) -> Iterator[Server]:
    """``tellmore COMMAND --port 0``, stopped at the end; ``folder`` is where the command keeps its project.

    ``packages``: folders in which the server finds further installed packages.
    """
    words = (*command, "--port", "0")
    with _started(words, packages) if packages else running(*words) as printed:
        yield Server(_address(printed), folder)


@contextmanager
def _started(words: Sequence[str], packages: Sequence[Path]) -> Iterator[TextIO]:
    """``tellmore WORDS`` as a shell starts it."""
    path = os.pathsep.join(map(str, [ROOT / "src", *packages]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-m", "tellmore", *words]
    with subprocess.Popen(
        arguments, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def run_tellmore(folder: Path, *words: str) -> str:
    """``tellmore WORDS`` in ``folder``, which must succeed; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "tellmore", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
