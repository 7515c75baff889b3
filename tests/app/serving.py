"""A real server process on a small project: started, killed, started again."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from tellmore.client import Client, Link
from tellmore.data.project import create_project
from tellmore.data.settings import LearningSettings, ProjectSettings, ServerSettings, Settings
from tellmore.pool import Pool

ROOT = Path(__file__).resolve().parents[2]


def small_project(folder: Path, database: str = "", n: int = 400) -> Path:
    """A project of ``n`` items in 8 dimensions that asks for rankings of three."""
    X = np.random.default_rng(1).standard_normal((n, 8))
    pool = Pool(X / np.linalg.norm(X, axis=1, keepdims=True), ids=[f"i{row}" for row in range(n)])
    settings = Settings(
        project=ProjectSettings(name="crash"),
        learning=LearningSettings(question="rank", set_size=3, sizes=(2, 3)),
        server=ServerSettings(database=database),
    )
    create_project(folder, pool, settings)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """``tellmore serve`` as a separate process."""

    def __init__(self, project: Path, port: int, *options: str) -> None:
        self._project, self.port, self._options = project, port, options
        self.process: subprocess.Popen[str] | None = None
        self.said: list[str] = []

    def start(self, wait_s: float = 60.0) -> Link:
        """Start it and wait for the printed address."""
        self.begin()
        return self.wait(wait_s)

    def begin(self) -> None:
        """Start it."""
        command = [
            sys.executable,
            "-m",
            "tellmore",
            "serve",
            str(self._project),
            "--port",
            str(self.port),
            "--no-browser",
            *self._options,
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._found: list[Link] = []
        self._ready = threading.Event()

        def read() -> None:
            assert self.process is not None
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.said.append(line.rstrip())
                match = re.search(r"http://\S+", line)
                if match:
                    self._found.append(Link.parse(match[0]))
                    self._ready.set()
            self._ready.set()

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()

    def wait(self, wait_s: float = 60.0) -> Link:
        """The printed address, once the server responds."""
        assert self._ready.wait(wait_s), "the server did not start"
        assert self._found, f"the server ended: {self.said}"
        with Client(self._found[0]) as client:
            client.patiently("GET", "/api/me", give_up_s=wait_s)
        return self._found[0]

    def end(self, how: signal.Signals, wait_s: float = 15.0) -> int:
        """Send a signal and wait; returns the exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        code = self.process.wait(wait_s)
        self._reader.join(5)
        assert self.process.stdout is not None
        if (
            not self._reader.is_alive()
        ):  # a process that the server opened may outlive it for a moment, with the same output
            self.process.stdout.close()
        return code
