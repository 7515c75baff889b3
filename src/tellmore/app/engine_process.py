"""Learning and choosing in a separate process, so that many people's requests do not take turns with it.

The planner begins in the server's process and moves once enough people are at work: a process opens the project's folder, gets
what is known so far, and then handles one request after another. It ends when the server's end of the pipe closes. If it ends
by itself, the planner continues in the server's process from the last snapshot, and another process is opened.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import threading
import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tellmore.app.engine import Known, LocalEngine
from tellmore.app.memory import MemoryKeeper
from tellmore.core.steadiness import Steadiness
from tellmore.data.project import open_project
from tellmore.data.settings import Settings
from tellmore.errors import StateError, TellmoreError
from tellmore.learner import Learner
from tellmore.policy.rates import Rate
from tellmore.policy.stopping import Stop
from tellmore.questions import Question
from tellmore.store.beforehand import beforehand_of
from tellmore.store.fold import AnswerEffect, Fold, Pairs, retold, shared_prefix
from tellmore.store.ledger import Asked
from tellmore.types import Answer

log = logging.getLogger(__name__)

LONGEST_S = 600.0
"""A process that does not respond for this long has stopped working."""
AGAIN_AFTER_S = 10.0
"""How long to wait after a process has ended or could not be opened."""
END_WITHIN_S = 2.0


class GoneError(TellmoreError):
    """The process has ended, or does not respond."""


@dataclass(frozen=True)
class Opening:
    """Where a process finds the items: in the project's ``folder``, as long as they have this ``fingerprint``."""

    folder: Path
    fingerprint: str

    def engine(self, known: Known) -> LocalEngine:
        """An engine on these items that continues from what is ``known``."""
        project = open_project(self.folder)
        if project.pool.fingerprint != self.fingerprint:
            raise StateError("the items in the project's folder are not those that are served")
        fold = Fold(project.pool, known.settings, beforehand=beforehand_of(project))
        local = LocalEngine(fold, known.pairs, known.asking)
        local.adopt(known)
        return local


@dataclass(frozen=True)
class Fault:
    """What went wrong in the process, in words; ``expected``: it is not a bug."""

    text: str
    expected: bool

    @classmethod
    def of(cls, problem: Exception) -> Fault:
        expected = isinstance(problem, TellmoreError)
        return cls(str(problem) if expected else traceback.format_exc(), expected)

    def error(self) -> Exception:
        return TellmoreError(self.text) if self.expected else RuntimeError(self.text)


