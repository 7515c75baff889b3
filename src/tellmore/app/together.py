"""Answers that arrive at the same time are written together: one transaction, one wait for the disk, for all of them.

Whoever has the session's lock next writes for everybody who is waiting for it.
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
    """One person's answer on its way into the log; ``problem``: why it did not get there."""

    participant: str
    question_id: str
    answer: Answer
    timing: Mapping[str, Any] | None
    done: bool = False
    problem: Exception | None = None


class Together:
    """``write`` is called with the lock held and what is waiting, at most one submission of each person at a time; it notes the
    problem of each submission that it could not write."""

    def __init__(self, lock: threading.Condition, write: Callable[[Sequence[Submission]], None]) -> None:
        self._lock, self._write = lock, write
        self._waiting: deque[Submission] = deque()

    def submit(self, one: Submission) -> None:
        """Returns once ``one`` is in the log, or raises its problem."""
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
