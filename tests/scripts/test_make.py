"""What the Makefile promises, as far as it can be checked without installing anything."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {"demo", "test", "test-integrations", "setup", "bench", "reproduce", "docs", "format", "wheel", "clean"}


def make(repository: Path, *arguments: str, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MAKELEVEL", "TELLMORE_DATA"}}
    done = subprocess.run(["make", *arguments], cwd=repository, env=clean | environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_alone_lists_every_target_with_one_line_each(repository: Path) -> None:
    lines = make(repository).splitlines()
    listed = {
        found.group(1): found.group(2) for line in lines if (found := re.fullmatch(r"\s+make ([\w-]+)\s+(\S.*)", line))
    }
    assert set(listed) >= TARGETS
    assert len(lines) == len(listed)


def test_port_reaches_the_demo(repository: Path) -> None:
    assert "tellmore demo --port 8123" in make(repository, "-n", "demo", "PORT=8123")


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "scripts").glob("*.sh")))
def test_shell_scripts_are_executable_and_parse(repository: Path, script: str) -> None:
    path = repository / "scripts" / script
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True)


def test_ci_runs_make_test(repository: Path) -> None:
    assert os.access(repository / ".ci" / "run", os.X_OK)
    assert "make test" in (repository / ".ci" / "run").read_text(encoding="utf-8")
