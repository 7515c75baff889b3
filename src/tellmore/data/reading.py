"""How the files of a command are read, and what was noticed: faulty rows are collected and reported together."""

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
    """``delimiter`` and ``encoding`` are those of CSV files; None means that they are detected, and ``notes`` say what was found.

    Faulty rows are collected in ``faults``. ``settle`` raises an error for all of them, unless ``skip_bad`` names a file: then
    they are left out, and ``finish`` lists them in that file. ``guess`` is the note on a guessed encoding: such an error
    has it too.
    """

    delimiter: str | None = None
    encoding: str | None = None
    skip_bad: Path | None = None
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    guess: str = ""

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
        """A folder for pictures from inside a file; it is deleted together with this object."""
        folder = Path(mkdtemp(prefix="tellmore-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def holds(self, picture: str) -> bool:
        """Whether ``picture`` is in that folder."""
        return "unpacked" in vars(self) and Path(picture).parent == self.unpacked

    @contextmanager
    def row(self) -> Iterator[None]:
        """A block that reads one row: if it fails, the error is collected and the next row can be read."""
        try:
            yield
        except DataFileError as error:
            self.faults.append(str(error))

    def settle(self) -> None:
        """Raise an error for the faulty rows so far, unless they are to be left out."""
        if self.faults and self.skip_bad is None:
            raise FaultyRowsError(self.faults, self.guess)

    def finish(self) -> str:
        """Write the list of rows that were left out, if one was requested, and return the note on them."""
        if self.skip_bad is None:
            return ""
        write_whole(self.skip_bad, "".join(f"{' '.join(fault.split())}\n" for fault in self.faults))
        n = len(self.faults)
        note = f"{n} faulty row{'' if n == 1 else 's'} left out, listed in {self.skip_bad}" if n else ""
        self.notes += [note] if note else []
        return note
