"""Limits on how often somebody may make expensive requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tellmore.errors import StateError

CHEAP_UNDO = 12
"""An answer with at most this many after it can be undone without learning all of them again."""


class TooOftenError(StateError):
    """Wait ``wait_s`` before doing that again."""

    def __init__(self, what: str, wait_s: float) -> None:
        super().__init__(f"{what}; wait {max(1, round(wait_s))} s")
        self.wait_s = wait_s


class RateLimit:
    """A token bucket per key: ``rate`` requests a second on average, ``burst`` at once."""

    def __init__(self, rate: float = 30.0, burst: float = 120.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._levels: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait_s(self, key: str, cost: float = 1.0) -> float:
        """0 if the request may pass, else how many seconds to wait. ``cost``: as how many requests it counts."""
        now = self._clock()
        with self._lock:
            if len(self._levels) > 10_000:
                self._forget_full(now)
            level, then = self._levels.get(key, (self._burst, now))
            level = min(self._burst, level + (now - then) * self._rate)
            allowed = level >= cost
            self._levels[key] = (level - cost if allowed else level, now)
            return 0.0 if allowed else (cost - level) / self._rate

    def _forget_full(self, now: float) -> None:
        refill_s = self._burst / self._rate
        self._levels = {key: entry for key, entry in self._levels.items() if now - entry[1] < refill_s}


class Relearning:
    """Limits requests after which many answers have to be learnt again: undoing an old answer, changing the start, deleting a
    person. There is a limit for each person and one for all together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._own = RateLimit(rate=1 / 15, burst=20, clock=clock)
        self._all = RateLimit(rate=1 / 3, burst=100, clock=clock)

    def spend(self, participant: str) -> None:
        """Count one request; raises TooOftenError if it is one too many."""
        wait_s = self._own.wait_s(participant) or self._all.wait_s("")
        if wait_s > 0:
            raise TooOftenError("the classifier was retrained too often", wait_s)
