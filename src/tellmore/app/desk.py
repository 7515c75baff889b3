"""Who has which question: leases, open questions of each person, what they can undo. It reads the log through ``Ledger``
and never writes. After a restart, replaying the log gives the same desk.
Times are seconds since the epoch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from datetime import datetime

from tellmore.app.lately import Lately
from tellmore.app.leases import Leases
from tellmore.data.settings import Settings
from tellmore.store.ledger import Asked, Given, Ledger
from tellmore.store.repository import Event
from tellmore.types import Skip


class Desk(Ledger):
    """The log so far, and who has which questions."""

    def __init__(self, settings: Settings, events: Iterable[Event] = ()) -> None:
        self._in_hand: dict[str, list[str]] = defaultdict(list)
        self._done: dict[str, list[str]] = defaultdict(list)
        self._leases = Leases()
        self._changes: list[int] = []
        self._recent: deque[str] = deque(maxlen=100)
        self._minutes: dict[str, float] = defaultdict(float)
        self._answers: dict[str, int] = defaultdict(int)
        self._shown: dict[str, int] = defaultdict(int)
        self.lately = Lately()
        super().__init__(settings, events)

    @property
    def mark(self) -> int:
        """Number of the last event that changed which answers count: an answer, an undo, a reset, a delete, a leave_out."""
        return self._changes[-1] if self._changes else 0

    # Open questions

    def open_for(self, participant: str) -> Asked | None:
        """The question to show this person: the newest one that they have not answered."""
        stack = self._in_hand[participant]
        return self.asked[stack[-1]] if stack else None

    def hand(self, participant: str) -> list[str]:
        """Ids of the questions that this person has not answered, the newest last."""
        return list(self._in_hand[participant])

    def lease_until(self, question_id: str) -> float:
        """When the lease of a question ends or ended; 0 if it was released."""
        return self._leases.until(question_id)

    def reserved(self, now: float, *, besides: str = "") -> set[str]:
        """Items of all questions that are open at ``now``, except those of the participant ``besides``."""
        held, taken = self._leases.items(now), set(self._leases.items(now))
        hand = [each for each in self._in_hand.get(besides, ()) if self._leases.until(each) > now]
        own = Counter(item for each in hand for item in self.asked[each].question.items)
        return taken.difference(item for item, times in own.items() if held[item] <= times)

    def out(self, now: float) -> list[Asked]:
        """The questions that are open at ``now``."""
        return [self.asked[question_id] for question_id in self._leases.live(now)]

    def recent_items(self, questions: int) -> set[str]:
        """Items of the last ``questions`` questions answered."""
        return {
            item for question_id in list(self._recent)[-questions:] for item in self.asked[question_id].question.items
        }

    # What a person did

    def last_answer(self, participant: str) -> Given | None:
        """The newest answer or skip of this person that was not undone."""
        done = self._done[participant]
        return self.given[done[-1]] if done else None

    def can_undo(self, participant: str) -> int:
        """How many answers and skips this person could undo."""
        return len(self._done[participant])

    def answers_of(self, participant: str) -> int:
        """Answers of this person that count, without skips."""
        return self._answers[participant]

    def minutes_of(self, participant: str) -> float:
        """This person's minutes on answers and skips that were not undone."""
        return self._minutes[participant]

    @property
    def shown(self) -> int:
        """How many items were shown in all questions answered or skipped; repeated items count each time."""
        return sum(self._shown.values())

    def contributors(self) -> set[str]:
        """Everybody who was given a question and was not deleted."""
        return set(self._in_hand) | set(self._done)

    def changes_after(self, seq: int) -> int:
        """How many answers were given or undone after event ``seq``, and so were not used for a question chosen then."""
        return len(self._changes) - bisect_right(self._changes, seq)

    # Events

    def _on_question(self, event: Event) -> None:
        super()._on_question(event)
        self.lately.add(self.asked[event.question_id or ""])
        self._in_hand[event.participant or ""].append(event.question_id or "")

    def _on_lease(self, event: Event) -> None:
        question_id = event.question_id or ""
        if event.payload.get("released"):
            self._release(question_id, event.participant or "")
        elif question_id in self.asked:
            until = datetime.fromisoformat(event.payload["until_utc"]).timestamp()
            self._leases.hold(question_id, self.asked[question_id].question.items, until)

    def _on_answer(self, event: Event) -> None:
        super()._on_answer(event)
        question_id, participant = event.question_id or "", event.participant or ""
        self._release(question_id, participant)
        self._done[participant].append(question_id)
        if question_id in self.asked:
            self._recent.append(question_id)
        given = self.given[question_id]
        self._count(given, +1)
        if given.counts:
            self._changes.append(event.seq)

    _on_skip = _on_answer

    def _on_undo(self, event: Event) -> None:
        super()._on_undo(event)
        self._changes.append(event.seq)

    def _on_reset(self, event: Event) -> None:
        super()._on_reset(event)
        self.lately.clear()
        self._changes.append(event.seq)
        for everything in (self._in_hand, self._done, self._leases, self._minutes, self._answers, self._shown):
            everything.clear()

    def _on_leave_out(self, event: Event) -> None:
        super()._on_leave_out(event)
        self._changes.append(event.seq)

    def _on_delete(self, event: Event) -> None:
        super()._on_delete(event)
        self._changes.append(event.seq)
        gone = event.payload["participant"]
        for question_id in self._in_hand.pop(gone, []):
            self._leases.let_go(question_id)
        for everything in (self._done, self._minutes, self._answers, self._shown):
            everything.pop(gone, None)

    def _void(self, given: Given, why: str) -> None:
        if not given.void and why == "undo":
            self._done[given.participant].remove(given.question_id)
            self._count(given, -1)
        super()._void(given, why)

    def _count(self, given: Given, sign: int) -> None:
        self._minutes[given.participant] += sign * given.active_ms / 60_000
        self._answers[given.participant] += 0 if isinstance(given.answer, Skip) else sign
        if given.question_id in self.asked:
            self._shown[given.participant] += sign * self.asked[given.question_id].question.size

    def _release(self, question_id: str, participant: str) -> None:
        self._leases.let_go(question_id)
        if question_id in self._in_hand[participant]:
            self._in_hand[participant].remove(question_id)
