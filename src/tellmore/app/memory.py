"""Giving memory back: the C library keeps what was freed between two blocks in use, and with every answer large matrices come and
go between small lasting records. Without this a server's memory grows by 20 kB an answer that nothing uses."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

EVERY_S = 30.0


class MemoryKeeper:
    """Gives unused memory back now and then, where the C library can (glibc)."""

    def __init__(self, trim: Callable[[int], Any] | None = None) -> None:
        self._trim = trim or _malloc_trim()
        self._due = 0.0

    def give_back_if_due(self, _fold: object) -> bool:
        """Chore: it is never a reason to look for more to do."""
        if self._trim is not None and time.monotonic() > self._due:
            self._trim(0)
            self._due = time.monotonic() + EVERY_S
        return False


def _malloc_trim() -> Callable[[int], Any] | None:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except (OSError, TypeError):  # Windows has no such library
        return None
