"""Writes answers that arrive at the same time together, in one transaction with one wait for the disk.

The next thread to get the session's lock writes for all that are waiting for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tellmore.types import Answer


@dataclass(eq=False)
class Submission:
    """One person's answer that is to be logged; ``problem`` is the reason if that failed."""

    participant: str
    question_id: str
    answer: Answer
    timing: Mapping[str, Any] | None
    done: bool = False
    problem: Exception | None = None


class Together:
    """``write`` is called, with the lock held, for the waiting submissions, at most one per person at a time. It sets the
    ``problem`` of each submission that it could not write."""

    def __init__(self, lock: threading.Condition, write: Callable[[Sequence[Submission]], None]) -> None:
        self._lock, self._write = lock, write
        self._waiting: deque[Submission] = deque()

    def submit(self, one: Submission) -> None:
        """Return once ``one`` is in the log, or raise its problem."""
        self._waiting.append(one)
        with self._lock:
            while not one.done:
                self._write_waiting()
        if one.problem is not None:
            raise one.problem

    def _write_waiting(self) -> None:
        batch: dict[str, Submission] = {}
        while self._waiting and self._waiting[0].participant not in batch:
            one = self._waiting.popleft()
            batch[one.participant] = one
        try:
            self._write(list(batch.values()))
        except Exception as problem:
            for one in batch.values():
                one.problem = one.problem or problem
        finally:
            for one in batch.values():
                one.done = True
