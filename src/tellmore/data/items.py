"""Read items from CSV, TSV, JSONL, Parquet or a folder of pictures; every fault names file, row and column.

Rows are counted as people see them: in CSV the header is row 1, in JSONL the first line, in Parquet the first record.
"""

from __future__ import annotations

import csv
import errno
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tellmore.errors import DataFileError, needs

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
Record = dict[str, Any]


@dataclass(frozen=True)
class Columns:
    """Which column holds what. None for text, image and label means: the usual name, where the file has it.

    The columns named in ``keep`` stay with the items, as they are.
    """

    id: str = "id"
    text: str | None = None
    image: str | None = None
    label: str | None = None
    positive_value: str | None = None
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class ItemTable:
    """Items in file order. ``rows`` [n] are the row numbers to name in messages; ``labels`` hold positive/negative/None."""

    source: Path
    ids: tuple[str, ...]
    rows: tuple[int, ...]
    text: tuple[str, ...] | None = None
    images: tuple[str, ...] | None = None
    labels: tuple[str | None, ...] | None = None
    kept: tuple[dict[str, str], ...] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def keep(self, wanted: list[int]) -> ItemTable:
        """Only the items at the positions ``wanted``."""
        names = ("ids", "rows", "text", "images", "labels", "kept")
        own: dict[str, Any] = {name: getattr(self, name) for name in names}
        own = {name: values and tuple(values[position] for position in wanted) for name, values in own.items()}
        return replace(self, **own)


def read_items(path: Path, columns: Columns | None = None) -> ItemTable:
    """All items of the file or image folder ``path``; raises DataFileError at the first fault."""
    columns = columns or Columns()
    if path.is_dir():
        return _image_folder(path)
    names, records = open_records(path)
    return _table(path, columns, names, records)


def open_records(path: Path) -> tuple[list[str], Iterator[tuple[int, Record]]]:
    """Column names and (row number, record) of a CSV, TSV, JSONL or Parquet file."""
    readers: dict[str, Callable[[Path], tuple[list[str], Iterator[tuple[int, Record]]]]] = {
        ".csv": _csv_records,
        ".tsv": _csv_records,
        ".jsonl": lambda path: ([], json_lines(path)),
        ".ndjson": lambda path: ([], json_lines(path)),
        ".parquet": _parquet_records,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DataFileError(f"{path}: unknown kind of file; allowed are {', '.join(readers)} or a folder of pictures")
    require_file(path)
    return reader(path)


def require_file(path: Path) -> None:
    """Raise DataFileError unless ``path`` is a file with something in it that may be read."""
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise DataFileError(f"{path}: the file is empty")
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file") from None
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read: {error.strerror}") from None


def _csv_records(path: Path) -> tuple[list[str], Iterator[tuple[int, Record]]]:
    rows = _csv_rows(path)
    first = next(rows, None)
    header = first[1] if first else []
    if not any(name.strip() for name in header):
        raise DataFileError(f"{path}, row 1: expected a header with column names")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise DataFileError(f"{path}, row 1: the column {repeated[0]!r} appears twice; rename one")
    return header, _csv_cells(path, header, rows)


def _csv_cells(path: Path, header: list[str], rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, Record]]:
    for number, cells in rows:
        if not cells:
            continue
        if len(cells) != len(header):
            raise DataFileError(
                f"{path}, row {number}: {len(cells)} cells, but the header has {len(header)}; quote cells with commas"
            )
        yield number, dict(zip(header, cells, strict=True))


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, cells in enumerate(csv.reader(file, delimiter=delimiter, strict=True), start=1):
                yield number, cells
    except UnicodeDecodeError:
        raise encoding_error(path) from None
    except csv.Error as error:
        raise DataFileError(f"{path}, row {number + 1}: not valid CSV: {error}") from None


