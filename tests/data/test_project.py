from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.project import create_project, open_project, project_folder, write_settings
from tellmore.data.settings import Settings
from tellmore.errors import DataFileError, SettingError
from tellmore.pool import Pool


@pytest.fixture
def pool() -> Pool:
    return Pool(np.eye(3), ids=["a", "b/ü", "c"], text=["one", "", 'th"ree\n'])


def test_a_project_is_read_back_as_it_was_made(tmp_path: Path, pool: Pool):
    settings = Settings().changed(project={"name": "mine", "attribute": "friendly"}, learning={"seed": 7})
    made = create_project(tmp_path / "p", pool, settings, labels=["positive", None, "negative"])
    opened = open_project(tmp_path / "p")
    assert opened.settings == made.settings
    assert opened.settings.learning.seed == 7
    assert opened.pool.ids == pool.ids
    assert opened.pool.text == pool.text
    assert opened.pool.images is None
    assert opened.pool.fingerprint == pool.fingerprint == opened.settings.data.sha256
    assert [item.get("label") for item in opened.items] == ["positive", None, "negative"]
    assert (opened.settings.data.n, opened.settings.data.d) == (3, 3)


def test_the_matrix_stays_on_disk(tmp_path: Path, pool: Pool):
    X = create_project(tmp_path / "p", pool).pool.X
    assert isinstance(X.base, np.memmap) or isinstance(X, np.memmap)
    assert not X.flags.writeable


def test_the_log_is_in_the_folder_unless_told_otherwise(tmp_path: Path, pool: Pool):
    project = create_project(tmp_path / "p", pool)
    assert project.database_url == f"sqlite:///{tmp_path}/p/tellmore.sqlite"
    write_settings(project.folder, project.settings.changed(server={"database": "postgresql://db/x"}))
    assert open_project(tmp_path / "p").database_url == "postgresql://db/x"


def test_an_existing_folder_is_not_touched(tmp_path: Path, pool: Pool):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "precious.txt").write_text("x")
    with pytest.raises(SettingError, match="already exists"):
        create_project(tmp_path / "p", pool)
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["precious.txt"]


def test_an_empty_folder_is_used(tmp_path: Path, pool: Pool):
    (tmp_path / "p").mkdir()
    assert create_project(tmp_path / "p", pool).name == "project"


def test_nothing_remains_after_a_failure(tmp_path: Path):
    def fail() -> None:
        with project_folder(tmp_path / "p") as building:
            (building / "half.txt").write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, pool: Pool, monkeypatch, one_line):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(DataFileError, match="No space left") as raised:
        create_project(tmp_path / "p", pool)
    one_line(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_place_where_no_folder_can_be_made(tmp_path: Path, pool: Pool, one_line):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataFileError, match="a project cannot be made there") as raised:
        create_project(tmp_path / "file" / "p", pool)
    one_line(raised.value)


@pytest.mark.parametrize("name", ["missing", "plain"])
def test_what_is_not_a_project(tmp_path: Path, name):
    (tmp_path / "plain").mkdir()
    with pytest.raises(SettingError, match="tellmore init"):
        open_project(tmp_path / name)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("items.jsonl", b'{"id": "a"}\n', "has 1 rows but embeddings.npy has 3"),
        ("items.jsonl", b'{"id": "a"}\n{"id": 3}\n', "row 2"),
        ("items.jsonl", b'{"id": "a"}\n{"id"\n', "row 2: not valid JSON"),
        ("items.jsonl", b"\xff", "UTF-8"),
        ("embeddings.npy", b"not numpy", "not a readable .npy"),
        ("embeddings.npy", None, "no such file"),
    ],
)
def test_a_damaged_project_says_what_is_damaged(tmp_path: Path, pool: Pool, file, content, said, one_line):
    project = create_project(tmp_path / "p", pool)
    (project.folder / file).unlink()
    if content is not None:
        (project.folder / file).write_bytes(content)
    with pytest.raises(DataFileError) as raised:
        _ = open_project(project.folder).pool
    assert said in one_line(raised.value)