def work(pipe: Connection, opening: Opening, known: Known) -> None:
    """What the process does: handle requests until the server has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this process
    memory = MemoryKeeper()
    with suppress(EOFError, OSError):
        try:
            engine = opening.engine(known)
        except Exception as problem:
            pipe.send(Fault.of(problem))
            return
        pipe.send(None)
        while True:
            name, given = pipe.recv()
            try:
                reply: object = getattr(engine, name)(*given)
            except Exception as problem:
                reply = Fault.of(problem)
            pipe.send(reply)
            memory.give_back_if_due(engine)


class ProcessEngine:
    """An engine in another process; ``local`` is the server's own, from which it began."""

    def __init__(self, opening: Opening, local: LocalEngine, known: Known) -> None:
        self._local = local
        self._take(known)
        self._seen: Pairs = ()
        self._pipe, self._process = _started(opening, known)
        try:
            self._reply()
        except Exception:
            self.close()
            raise

    def adopt(self, known: Known) -> None:
        """Go on from there, without learning the answers that came in while the process was opened."""
        self._ask("adopt", known)
        self._take(known)

    def _take(self, known: Known) -> None:
        self._pairs = list(known.pairs)
        self.effects: list[AnswerEffect] = list(known.effects)
        self.settings, self.asking = known.settings, known.asking

    @property
    def seq(self) -> int:
        return self.effects[-1].seq if self.effects else 0

    @property
    def pid(self) -> int | None:
        """The id of the process."""
        return self._process.pid

    def learn(self, pairs: Pairs, initial: Settings, limit: int) -> bool:
        if initial != self.settings:
            raise StateError("another start is learnt from in the server's own process")
        kept = shared_prefix([given.seq for _, given in self._pairs], pairs)
        new = pairs[kept:][:limit]
        done, same, effects = self._ask("grow", kept, new, limit)
        self._pairs[kept:] = new
        self.effects = [*self.effects[:same], *effects]
        return bool(done) and len(self._pairs) == len(pairs)

    def outlook(self) -> tuple[Stop, bool]:
        found: tuple[Stop, bool] = self._ask("outlook")
        self._seen = tuple(self._pairs)
        return found

    def recall(self) -> Learner:
        return retold(self._local.fold.learner, self._seen, *self._ask("seen"))

    def packed(self) -> bytes:
        return bytes(self._ask("packed"))

    def ask_by(self, settings: Settings) -> None:
        self.asking = settings
        self._local.ask_by(settings)
        self._ask("ask_by", settings)

    def choose(self, avoid: Collection[str], recent: Collection[str], many: int | None = None) -> list[Question]:
        return list(self._ask("choose", avoid, recent, many))

    def likely(self, question: Question, limit: int) -> list[Answer]:
        return list(self._ask("likely", question, limit))

    def choose_after(
        self, asked: Asked, answer: Answer, steady: Steadiness, avoid: Collection[str], recent: Collection[str]
    ) -> list[Question]:
        return list(self._ask("choose_after", asked, answer, steady, avoid, recent))

    def refit(self) -> None:
        self._ask("refit")

    def rates(self, sizes: Sequence[int]) -> tuple[Rate, ...]:
        return tuple(self._ask("rates", sizes))

    def close(self) -> None:
        self._pipe.close()
        self._process.join(END_WITHIN_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _ask(self, name: str, *given: object) -> Any:
        try:
            self._pipe.send((name, given))
        except OSError as problem:
            raise GoneError(self._end()) from problem
        return self._reply()

    def _reply(self) -> Any:
        try:
            if not self._pipe.poll(LONGEST_S):
                raise GoneError(f"it did not answer for {LONGEST_S:.0f} s")
            reply = self._pipe.recv()
        except (EOFError, OSError) as problem:
            raise GoneError(self._end()) from problem
        if isinstance(reply, Fault):
            raise reply.error()
        return reply

    def _end(self) -> str:
        self._process.join(END_WITHIN_S)
        code = self._process.exitcode
        return f"it was ended by signal {-code}" if code is not None and code < 0 else f"it ended with code {code}"


def _started(opening: Opening, known: Known) -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, opening, known), name="tellmore-learner", daemon=True)
    try:
        with _no_interrupts():  # the process inherits this from its start
            process.start()
    finally:
        theirs.close()
    return ours, process


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block interrupts: Ctrl-C in a terminal reaches all its processes, but is meant for the server alone."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # otherwise starting it would unblock interrupts
    was = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, was)


class EngineOpener:
    """Opens a process once ``people`` are at work. This takes some seconds, so a separate thread does it."""

    def __init__(self, opening: Opening, people: int) -> None:
        self._opening, self._people = opening, people
        self._thread: threading.Thread | None = None
        self._found: ProcessEngine | None = None
        self._due = 0.0
        self._turn, self._closed = threading.Lock(), False

    def engine(self, people: int, local: LocalEngine) -> ProcessEngine | None:
        """The engine in the other process, if it is ready; with enough ``people`` at work, one is started."""
        if self._thread is None and people >= self._people and time.monotonic() >= self._due:
            self._due = time.monotonic() + AGAIN_AFTER_S
            known = local.known()
            if known is not None:
                self._thread = threading.Thread(target=self._open, args=(local, known), name="opening", daemon=True)
                self._thread.start()
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread = None
        found, self._found = self._found, None
        known = local.known()
        if found is None or known is None or known.settings != found.settings:
            _close(found)
            return None
        try:
            found.adopt(known)
        except GoneError as problem:
            log.warning("learning stays in the server's process, because the other one has ended: %s", problem)
            _close(found)
            return None
        local.adopt(replace(known, earlier=()))  # earlier states would only take memory here
        log.info("learning has moved to a separate process, %s", found.pid)
        return found

    def _open(self, local: LocalEngine, known: Known) -> None:
        try:
            found = ProcessEngine(self._opening, local, known)
        except Exception as problem:
            if not self._closed:  # at the end of the server, a process that is still being opened is ended too
                log.warning("learning stays in the server's process, as no other could be opened: %s", problem)
            self._due = time.monotonic() + AGAIN_AFTER_S
            return
        with self._turn:
            if not self._closed:
                self._found = found
                return
        found.close()

    def close(self) -> None:
        """End a process that is open but not used; one that is being opened ends by itself."""
        with self._turn:
            self._closed = True
            if self._found is not None:
                self._found.close()


def _close(process_engine: ProcessEngine | None) -> None:
    if process_engine is not None:
        process_engine.close()
