"""Items in a file of JSON lines that are read when they are needed, if their ids and texts are too many for memory.

A folder next to the file is its index: where each line begins and, in the order of a hash of the ids, the number of each item.
File and index are mapped, so the memory that they take can be used for something else at any time.
"""

from __future__ import annotations

import json
import mmap
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from itertools import islice, pairwise
from operator import index as whole
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import DataFileError

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

Numbers: TypeAlias = NDArray[np.uint64]
KEYS = "text", "image"
LAYOUT = 1
ABOUT, UNSORTED = "about.json", "unsorted"
AT_ONCE = 1 << 24
"""Hashes sorted at a time, so that making an index takes little memory."""
READ_BYTES = 1 << 20
SOME = 4_096


def checksum_of_ids(ids: Iterable[str]) -> str:
    """SHA-256 of the ids in their order."""
    digest, rest = sha256(), iter(ids)
    while some := list(islice(rest, SOME)):
        digest.update("".join(f"{identifier}\0" for identifier in some).encode())
    return digest.hexdigest()


def hash_of_pair(names: Sequence[str], shape: tuple[int, ...]) -> Hash:
    """SHA-256 of repr((tuple(names), shape)) for two names or more, without all of them in one text."""
    digest = sha256(b"(")
    for start in range(0, len(names), SOME):
        begin = ", " if start else "("
        digest.update((begin + ", ".join(map(repr, names[start : start + SOME]))).encode())
    digest.update(f"), {shape!r})".encode())
    return digest


@dataclass(frozen=True)
class StoredItems(Sequence[dict[str, Any]]):
    """The items in the file ``path``, with the index in ``folder``. Other processes can be sent it: they open the files."""

    path: str
    folder: str

    @classmethod
    def of(cls, path: Path, folder: Path, n: int | None = None) -> StoredItems:
        """The first ``n`` items of the file; if there is no index of the file as it is now, one is made."""
        found = cls(str(path), str(folder))
        try:
            content = checksum_of(path)
            if found._recorded() != {"layout": LAYOUT, "file": content, "wanted": n}:
                _make_index(path, folder, n, content)
        except FileNotFoundError:
            raise DataFileError(f"{path}: no such file; create the project again with: tellmore init") from None
        except OSError as error:
            raise DataFileError(
                f"{folder}: cannot be written: {error.strerror}; choose a folder you may write to"
            ) from error
        return found

    def _recorded(self) -> dict[str, Any] | None:
        try:
            plain = json.loads((Path(self.folder) / ABOUT).read_text(encoding="utf-8"))
            return {key: plain[key] for key in ("layout", "file", "wanted")}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @cached_property
    def about(self) -> dict[str, Any]:
        """How many items there are (``n``), the checksum of their ``ids``, and which ``keys`` occur."""
        found: dict[str, Any] = json.loads((Path(self.folder) / ABOUT).read_text(encoding="utf-8"))
        return found

    @cached_property
    def _starts(self) -> Numbers:
        return self._array("starts")

    @cached_property
    def _lines(self) -> mmap.mmap:
        with Path(self.path).open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _array(self, name: str) -> Numbers:
        return np.asarray(np.memmap(Path(self.folder) / name, "<u8", "r"))

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredItems, (self.path, self.folder)

    def __len__(self) -> int:
        return int(self.about["n"])

    @overload
    def __getitem__(self, row: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, row: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, row: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        at = int(self._starts[range(len(self))[whole(row)]])
        end = self._lines.find(b"\n", at)
        found: dict[str, Any] = json.loads(self._lines[at : end if end >= 0 else None])
        return found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(len(self)))

    def column(self, key: str) -> StoredColumn | None:
        """The values under one key; None if no item has any."""
        return StoredColumn(self, key, range(len(self))) if key == "id" or key in self.about["keys"] else None

    @cached_property
    def rows(self) -> StoredRows:
        """The number of each item, by its id."""
        return StoredRows(self, self._array("hashes"), self._array("rows"))


@dataclass(frozen=True)
class StoredColumn(Sequence[str]):
    """One value of each of some items, "" if an item has none; a slice of it is read only when its values are."""

    items: StoredItems
    key: str
    span: range

    def __len__(self) -> int:
        return len(self.span)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> StoredColumn: ...
    def __getitem__(self, row: int | slice) -> str | StoredColumn:
        if isinstance(row, slice):
            return StoredColumn(self.items, self.key, self.span[row])
        return str(self.items[self.span[whole(row)]].get(self.key) or "")

    def __iter__(self) -> Iterator[str]:
        return (str(self.items[row].get(self.key) or "") for row in self.span)


