"""Items that are read from their file when they are needed."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from tellmore import stored
from tellmore.errors import DataFileError, QuestionError
from tellmore.pool import Pool
from tellmore.stored import StoredColumn, StoredItems, checksum_of_ids, hash_of_pair

ITEMS = [{"id": f"ü{row}", "text": f"Text {row}\n“{row}”"} if row % 3 else {"id": f"ü{row}"} for row in range(50)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "items.jsonl", ITEMS)


def write(path: Path, items: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
    return path


def opened(path: Path, n: int | None = None) -> StoredItems:
    return StoredItems.of(path, path.with_name("items.index"), n)


def pool_of(path: Path) -> Pool:
    items = opened(path)
    return Pool(np.eye(len(items)), items.column("id"), items.column("text"))


def test_stored_items_are_the_items(path: Path) -> None:
    items = opened(path)
    assert list(items) == ITEMS
    assert (items[3], items[-1], items[np.int64(4)]) == (ITEMS[3], ITEMS[-1], ITEMS[4])
    assert items[2:5] == ITEMS[2:5]
    with pytest.raises(IndexError):
        items[len(ITEMS)]
    assert items.about["ids"] == checksum_of_ids([item["id"] for item in ITEMS])
    assert items.column("image") is None


def test_a_pool_of_stored_items_is_like_one_in_memory(path: Path) -> None:
    here, there = (
        Pool(np.eye(50), [item["id"] for item in ITEMS], [item.get("text", "") for item in ITEMS]),
        pool_of(path),
    )
    assert isinstance(there.ids, StoredColumn)
    assert there.names is there.ids
    assert (list(there.ids), list(there.text or ())) == (list(here.ids), list(here.text or ()))
    assert there.rows(["ü7", "ü0"]).tolist() == [7, 0]
    assert ("ü49" in there, "ü50" in there) == (True, False)
    assert (there.find("ü9"), there.find(" text 8\n“8” "), there.find("nothing"), there.find("")) == (9, 8, None, None)
    assert there.fingerprint == here.fingerprint
    assert there["ü4"].text == here["ü4"].text
    with pytest.raises(QuestionError, match="'ü50' is not an item"):
        there.rows(["ü50"])


def test_a_slice_is_sent_to_another_process_without_its_values(path: Path) -> None:
    column = opened(path).column("id")
    assert column is not None
    sent = pickle.dumps(column[10:40])
    assert len(sent) < 1_000
    assert list(pickle.loads(sent)[5:7]) == ["ü15", "ü16"]


def test_rows_that_do_not_count_are_not_read(path: Path) -> None:
    items = opened(path, 20)
    assert len(items) == 20
    assert "ü20" not in items.rows
    assert len(opened(path)) == 50


@pytest.mark.parametrize("at_once", [1, 7, 1 << 24])
def test_ids_are_found_however_many_are_sorted_at_once(
    path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "AT_ONCE", at_once)
    rows = opened(path).rows
    assert [rows[item["id"]] for item in ITEMS] == list(range(50))


def test_ids_with_the_same_hash_are_told_apart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "hash_of", lambda name: len(name))
    rows = opened(path).rows
    assert [rows[item["id"]] for item in ITEMS] == list(range(50))
    with pytest.raises(KeyError):
        rows["ü1x"]


def test_an_index_is_made_again_if_the_file_changes_or_the_index_is_damaged(path: Path) -> None:
    opened(path)
    about = path.with_name("items.index") / "about.json"
    made = about.stat().st_mtime_ns
    opened(path)
    assert about.stat().st_mtime_ns == made, "an index that fits is used"
    write(path, [*ITEMS[:-1], {"id": "new", "text": "N"}])
    assert opened(path).rows["new"] == 49
    about.write_text("{", encoding="utf-8")
    assert opened(path).rows["ü3"] == 3


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "ü1"}', "'ü1' occurs more than once"),
        ('{"id": 3}', 'row 51: expected an object with a string "id"'),
        ("[]", "row 51: expected"),
        ("{", "row 51: not valid JSON"),
    ],
)
def test_bad_items_are_refused_and_leave_no_index(path: Path, line: str, words: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DataFileError, match=words):
        opened(path)
    assert [each.name for each in path.parent.iterdir()] == ["items.jsonl"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no such file"):
        opened(tmp_path / "items.jsonl")


def test_the_hash_of_names_is_that_of_their_repr() -> None:
    names = [f"it's {row}" for row in range(2 * stored.SOME + 3)]
    for few in (names, names[:2], names[: stored.SOME]):
        assert hash_of_pair(few, (3, 4)).digest() == sha256(repr((tuple(few), (3, 4))).encode()).digest()


def test_texts_take_no_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", [{"id": f"i{row}", "text": 2_000 * "x"} for row in range(5_000)])
    X = np.zeros((5_000, 2), dtype=np.float32)
    tracemalloc.start()
    try:
        items = opened(path)
        pool = Pool(X, items.column("id"), items.column("text"))
        assert pool.rows(["i4999"])[0] == 4_999
        assert sum(len(text) for text in pool.text or ()) == 10_000_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000  # bytes; the texts are 10 million
