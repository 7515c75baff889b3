"""Adds new texts to a project: they are embedded as its items were, and either all of them are added or none.

Only the first ``data.n`` rows of a project's files count. New rows are first written after them; then one write of ``data.n``
makes them items. If anything fails before that, nothing has changed.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import tomlkit

from tellmore.data.embed import known_embedder, open_embedder, tfidf_embedder
from tellmore.data.embedder import Embedder
from tellmore.data.ingest import embedded, unit_rows
from tellmore.data.items import ItemTable, read_identifier
from tellmore.data.progress import ProgressBar, silent
from tellmore.data.project import EMBEDDINGS_FILE, ITEMS_FILE, Project
from tellmore.data.reading import Reading
from tellmore.data.records import open_records
from tellmore.data.settings import SETTINGS_FILE
from tellmore.data.tfidf import TFIDF, Tfidf
from tellmore.data.vectors import CHUNK_BYTES, MatrixWriter, VectorFile
from tellmore.errors import DataFileError, SettingError
from tellmore.files import replacing

CACHE_FOLDER = ".adding"


def no_texts(project: Project, embed: str | None) -> str | None:
    """Why no texts can be added; None if they can. ``embed`` names the embedder of the items, as on the command line."""
    if project.pool.images is not None:
        return "The items of this project are pictures; only texts can be added here."
    if embed is not None or project.tfidf_path is not None:
        return None
    made = project.settings.data.embeddings
    if known_embedder(made):
        named = "exec:COMMAND" if made == "exec" else made
        return f"The server has no embedder for new texts; start it with: tellmore serve PROJECT --embed {named}"
    return (
        "The vectors of these items come from a file, so the server cannot embed new texts. If an embedder made them, start the "
        "server with --embed and its name."
    )


def open_for_texts(project: Project, embed: str | None) -> Embedder:
    """The embedder for new texts; raises SettingError if there is none."""
    if (why := no_texts(project, embed)) is not None:
        raise SettingError(why)
    if project.tfidf_path is not None and embed in (None, TFIDF):
        return tfidf_embedder(Tfidf.load(project.tfidf_path))
    assert embed is not None
    return open_embedder(embed, "text")


def read_texts(path: Path, project: Project, encoding: str | None = None) -> ItemTable:
    """The columns id and text of a CSV file; raises DataFileError if a row cannot become an item of ``project``."""
    reading = Reading(encoding=encoding)
    names, records = open_records(path, reading)
    if "id" not in names or "text" not in names:
        found = ", ".join(map(repr, names)) or "nothing"
        raise DataFileError(f"{path}: the first row must name the columns 'id' and 'text'; it has {found}")
    rows: dict[str, tuple[int, str]] = {}
    for number, record in records:
        with reading.row():
            item = read_identifier(path, number, "id", record["id"])
            if item in rows:
                raise DataFileError(f"{path}, row {number}: the id {item!r} is already in row {rows[item][0]}")
            if item in project.pool:
                raise DataFileError(f"{path}, row {number}: the project already has an item with the id {item!r}")
            if not (text := str(record["text"] or "")).strip():
                raise DataFileError(f"{path}, row {number}: the text is missing")
            rows[item] = number, text
    reading.settle()
    if not rows:
        raise DataFileError(f"{path}: there are no rows below the first one")
    numbers, texts = zip(*rows.values(), strict=True)
    return ItemTable(path, tuple(rows), numbers, texts)


def write_added(project: Project, table: ItemTable, embedder: Embedder, progress: ProgressBar = silent) -> Project:
    """Embed ``table`` and write it after the items of ``project``; the new items count once ``keep_added`` gets the result."""
    cache = project.folder / CACHE_FOLDER
    try:
        vectors = embedded(table, "added", embedder, cache, progress)
        if vectors.d != project.pool.d:
            raise DataFileError(
                f"the embedder gives vectors of {vectors.d} dimensions, but those of the items have {project.pool.d}; start "
                "the server with the embedder that the project was made with"
            )
        _write_matrix(project, vectors)
        _write_items(project, table)
    except OSError as error:
        raise DataFileError(f"the new items could not be written: {error.strerror}") from error
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    grown = project.settings.changed(data={"n": len(project.pool) + len(table)})
    sha256 = Project(project.folder, grown).fingerprint
    return Project(project.folder, grown.changed(data={"sha256": sha256}), project.dask)


def keep_added(project: Project) -> None:
    """Make the items that ``write_added`` wrote part of ``project``. The rest of its settings file is not changed."""
    path, data = project.folder / SETTINGS_FILE, project.settings.data
    try:
        text = tomlkit.parse(path.read_text(encoding="utf-8"))
        text.setdefault("data", {}).update({"n": data.n, "sha256": data.sha256})
        with replacing(path) as fresh:
            fresh.touch(0o600)
            _write_durably(fresh, tomlkit.dumps(text).encode())
    except OSError as error:
        raise DataFileError(f"the settings could not be written: {error.strerror}") from error


def _write_matrix(project: Project, vectors: VectorFile) -> None:
    pool, at = project.pool, 0
    with replacing(project.folder / EMBEDDINGS_FILE) as fresh:
        with MatrixWriter(fresh, len(pool) + vectors.n, pool.d) as writer:
            step = max(1, CHUNK_BYTES // (4 * pool.d))
            for at in range(0, len(pool), step):
                block = pool.X[at : at + step]
                writer.write(np.arange(at, at + len(block)), block)
            at = len(pool)
            for block in vectors.chunks():
                rows = unit_rows(block) if project.settings.data.normalised else block.astype(np.float32)
                writer.write(np.arange(at, at + len(rows)), rows)
                at += len(rows)
        _settle(fresh)


def _write_items(project: Project, table: ItemTable) -> None:
    rows = [
        *project.items,
        *({"id": item, "text": text} for item, text in zip(table.ids, table.text or (), strict=True)),
    ]
    with replacing(project.folder / ITEMS_FILE) as fresh:
        _write_durably(fresh, b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))


def _write_durably(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _settle(path)


def _settle(path: Path) -> None:
    """Flush the file to disk before anything refers to it, and make it readable only by its owner, like all of a project."""
    path.chmod(0o600)
    with path.open("rb") as file:
        os.fsync(file.fileno())
