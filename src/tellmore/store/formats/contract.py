"""The parts of a format of answers: how a file is recognised, and how its records become answers to questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tellmore.data.reading import Reading
from tellmore.data.records import Record
from tellmore.errors import DataFileError
from tellmore.kinds.label import LabelAnswer
from tellmore.pool import Pool
from tellmore.types import Answer

IMPORTED = "import"
"""The participant of imported answers for which no person is named."""
LABELLED = "label-column"
"""The participant to whom labels in the items file are attributed."""
FROM_PYTHON = "python"
"""The participant of answers from Python for which no person is named."""


@dataclass(frozen=True)
class Draft:
    """One answer as it is in the file. ``word`` is its label, as written there; ``answer`` makes the answer from the meaning of
    that word, or from None if there is no word. ``random``: the file says that its items were drawn at random."""

    row: int
    kind: str
    items: list[str]
    answer: Callable[[bool | None], Answer]
    word: str | None = None
    participant: str = IMPORTED
    question_id: str | None = None
    timing: dict[str, Any] | None = None
    random: bool = False


@dataclass(frozen=True)
class Source:
    """A file of answers: its records with their rows, and the pool that they must be about."""

    path: Path
    pool: Pool
    names: list[str]
    records: list[tuple[int, Record]]
    reading: Reading = field(default_factory=Reading)
    id_column: str | None = None
    label_column: str | None = None

    @cached_property
    def keys(self) -> set[str]:
        """Names of columns, or the keys of the first record."""
        return set(self.names) or set(self.records[0][1] if self.records else ())

    @cached_property
    def ids_by_text(self) -> dict[str, list[str]]:
        """Ids of the items with each text."""
        found: dict[str, list[str]] = {}
        for identifier, text in zip(self.pool.ids, self.pool.text or (), strict=False):
            found.setdefault(text, []).append(identifier)
        return found

    def fault(self, row: int, what: str) -> DataFileError:
        """An error that names the row."""
        return DataFileError(f"{self.path}, row {row}: {what}")

    def item(self, row: int, record: Record, *, id_key: str | None = "id", text_key: str = "text") -> str:
        """The item of ``record``: by its id, else by its text if only one item has that text."""
        named = self.id_column or id_key
        identifier = record.get(named) if named else None
        if identifier is not None:
            return str(identifier)
        text = record.get(text_key)
        if text is None:
            known = f'"{named}" or ' if named else ""
            raise self.fault(row, f'it names no item: it needs {known}"{text_key}"')
        ids = self.ids_by_text.get(str(text), [])
        if len(ids) != 1:
            advice = f"give the id in {named}" if named else "name the key with the id with --id-column"
            raise self.fault(row, f"{len(ids)} items have the text {str(text)[:60]!r}; {advice}")
        return ids[0]


@dataclass(frozen=True)
class Format:
    """``about`` is one line for help and documentation; ``suits`` looks only at names and first records."""

    name: str
    about: str
    suits: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Draft]]


def each_record(read: Callable[[Source, int, Record], Iterator[Draft]]) -> Callable[[Source], Iterator[Draft]]:
    """A reader of all records, from the reader of one; faulty records are collected."""

    def read_all(source: Source) -> Iterator[Draft]:
        for row, record in source.records:
            with source.reading.row():
                yield from read(source, row, record)

    return read_all


def as_label(positive: bool | None) -> Answer:
    """The answer to a label question."""
    return LabelAnswer(bool(positive))


def from_person(who: Any) -> str:
    """The participant for another tool's annotator."""
    return IMPORTED if who in (None, "") else f"{IMPORTED}-{who}"
