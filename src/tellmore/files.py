"""Files that are written completely or not at all: readers never see part of a file, and a failure leaves the old file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import numpy as np
from numpy.lib.npyio import NpzFile

from tellmore.errors import DataFileError

WHERE_TO_WRITE = "choose a folder you may write to, with space left on its disk"


@contextmanager
def reading_npz(path: Path) -> Iterator[NpzFile]:
    """The arrays of an .npz file, without pickles; ValueError if it is another kind of file. OSErrors are raised as they are."""
    with path.open("rb") as raw:  # opened here, because NumPy leaves a damaged file open
        if not zipfile.is_zipfile(raw):  # NumPy would take it for a pickle and advise allowing pickles
            raise ValueError("it is not a complete .npz file")
        raw.seek(0)
        with np.load(raw, allow_pickle=False) as arrays:
            yield arrays


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path that becomes ``path`` when the block ends, or is removed if it fails. OSErrors are raised as they are.

    Several writers at once are safe: each has its own temporary file, and the last to finish wins.
    """
    if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
        yield path
        return
    fresh = path.with_name(f".{path.stem}-{token_hex(4)}{path.suffix}")
    try:
        yield fresh
        fresh.replace(path)
    finally:
        with suppress(OSError):  # if it could not even be created, the error being raised says why
            fresh.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write ``content``, text as UTF-8; DataFileError if the system refuses."""
    try:
        with replacing(path) as fresh:
            fresh.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise DataFileError(f"{path}: cannot be written: {error.strerror}; {WHERE_TO_WRITE}") from error