def encoding_error(path: Path) -> DataFileError:
    """Names the first line that is not UTF-8."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                return DataFileError(
                    f"{path}, row {number}, byte {error.start + 1}: not UTF-8 text; save the file with encoding UTF-8"
                )
    return DataFileError(f"{path}: not UTF-8 text; save the file with encoding UTF-8")


def json_lines(path: Path) -> Iterator[tuple[int, Record]]:
    """(row number, object) of a JSONL file."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _json_object(path, number, line)
    except UnicodeDecodeError:
        raise encoding_error(path) from None


def _json_object(path: Path, number: int, line: str) -> Record:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataFileError(f"{path}, row {number}: not valid JSON: {error}") from None
    if not isinstance(record, dict):
        raise DataFileError(f"{path}, row {number}: expected a JSON object, not {type(record).__name__}")
    return record


def _parquet_records(path: Path) -> tuple[list[str], Iterator[tuple[int, Record]]]:
    file = open_parquet(path)
    return list(file.schema_arrow.names), _parquet_rows(path, file)


def open_parquet(path: Path) -> Any:
    """A pyarrow ParquetFile."""
    with needs("pyarrow", "app"):
        import pyarrow
        import pyarrow.parquet
    require_file(path)
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataFileError(f"{path}: not a readable Parquet file: {str(error).splitlines()[0]}") from None


def parquet_batches(path: Path, file: Any, **options: Any) -> Iterator[Any]:
    """The batches of a ParquetFile; damage inside it is noticed only now."""
    import pyarrow

    try:
        yield from file.iter_batches(**options)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataFileError(f"{path}: the Parquet file is damaged: {str(error).splitlines()[0]}") from None


def _parquet_rows(path: Path, file: Any) -> Iterator[tuple[int, Record]]:
    number = 0
    for batch in parquet_batches(path, file, batch_size=8192):
        for record in batch.to_pylist():
            number += 1
            yield number, record


def _table(path: Path, columns: Columns, names: list[str], records: Iterator[tuple[int, Record]]) -> ItemTable:
    ids: list[str] = []
    rows: list[int] = []
    kept = list(records)
    known = names or list(dict.fromkeys(key for _, record in kept for key in record))
    if not kept:
        raise DataFileError(f"{path}: no items below the header" if names else f"{path}: no items")
    text, image, label = _chosen_columns(path, columns, known)
    _check_positive_value(path, columns.positive_value, label, kept)
    seen: dict[str, int] = {}
    for number, record in kept:
        identifier = read_identifier(path, number, columns.id, record.get(columns.id))
        if identifier in seen:
            raise DataFileError(
                f"{path}, row {number}, column {columns.id}: the id {identifier!r} is already in row {seen[identifier]}"
            )
        seen[identifier] = number
        ids.append(identifier)
        rows.append(number)
    return ItemTable(
        path,
        tuple(ids),
        tuple(rows),
        tuple(_cell_text(path, n, text, r.get(text)) for n, r in kept) if text else None,
        tuple(_image_path(path, n, image, r.get(image)) for n, r in kept) if image else None,
        tuple(_label(path, n, label, r.get(label), columns.positive_value) for n, r in kept) if label else None,
        tuple(_kept(path, n, columns.keep, r) for n, r in kept) if columns.keep else None,
    )


def _chosen_columns(path: Path, columns: Columns, known: list[str]) -> tuple[str | None, str | None, str | None]:
    listed = ", ".join(map(repr, known))
    for asked in (columns.id, columns.text, columns.image, columns.label, *columns.keep):
        if asked is not None and asked not in known:
            raise DataFileError(f"{path}: no column {asked!r}; the columns are {listed}")
    text, image, label = (
        asked or (usual if usual in known else None)
        for asked, usual in ((columns.text, "text"), (columns.image, "image"), (columns.label, "label"))
    )
    if text is None and image is None:
        raise DataFileError(f"{path}: no column 'text' or 'image' among {listed}; name it with --text-column")
    return text, image, label


