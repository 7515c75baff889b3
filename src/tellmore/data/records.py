"""Rows of named values from a file: CSV, Excel, JSON, JSONL, Parquet or a Hugging Face dataset.

Rows are counted as people see them: in CSV and Excel the header is row 1, in JSONL the first line, elsewhere the first record.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tellmore.data.guessing import Encoding, encoding_of
from tellmore.data.hub_dataset import dataset_records, is_dataset
from tellmore.data.reading import Reading
from tellmore.errors import DataFileError, needs

Record = dict[str, Any]
Records = tuple[list[str], Iterator[tuple[int, Record]]]
"""Column names (none if each record has its own), and pairs of row number and record."""

csv.field_size_limit(sys.maxsize)  # this holds for the whole process; the default limit is 131,072 characters
_DELIMITERS = ",;\t|"
_SNIFFED_ROWS = 20
_SNIFFED_BYTES = 2**20


def open_records(path: Path, reading: Reading | None = None) -> Records:
    """The rows of ``path``; without ``reading``, the first faulty row is an error."""
    if is_dataset(path):
        return dataset_records(path, reading)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        allowed = f"{', '.join(READERS)}, a folder of pictures or a Hugging Face dataset"
        raise DataFileError(
            f"{path}: {f'unknown kind of file; allowed are {allowed}' if path.exists() else 'no such file'}"
        )
    require_file(path)
    return reader(path, reading)


def require_file(path: Path) -> None:
    """Raise DataFileError unless ``path`` is a readable file that is not empty."""
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise DataFileError(f"{path}: the file is empty")
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file") from None
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read: {error.strerror}") from None


def _gathering(reading: Reading | None) -> Callable[[], Any]:
    return nullcontext if reading is None else reading.row


# CSV


def _csv_records(path: Path, reading: Reading | None) -> Records:
    reading = reading or Reading()
    encoding = encoding_of(path) if reading.encoding is None else Encoding(reading.encoding)
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    delimiter = reading.delimiter or _delimiter(path, encoding.name, usual)
    seen = encoding.name, delimiter
    if seen != ("utf-8", usual) and seen != (reading.encoding, reading.delimiter):
        named = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}.get(delimiter, repr(delimiter))
        advice = f". {encoding.advice}" if encoding.guessed else ""
        reading.notes.append(f"{path} was read as {encoding}, cells separated by {named}{advice}")
        reading.guess = reading.notes[-1] if encoding.guessed else ""
    rows = _csv_rows(path, encoding.name, delimiter)
    first = next(rows, None)
    return _with_header(path, first[1] if first else [], rows, reading, "quote cells that hold the delimiter")


def _with_header(
    path: Path, header: list[str], rows: Iterator[tuple[int, list[Any]]], reading: Reading | None, advice: str
) -> Records:
    """The records of a table: rows of cells below a row of names."""
    if not any(name.strip() for name in header):
        raise DataFileError(f"{path}, row 1: expected a header with column names")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise DataFileError(f"{path}, row 1: the column {repeated[0]!r} appears twice; rename one")
    return header, _cells(path, header, rows, _gathering(reading), advice)


def _cells(
    path: Path, header: list[str], rows: Iterator[tuple[int, list[Any]]], gathering: Callable[[], Any], advice: str
) -> Iterator[tuple[int, Record]]:
    for number, cells in rows:
        if len(cells) == len(header):
            yield number, dict(zip(header, cells, strict=True))
        elif cells:
            with gathering():
                raise DataFileError(
                    f"{path}, row {number}: {len(cells)} cells, but the header has {len(header)}; {advice}"
                )


def _csv_rows(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    number = 0
    try:
        with path.open(encoding=encoding, newline="") as file:
            for number, cells in enumerate(csv.reader(file, delimiter=delimiter, strict=True), start=1):
                yield number, cells
    except UnicodeError:
        raise encoding_error(path, encoding) from None
    except csv.Error as error:
        raise DataFileError(f"{path}, row {number + 1}: not valid CSV: {error}") from None


def _delimiter(path: Path, encoding: str, usual: str) -> str:
    """The usual delimiter, unless only another one divides the first rows into the same number of cells, at least two."""
    with path.open("rb") as file:
        text = file.read(_SNIFFED_BYTES).decode(encoding, errors="replace")
    candidates = [usual, *(each for each in _DELIMITERS if each != usual)]
    return max(candidates, key=lambda each: (_regular(text, each), -candidates.index(each)))


def _regular(text: str, delimiter: str) -> tuple[bool, bool]:
    """Whether ``delimiter`` divides the header, and whether it divides the other rows into as many cells."""
    widths: list[int] = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            widths += [len(cells)] if cells else []
            if len(widths) == _SNIFFED_ROWS:
                break
    except csv.Error:
        return False, False
    divides = bool(widths) and widths[0] > 1
    return divides, divides and set(widths) == {widths[0]}


def encoding_error(path: Path, encoding: str = "utf-8") -> DataFileError:
    """Names the first line that is not in ``encoding``, and what else it may be."""
    named = encoding.removesuffix("-sig").upper() if encoding.startswith("utf-8") else encoding
    advice = f"not {named} text; save the file with encoding UTF-8"
    if path.suffix.lower() in (".csv", ".tsv"):
        advice += ", or name its encoding, for example --encoding cp1252 (Windows, Western Europe)"
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                return DataFileError(f"{path}, row {number}, byte {error.start + 1}: {advice}")
    return DataFileError(f"{path}: {advice}")


# JSON


def json_lines(path: Path, reading: Reading | None = None) -> Iterator[tuple[int, Record]]:
    """(row number, object) of a JSONL file."""
    gathering = _gathering(reading)
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    with gathering():
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


def _json_list(path: Path, _reading: Reading | None) -> Records:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise encoding_error(path) from None
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise DataFileError(f"{path}: expected a JSON list of objects")
    return [], enumerate(found, start=1)


# Parquet


def _parquet_records(path: Path, _reading: Reading | None) -> Records:
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
    """The batches of a ParquetFile; damage inside it shows only here."""
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


# Excel


def _excel_records(path: Path, reading: Reading | None) -> Records:
    """The records of the first sheet; its first row names the columns."""
    with needs("openpyxl", "files"):
        import openpyxl
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # a damaged archive or its XML can cause any error
        raise DataFileError(f"{path}: not a readable Excel workbook: {error}") from None
    sheet = book.worksheets[0]
    if reading is not None and len(book.worksheets) > 1:
        reading.notes.append(f"{path}: read the first of {len(book.worksheets)} sheets, {sheet.title!r}")
    sheet.reset_dimensions()  # files of other programs may state a smaller range than they have
    rows = ((number, [_excel_value(cell) for cell in cells]) for number, cells in enumerate(sheet.values, start=1))
    header = [str(cell).strip() if cell is not None else "" for cell in next(rows, (1, []))[1]]
    while header and not header[-1]:
        header.pop()
    even = ((number, (cells + [None] * len(header))[: len(header)]) for number, cells in rows)
    return _with_header(
        path, header, ((number, cells) for number, cells in even if any(c is not None for c in cells)), reading, ""
    )


def _excel_value(cell: Any) -> Any:
    """The value of a cell, with whole numbers as integers and dates as text."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else cell


READERS: dict[str, Callable[[Path, Reading | None], Records]] = {
    ".csv": _csv_records,
    ".tsv": _csv_records,
    ".jsonl": lambda path, reading: ([], json_lines(path, reading)),
    ".ndjson": lambda path, reading: ([], json_lines(path, reading)),
    ".json": _json_list,
    ".parquet": _parquet_records,
    ".xlsx": _excel_records,
}
