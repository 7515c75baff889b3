"""Finds what is wrong with a damaged project and what would repair it, and repairs it after a backup.

A row of items and vectors that is incomplete in one of the files is removed from both. Log events are removed only if they
cannot be read, or do not fit the items and questions; they stay in the backup.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.data.project import (
    EMBEDDINGS_FILE,
    ITEMS_FILE,
    Project,
    fitted,
    open_project,
    write_settings,
)
from tellmore.data.settings import SETTINGS_FILE, Settings
from tellmore.data.vectors import MatrixWriter
from tellmore.errors import DataFileError, StoreError, TellmoreError
from tellmore.files import replacing, write_whole
from tellmore.questions import check_answer
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository
from tellmore.store.snapshots import unpack
from tellmore.types import Array

FEWEST_ITEMS = 2


@dataclass(frozen=True)
class Damage:
    """One thing that is wrong, and what would repair it; "" if it cannot be repaired here."""

    what: str
    mend: str


@dataclass(frozen=True)
class Diagnosis:
    """``rows`` are those of the complete items, None if all are; ``events`` are the numbers of those to remove."""

    damages: tuple[Damage, ...]
    rows: tuple[int, ...] | None = None
    events: tuple[int, ...] = ()
    snapshots: bool = False

    @property
    def mendable(self) -> bool:
        """Whether everything that was found can be repaired."""
        return all(damage.mend for damage in self.damages)


def diagnose(folder: str | os.PathLike[str]) -> Diagnosis:
    """Check settings, items, vectors, log and snapshots, without changing anything. Unreadable settings are an error."""
    project = open_project(folder)
    damages: list[Damage] = []
    ids, rows = _whole_rows(project.folder, damages)
    if not all(damage.mend for damage in damages):
        return Diagnosis(tuple(damages))
    try:
        with closing(Repository(project.database_url)) as repository:
            events = tuple(_bad_events(project.settings, set(ids), repository.since(), damages))
            snapshots = _bad_snapshots(repository, damages)
    except StoreError as error:
        return Diagnosis((*damages, Damage(f"log: {error}", "")))
    return Diagnosis(tuple(damages), rows, events, snapshots)


# Items and vectors


def _whole_rows(folder: Path, damages: list[Damage]) -> tuple[list[str], tuple[int, ...] | None]:
    """Ids of the complete items, and their rows; None if nothing is missing."""
    try:
        lines = (folder / ITEMS_FILE).read_bytes().splitlines()
        n, whole = _matrix_rows(folder / EMBEDDINGS_FILE)
    except (OSError, ValueError, EOFError) as error:
        damages.append(Damage(f"items or vectors cannot be read at all: {error}", ""))
        return [], None
    items = [_item_id(line) for line in lines if line.strip()]
    seen: set[str] = set()
    kept: list[int] = []
    for row, identifier in enumerate(items[:whole]):
        if identifier is not None and identifier not in seen:
            seen.add(identifier)
            kept.append(row)
    if len(kept) == len(items) == n == whole:
        return [str(identifier) for identifier in items], None
    lost = max(len(items), n) - len(kept)
    faults = {
        f"{EMBEDDINGS_FILE} is cut short: {whole} of {n} rows are complete": whole < n,
        f"{ITEMS_FILE} has {len(items)} rows for {n} vectors": len(items) != n,
        f"{ITEMS_FILE}: {items.count(None)} rows cannot be read": None in items,
        f"{ITEMS_FILE}: ids occur twice": len(kept) < len(items[:whole]) - items[:whole].count(None),
    }
    mend = f"keep the {len(kept)} complete items, remove {lost}" if len(kept) >= FEWEST_ITEMS else ""
    damages += [Damage(what, mend) for what, found in faults.items() if found]
    return [str(items[row]) for row in kept], tuple(kept)


def _item_id(line: bytes) -> str | None:
    try:
        identifier = json.loads(line)["id"]
    except (ValueError, TypeError, KeyError):
        return None
    return identifier if isinstance(identifier, str) else None


def _matrix_rows(path: Path) -> tuple[int, int]:
    """How many rows the matrix should have, and how many are complete."""
    (n, d), start = _matrix_shape(path)
    return n, min(n, (path.stat().st_size - start) // (4 * d))


def _matrix_shape(path: Path) -> tuple[tuple[int, int], int]:
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        if len(shape) != 2 or fortran or dtype != np.dtype("<f4"):
            raise ValueError(f"{path.name} is not a matrix of a project")
        return (shape[0], shape[1]), file.tell()


def _matrix(path: Path, whole: int) -> Array:
    (_, d), start = _matrix_shape(path)
    return np.asarray(np.memmap(path, dtype="<f4", mode="r", offset=start, shape=(whole, d)))


# The log


def _bad_events(settings: Settings, ids: set[str], events: Iterator[Event], damages: list[Damage]) -> Iterator[int]:
    """Numbers of events that cannot be read or do not fit; if a question is removed, so are all events about it."""
    ledger, gone = Ledger(settings), set[str]()
    for event in events:
        fault = "its question was faulty" if event.question_id in gone else _fault(ledger, event, ids)
        if fault is not None:
            if event.kind == "question" and event.question_id is not None:
                gone.add(event.question_id)
            damages.append(Damage(f"log, event {event.seq} ({event.kind}): {fault}", "remove the event from the log"))
            yield event.seq


def _fault(ledger: Ledger, event: Event, ids: set[str]) -> str | None:
    """Why ``event`` does not belong in the log; None if it was applied."""
    if event.erased:
        return None
    try:
        probe = Ledger(ledger.settings)  # to apply this one event, after the questions and settings before it
        probe.asked = ledger.asked
        probe.apply(event)
        asked, given = probe.asked.get(event.question_id or ""), probe.given.get(event.question_id or "")
        if event.kind == "question" and asked is not None:
            unknown = next((item for item in asked.question.items if item not in ids), None)
            if unknown is not None:
                del ledger.asked[asked.question.id]
                return f"the item {unknown!r} is not in the project"
        if given is not None and given.answer is not None:
            if asked is None:
                return "it answers a question that is not in the log"
            check_answer(asked.question, given.answer)
        ledger.settings = probe.settings
    except (TellmoreError, KeyError, TypeError, AttributeError, ValueError) as error:
        return f"{type(error).__name__}: {error}" if not isinstance(error, TellmoreError) else str(error)
    return None


def _bad_snapshots(repository: Repository, damages: list[Damage]) -> bool:
    """Whether a saved state cannot be read."""
    bad = False
    for seq, data in repository.snapshots():
        try:
            unpack(data)
        except Exception as error:  # damaged bytes can cause any error
            bad = True
            damages.append(
                Damage(f"snapshot after event {seq}: {error}", "delete it; it only saves time and will be made again")
            )
    return bad


# Mending


def mend(folder: str | os.PathLike[str], diagnosis: Diagnosis) -> Path:
    """Repair what ``diagnosis`` found; returns the folder of the backup, which is made first. No server may run meanwhile."""
    if not diagnosis.mendable:
        raise DataFileError(f"{folder}: not everything can be repaired; create the project again with: tellmore init")
    project = open_project(folder)
    with closing(Repository(project.database_url)) as repository:
        repository.claim()
        backup = _back_up(project.folder, repository)
        repository.remove(diagnosis.events, snapshots=diagnosis.snapshots or diagnosis.rows is not None)
        if diagnosis.rows is not None:
            _keep_rows(project, diagnosis.rows)
    return backup


def _back_up(folder: Path, repository: Repository) -> Path:
    """Copy settings, items and vectors, and write the log as JSONL, which ``tellmore import`` can read."""
    backup = folder / f"backup-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    try:
        backup.mkdir()
        for name in (SETTINGS_FILE, ITEMS_FILE, EMBEDDINGS_FILE):
            shutil.copy2(folder / name, backup / name)
    except OSError as error:
        raise DataFileError(
            f"{backup}: the backup could not be written: {error.strerror}; nothing was changed"
        ) from None
    lines = (json.dumps(event.as_json(), ensure_ascii=False) + "\n" for event in repository.since())
    write_whole(backup / "log.jsonl", "".join(lines))
    return backup


def _keep_rows(project: Project, rows: Sequence[int]) -> None:
    folder = project.folder
    lines = [line for line in (folder / ITEMS_FILE).read_bytes().splitlines() if line.strip()]
    X = _matrix(folder / EMBEDDINGS_FILE, max(rows) + 1)
    with replacing(folder / EMBEDDINGS_FILE) as fresh, MatrixWriter(fresh, len(rows), X.shape[1]) as writer:
        for start in range(0, len(rows), 4096):
            chosen = np.array(rows[start : start + 4096])
            writer.write(np.arange(start, start + len(chosen)), X[chosen])
    write_whole(folder / ITEMS_FILE, b"".join(lines[row] + b"\n" for row in rows))
    settings = fitted_to(project.settings, len(rows))
    fingerprint = Project(folder, settings).fingerprint
    write_settings(folder, settings.changed(data={"sha256": fingerprint}))


def fitted_to(settings: Settings, n: int) -> Settings:
    """``settings`` for ``n`` items; the version stays, because it determines how the project learns."""
    version = settings.data.version
    return fitted(settings.changed(data={"n": n})).changed(data={"version": version})


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """For scripts."""
    return {"damages": [vars(damage) for damage in diagnosis.damages], "mendable": diagnosis.mendable}
