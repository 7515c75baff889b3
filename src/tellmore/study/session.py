"""A running study: participants' progress in memory, with every step written to the log before anyone sees it. It is the only
stateful object of a study. Opening it again on the same log continues where it stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tellmore import kinds
from tellmore.errors import AnswerError, StateError
from tellmore.kinds import answer_from_json
from tellmore.pool import Pool
from tellmore.questions import Question, check_answer
from tellmore.store.repository import Event, Repository
from tellmore.study import flow
from tellmore.study.design import BankQuestion, Planned, assignment, check_bank
from tellmore.study.entry import Arrival, check_beginning, check_return
from tellmore.study.settings import Study
from tellmore.types import Skip


class StudySession:
    """``enter``, ``state``, ``leave``, ``answer``: all that a participant can do. Threads may share it."""

    def __init__(
        self,
        repository: Repository,
        study: Study,
        bank: Sequence[BankQuestion],
        pool: Pool,
        *,
        listed: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        """``listed`` returns the ids expected now, if the study has a list."""
        check_bank(study, bank)
        self._listed = listed
        self._begun_with: dict[str, str | None] = {}
        self._repository, self.study, self._bank = repository, study, tuple(bank)
        self._pool, self._rows = pool, {identifier: row for row, identifier in enumerate(pool.ids)}
        self._lock = threading.RLock()
        self._progress: dict[str, flow.Progress] = {}
        self._external: dict[str, str] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._entered = 0
        opened = None
        for event in repository.since(0, kinds=flow.EVENT_KINDS):
            if event.kind == "study_opened":
                opened = event.payload.get("fingerprint")
            self._learn(event)
        if opened != study.fingerprint:
            payload = {"fingerprint": study.fingerprint, "study": study.model_dump(mode="json")}
            self._write(Event("study_opened", payload=payload))

    # What a participant does

    def participant_of(self, external: str) -> str | None:
        """The participant who came with this external id before, or None."""
        return self._external.get(external)

    def forget(self, participant: str) -> None:
        """Remove from memory a participant who was erased from the log."""
        with self._lock:
            self._progress[participant] = flow.Progress()
            self._external = {outside: own for outside, own in self._external.items() if own != participant}

    def enter(self, arrival: Arrival, details: Mapping[str, str] | None = None) -> str:
        """The participant with an external id, such as PROLIFIC_PID; a returning person gets the same assignment.

        Raises EntryError if the person may not begin, or is not the one who began with this id.
        """
        with self._lock:
            known = self._external.get(arrival.external)
            payload: dict[str, Any] = {"external": arrival.external, "details": dict(details or {})}
            if known is not None:
                check_return(arrival, known, self._begun_with.get(known))
                if arrival.cookie != known:
                    self._write(Event("study_entered", participant=known, payload={**payload, "returned": True}))
                return known
            listed = self._listed() if self.study.entry.by == "list" else ()
            check_beginning(arrival, self.study.entry, listed, len(self._external))
            number = self._entered
            participant = f"participant-{number + 1:05d}"
            planned = assignment(self.study, self._bank, number)
            payload |= {
                "number": number,
                "order": list(dict.fromkeys(question.kind for question in planned)),
                "fingerprint": self.study.fingerprint,
                "assignment": [question.row() for question in planned],
            }
            self._write(Event("study_entered", participant=participant, payload=payload))
            return participant

    def state(self, participant: str) -> dict[str, Any]:
        """What to show now. Questions and the completion code are written to the log before they are returned."""
        with self._lock:
            progress = self._of(participant)
            step = flow.current_step(self.study, progress)
            state: dict[str, Any] = {"step": step, "progress": _share_done(progress)}
            if step in flow.TEXT_STEPS:
                state["text"] = getattr(self.study.texts, step)
            if step == "demographics":
                state["fields"] = [field.model_dump(mode="json") for field in self.study.demographics]
            if step == "comprehension":
                state["choices"] = [c.model_dump(mode="json", exclude={"correct"}) for c in self.study.comprehension]
                state["attempts_left"] = self.study.comprehension_attempts - len(progress.attempts)
                state["failed_before"] = bool(progress.attempts)
                state["text"] = self.study.texts.instructions
            if step in ("practice", "question"):
                planned = self._open(participant)
                state |= {"question": self._show(participant, planned, step), "block": planned.block}
                state["first_of_block"] = planned.position == 1
            if step == "done":
                state |= self._end(participant, progress)
            return state

    def leave(self, participant: str, step: str, value: Any = None, elapsed_ms: int | None = None) -> dict[str, Any]:
        """Leave a step with the person's input; leaving a step twice changes nothing."""
        with self._lock:
            progress = self._of(participant)
            now = flow.current_step(self.study, progress)
            if step != now and step in progress.steps:
                return self.state(participant)
            if step != now:
                raise StateError(f"the step {step!r} is not the one shown now, which is {now!r}; reload the page")
            checked = flow.check_step_value(self.study, step, value)
            payload: dict[str, Any] = {"step": step, "value": checked, "elapsed_ms": elapsed_ms}
            if step == "comprehension":
                payload["passed"] = flow.right_choices(self.study, checked)
            self._write(Event("study_step", participant=participant, payload=payload))
            return self.state(participant)

    def answer(
        self, participant: str, question_id: str, answer: dict[str, Any], timing: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Store an answer with its raw times and return what to show next; the same answer again changes nothing."""
        with self._lock:
            progress = self._of(participant)
            if question_id in self._answers:
                self._repeat(participant, question_id, answer)
                return self.state(participant)
            step = flow.current_step(self.study, progress)
            planned = self._open(participant) if step in ("practice", "question") else None
            if planned is None or planned.id != question_id:
                raise StateError(f"{question_id!r} is not the question shown now; reload the page")
            given = answer_from_json(answer)
            if isinstance(given, Skip):
                raise AnswerError("a study question cannot be skipped; close the page to stop taking part")
            check_answer(Question(planned.kind, planned.items, planned.id), given)
            refusal = kinds.named(planned.kind).refusal(given, ties=False)
            if refusal is not None:
                raise AnswerError(refusal)
            payload = {"answer": answer, "timing": timing, "part": "practice" if step == "practice" else "main"}
            batch = [Event("study_answer", question_id, participant, payload)]
            if planned.gold is not None and not flow.right_answer(planned.gold, planned.kind, given):
                flag = {"reason": "gold", "kind": planned.kind, "position": planned.position}
                batch.append(Event("study_flag", question_id, participant, flag))
            self._write(*batch, *self._shown_after(participant, batch))
            return self.state(participant)

    # Inside

    def _of(self, participant: str) -> flow.Progress:
        progress = self._progress.get(participant)
        if progress is None:
            raise StateError("this participant is not part of the study, or no longer is; open the study's link again")
        return progress

    def _open(self, participant: str) -> Planned:
        progress = self._of(participant)
        if flow.current_step(self.study, progress) == "practice":
            return flow.practice_question(self.study, progress)
        planned = flow.open_question(progress)
        if planned is None:
            raise StateError("no question is open")
        return planned

    def _show(self, participant: str, planned: Planned, step: str) -> dict[str, Any]:
        if planned.id not in self._of(participant).shown:
            self._write(self._shown_event(participant, planned, step))
        return self._question(planned)

    def _shown_after(self, participant: str, batch: Sequence[Event]) -> list[Event]:
        """The event that shows the next main question, to be written in one transaction with the answer before it."""
        progress = self._of(participant)
        for event in batch:
            progress = progress.after(event.kind, event.question_id, event.payload)
        planned = flow.open_question(progress)
        if planned is None or flow.current_step(self.study, progress) != "question" or planned.id in progress.shown:
            return []
        return [self._shown_event(participant, planned, "question")]

    def _shown_event(self, participant: str, planned: Planned, step: str) -> Event:
        return Event("study_shown", planned.id, participant, {"question": self._question(planned), "part": step})

    def _question(self, planned: Planned) -> dict[str, Any]:
        items = [self._item(identifier) for identifier in planned.items]
        return {"id": planned.id, "kind": planned.kind, "items": items}

    def _item(self, identifier: str) -> dict[str, Any]:
        """A pool item with its text and image; an id that is not in the pool is shown as text (gold and practice)."""
        row = self._rows.get(identifier)
        if row is None:
            return {"id": identifier, "text": identifier, "image": None}
        text = self._pool.text[row] if self._pool.text else None
        image = self._pool.images[row] if self._pool.images else None
        return {"id": identifier, "text": text or (None if image else identifier), "image": image or None}

    def _end(self, participant: str, progress: flow.Progress) -> dict[str, Any]:
        ended = flow.outcome(self.study, progress) or "complete"
        code = str(getattr(self.study.completion, ended))
        if progress.ended is None:
            self._write(Event("study_ended", participant=participant, payload={"outcome": ended, "code": code}))
        url = self.study.completion.url.replace("{code}", code)
        text = self.study.texts.debrief if ended == "complete" else None
        return {"outcome": ended, "code": code, "url": url or None, "text": text}

    def _repeat(self, participant: str, question_id: str, answer: dict[str, Any]) -> None:
        stored = self._answers[question_id]
        if stored["participant"] != participant:
            raise StateError(f"{question_id!r} is not the question shown now; reload the page")
        if stored["answer"] != answer:
            raise StateError("this question already has another answer; answers are never replaced")

    def _write(self, *batch: Event) -> None:
        for event in self._repository.append(batch):
            self._learn(event)

    def _learn(self, event: Event) -> None:
        """Update memory with one event of the log."""
        participant = event.participant
        if participant is None:
            return
        if event.kind == "study_entered" and participant not in self._progress:
            self._entered += 1
            self._progress[participant] = flow.Progress()
        if event.erased:
            self.forget(participant)
            return
        if event.kind == "study_entered":
            self._external[event.payload["external"]] = participant
            self._begun_with.setdefault(participant, event.payload.get("details", {}).get("session_id"))
        if event.kind == "study_answer" and event.question_id is not None:
            self._answers[event.question_id] = {"participant": participant, "answer": event.payload["answer"]}
        self._progress[participant] = self._progress[participant].after(event.kind, event.question_id, event.payload)


def _share_done(progress: flow.Progress) -> dict[str, int]:
    return {"done": len(progress.answered), "total": len(progress.assignment)}
