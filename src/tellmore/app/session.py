"""A project that is being taught: store, desk and planner behind one lock. It is the only stateful object of the app.

Every change is written to the log before anybody sees it, then applied to the desk; learning happens later, in the
planner's thread. Requests hardly wait for the learner: the next question is ready, or a random one is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.app.checks import random_question, shuffled
from tellmore.app.ending import end_due
from tellmore.app.planner import Prepared
from tellmore.app.second import team_question
from tellmore.app.together import Submission, Together
from tellmore.app.view import FullView
from tellmore.app.workings import Workings, workings
from tellmore.app.writing import Writer
from tellmore.data.project import Project
from tellmore.data.settings import Settings
from tellmore.errors import AnswerError, StateError, TellmoreError
from tellmore.kinds.label import LABEL, LabelAnswer
from tellmore.pool import Pool
from tellmore.questions import Question, check_answer
from tellmore.store import events as log
from tellmore.store.beforehand import NOTHING_KNOWN, Beforehand
from tellmore.store.fold import beginning
from tellmore.store.ledger import AGAIN, BEST, FALLBACK, NEXT_BEST, SUPPOSED, Asked, Given, Ledger
from tellmore.store.repository import AlreadyAnsweredError, Event, Repository
from tellmore.store.state import State
from tellmore.types import Answer, Skip

FIRST_PATIENCE_S = 5.0
"""How long a person's first question may wait for the learner; after that, a random one is asked."""
PATIENCE_S = 0.1
"""How long the next question may wait for the learner when none is ready."""
LOOK_S = 10.0
"""How long a page waits for predictions that another process makes; then it shows earlier ones."""
SETTLE_S = 30.0
"""How long an export waits for answers that are not learnt yet."""


class UnknownQuestionError(TellmoreError):
    """This person was not given such a question."""


class ConflictError(StateError):
    """The question already has another answer, or no longer exists."""


