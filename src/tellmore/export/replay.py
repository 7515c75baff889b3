"""Rebuilds the belief in other ways than from the log itself, to check that it is the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from tellmore.data.project import Project
from tellmore.export.tables import log_jsonl_bytes
from tellmore.store.beforehand import beforehand_of
from tellmore.store.fold import Fold
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository
from tellmore.store.snapshots import SnapshotKeeper
from tellmore.store.state import State, state_of


@dataclass(frozen=True)
class Replayed:
    """One way of rebuilding the belief, and its largest difference in any number of mean or covariance."""

    what: str
    answers: int
    difference: float
    same: bool


def replay_project(project: Project, tolerance: float) -> list[Replayed]:
    """Compare the belief from the log with that from the exported log and, if there is one, from the saved snapshot."""
    with closing(Repository(project.database_url)) as repository:
        events = list(repository.since())
        snapshot = _from_snapshot(project, repository, events)
    state = state_of(project, events)
    again = state_of(project, _exported(state))
    found = [_compared("the log, exported and read back", state, again, tolerance)]
    if snapshot is not None:
        found.append(_compared("the saved state and the answers since", state, snapshot, tolerance))
    return found


def _exported(state: State) -> list[Event]:
    lines = [json.loads(line) for line in log_jsonl_bytes(state).decode().splitlines()]
    return [Event(**line) for line in lines if line["kind"] != "provenance"]


def _from_snapshot(project: Project, repository: Repository, events: Sequence[Event]) -> Fold | None:
    ledger = Ledger(project.settings, events)
    pairs = ledger.counting()
    fold = Fold(project.pool, ledger.initial, beforehand=beforehand_of(project))
    if not SnapshotKeeper(repository, project.pool).restore(fold, pairs):
        return None
    fold.catch_up(pairs)
    return fold


def _compared(what: str, state: State, other: State | Fold, tolerance: float) -> Replayed:
    one, two, answers = state.learner.posterior, other.learner.posterior, len(other.effects)
    difference = max(float(np.abs(one.mean - two.mean).max()), float(np.abs(one.cov - two.cov).max()))
    return Replayed(what, answers, difference, difference <= tolerance and answers == len(state.effects))
