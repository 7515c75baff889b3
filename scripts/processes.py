"""The resources that a running process uses, according to the operating system (Linux only)."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:15]) / TICKS


def resident_bytes(pid: int) -> int:
    """Memory that a process uses."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files(pid: int) -> int:
    """How many files, sockets and pipes a process has open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def children(pid: int) -> list[int]:
    """Running processes that a process has started."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = each.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
        except (FileNotFoundError, ProcessLookupError):  # it ended just now
            continue
        if int(parent) == pid:
            found.append(int(each.parent.name))
    return found


def learners(pid: int) -> list[int]:
    """The processes in which a server learns and chooses."""
    return [each for each in children(pid) if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]