class Session(Writer):
    """``question``, ``answer``, ``undo`` for people; ``change_settings``, ``reset``, ``forget`` for the owner.

    ``settings`` are those of the TOML file. Threads may share a session. ``folder``: where another process finds the items if
    many people are at work.
    """

    def __init__(
        self,
        repository: Repository,
        pool: Pool,
        settings: Settings,
        *,
        beforehand: Beforehand = NOTHING_KNOWN,
        clock: Callable[[], float] = time.time,
        folder: Path | None = None,
    ) -> None:
        super().__init__(repository)
        self._clock = clock
        self._together = Together(self.lock, self._write_answers)
        self.closing = False
        self._workings = partial(
            workings, repository, lock=self.lock, clock=clock, learnt=self._end_if_due, folder=folder
        )
        self._take(self._workings(pool, settings, beforehand, self.read_foreign_events))

    def start(self) -> Session:
        """Start to learn in the background."""
        self.planner.start()
        return self

    def close(self) -> None:
        """Stop the background work and release the database."""
        with self.lock:
            self.closing = True
        self.planner.close()
        self.repository.close()

    def renew(self, pool: Pool, settings: Settings, beforehand: Beforehand, commit: Callable[[], None]) -> None:
        """Change to another pool, which has all items of this one. Everything is learnt again from the log; meanwhile people
        continue with the old pool. ``commit`` makes the change permanent once everything is learnt."""
        fresh = self._workings(pool, settings, beforehand, self.read_foreign_events, learn_now=True)
        commit()
        self.planner.close()
        with self.lock:
            if not self.closing:
                self._take(fresh)
                self._apply(list(self.repository.since(self.desk.seq)))
                self.planner.start()

    def _take(self, parts: Workings) -> None:
        self.pool, self.toml, self.beforehand = parts.pool, parts.toml, parts.beforehand
        self.desk, self.rates, self.planner = parts.desk, parts.rates, parts.planner
        self._rng = np.random.default_rng([self.toml.learning.seed, self.desk.seq])

    def look_around(self) -> None:
        """Read what others wrote; raises ClaimLostError if another server has taken over the project."""
        self.repository.keep_claim()

    @property
    def settings(self) -> Settings:
        """The current settings: those of the TOML file with all changes in the log."""
        return self.desk.settings

    # For people

    def question(self, participant: str, *, patience_s: float = FIRST_PATIENCE_S) -> Asked | None:
        """The open question of ``participant``, or a new one; None if others have all items.

        After the end, only questions whose answers were undone are asked again.
        """
        with self.lock:
            asked = self._open(participant)
            if self.desk.over:
                return asked if asked is not None and asked.why == AGAIN else None
            if asked is None and self.planner.worth_waiting:
                self.lock.wait_for(lambda: self.desk.over or not self.planner.worth_waiting, patience_s)
                asked = self._open(participant)  # another tab of the same person may have been quicker
            if asked is None:
                self._append(self._next_events(participant))
                asked = self.desk.open_for(participant)
            return asked

    def answer(
        self, participant: str, question_id: str, answer: Answer, timing: Mapping[str, Any] | None = None
    ) -> Asked | None:
        """Record ``answer`` durably and return the next question. Giving the same answer again changes nothing."""
        self._together.submit(Submission(participant, question_id, answer, timing))
        return self.question(participant, patience_s=PATIENCE_S)

    def undo(self, participant: str, question_id: str | None = None, *, anybody: bool = False) -> tuple[str, Answer]:
        """Undo the participant's last answer, or the named one; its question is then open again, under a new id.

        With ``anybody``, the owner can undo other people's answers; their questions are not shown again.
        """
        with self.lock:
            given = self._undoable(participant, question_id, anybody)
            if given.answer is None:
                raise ConflictError("this answer was deleted with the participant who gave it")
            if not given.void:
                self._append(self._undo_events(given, participant))
            return given.question_id, given.answer

    def quota(self, participant: str) -> int | None:
        """How many answers this person is asked for; None means no limit, as for owners."""
        return self.settings.project.quota if self.desk.roles.get(participant) == "annotator" else None

    def quota_met(self, participant: str, answered: int) -> bool:
        """Whether ``answered`` answers are all that this person is asked for."""
        quota = self.quota(participant)
        return quota is not None and answered >= quota

    # For the owner

    def change_settings(self, participant: str, changes: Mapping[str, Mapping[str, Any]]) -> Settings:
        """Apply {section: {key: value}} from now on; raises SettingError if a value is not allowed.

        If the start changes, everything is learnt again from it.
        """
        with self.lock:
            changed = self.settings.changed(**{section: dict(keys) for section, keys in changes.items()})
            changed.check_change(len(self.pool))
            if changed.start != self.settings.start:
                self.check_start(changed)
                self.beforehand.keep_words(changed, self.pool)
            self._append([log.setting_event(participant, changes)])
            self.planner.forget()
            return self.settings

    def check_start(self, settings: Settings) -> None:
        """Raise SettingError if the start in ``settings`` is impossible."""
        beginning(self.pool, settings, self.beforehand)

    def label(self, participant: str, item: str, positive: bool, why: str = "direct") -> None:
        """Record a label of an item that ``participant`` chose; it is learnt like any other, and is never a random check.
        ``why`` is direct or settled."""
        self.pool.rows([item])
        question, answer = Question(LABEL.name, [item]), LabelAnswer(positive)
        with self.lock:
            asked = log.question_event(question, participant, as_of=self.desk.seq, why=why)
            self._append([asked, log.answer_event(question.id, participant, answer)])

    def end(self, participant: str) -> None:
        """End the questions for everybody, until ``go_on``."""
        with self.lock:
            if not self.desk.over:
                self._append([log.end_event(participant, "owner", "the owner has ended the questions")])

    def go_on(self, participant: str) -> None:
        """Continue with questions although it is time to stop."""
        with self.lock:
            if not self.desk.over:
                return
            if not self.desk.may_go_on:
                raise ConflictError("every item has a label, so there is nothing more to ask")
            self._append([Event("go_on", None, participant)])

    def reset(self, participant: str) -> None:
        """Discard all answers; they stay in the log, and the settings are kept."""
        with self.lock:
            self._append([Event("reset", None, participant)])
            self.planner.forget()

    def forget(self, participant: str, by: str) -> None:
        """Delete the answers, name and tokens of ``participant``."""
        with self.lock:
            note = Event("delete", None, by, {"participant": participant})
            self._apply([self.repository.erase(participant, note, keep_tokens=participant == by)])
            self.planner.forget()

    def look(self) -> FullView:
        """The learner and what it predicts now. Call without holding the lock."""
        return self.planner.look(LOOK_S)

    def settled_view(self, patience_s: float = SETTLE_S) -> FullView:
        """The learner's predictions once it has learnt every answer so far, or after ``patience_s``."""
        with self.lock:
            self.lock.wait_for(lambda: self.planner.up_to_date, patience_s)
        return self.look()

    def settled_state(self, project: Project | None = None) -> State:
        """The state for exports, once every answer so far is learnt; ``project`` has the files."""
        view = self.settled_view()
        events = list(self.repository.since())
        folders = (None, None) if project is None else (project.images_folder, project.tfidf_path)
        return State(self.pool, view.learner, Ledger(self.toml, events), view.effects, events, *folders)

    def questions_out(self) -> list[Asked]:
        """The questions that are open now."""
        return self.desk.out(self._clock())

    # Reading the situation

    def _open(self, participant: str) -> Asked | None:
        """The open question of this person, with its lease renewed.

        If the lease has ended and somebody else has one of its items by now, the question is released instead.
        """
        now = self._clock()
        asked = self.desk.open_for(participant)
        while asked is not None:
            until = self.desk.lease_until(asked.question.id)
            if until < now and set(asked.question.items) & self.desk.reserved(now, besides=participant):
                self._append([log.release_event(asked.question.id, participant)])
                asked = self.desk.open_for(participant)
                continue
            if until - now < self.settings.server.lease_s / 2:
                self._append([log.lease_event(asked.question.id, participant, self._lease_end())])
            return asked
        return None

    def _theirs(self, participant: str, question_id: str) -> Asked:
        asked = self.desk.asked.get(question_id)
        if asked is None or asked.participant != participant:
            raise UnknownQuestionError("there is no such question for you; reload the page")
        if asked.seq < self.desk.reset_seq:
            raise ConflictError("the project has been reset since this question was asked; reload the page")
        return asked

    def _check_complete(self, question: Question, answer: Answer) -> None:
        """Check that a person's answer is complete, and contains only what the project allows."""
        refusal = None
        if not isinstance(answer, Skip):
            refusal = kinds.named(question.kind).refusal(answer, ties=self.settings.learning.ties)
        if refusal is not None:
            raise AnswerError(refusal)

    def _undoable(self, participant: str, question_id: str | None, anybody: bool) -> Given:
        given = self.desk.last_answer(participant) if question_id is None else self.desk.given.get(question_id)
        if given is None and question_id is None:
            raise ConflictError("there is nothing to undo")
        if given is None or (given.participant != participant and not anybody):
            raise UnknownQuestionError("there is no such answer of yours to undo")
        if given.void in ("reset", "deleted"):
            raise ConflictError("this answer no longer counts")
        return given

    # Writing

    def _write_answers(self, batch: Sequence[Submission]) -> None:
        """Write these people's answers and, in the same transaction, each person's next question if one is ready."""
        events: list[Event] = []
        for one in batch:
            try:
                events += self._answer_events(one)
            except TellmoreError as problem:
                one.problem = problem
        try:
            self._append(events)
        except AlreadyAnsweredError:
            # Another process on the same database has written one of them; the others are written one by one.
            self._apply(list(self.repository.since(self.desk.seq)))
            self._write_singly(batch)
        for one in batch:
            given = self.desk.given.get(one.question_id)
            if one.problem is None and given is not None and given.answer != one.answer:
                one.problem = ConflictError("this question has another answer already; undo it first")

    def _write_singly(self, batch: Sequence[Submission]) -> None:
        for one in batch:
            if one.problem is None and one.question_id not in self.desk.given:
                try:
                    self._append([self._written(one)])
                except AlreadyAnsweredError:
                    self._apply(list(self.repository.since(self.desk.seq)))

    def _answer_events(self, one: Submission) -> list[Event]:
        """The events to write for one answer; none if the log already has it."""
        asked = self._theirs(one.participant, one.question_id)
        if one.question_id in self.desk.given:
            return []
        check_answer(asked.question, one.answer)
        self._check_complete(asked.question, one.answer)
        events = [self._written(one)]
        if self.desk.hand(one.participant) in ([], [one.question_id]):
            events += self._next_events(one.participant, after=(one.question_id, one.answer), ready_only=True)
        return events

    def _written(self, one: Submission) -> Event:
        late = self._clock() > self.desk.lease_until(one.question_id)
        return log.answer_event(one.question_id, one.participant, one.answer, timing=one.timing, late=late)

    def _next_events(
        self, participant: str, *, after: tuple[str, Answer] | None = None, ready_only: bool = False
    ) -> list[Event]:
        """The events that give ``participant`` a new question; none if there is nothing to ask."""
        self._end_if_due()
        answered = self.desk.answers_of(participant) + (after is not None and not isinstance(after[1], Skip))
        if self.desk.over or self.quota_met(participant, answered):
            return []
        now = self._clock()
        finished = set() if after is None else set(self.desk.asked[after[0]].question.items)
        taken = self.desk.reserved(now, besides=participant) | finished | self._issuing
        learning = self.settings.learning
        if self._rng.random() < learning.check_share:
            question = random_question(self.pool, learning, taken, self._rng)
            return [] if question is None else self._issue_events(question, participant, check=True, why="check")
        for_team = team_question(self.desk, self.settings.team, participant, taken, self._rng)
        if for_team is not None:
            return self._issue_events(for_team[0], participant, **for_team[1])
        prepared = self.planner.take(taken, after)
        if prepared is not None:
            return self._prepared_events(prepared, participant, after)
        if ready_only:
            return []
        question = random_question(self.pool, learning, taken, self._rng)
        self.desk.lately.warn()
        return [] if question is None else self._issue_events(question, participant, check=True, why=FALLBACK)

    def _prepared_events(self, prepared: Prepared, participant: str, after: tuple[str, Answer] | None) -> list[Event]:
        """Issue a prepared question, and record how many answers came after it was chosen."""
        behind = self.desk.changes_after(prepared.as_of)
        if after is not None and not prepared.supposing and not isinstance(after[1], Skip):
            behind += 1
        question, check = shuffled(prepared.question, self._rng), prepared.question.check
        why = SUPPOSED if prepared.supposing else NEXT_BEST if prepared.among_many else BEST
        why = "check" if check else why
        return self._issue_events(question, participant, check=check, behind=behind, as_of=prepared.as_of, why=why)

    def _issue_events(self, question: Question, participant: str, **facts: Any) -> list[Event]:
        issued = log.question_event(question, participant, **facts)
        self._issuing.update(question.items)
        return [issued, log.lease_event(question.id, participant, self._lease_end())]

    def _undo_events(self, given: Given, participant: str) -> list[Event]:
        asked = self.desk.asked[given.question_id]
        events = [log.undo_event(given.question_id, participant, given.seq)]
        if given.participant == participant:
            again = Question(asked.question.kind, asked.question.items)
            events += self._issue_events(again, participant, check=asked.check, why=AGAIN, again_of=given.question_id)
        return events

    def _end_if_due(self) -> None:
        """Record the end of the questions in the log if it is due. The lock must be held."""
        due = end_due(self.desk, self.planner.view, len(self.pool), up_to_date=self.planner.up_to_date)
        if due is not None:
            self._append([due])

    def _lease_end(self) -> str:
        end = datetime.fromtimestamp(self._clock() + self.settings.server.lease_s, UTC)
        return end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
