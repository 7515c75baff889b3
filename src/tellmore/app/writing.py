"""Writing to a project's log: a change is in the database before the desk shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from tellmore.app.desk import Desk
from tellmore.store.repository import Event, Repository

FOREIGN_EVERY_S = 1.0
"""How often to look for events that others, for example an import, wrote to the log."""


class Writer:
    """A log, and the desk that reads it, behind one lock."""

    desk: Desk

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.lock = threading.Condition(threading.RLock())
        self._issuing: set[str] = set()  # items of questions that are being written and are not on the desk yet
        self._foreign_due = 0.0

    def append(self, batch: Sequence[Event]) -> list[Event]:
        """Write further events, for example those of a study."""
        with self.lock:
            return self._append(batch)

    def read_foreign_events(self, _mind: object) -> bool:
        """Chore: read what others wrote to the same log."""
        now = time.monotonic()
        if now < self._foreign_due:
            return False
        self._foreign_due = now + FOREIGN_EVERY_S
        with self.lock:
            events = list(self.repository.since(self.desk.seq))
            if events:
                self._apply(events)
        return bool(events)

    def _append(self, batch: Sequence[Event]) -> list[Event]:
        if not batch:
            return []
        before = self.desk.seq
        try:
            written = self.repository.append(batch)
        finally:
            self._issuing.clear()
        foreign = written[0].seq != before + 1
        self._apply(list(self.repository.since(before)) if foreign else written)
        return written

    def _apply(self, events: Sequence[Event]) -> None:
        for event in events:
            self.desk.apply(event)
        self.lock.notify_all()
