"""The log: order, durability, one answer per question, tokens, snapshots, erasure; the same on both databases."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from tellmore.errors import StoreError
from tellmore.kinds.label import LabelAnswer
from tellmore.store import repository as module
from tellmore.store.events import answer_event
from tellmore.store.repository import AlreadyAnsweredError, Event, Repository, TokenRow
from tellmore.types import Skip


def test_events_come_back_in_order_with_numbers_and_times(store: Repository) -> None:
    written = store.append([Event("question", "q1", "ann", {"items": ["a", "ü"]}), Event("lease", "q1", "ann")])
    read = list(store.since())
    assert read == written
    assert [event.seq for event in read] == sorted({event.seq for event in read})
    assert all(event.t_utc.endswith("Z") for event in read)


def test_since_starts_after_the_number_given_and_reads_in_chunks(
    store: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = store.append([Event("setting", payload={"n": n}) for n in range(7)])
    monkeypatch.setattr(module, "_READ_CHUNK", 3)
    assert [event.payload["n"] for event in store.since(written[1].seq)] == [2, 3, 4, 5, 6]
    assert list(store.since(kinds=["undo"])) == []


def test_a_second_answer_is_refused_and_nothing_of_its_batch_is_written(store: Repository) -> None:
    before = store.append([answer_event("q1", "ann", LabelAnswer(True))])[-1].seq
    with pytest.raises(AlreadyAnsweredError):
        store.append([Event("question", "q2", "ann"), answer_event("q1", "ann", Skip())])
    assert [event.kind for event in store.since()] == ["answer"]
    assert store.append([Event("question", "q2", "ann")])[0].seq > before


def test_of_many_simultaneous_answers_exactly_one_is_kept(store: Repository) -> None:
    outcomes: list[bool] = []

    def attempt() -> None:
        try:
            store.append([answer_event("q1", "ann", LabelAnswer(True))])
            outcomes.append(True)
        except AlreadyAnsweredError:
            outcomes.append(False)

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 7 + [True]
    assert len(list(store.since())) == 1


def test_what_is_appended_is_there_for_another_connection_at_once(url: str) -> None:
    first, second = Repository(url), Repository(url)
    first.append([Event("reset")])
    assert [event.kind for event in second.since()] == ["reset"]
    assert first.project_id == second.project_id
    first.close()
    second.close()


def test_sqlite_writes_are_on_disk_when_acknowledged(tmp_path: Path) -> None:
    store = Repository(f"sqlite:///{tmp_path / 'log.sqlite'}")
    with store._reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    store.close()


def test_tokens_are_kept_and_revoked_once(store: Repository) -> None:
    store.add_token(TokenRow("t1", "a" * 64, "annotator", "p1", "Ann"))
    assert [(row.id, row.role, row.revoked_utc) for row in store.tokens()] == [("t1", "annotator", None)]
    assert store.revoke(["t1"]) == 1
    assert store.revoke(["t1"]) == 0
    assert store.tokens()[0].revoked_utc is not None


def test_erasing_a_participant_leaves_no_payload_name_token_or_snapshot(store: Repository, tmp_path: Path) -> None:
    store.append(
        [Event("participant", None, "p1", {"name": "Zaphod-Quux"}), answer_event("q1", "p1", LabelAnswer(True))]
    )
    store.append([answer_event("q2", "p2", LabelAnswer(True))])
    store.add_token(TokenRow("t1", "a" * 64, "annotator", "p1", "Zaphod-Quux"))
    store.save_snapshot(2, "v", b"state")
    note = store.erase("p1", Event("delete", None, "owner", {"participant": "p1"}))
    read = {event.seq: event for event in store.since()}
    assert all(event.erased for event in read.values() if event.participant == "p1")
    assert not any(event.erased for event in read.values() if event.participant == "p2")
    assert read[note.seq].payload == {"participant": "p1"}
    assert store.tokens() == []
    assert store.load_snapshot("v") is None
    for file in tmp_path.iterdir():
        assert b"Zaphod-Quux" not in file.read_bytes()


def test_only_the_newest_snapshot_of_the_same_version_is_found(store: Repository) -> None:
    assert store.load_snapshot("v1") is None
    store.save_snapshot(3, "v1", b"old")
    store.save_snapshot(9, "v1", b"new\x00bytes")
    assert store.load_snapshot("v1") == (9, b"new\x00bytes")
    assert store.load_snapshot("v2") is None
    assert [event.payload["through"] for event in store.since(kinds=["snapshot"])] == [3, 9]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nonsense", "sqlite:///FILE or postgresql"),
        ("mysql://u:geheim@host/x", "tellmore keeps its log in sqlite or postgresql"),
        ("sqlite:////nowhere/at/all/log.sqlite", "cannot be opened"),
        ("postgresql://u:geheim@127.0.0.1:1/x", "cannot be opened"),
    ],
)
def test_a_wrong_address_is_told_in_one_line_without_its_password(address: str, says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        Repository(address)
    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)
