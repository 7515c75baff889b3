"""Saves the learner's state now and then, and loads it at the start. If a snapshot is lost, no data is lost."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Protocol

import numpy as np

from tellmore.core.habits import Team
from tellmore.core.mixture import Mixture
from tellmore.data.settings import Settings
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.store.fold import FIELDS, AnswerEffect, Fold, shared_prefix
from tellmore.store.ledger import Asked, Given
from tellmore.store.repository import Repository
from tellmore.telling import Earlier
from tellmore.types import Array
from tellmore.version import __version__

log = logging.getLogger(__name__)

SAVE_EVERY = 50
"""Answers between two snapshots; more if there are many answers, because a snapshot has what each of them changed."""
SAVE_SHARE = 0.02
LAYOUT = 13
"""The version of what a snapshot contains: from 2 on, beliefs in the learner's coordinates; 3, several beliefs; 4, checksums;
5, lapses are allowed for; 6, people have habits; 7, checks have calibrated probabilities; 8, surprises;
9, a start passes its trust on; 10, an earlier state; 11, beliefs that expect people to agree little;
12, two beliefs without a start; 13, labels that follow from a selection are learnt."""
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
        """Restore the newest snapshot into ``fold``, or its earlier state, if its answers are the beginning of ``pairs``."""
        found = self._repository.load_snapshot(self.version(fold.settings))
        if found is None:
            return False
        try:
            effects, states = unpack(found[1])
            for _, mixture, _, _ in states:
                _check_fits(mixture, fold.learner.beliefs)
        except (DamageError, KeyError, TypeError, ValueError) as problem:
            log.warning("the saved state is damaged (%s); the answers are learnt from the log instead", problem)
            return False
        same = shared_prefix([each.seq for each in effects], pairs)
        fitting = [state for state in states if state[0] <= same]
        if not fitting:
            return False
        (told, mixture, tally, team), *earlier = fitting
        fold.adopt(effects[:told], mixture, tally, team, pairs[:told], earlier)
        self._saved_at = told
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


def unpack(data: bytes) -> tuple[list[AnswerEffect], list[Earlier]]:
    """The inverse of ``Fold.packed``: what each answer did, and the beliefs, the tally and people's habits after all of them, and
    after fewer."""
    checksum, content = data[:CHECKSUM_BYTES], data[CHECKSUM_BYTES:]
    if sha256(content).digest() != checksum:
        raise DamageError("its checksum does not match")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        columns = [archive[f"told_{name}"].tolist() for name in FIELDS]
        effects = [AnswerEffect(*values) for values in zip(*columns, strict=True)]
        return effects, [_state(archive, f"{number}_") for number in range(int(archive["states"]))]


def _state(archive: Mapping[str, Array], prefix: str) -> Earlier:
    told, tally, team = (json.loads(str(archive[prefix + name])) for name in ("answers", "tally", "team"))
    return int(told), Mixture.from_arrays(archive, prefix), Tally.from_json(tally), Team.from_json(team)


def _check_fits(saved: Mixture, begun: Mixture) -> None:
    """Raise DamageError if the beliefs cannot have come from those before the first answer."""
    if [one.mean.shape + one.cov.shape for one in saved.beliefs] != [
        one.mean.shape + one.cov.shape for one in begun.beliefs
    ]:
        raise DamageError("its beliefs are of another size")
    if not all(np.isfinite(values).all() for values in saved.arrays().values()):
        raise DamageError("its beliefs are not numbers")
