"""Until when each question is reserved, and which items are reserved. Every answer needs these items, so the counts are updated
as questions come and go, and computed again only when a lease has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf

ANEW = (inf, -inf)


class Leases:
    """Times are seconds since the epoch."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[float, Sequence[str]]] = {}
        self._counted: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._valid = ANEW  # from when and until when the counts are right

    def hold(self, question_id: str, items: Sequence[str], until: float) -> None:
        """Reserve a question with ``items``, or extend its lease."""
        self._uncount(question_id)
        self._held[question_id] = until, items
        self._count(question_id)
        self._valid = self._valid[0], min(self._valid[1], until)

    def let_go(self, question_id: str) -> None:
        """Release the question."""
        self._uncount(question_id)
        self._held.pop(question_id, None)

    def clear(self) -> None:
        """None is out."""
        for everything in (self._held, self._counted, self._counts):
            everything.clear()

    def until(self, question_id: str) -> float:
        """When a lease ends or ended; 0 if it was released."""
        return self._held.get(question_id, (0.0,))[0]

    def live(self, now: float) -> list[str]:
        """The questions that are reserved at ``now``."""
        return [question_id for question_id, (until, _) in self._held.items() if until > now]

    def items(self, now: float) -> Counter[str]:
        """The items of these questions, and in how many questions each is. Do not change the result."""
        if not self._valid[0] <= now < self._valid[1]:
            self._counts, self._counted = Counter(), set()
            for question_id in self.live(now):
                self._count(question_id)
            self._valid = now, min((self._held[each][0] for each in self._counted), default=inf)
        return self._counts

    def _count(self, question_id: str) -> None:
        self._counted.add(question_id)
        self._counts.update(self._held[question_id][1])

    def _uncount(self, question_id: str) -> None:
        if question_id in self._counted:
            self._counted.remove(question_id)
            for item in self._held[question_id][1]:
                self._counts[item] -= 1
                if not self._counts[item]:
                    del self._counts[item]
