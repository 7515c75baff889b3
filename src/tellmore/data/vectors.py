"""Reads embeddings in blocks from .npz, .npy or Parquet files, and writes a matrix to disk block by block.

The whole matrix is never in memory, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tellmore.data.records import encoding_error, open_parquet, parquet_batches, require_file
from tellmore.errors import DataFileError
from tellmore.types import Array

CHUNK_BYTES = 8 * 2**20
_PICKLED = "holds pickled Python objects, which are refused because they can run code; save it"

_IDS_AS_TEXT = "as text: np.array(ids, dtype=str)"


@dataclass(frozen=True)
class VectorFile:
    """Embeddings [n, d] in a file. ``ids`` is None if the file has none; ``chunks()`` yields float64 blocks in order."""

    path: Path
    n: int
    d: int
    ids: tuple[str, ...] | None
    chunks: Callable[[], Iterator[Array]]


def open_vectors(
    path: Path,
    *,
    ids_path: Path | None = None,
    id_column: str = "id",
    columns: Sequence[str] = (),
    row_group: int | None = None,
) -> VectorFile:
    """Open the embeddings at ``path``. ``ids_path`` is the file of ids for a .npy file. For a Parquet file, ``columns`` names
    the columns with the numbers, by name or pattern ("dim_*"), and ``row_group`` the only part to read."""
    suffix = path.suffix.lower()
    require_file(path)
    if ids_path is not None and suffix != ".npy":
        raise DataFileError(f"{path}: a separate file of ids belongs to a .npy file; {suffix} has its own ids")
    if columns and suffix != ".parquet":
        raise DataFileError(f"{path}: --vector-columns is for Parquet; {suffix} holds one matrix")
    if suffix == ".npz":
        return _open_npz(path)
    if suffix == ".npy":
        return _open_npy(path, ids_path)
    if suffix == ".parquet":
        return _open_parquet_vectors(path, id_column, columns, row_group)
    raise DataFileError(f"{path}: unknown kind of embeddings; allowed are .npz, .npy, .parquet")


@dataclass(frozen=True)
class _Header:
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]


def _read_header(path: Path, file: IO[bytes], name: str, advice: str = "with plain numbers") -> _Header:
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise DataFileError(f"{path}: {name} is not a readable NumPy array: {error}") from None
    if dtype.hasobject:
        raise DataFileError(f"{path}: {name} {_PICKLED} {advice}")
    return _Header(shape, fortran, dtype)


def _matrix_header(path: Path, file: IO[bytes], name: str) -> _Header:
    header = _read_header(path, file, name)
    if len(header.shape) != 2 or 0 in header.shape:
        raise DataFileError(f"{path}: {name} must be a matrix [items, dimensions], not of shape {list(header.shape)}")
    if header.dtype.kind not in "fiu":
        raise DataFileError(f"{path}: {name} must hold real numbers, not {header.dtype}")
    return header


def _stream(path: Path, file: IO[bytes], header: _Header, name: str) -> Iterator[Array]:
    """Blocks of rows of a row-major array whose header has been read."""
    n, d = header.shape
    row_bytes = d * header.dtype.itemsize
    step = max(1, CHUNK_BYTES // row_bytes)
    for start in range(0, n, step):
        count = min(step, n - start)
        try:
            data = file.read(count * row_bytes)
        except (OSError, EOFError, zipfile.BadZipFile) as error:
            raise DataFileError(f"{path}: {name} is damaged near row {start + 1}: {error}") from None
        if len(data) != count * row_bytes:
            row = start + len(data) // row_bytes + 1
            raise DataFileError(f"{path}: {name} is cut short in row {row} of {n}; copy the file again")
        yield np.frombuffer(data, dtype=header.dtype).reshape(count, d).astype(np.float64)


def _open_npy(path: Path, ids_path: Path | None) -> VectorFile:
    with path.open("rb") as file:
        header = _matrix_header(path, file, "the array")

    def chunks() -> Iterator[Array]:
        if header.fortran:
            yield from _column_major(path, header)
            return
        with path.open("rb") as file:
            yield from _stream(path, file, _matrix_header(path, file, "the array"), "the array")

    n, d = header.shape
    return VectorFile(path, n, d, None if ids_path is None else _read_id_file(ids_path), chunks)


def _column_major(path: Path, header: _Header) -> Iterator[Array]:
    """Blocks of rows of a column-major file, which is mapped because its rows are not contiguous."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise DataFileError(f"{path}: the array is cut short or damaged: {error}") from None
    step = max(1, CHUNK_BYTES // (header.shape[1] * 8))
    for start in range(0, header.shape[0], step):
        yield np.asarray(matrix[start : start + step], dtype=np.float64)


def _open_npz(path: Path) -> VectorFile:
    with _zip(path) as archive:
        names = {name.removesuffix(".npy") for name in archive.namelist()}
        if "X" not in names:
            raise DataFileError(f"{path}: no array 'X'; it has {', '.join(sorted(names)) or 'nothing'}")
        with archive.open("X.npy") as file:
            header = _matrix_header(path, file, "X")
        ids = _npz_ids(path, archive) if "ids" in names else None

    def chunks() -> Iterator[Array]:
        with _zip(path) as archive, archive.open("X.npy") as file:
            blocks = _stream(path, file, _matrix_header(path, file, "X"), "X")
            if header.fortran:
                yield _transposed(header, blocks)
            else:
                yield from blocks

    return VectorFile(path, header.shape[0], header.shape[1], ids, chunks)


def _transposed(header: _Header, blocks: Iterator[Array]) -> Array:
    """A column-major array in an archive; it is read at once, because it cannot be read row by row."""
    flat = np.concatenate([block.ravel() for block in blocks])
    return np.ascontiguousarray(flat.reshape(header.shape, order="F"))


def _zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataFileError(f"{path}: not a readable .npz file: {error}") from None


def _npz_ids(path: Path, archive: zipfile.ZipFile) -> tuple[str, ...]:
    with archive.open("ids.npy") as file:
        _read_header(path, file, "ids", _IDS_AS_TEXT)
    with archive.open("ids.npy") as file:
        try:
            ids = np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise DataFileError(f"{path}: ids is not a readable NumPy array: {error}") from None
    return _id_array(path, "ids", ids)


def _id_array(path: Path, name: str, ids: NDArray[Any]) -> tuple[str, ...]:
    if ids.ndim != 1 or ids.dtype.kind not in "UiuS":
        raise DataFileError(
            f"{path}: {name} must be a list of texts or whole numbers, not {ids.dtype} {list(ids.shape)}"
        )
    if ids.dtype.kind == "S":
        try:
            ids = np.char.decode(ids, "utf-8")
        except UnicodeDecodeError:
            raise DataFileError(f"{path}: {name} holds bytes that are not UTF-8; save it as text") from None
    return tuple(str(identifier) for identifier in ids)


def _read_id_file(path: Path) -> tuple[str, ...]:
    """Ids from .npy, from .json (a list) or from text, one per line."""
    require_file(path)
    try:
        if path.suffix.lower() == ".npy":
            with path.open("rb") as file:
                _read_header(path, file, "the array of ids", _IDS_AS_TEXT)
            return _id_array(path, "the array", np.load(path, allow_pickle=False))
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            ids = json.loads(text)
            if not isinstance(ids, list):
                raise DataFileError(f"{path}: expected a list of ids")
            return tuple(str(identifier) for identifier in ids)
        return tuple(line for line in text.splitlines() if line.strip())
    except DataFileError:
        raise
    except UnicodeDecodeError:
        raise encoding_error(path) from None
    except ValueError as error:
        raise DataFileError(f"{path}: not a readable file of ids: {error}") from None


def _open_parquet_vectors(path: Path, id_column: str, columns: Sequence[str], row_group: int | None) -> VectorFile:
    import pyarrow as pa

    file = open_parquet(path)
    groups = range(file.num_row_groups) if row_group is None else (row_group,)

    def batches(**options: Any) -> Iterator[Any]:
        return parquet_batches(path, open_parquet(path), row_groups=list(groups), **options)

    schema = file.schema_arrow
    others = [field for field in schema if field.name != id_column]
    lists = [f.name for f in others if pa.types.is_list(f.type) or pa.types.is_fixed_size_list(f.type)]
    numbers = [f.name for f in others if pa.types.is_floating(f.type) or pa.types.is_integer(f.type)]
    chosen = _vector_columns(path, columns, lists, numbers)
    ids = _parquet_ids(path, batches, id_column) if id_column in schema.names else None
    read = _list_blocks(path, batches, chosen[0]) if chosen[0] in lists else _number_blocks(batches, chosen)
    n = sum(file.metadata.row_group(group).num_rows for group in groups)
    if n == 0:
        raise DataFileError(f"{path}: no rows")
    d = next(iter(read())).shape[1] if chosen[0] in lists else len(chosen)
    return VectorFile(path, n, d, ids, read)


def _vector_columns(path: Path, asked: Sequence[str], lists: list[str], numbers: list[str]) -> list[str]:
    """The column of vectors, or the numeric columns that were named: a year or an index is not a dimension."""
    if not lists and not numbers:
        raise DataFileError(f"{path}: no column holds vectors or numbers")
    if not asked:
        if len(lists) == 1:
            return lists
        if lists:
            raise DataFileError(
                f"{path}: several columns hold vectors: {', '.join(lists)}; name one with --vector-columns"
            )
        shown = ", ".join(numbers[:8]) + (", …" if len(numbers) > 8 else "")
        raise DataFileError(
            f"{path}: no column of vectors; name the numeric columns that are dimensions with --vector-columns, for example "
            f"'{_pattern(numbers)}' (the file has {shown})"
        )
    chosen: list[str] = []
    for pattern in _apart(asked, (*lists, *numbers)):
        found = [name for name in (*lists, *numbers) if fnmatchcase(name, pattern)]
        if not found:
            raise DataFileError(f"{path}: no column of numbers fits {pattern!r} (--vector-columns)")
        chosen += [name for name in found if name not in chosen]
    if len(chosen) > 1 and set(chosen) & set(lists):
        raise DataFileError(
            f"{path}: --vector-columns names one column of vectors or several of numbers, not {', '.join(chosen)}"
        )
    return chosen


def _apart(asked: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """The patterns one by one, separated at commas unless a column's name contains them."""
    for pattern in asked:
        whole = any(fnmatchcase(name, pattern) for name in names)
        yield from [pattern] if whole else filter(None, map(str.strip, pattern.split(",")))


def _pattern(numbers: list[str]) -> str:
    """A pattern from the beginning that most names share."""
    stems = Counter(name.rstrip("0123456789") for name in numbers)
    return f"{stems.most_common(1)[0][0]}*"


Batches = Callable[..., Iterator[Any]]
"""A function that reads some columns of a Parquet file, some rows at a time."""


def _parquet_ids(path: Path, batches: Batches, id_column: str) -> tuple[str, ...]:
    ids: list[str] = []
    for batch in batches(columns=[id_column]):
        for value in batch.column(0).to_pylist():
            if value is None:
                raise DataFileError(f"{path}, row {len(ids) + 1}, column {id_column}: the id is missing")
            ids.append(str(value))
    return tuple(ids)


def _list_blocks(path: Path, batches: Batches, column: str) -> Callable[[], Iterator[Array]]:
    def chunks() -> Iterator[Array]:
        d, row = 0, 0
        for batch in batches(batch_size=4096, columns=[column]):
            values = batch.column(0).to_pylist()
            d = d or len(values[0] or ())
            for offset, vector in enumerate(values):
                if vector is None or len(vector) != d or d == 0:
                    length = 0 if vector is None else len(vector)
                    raise DataFileError(
                        f"{path}, row {row + offset + 1}, column {column}: a vector of {length} numbers, expected {d or 'some'}"
                    )
            yield _float_block(values)
            row += len(values)

    return chunks


def _number_blocks(batches: Batches, columns: list[str]) -> Callable[[], Iterator[Array]]:
    def chunks() -> Iterator[Array]:
        step = max(1, CHUNK_BYTES // (8 * len(columns)))
        for batch in batches(batch_size=step, columns=columns):
            parts = [batch.column(name).to_numpy(zero_copy_only=False).astype(np.float64) for name in columns]
            yield np.stack(parts, axis=1)

    return chunks


def _float_block(vectors: list[Any]) -> Array:
    """The vectors as floats; missing numbers become NaN, which the caller reports with row and column."""
    return np.array([[np.nan if v is None else v for v in vector] for vector in vectors], dtype=np.float64)


class MatrixWriter:
    """Writes a float32 matrix [n, d] as .npy with ordinary writes, so that a full disk is an error and not a crash."""

    def __init__(self, path: Path, n: int, d: int) -> None:
        self.d = d
        self._file = path.open("wb")
        np.lib.format.write_array_header_1_0(self._file, {"descr": "<f4", "fortran_order": False, "shape": (n, d)})
        self._start = self._file.tell()
        self._file.truncate(self._start + 4 * n * d)

    def write(self, rows: NDArray[np.integer[Any]], block: Array) -> None:
        """Write ``block`` [m, d] to the given rows [m]; runs of adjacent rows are written at once."""
        order = np.argsort(rows, kind="stable")
        rows, block = rows[order], np.ascontiguousarray(block[order], dtype="<f4")
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        for first, last in zip([0, *breaks], [*breaks, len(rows)], strict=True):
            if first < last:
                self._file.seek(self._start + 4 * self.d * int(rows[first]))
                self._file.write(block[first:last].tobytes())

    def __enter__(self) -> MatrixWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
