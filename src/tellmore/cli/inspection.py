"""What ``status`` and ``replay`` print, as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tellmore.app.dashboard import accuracy, minutes_left
from tellmore.data.project import Project
from tellmore.export.tables import log_jsonl_bytes
from tellmore.learner import Learner
from tellmore.store.fold import Fold, beginning
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository
from tellmore.store.snapshots import SnapshotKeeper
from tellmore.store.state import State, state_of


@dataclass(frozen=True)
class Status:
    """How a project stands; ``accuracy`` is measured on random questions and None before the first."""

    items: int
    answers: int
    skipped: int
    taken_back: int
    minutes: float
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    target_accuracy: float
    minutes_left: float | None
    expected_accuracy: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> list[tuple[str, str]]:
        """For people."""
        measured = "not measured yet"
        if self.accuracy is not None:
            measured = f"{self.accuracy:.0%} (95 % between {self.accuracy_low:.0%} and {self.accuracy_high:.0%})"
        left = "not known yet" if self.minutes_left is None else f"{self.minutes_left:.1f}"
        return [
            ("items", str(self.items)),
            ("answers", f"{self.answers} ({self.skipped} skipped, {self.taken_back} taken back)"),
            ("minutes", f"{self.minutes:.1f}"),
            ("accuracy on random questions", measured),
            (f"minutes left to {self.target_accuracy:.0%}", left),
        ]


def status_of(state: State) -> Status:
    """The status of a project's state."""
    given = list(state.ledger.given.values())
    measured = accuracy(state.told)
    target = state.ledger.settings.learning.target_accuracy
    return Status(
        items=len(state.pool),
        answers=len(state.told),
        skipped=sum(not each.void and each.answer is not None and not each.counts for each in given),
        taken_back=sum(bool(each.void) for each in given),
        minutes=sum(each.seconds for each in state.told) / 60,
        accuracy=None if measured is None else measured.estimate,
        accuracy_low=None if measured is None else measured.low,
        accuracy_high=None if measured is None else measured.high,
        target_accuracy=target,
        minutes_left=minutes_left(state.told, target),
        expected_accuracy=state.told[-1].expected_accuracy if state.told else None,
    )


@dataclass(frozen=True)
class Replayed:
    """One way of rebuilding the belief, and its largest difference in any number of mean or covariance."""

    what: str
    answers: int
    difference: float
    same: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def replay_project(project: Project, tolerance: float) -> list[Replayed]:
    """Compare the belief folded from the log with the same from the exported log, and from the saved snapshot if any."""
    repository = Repository(project.database_url)
    try:
        events = list(repository.since())
        snapshot = _from_snapshot(project, repository, events)
    finally:
        repository.close()
    state = state_of(project, events)
    again = state_of(project, _exported(state))
    found = [_compared("the log, exported and read back", state, again.learner, len(again.told), tolerance)]
    if snapshot is not None:
        found.append(
            _compared("the saved state and the answers since", state, snapshot.learner, len(snapshot.told), tolerance)
        )
    return found


def _exported(state: State) -> list[Event]:
    lines = [json.loads(line) for line in log_jsonl_bytes(state).decode().splitlines()]
    return [Event(**line) for line in lines if line["kind"] != "provenance"]


def _from_snapshot(project: Project, repository: Repository, events: Sequence[Event]) -> Fold | None:
    ledger = Ledger(project.settings, events)
    pairs = ledger.counting()
    fold = Fold(project.pool, beginning(project.settings, ledger.settings), prior=project.prior)
    if not SnapshotKeeper(repository, project.pool).restore(fold, pairs):
        return None
    fold.catch_up(pairs)
    return fold


def _compared(what: str, state: State, other: Learner, answers: int, tolerance: float) -> Replayed:
    one, two = state.learner.posterior, other.posterior
    difference = max(float(np.abs(one.mean - two.mean).max()), float(np.abs(one.cov - two.cov).max()))
    return Replayed(what, answers, difference, difference <= tolerance and answers == len(state.told))
