"""Items from a file of records or a folder of pictures; every error names file, row and column."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tellmore.data.hub_dataset import is_dataset
from tellmore.data.labels import LabelWords, same_word
from tellmore.data.reading import Reading
from tellmore.data.records import Record, open_records
from tellmore.errors import DataFileError

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".heif")


@dataclass(frozen=True)
class Columns:
    """Which column has what. None for text, image and label means the usual name, if the file has that column.

    The columns named in ``keep`` are stored with the items, unchanged. Labels are not read unless ``labelled``.
    """

    id: str = "id"
    text: str | None = None
    image: str | None = None
    label: str | None = None
    positive_value: str | None = None
    keep: tuple[str, ...] = ()
    negative_value: str | None = None
    labelled: bool = True


@dataclass(frozen=True)
class ItemTable:
    """Items in file order. ``rows`` [n] are the row numbers for messages; ``labels`` are positive, negative or None."""

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


def read_items(path: Path, columns: Columns | None = None, reading: Reading | None = None) -> ItemTable:
    """All items of the file or image folder ``path``.

    One DataFileError names all faulty rows, unless ``reading`` says to leave them out.
    """
    columns, reading = columns or Columns(), reading or Reading()
    if path.is_dir() and not is_dataset(path):
        return _image_folder(path)
    names, records = open_records(path, reading)
    table = _table(path, columns, names, list(records), reading)
    reading.settle()
    return table


@dataclass(frozen=True)
class _Row:
    id: str
    row: int
    text: str
    image: str
    label: str | None
    kept: dict[str, str]


def _table(
    path: Path, columns: Columns, names: list[str], records: list[tuple[int, Record]], reading: Reading
) -> ItemTable:
    if not records:
        reading.settle()
        raise DataFileError(f"{path}: no items below the header" if names else f"{path}: no items")
    known = names or list(dict.fromkeys(key for _, record in records for key in record))
    text, image, label = _chosen_columns(path, columns, known)
    meanings = _meanings(path, columns, label, records)
    seen: dict[str, int] = {}
    rows: list[_Row] = []
    for number, record in records:
        with reading.row():
            identifier = read_identifier(path, number, columns.id, record.get(columns.id))
            if identifier in seen:
                raise DataFileError(
                    f"{path}, row {number}, column {columns.id}: the id {identifier!r} is already in row {seen[identifier]}"
                )
            seen[identifier] = number
            found = _Row(
                identifier,
                number,
                _cell_text(path, number, text, record.get(text)) if text else "",
                _image_path(path, number, image, record.get(image)) if image else "",
                _label(path, number, label, record.get(label), columns, meanings) if label else None,
                _kept(path, number, columns.keep, record),
            )
            rows.append(found)
    return ItemTable(
        path,
        tuple(row.id for row in rows),
        tuple(row.row for row in rows),
        tuple(row.text for row in rows) if text else None,
        tuple(row.image for row in rows) if image else None,
        tuple(row.label for row in rows) if label else None,
        tuple(row.kept for row in rows) if columns.keep else None,
    )


def _chosen_columns(path: Path, columns: Columns, known: list[str]) -> tuple[str | None, str | None, str | None]:
    listed = ", ".join(map(repr, known))
    for asked in (columns.id, columns.text, columns.image, columns.label, *columns.keep):
        if asked is not None and asked not in known:
            advice = _delimiter_advice(path, known) or ("; name it with --id-column" if asked == columns.id else "")
            raise DataFileError(f"{path}: no column {asked!r}; the columns are {listed}{advice}")
    text, image, label = (
        asked or (usual if usual in known else None)
        for asked, usual in ((columns.text, "text"), (columns.image, "image"), (columns.label, "label"))
    )
    if text is None and image is None:
        raise DataFileError(f"{path}: no column 'text' or 'image' among {listed}; name it with --text-column")
    return text, image, label if columns.labelled else None


def _delimiter_advice(path: Path, known: list[str]) -> str:
    one = len(known) == 1 and path.suffix.lower() in (".csv", ".tsv")
    return "; name the character between cells with --delimiter" if one else ""


def _meanings(path: Path, columns: Columns, label: str | None, records: list[tuple[int, Record]]) -> Mapping[str, bool]:
    """The meaning of each word in the label column."""
    if label is None:
        if columns.positive_value is not None and not columns.keep:  # the option may be about a kept column
            raise DataFileError(
                f"{path}: --positive-value {columns.positive_value}, but no column 'label'; name it with --label-column"
            )
        return {}
    words = LabelWords(columns.positive_value, columns.negative_value)
    return words.meanings((_label_text(record.get(label)) for _, record in records), f"{path}, column {label}")


def read_identifier(path: Path, number: int, column: str, value: Any) -> str:
    """The id in a cell; raises DataFileError if it is not valid."""
    if isinstance(value, bool) or (value is not None and not isinstance(value, str | int)):
        raise DataFileError(f"{path}, row {number}, column {column}: an id is text or a whole number, not {value!r}")
    text = "" if value is None else str(value)
    if not text.strip():
        raise DataFileError(f"{path}, row {number}, column {column}: the id is missing")
    return _encodable(path, number, column, text)


def _encodable(path: Path, number: int, column: str, text: str) -> str:
    """``text``; raises an error for half of a character, which JSON can write but UTF-8 cannot."""
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
    """The cells of ``columns`` that are not empty."""
    cells = {column: _cell_text(path, number, column, record.get(column)) for column in columns}
    return {column: cell for column, cell in cells.items() if cell}


def _image_path(path: Path, number: int, column: str, value: Any) -> str:
    """The absolute path of a picture whose path is relative to the folder of the items file; "" if an item has none."""
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
    return "" if value is None or value != value else str(value).strip()  # in tables of numbers, NaN is an empty cell


def _label(
    path: Path, number: int, column: str, value: Any, columns: Columns, meanings: Mapping[str, bool]
) -> str | None:
    text = _label_text(value)
    if not text:
        return None
    positive = meanings.get(same_word(text))
    if positive is None:
        words = LabelWords(columns.positive_value, columns.negative_value)
        raise DataFileError(f"{path}, row {number}, column {column}: the label {text!r} is unknown: {words.advice()}")
    return "positive" if positive else "negative"


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
    """Every file in ``folder`` and its subfolders; a folder that cannot be read is an error, never skipped.

    Hidden names are skipped: they belong to the system (``._photo.jpg``, ``.thumbnails``), not to the collection.
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
