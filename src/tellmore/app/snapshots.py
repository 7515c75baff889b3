"""Saving the learner's state now and then, and finding it again on start. Losing a snapshot loses nothing."""

from __future__ import annotations

import io
import json
import logging
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from tellmore import __version__
from tellmore.data.pool import Pool
from tellmore.data.settings import Settings
from tellmore.errors import TellmoreError
from tellmore.learner import Learner
from tellmore.store.fold import Fold, Told
from tellmore.store.ledger import Asked, Given
from tellmore.store.repository import Repository

log = logging.getLogger(__name__)

SAVE_EVERY = 50
"""Answers between two snapshots."""


class SnapshotKeeper:
    """Saves and restores the fold of one project; a snapshot of other data or settings is never used."""

    def __init__(self, repository: Repository, pool: Pool, settings: Settings) -> None:
        self._repository, self._pool = repository, pool
        learning = settings.model_dump_json(include={"learning"})
        facts = f"{__version__} {pool.fingerprint} {learning}"
        self._version = sha256(facts.encode()).hexdigest()[:32]
        self._saved_at = 0

    def restore(self, fold: Fold, pairs: Sequence[tuple[Asked, Given]]) -> bool:
        """Put the newest snapshot into ``fold`` where its answers are a beginning of ``pairs``."""
        found = self._repository.load_snapshot(self._version)
        if found is None:
            return False
        try:
            told, learner = unpack(found[1], self._pool)
        except (TellmoreError, KeyError, ValueError, OSError, zipfile.BadZipFile):
            log.warning("a snapshot could not be read; the answers are learnt from the log instead")
            return False
        if [each.seq for each in told] != [given.seq for _, given in pairs[: len(told)]]:
            return False
        fold.adopt(told, learner)
        self._saved_at = len(told)
        return True

    def save_if_due(self, fold: Fold) -> bool:
        """Chore: save where enough was learnt since the last time."""
        if abs(len(fold.told) - self._saved_at) < SAVE_EVERY:
            return False
        self._repository.save_snapshot(fold.seq, self._version, pack(fold))
        self._saved_at = len(fold.told)
        return True


def pack(fold: Fold) -> bytes:
    """A fold as bytes: a zip of the learner's own file and of what each answer did. No pickles."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.npz"
        fold.learner.save(path)
        learner = path.read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("learner.npz", learner)
        archive.writestr("told.json", json.dumps([asdict(each) for each in fold.told]))
    return buffer.getvalue()


def unpack(data: bytes, pool: Pool) -> tuple[list[Told], Learner]:
    """The inverse of ``pack``."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.npz"
        path.write_bytes(archive.read("learner.npz"))
        told = [Told(**each) for each in json.loads(archive.read("told.json"))]
        return told, Learner.load(path, pool)
