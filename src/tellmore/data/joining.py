"""Joins items and vectors by id; errors name every row that does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import Moments, units_differ
from tellmore.core.far import tails_of
from tellmore.data.items import ItemTable
from tellmore.data.reading import Reading
from tellmore.data.vectors import VectorFile
from tellmore.errors import DataFileError
from tellmore.types import Array

UNIT_ROWS = 5_000
"""How many rows are used to see whether columns have the same unit."""
_NONE = -1


@dataclass(frozen=True)
class Joined:
    """``table`` has the items with a usable vector; ``rows`` has, for each vector, the row of its item, or -1."""

    table: ItemTable
    vectors: VectorFile
    rows: NDArray[np.intp]
    statistics: Statistics

    def blocks(self) -> Iterator[tuple[NDArray[np.intp], Array, int]]:
        """Rows [m] of items, their vectors [m, d], and how many vectors of the file were read for them."""
        start = 0
        for block in self.vectors.chunks():
            rows = self.rows[start : start + len(block)]
            used = rows != _NONE
            yield (rows, block, len(block)) if used.all() else (rows[used], block[used], len(block))
            start += len(block)


def join(table: ItemTable, vectors: VectorFile, *, by_row: bool, reading: Reading) -> Joined:
    """Join items and vectors, which must have exactly the same ids; rows that do not fit are an error, or left out if
    ``reading`` says so."""
    rows = _rows_in_order(table, vectors) if by_row else _rows_by_id(table, vectors, reading)
    found = set(rows.tolist())
    for row, identifier in enumerate(table.ids):
        if row not in found:
            reading.faults.append(
                f"{table.source}, row {table.rows[row]}: the item {identifier!r} has no vector in {vectors.path}"
            )
    statistics = _survey(vectors, rows, table.ids, reading)
    reading.settle()
    kept = sorted(set(rows.tolist()) - {_NONE})
    if len(kept) == len(table):
        return Joined(table, vectors, rows, statistics)
    place = np.full(len(table) + 1, _NONE, dtype=np.intp)  # the last entry is for the index -1
    place[kept] = np.arange(len(kept))
    return Joined(table.keep(kept), vectors, place[rows], statistics)


def _rows_in_order(table: ItemTable, vectors: VectorFile) -> NDArray[np.intp]:
    if vectors.n != len(table):
        raise DataFileError(
            f"{vectors.path}: {vectors.n} rows for the {len(table)} items of {table.source}; --by-row needs as many"
        )
    return np.arange(vectors.n, dtype=np.intp)


def _rows_by_id(table: ItemTable, vectors: VectorFile, reading: Reading) -> NDArray[np.intp]:
    ids, path = vectors.ids, vectors.path
    if ids is None:
        raise DataFileError(
            f"{path}: no ids to join by; add ids (.npz: an array 'ids'; .npy: --embedding-ids FILE; Parquet: "
            "an id column), or say --by-row if the rows are in the order of the items"
        )
    if len(ids) != vectors.n:
        raise DataFileError(f"{path}: {vectors.n} vectors but {len(ids)} ids; give one id per vector")
    row_of = {identifier: row for row, identifier in enumerate(table.ids)}
    seen: dict[str, int] = {}
    rows = np.full(len(ids), _NONE, dtype=np.intp)
    for number, identifier in enumerate(ids, start=1):
        if identifier in seen:
            reading.faults.append(f"{path}, row {number}: the id {identifier!r} is already in row {seen[identifier]}")
        elif identifier not in row_of:
            reading.faults.append(f"{path}, row {number}: the id {identifier!r} is not in {table.source}")
        else:
            rows[number - 1] = row_of[identifier]
        seen.setdefault(identifier, number)
    return rows


def _survey(vectors: VectorFile, rows: NDArray[np.intp], ids: tuple[str, ...], reading: Reading) -> Statistics:
    """Read every vector once; vectors with numbers that are not finite in float32 get -1 in ``rows``."""
    statistics, start = Statistics(vectors.d, ids, step=-(-vectors.n // UNIT_ROWS)), 0
    for block in vectors.chunks():
        if block.shape[1] != vectors.d:
            raise DataFileError(f"{vectors.path}, row {start + 1}: {block.shape[1]} numbers, expected {vectors.d}")
        own = rows[start : start + len(block)]
        for row in np.flatnonzero(own != _NONE)[_unusable(block[own != _NONE])]:
            column = int(np.argmax(~_finite(block[row])))
            reading.faults.append(
                f"{vectors.path}, row {start + row + 1}, column {column + 1}: {block[row, column]} is not a usable number"
            )
            own[row] = _NONE
        usable = own != _NONE
        statistics.add(block[usable].astype(np.float32), own[usable])
        start += len(block)
    return statistics


def _finite(numbers: Array) -> NDArray[np.bool_]:
    return np.asarray(np.abs(numbers) <= np.finfo(np.float32).max)


def _unusable(block: Array) -> NDArray[np.bool_]:
    return np.asarray(~_finite(block).all(axis=1))


class Statistics:
    """Statistics of the vectors for the findings, updated block by block; every ``step``-th vector shows the columns' units."""

    def __init__(self, d: int, ids: tuple[str, ...], step: int = 1) -> None:
        self.d = d
        self._ids = ids
        self.zero: list[str] = []
        self._step = step
        self._hashes: list[int] = []
        self._lowest = np.full(d, np.inf)
        self._highest = np.full(d, -np.inf)
        self._sample: list[Array] = []

    def add(self, block: Array, rows: NDArray[np.intp]) -> None:
        """Add vectors [m, d] and the rows [m] of their items."""
        if len(block) == 0:
            return
        self.zero += [self._ids[row] for row in rows[~block.any(axis=1)]]
        self._hashes += [hash(row.tobytes()) for row in block]
        self._lowest = np.minimum(self._lowest, block.min(axis=0))
        self._highest = np.maximum(self._highest, block.max(axis=0))
        self._sample.append(block[:: self._step].copy())

    @property
    def one_unit(self) -> bool:
        """Whether the columns seem to have the same unit, so that the length of a vector has a meaning."""
        return not units_differ(Moments.typical(np.vstack(self._sample)))

    @property
    def tails(self) -> float:
        """The share of vectors in long tails."""
        return tails_of(np.vstack(self._sample))

    @property
    def duplicates(self) -> int:
        """How many vectors equal an earlier one."""
        return len(self._hashes) - len(set(self._hashes))

    @property
    def constant(self) -> tuple[int, ...]:
        """Columns, counted from 1, with the same number everywhere."""
        return tuple(int(column) + 1 for column in np.flatnonzero(self._lowest == self._highest))


SAME = (
    "all items have the same vector, or differ only by rounding, so nothing can be learnt; if their numbers are far from 0, "
    "subtract the mean of each column"
)


def check_distinct(path: Path, moments: Moments) -> None:
    """Raise an error if all vectors are the same, for example all zeros."""
    if moments.constant:
        raise DataFileError(f"{path}: {SAME}")