def _check_positive_value(path: Path, value: str | None, label: str | None, kept: list[tuple[int, Record]]) -> None:
    """A misspelt value would silently turn every label into a negative one."""
    if value is None:
        return
    if label is None:
        raise DataFileError(f"{path}: --positive-value {value}, but no column 'label'; name it with --label-column")
    present = {_label_text(record.get(label)) for _, record in kept} - {""}
    if present and value not in present:
        listed = ", ".join(map(repr, sorted(present)[:5]))
        raise DataFileError(f"{path}, column {label}: no label is {value!r} (--positive-value); there are {listed}")


def read_identifier(path: Path, number: int, column: str, value: Any) -> str:
    """The id in a cell; a DataFileError says what is wrong with it."""
    if isinstance(value, bool) or (value is not None and not isinstance(value, str | int)):
        raise DataFileError(f"{path}, row {number}, column {column}: an id is text or a whole number, not {value!r}")
    text = "" if value is None else str(value)
    if not text.strip():
        raise DataFileError(f"{path}, row {number}, column {column}: the id is missing")
    return _encodable(path, number, column, text)


def _encodable(path: Path, number: int, column: str, text: str) -> str:
    """``text``, unless it is half of a character, which JSON can spell but no UTF-8 file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])
        raise DataFileError(
            f"{path}, row {number}, column {column}: {half} is half of a character; write it whole"
        ) from None
    return text


def _cell_text(path: Path, number: int, column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int | float):
        return _encodable(path, number, column, str(value))
    raise DataFileError(f"{path}, row {number}, column {column}: expected text, not {type(value).__name__}")


def _kept(path: Path, number: int, columns: tuple[str, ...], record: Record) -> dict[str, str]:
    """The cells of ``columns`` that hold anything."""
    cells = {column: _cell_text(path, number, column, record.get(column)) for column in columns}
    return {column: cell for column, cell in cells.items() if cell}


def _image_path(path: Path, number: int, column: str, value: Any) -> str:
    """Absolute path of a picture named relative to the folder of the items file; "" where an item has none."""
    name = _cell_text(path, number, column, value)
    if not name:
        return ""
    image = (path.parent / name).absolute()
    try:
        there = image.is_file()
    except OSError as error:
        raise DataFileError(
            f"{path}, row {number}, column {column}: {image} cannot be read: {error.strerror}"
        ) from None
    if not there:
        raise DataFileError(f"{path}, row {number}, column {column}: no such picture: {image}")
    return str(image)


def _label_text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _label(path: Path, number: int, column: str, value: Any, positive_value: str | None) -> str | None:
    text = _label_text(value)
    if not text:
        return None
    if positive_value is not None:
        return "positive" if text == positive_value else "negative"
    if text.lower() in ("positive", "negative"):
        return text.lower()
    raise DataFileError(
        f"{path}, row {number}, column {column}: a label is 'positive', 'negative' or empty, not {text!r}; "
        "say which value is positive with --positive-value"
    )


def _image_folder(folder: Path) -> ItemTable:
    found = sorted(p for p in _files_below(folder) if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file())
    if not found:
        raise DataFileError(f"{folder}: no pictures in the folder; looked for {', '.join(IMAGE_SUFFIXES)}")
    return ItemTable(
        folder,
        ids=tuple(p.relative_to(folder).as_posix() for p in found),
        rows=tuple(range(1, len(found) + 1)),
        images=tuple(str(p.absolute()) for p in found),
    )


def _files_below(folder: Path) -> Iterator[Path]:
    """Every file in ``folder`` and its subfolders; one that may not be entered is an error, never passed over.

    Hidden names are: they belong to the system (``._photo.jpg``, ``.thumbnails``), not to the collection.
    """

    def refuse(error: OSError) -> None:
        raise DataFileError(
            f"{error.filename}: cannot be read: {error.strerror}; allow yourself to read and enter the folder"
        ) from None

    for base, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if not os.access(base, os.X_OK):
            refuse(PermissionError(errno.EACCES, os.strerror(errno.EACCES), base))
        yield from (Path(base) / name for name in names if not name.startswith("."))
