"""What a project that somebody else made can reach: its own folder, and what the user allows; who can read it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tellmore.data.images import thumbnail_path
from tellmore.data.places import ALLOWED_VARIABLE
from tellmore.data.project import Project, create_project, open_project
from tellmore.data.settings import ServerSettings, Settings, parse_settings
from tellmore.errors import DataFileError, SettingError
from tellmore.pool import Pool


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two items; the picture of the first is outside the folder, as a stranger's ``items.jsonl`` may say."""
    made = create_project(tmp_path / "project", Pool(np.eye(2), ids=["a", "b"], text=["A", "B"]))
    Image.new("RGB", (8, 8), "red").save(tmp_path / "private.png")
    rows = [{"id": "a", "image": str(tmp_path / "private.png")}, {"id": "b", "text": "B"}]
    (made.folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_project(made.folder)


def test_pictures_outside_of_the_folder_are_not_shown(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataFileError, match="neither in the project's folder"):
        project.picture("a")
    monkeypatch.setenv(ALLOWED_VARIABLE, str(project.folder.parent))
    assert project.picture("a").read_bytes()[:2] == b"\xff\xd8"


def test_a_thumbnail_that_leads_outside_is_not_shown(project: Project, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret", encoding="utf-8")
    made = thumbnail_path(project.images_folder, "a", tmp_path / "private.png")
    made.parent.mkdir(exist_ok=True)
    made.symlink_to(tmp_path / "secret")
    with pytest.raises(DataFileError, match="neither in"):
        project.picture("a")


@pytest.mark.parametrize("outside", ["sqlite:////var/lib/other.sqlite", "sqlite:///../other.sqlite"])
def test_a_log_outside_of_the_folder_is_not_opened(tmp_path: Path, outside: str) -> None:
    with pytest.raises(SettingError, match=r"server\.database: .*in the project's folder"):
        _ = Project(tmp_path, Settings(server=ServerSettings(database=outside))).database_url
    inside = f"sqlite:///{tmp_path / 'mine.sqlite'}"
    assert Project(tmp_path, Settings(server=ServerSettings(database=inside))).database_url == inside


def test_files_of_a_project_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    folder = create_project(tmp_path / "mine", Pool(np.eye(2))).folder
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes.pop("mine") == 0o700
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("lease_s", [1e300, float("inf"), 0, -1, 86_401])
def test_absurd_leases_are_refused(lease_s: float) -> None:
    with pytest.raises(SettingError, match="lease_s"):
        parse_settings({"server": {"lease_s": lease_s}}, source="settings")
