"""Writes a whole project to one file, even while it is served, and makes a project from such a file.

The log is stored as SQLite, whatever database it is in, as of one moment. Saved states, which only save time, are left out.
"""

from __future__ import annotations

import zipfile
from contextlib import closing
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from tellmore.data.project import DATABASE_FILE, Project, open_project, project_folder
from tellmore.data.settings import SETTINGS_FILE
from tellmore.errors import DataFileError
from tellmore.files import WHERE_TO_WRITE, replacing
from tellmore.store.events import audit_event
from tellmore.store.repository import Repository


def backup(project: Project, target: Path) -> int:
    """Write ``project`` to the file ``target``, readable only by its owner; returns the number of events in its log."""
    with TemporaryDirectory() as folder, closing(Repository(project.database_url)) as source:
        source.append([audit_event("owner", f"backup to {target.name}", "command line")])
        copied = Path(folder) / DATABASE_FILE
        with closing(Repository(f"sqlite:///{copied}")) as copy:
            events = source.copy_into(copy)
        try:
            with replacing(target) as fresh:
                fresh.touch(0o600)
                with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                    archive.write(copied, DATABASE_FILE)
                    for path in sorted(project.folder.rglob("*")):
                        if path.is_file() and not path.is_symlink() and not path.name.startswith((".", DATABASE_FILE)):
                            archive.write(path, path.relative_to(project.folder).as_posix())
        except OSError as error:
            raise DataFileError(f"{target}: cannot be written: {error.strerror}; {WHERE_TO_WRITE}") from error
    return events


def restore(source: Path, folder: Path) -> Project:
    """Make a project at ``folder`` from a backup; if its settings name a server's database, that must be empty."""
    with project_folder(folder) as building:
        _unpack(source, building)
        project = open_project(building)
        copied = building / DATABASE_FILE
        if project.settings.server.database:
            with closing(Repository(f"sqlite:///{copied}")) as log, closing(Repository(project.database_url)) as target:
                log.copy_into(target)
            copied.unlink()
        else:
            Repository(f"sqlite:///{copied}").close()
    return open_project(folder)


def _unpack(source: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(source) as archive:
            names = archive.namelist()
            strange = [name for name in names if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts]
            if strange or SETTINGS_FILE not in names or DATABASE_FILE not in names:
                raise DataFileError(f"{source}: not a backup made by tellmore backup")
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise DataFileError(f"{source}: cannot be read as a backup: {error}") from None
