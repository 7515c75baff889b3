"""Returns unused memory to the system. The C library keeps freed memory that lies between blocks in use, and with every answer
large matrices are freed between small lasting records. Without this, a server's memory grows by 20 unused kB per answer."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

EVERY_S = 30.0


class MemoryKeeper:
    """Returns unused memory now and then, if the C library can do this (glibc)."""

    def __init__(self, trim: Callable[[int], Any] | None = None) -> None:
        self._trim = trim or _malloc_trim()
        self._due = 0.0

    def give_back_if_due(self, _engine: object) -> bool:
        """A chore for the planner; returns False, because it leads to no further work."""
        if self._trim is not None and time.monotonic() > self._due:
            self._trim(0)
            self._due = time.monotonic() + EVERY_S
        return False


def _malloc_trim() -> Callable[[int], Any] | None:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):  # Windows has no such library
        return None
