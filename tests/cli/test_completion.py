"""Shell completion, in a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")

COMPLETE = """
source "$HOME/.bashrc"
for line in "tellmore sta" "tellmore export --form"; do
    COMP_WORDS=($line)
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    $(complete -p tellmore | sed 's/.*-F \\([^ ]*\\) .*/\\1/') tellmore
    echo "${COMPREPLY[@]}"
done
"""


def bash(script: str, home: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--norc", "-c", f"{script}\ntrue"]  # not the last command: the shell itself must stay to be seen
    environment = {**os.environ, "HOME": str(home), "PATH": path}
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout


def test_commands_and_options_are_completed_once_it_is_installed(tmp_path: Path) -> None:
    assert "bash completion installed" in bash("tellmore --install-completion", tmp_path)
    assert bash(COMPLETE, tmp_path).split() == ["status", "--format"]
