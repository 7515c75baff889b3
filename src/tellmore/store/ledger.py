"""What is in the log, without any learning: questions asked, answers given, which of them count, the current settings.

It is built in one pass over the events, in order of ``seq``; undo, delete and reset void earlier answers. Everything that
reads the log (the learner's fold, the app, exports) uses this module, so that all agree on what counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from tellmore.data.settings import Settings
from tellmore.errors import SettingError, StoreError
from tellmore.kinds import answer_from_json
from tellmore.questions import Question
from tellmore.store.repository import Event
from tellmore.types import Answer, Skip

SECOND, KNOWN, SETTLED = "second", "known", "settled"
"""Why a question was asked: to get a second person's answer, to measure a person, to settle a conflict."""
BEST, NEXT_BEST, SUPPOSED, FALLBACK, AGAIN = "best", "next_best", "supposed", "fallback", "again"
"""Why a question was asked: the learner chose it (by its own search, as one of many found by one search, or before the last
answer was known), it is random because nothing was ready, or its answer was undone."""
CHOSEN = BEST, NEXT_BEST, SUPPOSED


class EventError(StoreError):
    """An event of the log cannot be applied."""


@dataclass(frozen=True)
class Asked:
    """A question as it was issued."""

    question: Question
    participant: str
    seq: int
    t_utc: str
    check: bool
    stale: bool
    why: str
    second_of: str = ""


