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
    """A pool that Dask workers hold: those of the scheduler at ``address``, or some on this machine (``local``).

    matrix: the file, with its checksums; the workers read it by themselves, so it must be where they find it under the
        same path. This
        process maps it and reads single rows.
    sha256: the pool's fingerprint, as it was when the checksums were taken.
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
        """Let the workers go, and give their memory back; at the latest when Python ends."""
        atexit.unregister(self.close)
        self._opened.close()

    def _matrix(self, X: Any) -> NDArray[np.float32]:
        """Not read here: the workers look at every row."""
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
    """The rows of a pool that workers hold; ``X`` is the file, mapped."""

    workers: Workers
    X: Array
    coordinates: Coordinates

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> Array:
        return self.coordinates.into(self.X[rows])

    def take(self, rows: NDArray[np.int64]) -> Rows:
        """Some rows alone, here and in this order."""
        return Rows(_in_order(self.visit((), partial(_rows_of, rows=np.sort(rows))), rows), self.coordinates)

    def scans_of(self, beliefs: Sequence[Gaussian]) -> tuple[Scan, ...]:
        """The exact scans of several beliefs; computed when they are first looked at."""
        return self._scans([Link(_name(), beliefs=tuple(beliefs))], len(beliefs))

    def refreshed(self, scans: Sequence[Scan], changes: Sequence[Step]) -> tuple[Scan, ...]:
        """The scans after a change of each belief; computed when they are first looked at."""
        (before,) = _versions(scans)
        return self._scans([*before.links, Link(_name(), changes=tuple(changes))], len(changes))

    def _scans(self, links: Sequence[Link], beliefs: int) -> tuple[Scan, ...]:
        versions = Versions(links)
        self.workers.live.add(versions)
        return tuple(DaskScan(self, versions, number) for number in range(beliefs))

    def visit(self, scans: Sequence[Scan], look: Look[T]) -> Sequence[T]:
        """What ``look`` finds in each part, with its scores in ``scans``."""
        return self.visit_with(scans, partial(_without_columns, look=look), {})

    def visit_with(
        self, scans: Sequence[Scan], look: Callable[[Part, Columns], T], columns: Mapping[str, Sequence[Any]]
    ) -> Sequence[T]:
        """The same, where ``look`` also takes the part's own of ``columns``, which hold something for every item."""
        wanted = _versions(scans)
        places = []
        for scan in scans:
            assert isinstance(scan, DaskScan)
            places.append((wanted.index(scan.versions), scan.number))
        looked = partial(_looked, look=look, places=tuple(places))
        return self.workers.visit(wanted, self.coordinates, looked, columns)


@dataclass(frozen=True, eq=False)
class DaskScan:
    """The scores of all items under belief ``number`` of those whose scores the workers hold as ``versions``."""

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
    """Those that the scans are of, each once."""
    found = []
    for scan in scans:
        assert isinstance(scan, DaskScan), "scans of one pool are held in one place"
        if scan.versions not in found:
            found.append(scan.versions)
    return found


def _in_order(parts: Sequence[Array], rows: NDArray[np.int64]) -> Array:
    """What was found of sorted rows, in the order of ``rows``."""
    found = np.concatenate(parts)
    return found[np.argsort(np.argsort(rows, kind="stable"), kind="stable")]


# What is done on a worker with a part of the pool: its scores are those of all beliefs of each version.


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
