"""Saves the learner's state now and then, and loads it at the start. If a snapshot is lost, no data is lost."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

import numpy as np

from tellmore.core.habits import Team
from tellmore.core.mixture import Mixture
from tellmore.data.settings import Settings
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.store.fold import FIELDS, AnswerEffect, Fold
from tellmore.store.ledger import Asked, Given
from tellmore.store.repository import Repository
from tellmore.version import __version__

log = logging.getLogger(__name__)

SAVE_EVERY = 50
"""Answers between two snapshots; more if there are many answers, because a snapshot has what each of them changed."""
SAVE_SHARE = 0.02
LAYOUT = 9
"""The version of what a snapshot contains: from 2 on, beliefs in the learner's coordinates; 3, several beliefs; 4, checksums;
5, lapses are allowed for; 6, people have habits; 7, checks have calibrated probabilities; 8, surprises;
9, a start passes its trust on."""
CHECKSUM_BYTES = sha256().digest_size


class Learnt(Protocol):
    """What can be saved: a fold, or one in another process."""

    @property
    def effects(self) -> Sequence[AnswerEffect]:
        """What each answer did."""
        ...

    @property
    def seq(self) -> int:
        """Number of the last answer learnt from."""
        ...

    @property
    def settings(self) -> Settings:
        """What the belief began from."""
        ...

    def packed(self) -> bytes:
        """A fold as bytes: see `unpack`."""
        ...


class SnapshotKeeper:
    """Saves and restores the fold of one project; a snapshot of other data or settings is never used."""

    def __init__(self, repository: Repository, pool: Pool) -> None:
        self._repository, self._pool = repository, pool
        self._saved_at = 0

    def version(self, settings: Settings) -> str:
        """The version under which a belief that began from ``settings`` is saved."""
        begun = settings.model_dump_json(include={"learning", "start"})
        facts = f"{__version__} {LAYOUT} {self._pool.fingerprint} {settings.classic} {begun}"
        return sha256(facts.encode()).hexdigest()[:32]

    def restore(self, fold: Fold, pairs: Sequence[tuple[Asked, Given]]) -> bool:
        """Restore the newest snapshot into ``fold`` if its answers are the beginning of ``pairs``."""
        found = self._repository.load_snapshot(self.version(fold.settings))
        if found is None:
            return False
        try:
            effects, mixture, tally, team = unpack(found[1])
            _check_fits(mixture, fold.learner.beliefs)
        except (DamageError, KeyError, TypeError, ValueError) as problem:
            log.warning("the saved state is damaged (%s); the answers are learnt from the log instead", problem)
            return False
        if [each.seq for each in effects] != [given.seq for _, given in pairs[: len(effects)]]:
            return False
        fold.adopt(effects, mixture, tally, team, pairs[: len(effects)])
        self._saved_at = len(effects)
        return True

    def save_if_due(self, learnt: Learnt) -> bool:
        """Chore: save, if enough was learnt since the last time."""
        answers = len(learnt.effects)
        if abs(answers - self._saved_at) < max(SAVE_EVERY, SAVE_SHARE * answers):
            return False
        self._repository.save_snapshot(learnt.seq, self.version(learnt.settings), learnt.packed())
        self._saved_at = answers
        return True


class DamageError(Exception):
    """These bytes are not what was saved."""


def unpack(data: bytes) -> tuple[list[AnswerEffect], Mixture, Tally, Team]:
    """The inverse of ``Fold.packed``: what each answer did, and the beliefs, the tally and people's habits after them."""
    checksum, content = data[:CHECKSUM_BYTES], data[CHECKSUM_BYTES:]
    if sha256(content).digest() != checksum:
        raise DamageError("its checksum does not match")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        columns = [archive[f"told_{name}"].tolist() for name in FIELDS]
        effects = [AnswerEffect(*values) for values in zip(*columns, strict=True)]
        tally, team = (json.loads(str(archive[name])) for name in ("tally", "team"))
        return effects, Mixture.from_arrays(archive), Tally.from_json(tally), Team.from_json(team)


def _check_fits(saved: Mixture, begun: Mixture) -> None:
    """Raise DamageError if the beliefs cannot have come from those before the first answer."""
    if [one.mean.shape + one.cov.shape for one in saved.beliefs] != [
        one.mean.shape + one.cov.shape for one in begun.beliefs
    ]:
        raise DamageError("its beliefs are of another size")
    if not all(np.isfinite(values).all() for values in saved.arrays().values()):
        raise DamageError("its beliefs are not numbers")
