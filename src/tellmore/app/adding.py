"""Texts that an owner adds in the browser: checked at once, then embedded and learnt in a separate thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from tellmore.app.session import Session
from tellmore.app.wire_board import AddingOut, GuessOut
from tellmore.data.adding import keep_added, no_texts, open_for_texts, read_texts, write_added
from tellmore.data.guessing import CANDIDATES, Encoding, encoding_of
from tellmore.data.items import ItemTable
from tellmore.data.progress import Advance
from tellmore.data.project import Project
from tellmore.errors import DataFileError, FaultyRowsError, SettingError, StateError, TellmoreError
from tellmore.store.beforehand import beforehand_of
from tellmore.store.events import items_event

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 8 * 1024 * 1024
SHOWN_FAULTS = 5
NO_FOLDER = "This server keeps no files of the project, so nothing can be added here."


class Adding:
    """Adds texts, one file at a time. ``project`` is the current project, with everything added so far."""

    def __init__(self, session: Session, project: Project | None, embed: str | None) -> None:
        self.project = project
        self._session, self._embed = session, embed
        self._turn = threading.Lock()
        self._last = AddingOut(
            refusal=NO_FOLDER if project is None else no_texts(project, embed),
            max_bytes=MAX_FILE_BYTES,
            state="none",
            guesses=[],
            encodings=["utf-8", *CANDIDATES],
            done=0,
            total=0,
            message="",
        )

    def out(self) -> AddingOut:
        """Whether texts can be added, and the progress of the last addition."""
        return self._last

    def begin(self, name: str, content: bytes, by: str, encoding: str | None = None) -> None:
        """Check the CSV file ``name`` and add its texts in the background; raises an error if that is impossible. If
        its encoding can only be guessed, the guesses are shown instead, and the next call names one."""
        if self.project is None or self._last.refusal is not None:
            raise SettingError(self._last.refusal or NO_FOLDER)
        if len(content) > MAX_FILE_BYTES:
            raise DataFileError(f"the file is larger than {MAX_FILE_BYTES >> 20} MB; divide it into smaller files")
        if not self._turn.acquire(blocking=False):
            raise StateError("texts are being added already; wait until they are done")
        try:
            found = _read(name, content, self.project, encoding)
            if isinstance(found, Encoding):
                self._say(state="guessed", guesses=_guesses(found), message=_asked(found), done=0, total=0)
                self._turn.release()
                return
            self._say(state="embedding", guesses=[], done=0, total=len(found), message="")
            threading.Thread(target=self._run, args=(self.project, found, by), name="adding", daemon=True).start()
        except BaseException:
            self._turn.release()
            raise

    def _run(self, project: Project, table: ItemTable, by: str) -> None:
        try:
            added = write_added(project, table, open_for_texts(project, self._embed), self._progress)
            self._say(state="learning")
            self._session.renew(
                added.pool, added.settings, beforehand_of(added, self._embed), lambda: self._keep(added, table, by)
            )
            self.project = added
            self._say(state="done", message=_told(len(table)))
        except Exception as problem:
            log.exception("texts could not be added")
            known = isinstance(problem, TellmoreError)
            why = _without(project.folder, str(problem)) if known else "the server's log says why"
            self._say(state="failed", message=f"Nothing was added: {why}")
        finally:
            self._turn.release()

    def _keep(self, added: Project, table: ItemTable, by: str) -> None:
        keep_added(added)
        self._session.append([items_event(by, len(table), table.source.name)])

    @contextmanager
    def _progress(self, _what: str, _total: int) -> Iterator[Advance]:
        def advance(steps: int = 1) -> None:
            self._say(done=self._last.done + steps)

        yield advance

    def _say(self, **news: object) -> None:
        self._last = self._last.model_copy(update=news)


def _read(name: str, content: bytes, project: Project, encoding: str | None) -> ItemTable | Encoding:
    """Read the file; returns the guess at its encoding if that is not named. Errors name neither a folder of the server nor
    the file, which the person has just chosen."""
    with TemporaryDirectory(prefix="tellmore-") as folder:
        path = Path(folder) / (PurePath(name.replace("\\", "/")).stem[:100] + ".csv")
        path.write_bytes(content)
        guess = None if encoding else encoding_of(path)
        if guess is not None and guess.guessed:
            return guess
        try:
            return read_texts(path, project, encoding)
        except DataFileError as problem:
            faults = problem.faults if isinstance(problem, FaultyRowsError) else (str(problem),)
            rest = [f"and {len(faults) - SHOWN_FAULTS} more rows"] if len(faults) > SHOWN_FAULTS else []
            told = "; ".join([*faults[:SHOWN_FAULTS], *rest])
            raise DataFileError(told.replace(f"{path}, ", "").replace(f"{path}: ", "")) from None


def _guesses(found: Encoding) -> list[GuessOut]:
    every = ((found.name, found.shown), *found.others)
    return [GuessOut(encoding=name, reading=reading) for name, reading in every]


def _asked(found: Encoding) -> str:
    likely = "may be" if found.doubtful else "seems to be"
    return (
        f"Nothing was added yet: this file is not UTF-8. Its encoding {likely} {found.name}; line {found.line} then reads "
        f"“{found.shown}”. Choose the encoding that reads it right, and add the texts."
    )


def _without(folder: Path, text: str) -> str:
    return text.replace(f"{folder}/", "").replace(str(folder), "the project")


def _told(count: int) -> str:
    added = "1 text was added" if count == 1 else f"{count:,} texts were added"
    checks = "The random checks so far were drawn from the earlier items; from now on they are drawn from all."
    return f"{added}, and all answers were learnt again. {checks}"
