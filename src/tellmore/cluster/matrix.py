"""A matrix in a .npy file, in blocks of rows, each with the checksum that it had when it was written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.core.coordinates import CHUNK_ROWS
from tellmore.errors import DataFileError
from tellmore.files import replacing
from tellmore.stored import checksum_of_ids
from tellmore.types import Array

BLOCK_BYTES = 64 * 2**20
CHANGED = (
    "it was changed since the project was made; copy the file again, or create the project again with: tellmore init"
)


@dataclass(frozen=True)
class Matrix:
    """The first n rows [n, d] of the file at ``path``, in blocks of ``rows`` (the last may have fewer), with a SHA-256 for each
    block; ``ids`` is that of the items' ids, ``whole`` that of the pool."""

    path: str
    n: int
    d: int
    dtype: str
    rows: int
    checksums: tuple[str, ...]
    ids: str
    whole: str = ""

    @classmethod
    def of(cls, path: Path, ids: Sequence[str], whole: str = "") -> Matrix:
        """The checksums of the file as it is now, for the items with these ``ids``."""
        X = mapped(path)[: len(ids)]
        rows = max(BLOCK_BYTES // (X.shape[1] * X.itemsize) // CHUNK_ROWS, 1) * CHUNK_ROWS
        checksums = tuple(checksum(X[first : first + rows]) for first in range(0, len(X), rows))
        return cls(str(path), len(X), X.shape[1], X.dtype.str, rows, checksums, checksum_of_ids(ids), whole)

    @classmethod
    def read(cls, record: Path, path: Path) -> Matrix:
        """The checksums in ``record`` for the file at ``path``; raises FileNotFoundError if there is no record."""
        try:
            plain = json.loads(record.read_text(encoding="utf-8"))
            return cls(**{**plain, "path": str(path), "checksums": tuple(plain["checksums"])})
        except FileNotFoundError:
            raise
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise DataFileError(
                f"{record}: not a record of checksums ({problem}); remove it to have it written again"
            ) from None

    def write(self, record: Path) -> None:
        """Write the checksums to ``record``, without the path, which may change."""
        plain = {name: value for name, value in asdict(self).items() if name != "path"}
        with replacing(record) as fresh:
            fresh.touch(0o600)
            fresh.write_text(json.dumps(plain), encoding="utf-8")

    @cached_property
    def key(self) -> str:
        """A key that identifies the contents."""
        return sha256(repr((self.n, self.d, self.dtype, self.rows, self.checksums)).encode()).hexdigest()

    @property
    def blocks(self) -> range:
        """Numbers of its blocks."""
        return range(len(self.checksums))

    def bounds(self, block: int) -> tuple[int, int]:
        """The first row of a block, and the first row after it."""
        return block * self.rows, min((block + 1) * self.rows, self.n)

    def bytes(self, block: int) -> int:
        first, last = self.bounds(block)
        return (last - first) * self.d * np.dtype(self.dtype).itemsize

    def load(self, block: int) -> Array:
        """The rows of a block, read into memory; raises DataFileError if they are not what was written."""
        X, (first, last) = mapped(Path(self.path))[: self.n], self.bounds(block)
        if X.shape != (self.n, self.d) or X.dtype.str != self.dtype:
            raise DataFileError(
                f"{self.path}: {X.dtype} {list(X.shape)} instead of {np.dtype(self.dtype)} {[self.n, self.d]}: {CHANGED}"
            )
        found = np.array(X[first:last])
        if checksum(found) != self.checksums[block]:
            raise DataFileError(f"{self.path}, rows {first + 1} to {last}: another checksum: {CHANGED}")
        if not np.isfinite(found).all():
            raise DataFileError(
                f"{self.path}, rows {first + 1} to {last}: a number is NaN or infinite; remove that row"
            )
        return found


def mapped(path: Path) -> Any:
    """The matrix in a .npy file, memory-mapped."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file; create the project again with: tellmore init") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataFileError(f"{path}: not a readable .npy matrix: {error}") from None


def checksum(rows: Array) -> str:
    """SHA-256 of some rows."""
    return sha256(np.ascontiguousarray(rows).data).hexdigest()
