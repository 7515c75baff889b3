"""Files that are written completely or not at all: a reader never sees a part of one, and a failure leaves the old file."""

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
    """The arrays of an .npz file, without pickles; ValueError if it is another kind of file. OSErrors come through."""
    with path.open("rb") as raw:  # opened here, because NumPy leaves a damaged file open
        if not zipfile.is_zipfile(raw):  # NumPy would take it for a pickle, and advise to trust it
            raise ValueError("it is not a complete .npz file")
        raw.seek(0)
        with np.load(raw, allow_pickle=False) as arrays:
            yield arrays


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write what becomes ``path`` when the block ends; if the block fails it is removed. OSErrors come through.

    Several writers are safe: each has a file of its own, and the last to finish wins.
    """
    if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
        yield path
        return
    fresh = path.with_name(f".{path.stem}-{token_hex(4)}{path.suffix}")
    try:
        yield fresh
        fresh.replace(path)
    finally:
        with suppress(OSError):  # where it could not even be made, the error on its way says why
            fresh.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write ``content``, text as UTF-8; DataFileError if the system does not let us."""
    try:
        with replacing(path) as fresh:
            fresh.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise DataFileError(f"{path}: cannot be written: {error.strerror}; {WHERE_TO_WRITE}") from error
