"""A project in one file: complete, as of one moment, from either database, and restored."""

from __future__ import annotations

import stat
import threading
import time
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.project import Project, create_project
from tellmore.data.settings import ServerSettings, Settings
from tellmore.errors import DataFileError, SettingError, StateError
from tellmore.pool import Pool
from tellmore.store.backup import backup, restore
from tellmore.store.repository import Event, Repository, TokenRow


def project_on(url: str, folder: Path) -> Project:
    database = "" if url.startswith("sqlite") else url
    return create_project(folder, Pool(np.eye(3)), Settings(server=ServerSettings(database=database)))


def test_a_backup_made_while_people_answer_is_of_one_moment(url: str, tmp_path: Path) -> None:
    project = project_on(url, tmp_path / "p")
    with closing(Repository(project.database_url)) as served:
        served.claim()
        served.add_token(TokenRow("t1", "a" * 64, "annotator", "p1", "Ann"))
        served.append([Event("note", payload={"n": n}) for n in range(500)])
        going = threading.Event()

        def answer() -> None:
            while not going.is_set():
                served.append([Event("pair", payload={"half": 1}), Event("pair", payload={"half": 2})])
                time.sleep(0.001)  # SQLite blocks others while one process writes without a pause

        writer = threading.Thread(target=answer)
        writer.start()
        count = backup(project, tmp_path / "kept.zip")
        going.set()
        writer.join()
        assert stat.S_IMODE((tmp_path / "kept.zip").stat().st_mode) == 0o600
        identity, before = served.project_id, list(served.since())
    with zipfile.ZipFile(tmp_path / "kept.zip") as archive:
        archive.extract("tellmore.sqlite", tmp_path / "out")
    with closing(Repository(f"sqlite:///{tmp_path / 'out' / 'tellmore.sqlite'}")) as copy:
        events = list(copy.since())
        assert events == before[: len(events)], "a beginning of the log, nothing else"
        assert (len(events), copy.project_id, len(copy.tokens())) == (count, identity, 1)
        assert sum(event.kind == "pair" for event in events) % 2 == 0, "a transaction is whole"
        assert copy.append([Event("note")])[0].seq > events[-1].seq


def test_a_backup_becomes_the_same_project(tmp_path: Path) -> None:
    project = create_project(tmp_path / "p", Pool(np.eye(3), text=["a", "b", "c"]))
    with closing(Repository(project.database_url)) as log:
        log.append([Event("note", payload={"n": 1})])
    backup(project, tmp_path / "kept.zip")
    again = restore(tmp_path / "kept.zip", tmp_path / "again")
    assert again.settings == project.settings
    assert again.pool.fingerprint == project.pool.fingerprint
    with closing(Repository(again.database_url)) as log:
        log.claim()
        assert [event.kind for event in log.since()] == ["note", "audit"]
    with pytest.raises(SettingError, match="already exists"):
        restore(tmp_path / "kept.zip", tmp_path / "again")


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["postgres"], indirect=True)
def test_a_server_with_a_log_is_not_written_over(url: str, store: Repository, tmp_path: Path) -> None:
    store.append([Event("note")])
    project = project_on(url, tmp_path / "p")
    backup(project, tmp_path / "kept.zip")
    with pytest.raises(StateError, match="already has a log"):
        restore(tmp_path / "kept.zip", tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("content", [b"", b"not a zip", None])
def test_what_is_no_backup_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "kept.zip"
    if content is None:
        with zipfile.ZipFile(file, "w") as archive:
            for name in ("tellmore.toml", "tellmore.sqlite", "../evil"):
                archive.writestr(name, "x")
    else:
        file.write_bytes(content)
    with pytest.raises(DataFileError, match=r"kept\.zip"):
        restore(file, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "evil").exists()
