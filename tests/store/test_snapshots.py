"""Snapshots: they restore the same belief, never one of other data or settings, and damage does no harm."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellmore.data.project import create_project
from tellmore.kinds.label import LabelAnswer
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, question_event
from tellmore.store.fold import Fold
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Repository
from tellmore.store.snapshots import CHECKSUM_BYTES, SnapshotKeeper, unpack
from tellmore.store.state import load_state
from tellmore.telling import NEAR
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
    told, [(answers, beliefs, tally, team)] = unpack(taught[0].packed())
    assert answers == len(told)
    assert tally == taught[0].learner.tally
    assert team == taught[0].learner.team
    assert told == taught[0].effects
    for one, belief in zip(beliefs.beliefs, taught[0].learner.beliefs.beliefs, strict=True):
        np.testing.assert_array_equal(one.mean, belief.mean)
        np.testing.assert_array_equal(one.cov, belief.cov)
        assert one.logdet == belief.logdet
    np.testing.assert_array_equal(beliefs.weights, taught[0].learner.beliefs.weights)


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


def test_after_a_restart_an_undone_answer_means_learning_few_again(
    store: Repository, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is undone before or after the restart."""
    for number in range(60):
        question = Question("label", [pool.ids[number % len(pool)]])
        store.append([question_event(question, "p"), answer_event(question.id, "p", LabelAnswer(number % 3 == 0))])
    pairs, fold = Ledger(SETTINGS, store.since()).counting(), Fold(pool, SETTINGS)
    fold.catch_up(pairs)
    save(store, pool, fold, monkeypatch)
    learn, learnt = Learner._learnt, []
    monkeypatch.setattr(Learner, "_learnt", lambda *given, **how: (learnt.append(1), learn(*given, **how))[1])
    undone_later, undone_before = Fold(pool, SETTINGS), Fold(pool, SETTINGS)
    assert SnapshotKeeper(store, pool).restore(undone_later, pairs)
    assert SnapshotKeeper(store, pool).restore(undone_before, pairs[:-1])
    for again in (undone_later, undone_before):
        learnt.clear()
        again.catch_up(pairs[:-1])
        assert len(learnt) <= 2 * NEAR
        expected = Fold(pool, SETTINGS)
        expected.catch_up(pairs[:-1])
        assert [each.seq for each in again.effects] == [each.seq for each in expected.effects]
        assert [each.bits for each in again.effects] == [each.bits for each in expected.effects]
        np.testing.assert_array_equal(again.learner.posterior.cov, expected.learner.posterior.cov)


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


def test_packing_nothing_learnt(pool: Pool) -> None:
    assert unpack(Fold(pool, SETTINGS).packed())[0] == []


def with_checksum(fold: Fold, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A snapshot that was changed before its checksum was taken."""
    with np.load(io.BytesIO(fold.packed()[CHECKSUM_BYTES:])) as archive:
        arrays = dict(archive)
    change(arrays)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return sha256(buffer.getvalue()).digest() + buffer.getvalue()


def one_bit(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def not_a_number(arrays: dict[str, Any]) -> None:
    arrays["0_cov"][0, 1, 1] = np.nan


def other_size(arrays: dict[str, Any]) -> None:
    arrays["0_mean"], arrays["0_cov"] = arrays["0_mean"][:, :-1], arrays["0_cov"][:, :-1, :-1]


def other_tally(arrays: dict[str, Any]) -> None:
    arrays["0_tally"] = np.array("[" * 20)


@pytest.mark.parametrize(
    "damaged",
    [
        lambda fold: b"",
        lambda fold: b"PK\x03\x04broken",
        lambda fold: fold.packed()[:-9],
        lambda fold: one_bit(fold.packed()),
        lambda fold: with_checksum(fold, not_a_number),
        lambda fold: with_checksum(fold, other_size),
        lambda fold: with_checksum(fold, other_tally),
        lambda fold: with_checksum(fold, dict.clear),
    ],
    ids=["empty", "broken", "cut off", "one bit", "not a number", "another size", "no tally", "no arrays"],
)
def test_a_damaged_snapshot_is_passed_over_and_said_to_be(
    store: Repository,
    pool: Pool,
    taught: tuple[Fold, Ledger],
    damaged: Callable[[Fold], bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = SnapshotKeeper(store, pool)
    store.save_snapshot(1, keeper.version(SETTINGS), damaged(taught[0]))
    assert not keeper.restore(Fold(pool, SETTINGS), taught[1].counting())
    assert "damaged" in caplog.text
    assert "learnt from the log instead" in caplog.text


def test_a_project_is_loaded_from_its_snapshot(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What ``status``, ``export`` and ``score`` look at; only what came after the snapshot is learnt."""
    project = create_project(tmp_path / "p", pool)
    with closing(Repository(project.database_url)) as store:
        for number in range(6):
            question = Question("label", [pool.ids[number]])
            store.append([question_event(question, "p"), answer_event(question.id, "p", LabelAnswer(number % 2 == 0))])
        pairs = Ledger(project.settings, store.since()).counting()
        fold = Fold(project.pool, project.settings)
        fold.catch_up(pairs[:5])
        save(store, project.pool, fold, monkeypatch)
        learnt, again = Learner._learnt, []
        monkeypatch.setattr(Learner, "_learnt", lambda *given, **how: (again.append(given), learnt(*given, **how))[1])
        state = load_state(project)
        assert (len(again), len(state.effects)) == (1, 6)
        store.save_snapshot(1, SnapshotKeeper(store, project.pool).version(project.settings), b"damaged")
    anew = load_state(project)
    assert len(again) == 1 + 6
    assert "learnt from the log instead" in caplog.text
    np.testing.assert_allclose(anew.learner.posterior.mean, state.learner.posterior.mean, atol=1e-12)