@dataclass(frozen=True, eq=False)
class StoredRows(Mapping[str, int]):
    """The number of each item by its id: found by a hash, and compared with the id in the file."""

    stored: StoredItems
    hashes: Numbers
    numbers: Numbers

    def __getitem__(self, name: str) -> int:
        hashed = np.uint64(hash_of(name))
        first, last = (int(np.searchsorted(self.hashes, hashed, side)) for side in ("left", "right"))
        for number in self.numbers[first:last].tolist():
            if self.stored[number]["id"] == name:
                return int(number)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (item["id"] for item in self.stored)

    def __len__(self) -> int:
        return len(self.stored)


def hash_of(name: str) -> int:
    """64 bits that depend on a text."""
    return int.from_bytes(blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


def checksum_of(path: Path) -> str:
    """SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while some := file.read(READ_BYTES):
            digest.update(some)
    return digest.hexdigest()


def _make_index(path: Path, folder: Path, wanted: int | None, content: str) -> None:
    """Write the index of the first ``wanted`` items of the file, completely or not at all."""
    fresh = folder.with_name(f".{folder.name}-{token_hex(4)}")
    try:
        fresh.mkdir(mode=0o700)
        known = _write_starts(path, fresh, wanted)
        _write_rows(path, fresh, known["n"])
        about = {"layout": LAYOUT, "file": content, "wanted": wanted, **known}
        (fresh / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        for part in fresh.iterdir():
            part.chmod(0o600)
        rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        rmtree(fresh, ignore_errors=True)


def _write_starts(path: Path, folder: Path, wanted: int | None) -> dict[str, Any]:
    """Write where each item begins, and the hash of its id; returns what is known of all of them."""
    counted = 0
    keys: set[str] = set()

    def ids() -> Iterator[str]:
        nonlocal counted
        with (folder / "starts").open("wb") as starts, (folder / UNSORTED).open("wb") as hashes:
            for start, item in islice(_lines_of(path), wanted):
                starts.write(start.to_bytes(8, "little"))
                hashes.write(hash_of(item["id"]).to_bytes(8, "little"))
                keys.update(key for key in KEYS if item.get(key))
                counted += 1
                yield item["id"]

    checksum = checksum_of_ids(ids())
    if counted < 2:
        raise DataFileError(f"{path}: a pool needs at least 2 items to compare, not {counted}")
    return {"n": counted, "ids": checksum, "keys": sorted(keys)}


def _lines_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Where each item begins, and the item."""
    end = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            start, end = end, end + len(line)
            if number == 1 and line.startswith(BOM_UTF8):
                start, line = start + len(BOM_UTF8), line[len(BOM_UTF8) :]
            if not line.strip():
                continue
            try:
                item = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataFileError(f"{path}, row {number}: not valid JSON: {error}") from None
            name = item.get("id") if isinstance(item, dict) else None
            if not isinstance(name, str) or not name or "\0" in name:
                raise DataFileError(f'{path}, row {number}: expected an object with a string "id"')
            yield start, item


def _write_rows(path: Path, folder: Path, n: int) -> None:
    """Write the numbers of all items, and their hashes, in the order of the hashes."""
    hashes, parts = np.memmap(folder / UNSORTED, "<u8", "r"), -(-n // AT_ONCE)
    with (folder / "rows").open("wb") as rows, (folder / "hashes").open("wb") as sorted_hashes:
        for low, high in pairwise((part << 64) // parts for part in range(parts + 1)):
            found = [
                start + np.flatnonzero((some >= low) & (some <= high - 1))
                for start in range(0, n, AT_ONCE)
                for some in (hashes[start : start + AT_ONCE],)
            ]
            numbers = np.concatenate(found)
            numbers = numbers[np.argsort(hashes[numbers], kind="stable")].astype("<u8")
            same = np.flatnonzero(np.diff(hashes[numbers]) == 0)
            _refuse_same_ids(path, folder, [numbers[at : at + 2].tolist() for at in same])
            rows.write(numbers.tobytes())
            sorted_hashes.write(hashes[numbers].tobytes())
    (folder / UNSORTED).unlink()


def _refuse_same_ids(path: Path, folder: Path, alike: Sequence[Sequence[int]]) -> None:
    """Raise DataFileError if two items whose ids have the same hash have the same id."""
    starts = np.memmap(folder / "starts", "<u8", "r") if alike else ()
    for two in alike:
        with path.open("rb") as file:
            names = []
            for number in two:
                file.seek(int(starts[number]))
                names.append(json.loads(file.readline())["id"])
        if names[0] == names[1]:
            raise DataFileError(f"{path}: the id {names[0]!r} occurs more than once; ids must be unique")
