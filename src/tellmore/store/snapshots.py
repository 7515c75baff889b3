"""Saving the learner's state now and then, and finding it again on start. Losing a snapshot loses nothing."""

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import numpy as np

from tellmore import __version__
from tellmore.core.mixture import Mixture
from tellmore.data.settings import Settings
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.store.fold import AnswerEffect, Fold
from tellmore.store.ledger import Asked, Given
from tellmore.store.repository import Repository

log = logging.getLogger(__name__)

SAVE_EVERY = 50
"""Answers between two snapshots; more where there are many, since a snapshot says what each of them did."""
SAVE_SHARE = 0.01
LAYOUT = 3
"""Changes with what a snapshot holds: since 2, beliefs in the learner's own coordinates; since 3, several."""


class SnapshotKeeper:
    """Saves and restores the fold of one project; a snapshot of other data or settings is never used."""

    def __init__(self, repository: Repository, pool: Pool) -> None:
        self._repository, self._pool = repository, pool
        self._saved_at = 0

    def version(self, settings: Settings) -> str:
        """What a belief that began from ``settings`` is saved under."""
        begun = settings.model_dump_json(include={"learning", "start"})
        facts = f"{__version__} {LAYOUT} {self._pool.fingerprint} {settings.classic} {begun}"
        return sha256(facts.encode()).hexdigest()[:32]

    def restore(self, fold: Fold, pairs: Sequence[tuple[Asked, Given]]) -> bool:
        """Put the newest snapshot into ``fold`` where its answers are a beginning of ``pairs``."""
        found = self._repository.load_snapshot(self.version(fold.settings))
        if found is None:
            return False
        try:
            effects, mixture, tally = unpack(found[1])
        except (KeyError, TypeError, ValueError, EOFError, OSError, zipfile.BadZipFile):
            log.warning("a snapshot could not be read; the answers are learnt from the log instead")
            return False
        if [each.seq for each in effects] != [given.seq for _, given in pairs[: len(effects)]]:
            return False
        fold.adopt(effects, mixture, tally, pairs[: len(effects)])
        self._saved_at = len(effects)
        return True

    def save_if_due(self, fold: Fold) -> bool:
        """Chore: save where enough was learnt since the last time."""
        answers = len(fold.effects)
        if abs(answers - self._saved_at) < max(SAVE_EVERY, SAVE_SHARE * answers):
            return False
        self._repository.save_snapshot(fold.seq, self.version(fold.settings), pack(fold))
        self._saved_at = answers
        return True


def pack(fold: Fold) -> bytes:
    """A fold as bytes: the beliefs' arrays, and what each answer did. No pickles."""
    buffer = io.BytesIO()
    effects = json.dumps([asdict(each) for each in fold.effects])
    tally = json.dumps(asdict(fold.learner.tally))
    arrays: dict[str, Any] = {**fold.learner.beliefs.arrays(), "told": np.array(effects), "tally": np.array(tally)}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def unpack(data: bytes) -> tuple[list[AnswerEffect], Mixture, Tally]:
    """The inverse of ``pack``: what each answer did, and the beliefs and the tally after them."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        beliefs = Mixture.from_arrays(archive)
        effects = [AnswerEffect(**each) for each in json.loads(str(archive["told"]))]
        return effects, beliefs, Tally.from_json(json.loads(str(archive["tally"])))