@dataclass(frozen=True)
class Given:
    """An answer or a skip. ``void`` says why it does not count: "undo", "reset" or "deleted"; "" if it counts."""

    question_id: str
    participant: str
    seq: int
    t_utc: str
    answer: Answer | None
    timing: dict[str, Any] | None
    late: bool
    void: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is to be learnt."""
        return not self.void and self.answer is not None and not isinstance(self.answer, Skip)

    @property
    def rt_ms(self) -> int | None:
        """Milliseconds from onset to submit, raw."""
        return None if self.timing is None else int(self.timing["submit_ms"]) - int(self.timing["onset_ms"])

    @property
    def active_ms(self) -> int:
        """Milliseconds on the question without the time that the page was hidden; 0 if there are no times."""
        if self.timing is None or self.rt_ms is None:
            return 0
        return max(0, self.rt_ms - int(self.timing.get("hidden_ms") or 0))


@dataclass(frozen=True)
class End:
    """The end of the questions. ``why``: settled, labelled or shown; ``reason`` is that of the stopping rule."""

    why: str
    reason: str
    seq: int


@dataclass(frozen=True)
class Note:
    """What somebody wrote about an item; ``flag``: whether something is wrong with it."""

    participant: str
    t_utc: str
    text: str
    flag: bool


class Ledger:
    """The log so far. ``apply`` events in order.

    ``settings`` are the current ones: those of the TOML file with all changes in the log. ``initial`` are those from which the
    belief starts: the TOML file's with the current start, because every answer is learnt after it, whenever it was set. ``end``
    stays until an answer before it is undone; ``going_on``: the owner has continued after it; ``closed``: the owner has ended
    the questions. ``items_seq`` is the event that last added items, or 0.
    """

    def __init__(self, settings: Settings, events: Iterable[Event] = ()) -> None:
        self.settings = self.initial = settings
        self.seq = 0
        self.asked: dict[str, Asked] = {}
        self.given: dict[str, Given] = {}
        self._counting: dict[str, tuple[Asked, Given]] = {}
        self.names: dict[str, str] = {}
        self.roles: dict[str, str] = {}
        self.notes: dict[str, list[Note]] = {}
        self.left_out: frozenset[str] = frozenset()
        self.reset_seq = self.items_seq = 0
        self.end: End | None = None
        self.going_on = self.closed = False
        for event in events:
            self.apply(event)

    @property
    def over(self) -> bool:
        """Whether the questions have ended."""
        return self.closed or (self.end is not None and not self.going_on)

    @property
    def may_go_on(self) -> bool:
        """Whether there is anything more to ask after the end."""
        return self.over and (self.end is None or self.end.why != "labelled")

    def apply(self, event: Event) -> None:
        """Apply one event; unknown kinds are ignored."""
        self.seq = max(self.seq, event.seq)
        handler = getattr(self, f"_on_{event.kind}", None)
        if handler is not None and not event.erased:
            handler(event)

    def counting(self) -> list[tuple[Asked, Given]]:
        """The answers to learn, in order, without those about known items, which measure people, and those of people who
        are left out."""
        if not self.left_out:
            return list(self._counting.values())
        return [pair for pair in self._counting.values() if pair[1].participant not in self.left_out]

    def frozen(self) -> Ledger:
        """A copy that later events do not change, to be read without the lock."""
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(twin, name, value.copy())
        return twin

    def _on_question(self, event: Event) -> None:
        shown = event.payload
        question = Question(shown["kind"], shown["items"], id=event.question_id)
        self.asked[question.id] = Asked(
            question,
            event.participant or "",
            event.seq,
            event.t_utc,
            bool(shown.get("check")),
            bool(shown.get("stale")),
            str(shown.get("why", "")),
            str(shown.get("second_of", "")),
        )

    def _on_answer(self, event: Event) -> None:
        question_id = event.question_id or ""
        self.given[question_id] = Given(
            question_id,
            event.participant or "",
            event.seq,
            event.t_utc,
            answer_from_json(event.payload["answer"]),
            event.payload.get("timing"),
            bool(event.payload.get("late")),
        )
        asked, given = self.asked.get(question_id), self.given[question_id]
        if given.counts and asked is not None and asked.why != KNOWN:
            self._counting[question_id] = asked, given

    _on_skip = _on_answer

    def _on_undo(self, event: Event) -> None:
        given = self.given.get(event.question_id or "")
        if given is not None:
            self._void(given, "undo")

    def _on_reset(self, event: Event) -> None:
        self.reset_seq = event.seq
        self.end, self.going_on, self.closed = None, False, False
        for given in list(self.given.values()):
            self._void(given, "reset")

    def _on_delete(self, event: Event) -> None:
        gone = event.payload["participant"]
        self.names.pop(gone, None)
        self.left_out -= {gone}
        kept = {item: [note for note in notes if note.participant != gone] for item, notes in self.notes.items()}
        self.notes = {item: notes for item, notes in kept.items() if notes}
        for given in [each for each in self.given.values() if each.participant == gone]:
            self.given[given.question_id] = replace(given, void="deleted", answer=None, timing=None)
            self._counting.pop(given.question_id, None)
            self._doubt_end(given)

    def _on_leave_out(self, event: Event) -> None:
        whose = {event.payload["participant"]}
        self.left_out = self.left_out | whose if event.payload["out"] else self.left_out - whose
        for given in self.given.values():
            if given.participant in whose and given.counts:
                self._doubt_end(given)

    def _on_setting(self, event: Event) -> None:
        try:
            self.settings = self.settings.changed(**event.payload)
        except SettingError as problem:
            raise EventError(str(problem)) from None
        learning = self.settings.learning
        seeds = {"seeds_positive": learning.seeds_positive, "seeds_negative": learning.seeds_negative}
        self.initial = self.initial.changed(learning=seeds, start=self.settings.start.model_dump())

    def _on_participant(self, event: Event) -> None:
        participant = event.participant or ""
        self.names[participant], self.roles[participant] = event.payload["name"], event.payload.get("role", "annotator")

    def _on_note(self, event: Event) -> None:
        note = Note(event.participant or "", event.t_utc, event.payload["text"], bool(event.payload["flag"]))
        self.notes.setdefault(event.payload["item"], []).append(note)

    def _on_end(self, event: Event) -> None:
        if event.payload["why"] == "owner":
            self.closed = True
        else:
            self.end, self.going_on = End(event.payload["why"], event.payload["reason"], event.seq), False

    def _on_go_on(self, _event: Event) -> None:
        self.closed, self.going_on = False, self.going_on or self.end is not None

    def _on_items(self, event: Event) -> None:
        """Remove the end: answers that were enough for the earlier items may not be for these. An end by the owner stays."""
        self.items_seq, self.end, self.going_on = event.seq, None, False

    def _void(self, given: Given, why: str) -> None:
        if not given.void:
            self.given[given.question_id] = replace(given, void=why)
            self._counting.pop(given.question_id, None)
            self._doubt_end(given)

    def _doubt_end(self, gone: Given) -> None:
        """Remove the end if an answer before it is undone."""
        if self.end is not None and gone.seq < self.end.seq:
            self.end = None
