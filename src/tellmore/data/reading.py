"""How the files of one command are read, and what was noticed on the way: faulty rows are collected, to be reported together."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize

from tellmore.errors import DataFileError, FaultyRowsError, SettingError
from tellmore.files import write_whole


@dataclass
class Reading:
    """``delimiter`` and ``encoding`` of CSV files: None, by the file itself; ``notes`` then say what was seen.

    Faulty rows are collected in ``faults``. ``settle`` raises them all, unless ``skip_bad`` names the file that ``finish`` lists
    them in: then they are left out.
    """

    delimiter: str | None = None
    encoding: str | None = None
    skip_bad: Path | None = None
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.delimiter = {r"\t": "\t", "tab": "\t"}.get(self.delimiter or "", self.delimiter)
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise SettingError(f"--delimiter is one character (or tab), not {self.delimiter!r}")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise SettingError(
                    f"--encoding: unknown encoding {self.encoding!r}; for example utf-8, cp1252 or utf-16"
                ) from None

    @cached_property
    def unpacked(self) -> Path:
        """A folder for pictures that are inside a file; it goes when this object does."""
        folder = Path(mkdtemp(prefix="tellmore-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def holds(self, picture: str) -> bool:
        """Whether this is one of them."""
        return "unpacked" in vars(self) and Path(picture).parent == self.unpacked

    @contextmanager
    def row(self) -> Iterator[None]:
        """Where one row is read: its fault is gathered, and the next row follows."""
        try:
            yield
        except DataFileError as error:
            self.faults.append(str(error))

    def settle(self) -> None:
        """Raise what was gathered so far, unless it is to be left out."""
        if self.faults and self.skip_bad is None:
            raise FaultyRowsError(self.faults)

    def finish(self) -> None:
        """List what was left out, where that was wished."""
        if self.skip_bad is not None:
            write_whole(self.skip_bad, "".join(f"{' '.join(fault.split())}\n" for fault in self.faults))
            if self.faults:
                self.notes.append(f"{len(self.faults)} faulty rows left out, listed in {self.skip_bad}")
