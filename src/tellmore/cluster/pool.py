"""A pool whose embeddings are on Dask workers. A learner uses it like any other pool."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from tellmore.cluster.connect import connected
from tellmore.cluster.held import Columns, Link
from tellmore.cluster.matrix import Matrix, mapped
from tellmore.cluster.workers import Versions, Workers
from tellmore.core.candidates import within
from tellmore.core.coordinates import Coordinates, Rows
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.scan import Look, Part, PoolScan, Scan, T
from tellmore.pool import Pool
from tellmore.types import Array


class DaskPool(Pool):
    """A pool on Dask workers: those of the scheduler at ``address``, or some on this machine (``local``).

    matrix: the file, with its checksums. The workers read it themselves, so it must have the same path on all machines.
        This process maps it and reads single rows.
    sha256: the pool's fingerprint when the checksums were computed.
    """

    def __init__(self, matrix: Matrix, ids: Sequence[str], sha256: str, address: str, **options: Any) -> None:
        workers = options.pop("workers", None)
        super().__init__(mapped(Path(matrix.path))[: matrix.n], ids, **options)
        self.__dict__["fingerprint"] = sha256
        self._opened = ExitStack()
        try:
            self.client = self._opened.enter_context(connected(address, workers))
            self.workers = Workers(self.client, matrix)
            self._opened.callback(self.workers.forget)
        except BaseException:
            self.close()
            raise
        atexit.register(self.close)

    def close(self) -> None:
        """Release the workers and their memory; this also happens when Python ends."""
        atexit.unregister(self.close)
        self._opened.close()

    def _matrix(self, X: Any) -> NDArray[np.float32]:
        """The mapped matrix, unread: the workers check every row."""
        return np.asarray(X)

    def placed(self, coordinates: Coordinates) -> DaskRows:
        """The items in ``coordinates``, on the workers."""
        return DaskRows(self.workers, self.X, coordinates)


_numbers = count()
_prefix = uuid4().hex


def _name() -> str:
    return f"{_prefix}-{next(_numbers)}"


@dataclass(frozen=True, eq=False)
class DaskRows:
    """The rows of a pool on workers; ``X`` is the mapped file."""

    workers: Workers
    X: Array
    coordinates: Coordinates

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> Array:
        return self.coordinates.into(self.X[rows])

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """Some rows, on this machine and in this order."""
        return Rows(_in_order(self.visit((), partial(_rows_of, rows=np.sort(rows))), rows), self.coordinates)

    def scans_of(self, beliefs: Sequence[Gaussian]) -> tuple[Scan, ...]:
        """The exact scans of several beliefs; they are computed when first needed."""
        return self._scans([Link(_name(), beliefs=tuple(beliefs))], len(beliefs))

    def refreshed(self, scans: Sequence[Scan], changes: Sequence[Step]) -> tuple[Scan, ...]:
        """The scans after a change of each belief; they are computed when first needed."""
        (before,) = _versions(scans)
        return self._scans([*before.links, Link(_name(), changes=tuple(changes))], len(changes))

    def _scans(self, links: Sequence[Link], beliefs: int) -> tuple[Scan, ...]:
        versions = Versions(links)
        self.workers.live.add(versions)
        return tuple(DaskScan(self, versions, number) for number in range(beliefs))

    def visit(self, scans: Sequence[Scan], look: Look[T]) -> Sequence[T]:
        """The result of ``look`` for each part, with its scores in ``scans``."""
        return self.visit_with(scans, partial(_without_columns, look=look), {})

    def visit_with(
        self, scans: Sequence[Scan], look: Callable[[Part, Columns], T], columns: Mapping[str, Sequence[Any]]
    ) -> Sequence[T]:
        """The same, but ``look`` also gets the part's slice of ``columns``, which have a value for every item."""
        wanted = _versions(scans)
        places = []
        for scan in scans:
            assert isinstance(scan, DaskScan)
            places.append((wanted.index(scan.versions), scan.number))
        looked = partial(_looked, look=look, places=tuple(places))
        return self.workers.visit(wanted, self.coordinates, looked, columns)


@dataclass(frozen=True, eq=False)
class DaskScan:
    """The scores of all items under belief ``number`` of ``versions``, which are on the workers."""

    rows: DaskRows
    versions: Versions
    number: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def refreshes(self) -> int:
        return len(self.versions.links) - 1

    @property
    def mean(self) -> Array:
        """Mean of each score [n], fetched from the workers."""
        return np.concatenate(self.look(_mean))

    @property
    def variance(self) -> Array:
        """Variance of each score [n], fetched from the workers."""
        return np.concatenate(self.look(_variance))

    def look(self, look: Look[T]) -> Sequence[T]:
        return self.rows.visit((self,), look)

    def take(self, rows: NDArray[np.int64]) -> PoolScan:
        found = list(zip(*self.look(partial(_items, rows=np.sort(rows))), strict=True))
        X, mean, variance = (_in_order(each, rows) for each in found)
        return PoolScan(Rows(X, self.rows.coordinates), mean, variance, self.refreshes)

    def whole(self) -> PoolScan:
        return self.take(np.arange(len(self)))


def _versions(scans: Sequence[Scan]) -> list[Versions]:
    """The versions of the scans, each once."""
    found = []
    for scan in scans:
        assert isinstance(scan, DaskScan), "scans of one pool are held in one place"
        if scan.versions not in found:
            found.append(scan.versions)
    return found


def _in_order(parts: Sequence[Array], rows: NDArray[np.int64]) -> Array:
    """Results for sorted rows, in the order of ``rows``."""
    found = np.concatenate(parts)
    return found[np.argsort(np.argsort(rows, kind="stable"), kind="stable")]


# What a worker does with a part of the pool: its scores are those of all beliefs of each version.


def _without_columns(part: Part, _columns: Columns, *, look: Look[Any]) -> Any:
    return look(part)


def _looked(
    part: Part, columns: Columns, *, look: Callable[[Part, Columns], Any], places: Sequence[tuple[int, int]]
) -> Any:
    beliefs = len(part.scores) // max(len({version for version, _ in places}), 1)
    chosen = [part.scores[version * beliefs + number] for version, number in places]
    return look(Part(part.first, part.rows, chosen), columns)


def _mean(part: Part) -> Array:
    return part.scores[0][0]


def _variance(part: Part) -> Array:
    return part.scores[0][1]


def _rows_of(part: Part, *, rows: NDArray[np.int64]) -> Array:
    return np.asarray(part.rows.X[within(rows, part)])


def _items(part: Part, *, rows: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    own = within(rows, part)
    mean, variance = part.scores[0]
    return np.asarray(part.rows.X[own]), mean[own], variance[own]
