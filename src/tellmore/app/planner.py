"""Learns in the background and keeps the next questions ready, so that nobody waits for a pool scan.

One thread decides what to do; the long computations are done by an `Engine`, in this process or, with several people at work, in
another. In order of urgency, it learns new answers, keeps enough questions ready for the people at work, and, when it has
time, finds the likely answers to the open questions and prepares what to ask after each. If many people need questions
faster than they can be found one by one, one search finds many that are nearly as good; even new answers wait for it, so
that nobody gets a random question. If that is not enough, `auto` asks larger ones. ``as_of`` of a question is the event up to
which answers were learnt when it was chosen; the log records how many came after it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from tellmore.app.desk import Desk
from tellmore.app.engine import Engine, LocalEngine
from tellmore.app.engine_process import EngineOpener, GoneError
from tellmore.app.view import FullView, View
from tellmore.core.steadiness import STEADY
from tellmore.data.settings import Settings
from tellmore.errors import TellmoreError
from tellmore.questions import Question
from tellmore.store.fold import Pairs
from tellmore.store.ledger import Asked
from tellmore.store.steady import Watching
from tellmore.types import Answer

log = logging.getLogger(__name__)

MAX_READY = 64
RENEWED_AFTER = 5
"""Prepared questions are renewed after this many answers; until new ones are found, the old ones can still be asked."""
SEARCHED_SINGLY = 4
"""If more questions than this are missing, one search finds all of them."""
SHOWN_AT_ONCE = 0.6
"""At most this share of the pool is in open questions: if there are many people, `auto` asks about fewer items at a time."""
BUSY = 0.02
"""If a larger share of the last questions was random because none was ready, `auto` asks about more items at a time: people
then take longer for each question."""
READY_AT_ONCE = 0.1
"""At most about this share of the pool is in prepared questions."""
MAX_BRANCHES = 4
MOST_PEOPLE_WITH_BRANCHES = 3
"""With more people at work than this, nothing is prepared for single answers."""

TELL_AT_ONCE = 512
"""Answers learnt in one step: about a second."""
TELL_AT_WORK = 32
"""The same while many people are at work, so that the prepared questions last."""
POLL_S = 1.0
CHORES_EVERY_S = 30.0
"""Chores wait until nothing is urgent, but not longer than this. On a large pool some take seconds."""
RECENT_QUESTIONS = 5
"""Items of this many last questions are not asked about again at once."""

Job = Callable[[], None]


@dataclass(frozen=True)
class Prepared:
    """A question chosen when everything up to event ``as_of`` was learnt, perhaps ``supposing`` one more answer. It was found by
    its own search, or ``among_many`` by one search."""

    question: Question
    as_of: int
    supposing: bool = False
    among_many: bool = False


class Planner:
    """The background thread and the questions it has prepared.

    ``changed`` is the session's lock and condition; methods for requests must be called with it held. ``chores`` are
    called by the thread, without the lock, when nothing urgent is left; each returns whether it did something.
    ``backlog`` is called while many answers are still to be learnt, so that even a server that is killed repeatedly
    makes progress; ``learnt`` when all are learnt, with the lock held. ``opener`` opens another process if several people
    are at work; ``restore`` puts the last snapshot into ``local`` if that process ends.
    """

    def __init__(
        self,
        local: LocalEngine,
        desk: Desk,
        changed: threading.Condition,
        *,
        clock: Callable[[], float] = time.time,
        chores: Collection[Callable[[Engine], bool]] = (),
        backlog: Callable[[Engine], object] = lambda _engine: None,
        learnt: Callable[[], object] = lambda: None,
        opener: EngineOpener | None = None,
        restore: Callable[[LocalEngine], object] = lambda _local: None,
    ) -> None:
        self._local, self._desk, self._changed, self._clock, self._chores = local, desk, changed, clock, chores
        self._backlog, self._on_learnt, self._opener, self._restore = backlog, learnt, opener, restore
        self._engine: Engine = local
        self._people = 0
        self._wanted = False
        self._ready: list[Prepared] = []
        self._branches: dict[str, dict[Answer, Prepared]] = {}
        self._likely: list[tuple[Asked, Answer]] = []  # answers to prepare for next
        self._likely_found: set[tuple[str, int]] = set()
        self._stuck_at = -1
        self._learnt = -1
        self._generation = 0
        self._crowd, self._busy = 0, False
        self._learnt_last = False
        self._settings = desk.settings
        self._closing = False
        self._failed: dict[str, str] = {}
        self._watching = Watching()
        self._full = FullView.of(self._look(desk.counting()), local.recall())
        self.view: View = self._full
        self._thread = threading.Thread(target=self._run, name="planner", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the current step. Call this without holding ``changed``."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.ident is not None:  # it was started
            self._thread.join()
        self._engine.close()
        if self._opener is not None:
            self._opener.close()

    @property
    def failure(self) -> str | None:
        """What failed at the last attempt."""
        return next(iter(self._failed.values()), None)

    @property
    def up_to_date(self) -> bool:
        """Whether every answer that counts has been learnt, from the latest start."""
        return self._learnt == self._desk.mark and self._engine.settings == self._desk.initial

    @property
    def worth_waiting(self) -> bool:
        """Whether nothing is ready now but something will be soon."""
        return not self._ready and self._stuck_at != self._desk.seq and "learning" not in self._failed

    def look(self, patience_s: float) -> FullView:
        """What is predicted for every item now, or after ``patience_s`` what was when somebody last looked. Call without holding
        ``changed``."""
        with self._changed:
            self._wanted = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._full is self.view or self._closing, patience_s)
            return self._full

    def take(self, taken: Collection[str], after: tuple[str, Answer] | None = None) -> Prepared | None:
        """The newest question without any item in ``taken``; one that was prepared for this very answer comes first."""
        taken = set(taken)
        if after is not None:
            branch = self._branches.pop(after[0], {}).get(after[1])
            if branch is not None and taken.isdisjoint(branch.question.items):
                return branch
        free = [each for each in self._ready if taken.isdisjoint(each.question.items)]
        if not free:
            return None
        best = max(free, key=lambda each: each.as_of)
        self._ready.remove(best)
        return best

    def forget(self) -> None:
        """Discard all prepared questions, after a change that makes them unsuitable."""
        self._generation += 1
        self._ready.clear()
        self._branches.clear()
        self._likely.clear()
        self._likely_found.clear()
        self._stuck_at = -1

    # The thread

    def _run(self) -> None:
        chores_due = 0.0
        while not self._closing:
            self._move_if_due()
            with self._changed:
                job = self._next_job()
            if job is not None:
                self._attempt(job, "learning")
            if job is None or time.monotonic() > chores_due:
                chores_due = time.monotonic() + CHORES_EVERY_S
                done = [self._attempt(partial(chore, self._engine), chore.__qualname__) for chore in self._chores]
                if any(done) or job is not None:
                    continue
                with self._changed:
                    if not self._closing and self._next_job() is None:
                        self._changed.wait(POLL_S)

    def _attempt(self, job: Callable[[], object], what: str) -> object:
        """Run one step. An error must not end the thread: answers are still accepted, and the owner sees the error until
        the step succeeds."""
        try:
            done = job()
        except GoneError as problem:
            return None if self._closing else self._attempt(partial(self._go_on_here, problem), what)
        except Exception as problem:
            self._fail(what, problem)
            time.sleep(POLL_S)
            return None
        self._failed.pop(what, None)
        return done

    def _fail(self, what: str, problem: Exception) -> None:
        """Remember what failed. It is logged once, with a traceback only if it is a bug."""
        known = isinstance(problem, TellmoreError)
        told = str(problem) if known else f"{type(problem).__name__}: {problem}"
        if self._failed.get(what) != told:
            log.error("the background work failed: %s", told, exc_info=not known)
        self._failed[what] = told

    def _move_if_due(self) -> None:
        """Go on in another process, once one is open: it then learns what came in meanwhile."""
        if self._engine is not self._local or self._opener is None:
            return
        process_engine = self._opener.engine(self._people, self._local)
        if process_engine is not None:
            self._engine, self._learnt, self._settings = process_engine, process_engine.seq, process_engine.asking

    def _go_on_here(self, gone: GoneError) -> None:
        log.warning("the process that learnt is gone: %s; learning goes on in the server's own", gone)
        self._come_back()
        self._restore(self._local)
        self._learnt = self._local.seq

    def _come_back(self) -> None:
        """Go on in this process, from where it was left; everything learnt since is to be learnt again."""
        left, self._engine, self._learnt = self._engine, self._local, -1
        if left is not self._local:
            left.close()

    def _next_job(self) -> Job | None:
        """The most urgent job; what it needs is read from the desk while the lock is held."""
        if self._closing:
            return None
        now = self._clock()
        out = self._desk.out(now)
        self._people = len({asked.participant for asked in out})
        if self._wanted and self._full is not self.view:
            return self._look_fully
        reserved = self._desk.reserved(now)
        missing = self._missing(len(out), reserved)
        may_prepare = self._stuck_at != self._desk.seq and self._engine.settings == self._desk.initial
        starving = missing > max(SEARCHED_SINGLY, self._enough(len(out)) // 2) and self._learnt >= 0
        if not self.up_to_date and not (starving and may_prepare and self._learnt_last):
            return self._learning_job(len(out))
        settings = self._settings_for(len(out))
        if self._settings != settings:
            self._settings = settings
            return lambda: self._engine.ask_by(settings)
        old = [] if missing else self._old(len(out))
        if (missing or old) and may_prepare:
            self._learnt_last = False
            avoid = reserved.union(*(each.question.items for each in self._ready if each not in old))
            recent, generation = self._desk.recent_items(RECENT_QUESTIONS), self._generation
            return lambda: self._prepare(missing or len(old), old, avoid, recent, generation)
        if len(out) <= MOST_PEOPLE_WITH_BRANCHES:
            return self._branch_job(out, reserved)
        return None

    def _settings_for(self, people: int) -> Settings:
        """The project's settings, with smaller questions for `auto` if this many people would run out of items, and only the
        larger half of those if questions cannot be chosen as fast as people answer. Sizes follow the largest recent number of
        people, until only half of them are left, so that they do not change with every person."""
        if people > self._crowd or 2 * people < self._crowd:
            self._crowd, self._busy = people, self._busy and people > self._crowd
        self._busy = self._busy or self._desk.lately.random > BUSY
        settings = self._desk.settings
        sizes, free = settings.learning.sizes, SHOWN_AT_ONCE * self._local.items
        fitting = tuple(size for size in sizes if size * self._crowd <= free) or (min(sizes),)
        if self._busy:
            fitting = tuple(sorted(fitting)[len(fitting) // 2 :])
        return settings if fitting == sizes else settings.changed(learning={"sizes": fitting})

    def _learning_job(self, people: int) -> Job:
        """Learn the new answers, or all answers again if the start has changed."""
        self._learnt_last = True
        pairs, mark, initial = self._desk.counting(), self._desk.mark, self._desk.initial
        if self._engine.settings != initial:
            self._learnt = -1
        limit = TELL_AT_ONCE if people <= MOST_PEOPLE_WITH_BRANCHES else TELL_AT_WORK
        return lambda: self._learn(pairs, mark, initial, limit)

    def _missing(self, people: int, reserved: set[str]) -> int:
        """How many more questions should be prepared. Very old ones, and those with items of open questions, are dropped."""
        self._ready = [
            each
            for each in self._ready
            if self._desk.changes_after(each.as_of) <= max(people, 1) and not set(each.question.items) & reserved
        ]
        ready = [each for each in self._ready if people > 1 or not self._desk.changes_after(each.as_of)]
        return max(self._enough(people) - len(ready), 0)

    def _old(self, people: int) -> list[Prepared]:
        """The prepared questions that should be renewed."""
        patience = min(people, RENEWED_AFTER)
        return [each for each in self._ready if self._desk.changes_after(each.as_of) > patience]

    def _enough(self, people: int) -> int:
        """How many questions to have ready for this many people."""
        spare = int(READY_AT_ONCE * self._local.items) // self._local.largest
        return min(max(spare, SEARCHED_SINGLY), MAX_READY, people + 1)

    def _learn(self, pairs: Pairs, mark: int, initial: Settings, limit: int) -> None:
        if self._engine.settings != initial:
            self._come_back()  # words to start from may be known only here
        if not self._engine.learn(pairs, initial, limit):
            self._backlog(self._engine)
            return
        view = self._look(pairs)  # of the whole pool, so only once all is learnt
        full = FullView.of(view, self._local.recall()) if self._engine is self._local else None
        with self._changed:
            self.view, self._full = full or view, full or self._full
            self._learnt = mark
            self._on_learnt()
            self._changed.notify_all()

    def _prepare(self, missing: int, old: list[Prepared], avoid: set[str], recent: set[str], generation: int) -> None:
        """Find one more question or, if many are ``missing``, all of them with one search. They replace the ``old`` ones."""
        many, as_of = missing > SEARCHED_SINGLY, max(self._learnt, self._engine.seq)
        questions = self._engine.choose(avoid, recent, missing if many else None)
        with self._changed:
            if not questions:
                self._stuck_at = self._desk.seq
            elif generation == self._generation:
                replaced = old[: len(questions)]
                self._ready = [each for each in self._ready if each not in replaced]
                self._ready += [Prepared(question, as_of, among_many=many) for question in questions]
            self._changed.notify_all()

    def _branch_job(self, out: list[Asked], reserved: set[str]) -> Job | None:
        """Prepare for one likely answer to one of the open questions, ``out``, or find out which answers are likely."""
        ids = {asked.question.id for asked in out}
        self._branches = {question_id: found for question_id, found in self._branches.items() if question_id in ids}
        self._likely = [(asked, answer) for asked, answer in self._likely if asked.question.id in ids]
        if self._likely:
            asked, answer = self._likely.pop(0)
            recent, generation = self._desk.recent_items(RECENT_QUESTIONS), self._generation
            avoid = reserved | set(asked.question.items)
            return lambda: self._prepare_branch(asked, answer, avoid, recent, generation)
        new = next((asked for asked in out if (asked.question.id, self._learnt) not in self._likely_found), None)
        if new is None:
            return None
        self._likely_found = {(question_id, seq) for question_id, seq in self._likely_found if question_id in ids}
        self._likely_found.add((new.question.id, self._learnt))
        return lambda: self._find_likely(new)

    def _find_likely(self, asked: Asked) -> None:
        """Remember the likely answers to a question, to prepare for each."""
        answers = self._engine.likely(asked.question, MAX_BRANCHES)
        with self._changed:
            self._branches.pop(asked.question.id, None)
            self._likely.extend((asked, answer) for answer in answers)

    def _prepare_branch(self, asked: Asked, answer: Answer, avoid: set[str], recent: set[str], generation: int) -> None:
        """Prepare what to ask after ``answer``: the most efficient question for that person at their current speed."""
        steady = self.view.steady.get(asked.participant, STEADY)
        following = self._engine.choose_after(asked, answer, steady, avoid, recent)
        with self._changed:
            if following and generation == self._generation:
                branch = Prepared(following[0], self._learnt, supposing=True)
                self._branches.setdefault(asked.question.id, {})[answer] = branch
            self._changed.notify_all()

    def _look(self, pairs: Pairs) -> View:
        stop, labelled = self._engine.outlook()
        effects = tuple(self._engine.effects)
        return View(self._engine.seq, effects, stop, labelled, self._watching.people(effects, pairs))

    def _look_fully(self) -> None:
        """Compute what is predicted for every item now."""
        full = FullView.of(self.view, self._engine.recall())
        with self._changed:
            self.view = self._full = full
            self._wanted = False
            self._changed.notify_all()
