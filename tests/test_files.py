from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tellmore as tm
from tellmore.errors import DataFileError
from tellmore.files import replacing, write_whole


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    write_whole(tmp_path / "text", "ä\r\nb\n")
    assert (tmp_path / "text").read_bytes() == "ä\r\nb\n".encode()
    write_whole(tmp_path / "text", b"\xff")
    assert (tmp_path / "text").read_bytes() == b"\xff"
    assert list(tmp_path.iterdir()) == [tmp_path / "text"]


def test_a_failure_keeps_what_was_there_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("before")

    def fail() -> None:
        with replacing(path) as fresh:
            fresh.write_text("half")
            assert path.read_text() == "before"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [tmp_path / "kept.csv"]


@pytest.mark.parametrize("name", ["missing/file", "folder"])
def test_what_cannot_be_written_is_one_line(tmp_path: Path, name: str, one_line) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataFileError, match="cannot be written: ") as raised:
        write_whole(tmp_path / name, "text")
    assert str(tmp_path / name) in one_line(raised.value)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("load", [tm.Learner.load, tm.Classifier.load, tm.load_pool])
@pytest.mark.parametrize("name", ["items.csv", "matrix.npy"])
def test_a_file_that_is_no_npz_is_one_line_and_never_to_be_trusted(
    tmp_path: Path, load: Callable[[Path], object], name: str
) -> None:
    (tmp_path / "items.csv").write_text("id,text\n1,warm\n")
    np.save(tmp_path / "matrix.npy", np.eye(3))
    with pytest.raises(DataFileError, match=r"it is not a complete \.npz file"):
        load(tmp_path / name)
