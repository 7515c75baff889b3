"""Snapshots: the same belief back, never one of other data or settings, damage does no harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.kinds.label import LabelAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.fold import Fold
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Repository
from tellmore.store.snapshots import SnapshotKeeper, pack, unpack
from tests.app.conftest import SETTINGS


@pytest.fixture
def store(tmp_path: Path):
    repository = Repository(f"sqlite:///{tmp_path / 'log.sqlite'}")
    yield repository
    repository.close()


@pytest.fixture
def taught(store: Repository, pool: Pool) -> tuple[Fold, Ledger]:
    for number in range(5):
        question = Question("label", [pool.ids[number]])
        store.append([question_event(question, "p"), answer_event(question.id, "p", LabelAnswer(number % 2 == 0))])
    ledger = Ledger(SETTINGS, store.since())
    fold = Fold(pool, SETTINGS)
    fold.catch_up(ledger.counting())
    return fold, ledger


def test_packing_keeps_belief_and_history_exactly(taught: tuple[Fold, Ledger]) -> None:
    told, beliefs, tally = unpack(pack(taught[0]))
    (belief,) = beliefs.beliefs
    assert tally == taught[0].learner.tally
    assert told == taught[0].effects
    np.testing.assert_array_equal(belief.mean, taught[0].learner.belief.mean)
    np.testing.assert_array_equal(belief.cov, taught[0].learner.belief.cov)
    assert belief.logdet == taught[0].learner.belief.logdet


def save(store: Repository, pool: Pool, fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tellmore.store.snapshots.SAVE_EVERY", 5)
    assert SnapshotKeeper(store, pool).save_if_due(fold)


def test_a_snapshot_is_used_where_it_fits(
    store: Repository, pool: Pool, taught: tuple[Fold, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    fold, ledger = taught
    save(store, pool, fold, monkeypatch)
    fresh = Fold(pool, SETTINGS)
    assert SnapshotKeeper(store, pool).restore(fresh, ledger.counting())
    np.testing.assert_array_equal(fresh.learner.posterior.mean, fold.learner.posterior.mean)
    assert [question for question, _ in fresh.learner.history] == [asked.question for asked, _ in ledger.counting()]


def test_a_snapshot_of_other_answers_settings_or_items_is_passed_over(
    store: Repository, pool: Pool, taught: tuple[Fold, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    fold, ledger = taught
    save(store, pool, fold, monkeypatch)
    sharper = SETTINGS.changed(learning={"w": 3.0})
    assert not SnapshotKeeper(store, pool).restore(Fold(pool, sharper), ledger.counting())
    seeded = SETTINGS.changed(start={"like": ["i1"]})
    assert not SnapshotKeeper(store, pool).restore(Fold(pool, seeded), ledger.counting())
    moved = Pool(pool.X * 1.01, ids=pool.ids)
    assert not SnapshotKeeper(store, moved).restore(Fold(moved, SETTINGS), ledger.counting())
    assert not SnapshotKeeper(store, pool).restore(Fold(pool, SETTINGS), ledger.counting()[1:])


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04broken", b"\x93NUMPY"])
def test_a_damaged_snapshot_is_passed_over(
    store: Repository, pool: Pool, taught: tuple[Fold, Ledger], damage: bytes
) -> None:
    keeper = SnapshotKeeper(store, pool)
    store.save_snapshot(1, keeper.version(SETTINGS), damage)
    assert not keeper.restore(Fold(pool, SETTINGS), taught[1].counting())
