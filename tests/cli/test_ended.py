"""A command that is ended by SIGTERM cleans up."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path


def test_init_leaves_nothing_half_made_when_terminated(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("id,text\na,one\nb,two\n", encoding="utf-8")
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    command = [sys.executable, "-m", "tellmore", "init", "project", "--items", "items.csv", "--attribute", "positive"]
    process = subprocess.Popen([*command, "--embed", f"exec:{sys.executable} {slow}"], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 60
        while not [path for path in tmp_path.iterdir() if path.name.startswith(".project-")]:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    finally:
        process.kill()
    left = {path.name for path in tmp_path.iterdir()}
    assert not [name for name in left if name.startswith(".project-")]
    assert "project" not in left
