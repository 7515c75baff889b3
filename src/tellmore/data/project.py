"""A project: one folder with settings, items, embeddings and the log of answers.

FOLDER/tellmore.toml      settings, see ``tellmore.data.settings``
FOLDER/items.jsonl        {"id", "text"?, "image"?, "label"?}, one line per row of the matrix
FOLDER/embeddings.npy     float32 [n, d], opened memory-mapped
FOLDER/embeddings.json    its checksums, block by block
FOLDER/items.index/       where the items are in their file, if the pool is on Dask; made again if it is missing
FOLDER/prior.npz          mean [D] and cov [D, D] of an earlier project, if start.earlier or learning.prior = "earlier"
FOLDER/images/            cache of thumbnails
FOLDER/pictures/          pictures that came inside the file of items
FOLDER/tellmore.sqlite    the log; a running server locks tellmore.sqlite.lock next to it

Rows of both files after the first ``data.n`` (see the settings) do not count: they are from an addition that did not finish.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from shlex import quote
from typing import Any

import numpy as np

from tellmore.classifier import Classifier
from tellmore.cluster.connect import LOCAL, check_address
from tellmore.cluster.matrix import CHANGED, Matrix, mapped
from tellmore.cluster.pool import DaskPool
from tellmore.core.frame import Frame, given_frame
from tellmore.core.mixture import Mixture
from tellmore.data.checked import toml_text
from tellmore.data.earlier import PRIOR_FILE, Earlier
from tellmore.data.images import project_thumbnail, thumbnail
from tellmore.data.places import ALLOWED_VARIABLE, may_be_named
from tellmore.data.records import json_lines
from tellmore.data.settings import SETTINGS_FILE, Settings, read_settings
from tellmore.data.tfidf import TFIDF_FILE
from tellmore.errors import DataFileError, PoolError, QuestionError, SettingError
from tellmore.files import WHERE_TO_WRITE, replacing
from tellmore.pool import Pool
from tellmore.stored import StoredItems
from tellmore.version import __version__

ITEMS_FILE = "items.jsonl"
EMBEDDINGS_FILE = "embeddings.npy"
CHECKSUMS_FILE = "embeddings.json"
DATABASE_FILE = "tellmore.sqlite"
IMAGES_FOLDER = "images"
INDEX_FOLDER = "items.index"
PICTURES_FOLDER = "pictures"


@dataclass(frozen=True)
class Project:
    """An opened project. Items and pool are read when first needed; the matrix stays on disk, memory-mapped.

    ``dask`` is the scheduler of the workers for the pool, or ``local``; by default, the settings decide.
    """

    folder: Path
    settings: Settings
    dask: str | None = None

    @property
    def name(self) -> str:
        return self.settings.project.name

    @property
    def database_url(self) -> str:
        """The SQLAlchemy address of the log. It may contain a password, so show ``settings.redacted()`` instead."""
        database = self.settings.server.database
        if not database:
            return f"sqlite:///{(self.folder / DATABASE_FILE).absolute()}"
        scheme, _, path = database.partition(":///")
        if scheme.startswith("sqlite") and not may_be_named(Path(path.partition("?")[0]), self.folder):
            raise SettingError(
                f"server.database: an SQLite file must be in the project's folder, or in one that {ALLOWED_VARIABLE} allows"
            )
        return database

    @property
    def images_folder(self) -> Path:
        return self.folder / IMAGES_FOLDER

    @cached_property
    def prior(self) -> Frame | None:
        """The belief of an earlier project as the prior, if the settings say so."""
        if self.settings.learning.prior != "earlier":
            return None
        known = self._earlier()
        return replace(given_frame(self.pool.moments, known.belief), behaviour=known.behaviour, w=known.w)

    @cached_property
    def earlier(self) -> Classifier | None:
        """The classifier of an earlier project as a start, if the settings say so; it takes rows of the pool."""
        if not self.settings.start.earlier:
            return None
        known = self._earlier()
        return Classifier(Mixture.of(known.belief), known.w, normalised=False)

    def _earlier(self) -> Earlier:
        path = self.folder / PRIOR_FILE
        known = Earlier.read(path)
        if known.belief.dim != self.pool.d + 1:
            raise DataFileError(
                f"{path}: a belief over {known.belief.dim - 1} dimensions, but the items have {self.pool.d}"
            )
        return known

    @property
    def tfidf_path(self) -> Path | None:
        """The TF-IDF model fitted on the project's texts, if it made the vectors."""
        path = self.folder / TFIDF_FILE
        return path if path.is_file() else None

    def picture(self, item: str) -> Path:
        """The file of an item's thumbnail, by its id; it is made if it does not exist yet."""
        image = self.pool.images[self.pool.rows([item])[0]] if self.pool.images is not None else ""
        if not image:
            raise QuestionError(f"the item {item!r} has no picture")
        return project_thumbnail(self.images_folder, item, Path(image))

    @cached_property
    def items(self) -> Sequence[dict[str, Any]]:
        """The rows of ``items.jsonl``; on Dask each is read when it is needed."""
        if self.on_dask:
            return StoredItems.of(
                (self.folder / ITEMS_FILE).absolute(), (self.folder / INDEX_FOLDER).absolute(), self._counted
            )
        return tuple(_read_items(self.folder / ITEMS_FILE))[: self._counted]

    @property
    def _counted(self) -> int | None:
        """How many rows count; None for all."""
        return self.settings.data.n or None

    @cached_property
    def pool(self) -> Pool:
        seen: dict[str, Any] = {
            "text": _column(self.items, "text"),
            "images": _column(self.items, "image"),
            "name": self.name,
        }
        if self.on_dask:
            matrix, recorded = self._checksums(), self.settings.data.sha256
            return DaskPool(matrix, self._ids, recorded or matrix.key, self.dask or LOCAL, **seen)
        pool = self._checked(Pool(self._matrix, self._ids, **seen))
        pool.columns = self.settings.data.columns or None
        return pool

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the items and vectors now in its files."""
        return Pool(self._matrix, self._ids).fingerprint

    @cached_property
    def _ids(self) -> Sequence[str]:
        return _column(self.items, "id") or ()

    @property
    def _matrix(self) -> Any:
        X = mapped(self.folder / EMBEDDINGS_FILE)[: self._counted]
        if len(self.items) != len(X):
            raise DataFileError(
                f"{self.folder}: {ITEMS_FILE} has {len(self.items)} rows but {EMBEDDINGS_FILE} has {len(X)}; "
                "create the project again with: tellmore init"
            )
        return X

    @property
    def on_dask(self) -> bool:
        """Whether the pool is on Dask workers."""
        return self.dask is not None or self.settings.data.pool == "dask"

    def _checked(self, pool: Pool) -> Pool:
        """``pool``; raises an error if it is not the one with which the project was made."""
        recorded = self.settings.data.sha256
        if recorded and pool.fingerprint != recorded:
            raise DataFileError(f"{self.folder}: {ITEMS_FILE} or {EMBEDDINGS_FILE} has another checksum: {CHANGED}")
        return pool

    def _checksums(self) -> Matrix:
        record, matrix = self.folder / CHECKSUMS_FILE, None
        with suppress(FileNotFoundError):  # earlier versions did not write it
            matrix = Matrix.read(record, (self.folder / EMBEDDINGS_FILE).absolute())
        recorded = self.settings.data.sha256
        if matrix is None or matrix.whole != recorded:  # there is no record, or items were added since
            self._checked(Pool(self._matrix, self._ids))
            matrix = write_checksums(self.folder, self._ids, recorded)
        assert isinstance(self.items, StoredItems), "the pool is on Dask"
        if matrix.ids != self.items.about["ids"]:
            raise DataFileError(f"{self.folder / ITEMS_FILE}: other ids: {CHANGED}")
        return matrix


def write_checksums(folder: Path, ids: Sequence[str], sha256: str) -> Matrix:
    """Record the checksums of the matrix in ``folder``; ``sha256`` is that of the whole pool."""
    matrix = Matrix.of((folder / EMBEDDINGS_FILE).absolute(), ids, sha256)
    matrix.write(folder / CHECKSUMS_FILE)
    return matrix


def _column(items: Sequence[dict[str, Any]], key: str) -> Sequence[str] | None:
    """One value per item, "" if an item has none; None if no item has one."""
    if isinstance(items, StoredItems):
        return items.column(key)
    values = tuple(str(item.get(key) or "") for item in items)
    return values if any(values) else None


def _read_items(path: Path) -> Iterator[dict[str, Any]]:
    try:
        for number, item in json_lines(path):
            if not isinstance(item.get("id"), str):
                raise DataFileError(f'{path}, row {number}: expected an object with a string "id"')
            yield item
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such file; create the project again with: tellmore init") from None
    except OSError as error:
        raise DataFileError(f"{path}: cannot be read as UTF-8 text: {error}") from None


def projects_in(folder: Path) -> list[Path]:
    """The projects in ``folder``, sorted by name; none if it is itself a project."""
    if (folder / SETTINGS_FILE).exists() or not folder.is_dir():
        return []
    return sorted(path.parent for path in folder.glob(f"*/{SETTINGS_FILE}"))


def open_project(path: str | os.PathLike[str], dask: str | None = None) -> Project:
    """The project in the folder ``path``; raises SettingError if there is none or its settings are wrong.

    ``dask`` names the workers for the pool: the address of a scheduler, or ``local``.
    """
    if dask is not None:
        check_address(dask)
    folder = Path(path)
    if folder.is_dir() and not (folder / SETTINGS_FILE).exists():
        raise SettingError(
            f"{folder}: not a project, it has no {SETTINGS_FILE}; make one in a new folder with: tellmore init FOLDER"
        )
    if folder.exists() and not folder.is_dir():
        raise SettingError(
            f"{folder}: a file, but a project is a folder; make one of it with: tellmore init FOLDER --items {quote(str(folder))}"
        )
    if not folder.is_dir():
        raise SettingError(f"{folder}: no such project folder; make one with: tellmore init {quote(str(folder))}")
    return Project(folder, read_settings(folder / SETTINGS_FILE), dask)


@contextmanager
def project_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary folder next to ``target``. It becomes ``target`` when the block ends, and is removed if the block fails."""
    target = Path(target)
    try:
        _refuse_existing(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        building = target.parent / f".{target.name}-{os.getpid()}-{token_hex(4)}"
        building.mkdir(mode=0o700)  # settings may contain a password, and items may be private
    except OSError as error:
        raise DataFileError(
            f"{target.parent}: a project cannot be made there: {error.strerror}; {WHERE_TO_WRITE}"
        ) from error
    try:
        yield building
        for path in building.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        if target.is_dir():
            target.rmdir()
        building.rename(target)
    except OSError as error:
        raise DataFileError(
            f"{target}: the project could not be written: {error.strerror}; {WHERE_TO_WRITE}"
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _remove_leftovers(target: Path) -> None:
    """Remove incomplete folders for ``target``, left by processes that were killed."""
    for left in target.parent.glob(f".{glob.escape(target.name)}-*-????????"):
        maker = left.name.split("-")[-2]
        if maker.isdigit() and not _alive(int(maker)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _refuse_existing(target: Path) -> None:
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists():
        raise SettingError(f"{target} already exists; choose another folder or remove it first")


def write_items(
    folder: Path,
    ids: Sequence[str],
    text: Sequence[str] | None,
    images: Sequence[str] | None,
    labels: Sequence[str | None] | None,
    kept: Sequence[dict[str, str]] | None = None,
) -> None:
    """Write ``items.jsonl``; keys without a value are left out."""
    columns = {"text": text, "image": images, "label": labels, "kept": kept}
    with (folder / ITEMS_FILE).open("w", encoding="utf-8") as lines:
        for row, identifier in enumerate(ids):
            known = {key: values[row] for key, values in columns.items() if values and values[row]}
            try:
                lines.write(json.dumps({"id": identifier, **known}, ensure_ascii=False) + "\n")
            except UnicodeEncodeError as error:
                half = error.object[error.start]
                raise PoolError(f"item {identifier!r} holds {half!r}, half of a character; write it whole") from None


def write_settings(folder: Path, settings: Settings) -> None:
    """Replace ``tellmore.toml`` in one step, so that a reader never sees an incomplete file."""
    with replacing(folder / SETTINGS_FILE) as fresh:
        fresh.touch(0o600)
        fresh.write_text(toml_text(settings), encoding="utf-8")


def create_project(
    folder: str | os.PathLike[str],
    pool: Pool,
    settings: Settings | None = None,
    *,
    labels: Sequence[str | None] | None = None,
    finish: Callable[[Project], None] | None = None,
) -> Project:
    """Make a project from a pool in memory. ``labels`` [n] are "positive", "negative" or None.

    The embeddings are used as they are. ``finish`` is called with the project before it appears. Either the whole project
    appears at ``folder``, or nothing.
    """
    settings = settings or Settings()
    with project_folder(folder) as building:
        write_items(building, pool.names, pool.text, pool.images, labels)
        for identifier, image in zip(pool.names, pool.images or (), strict=False):
            if image:
                thumbnail(building / IMAGES_FOLDER, identifier, Path(image))
        np.save(building / EMBEDDINGS_FILE, np.asarray(pool.X, dtype=np.float32), allow_pickle=False)
        columns = [str(name) for name in pool.columns or ()]
        data = {"n": len(pool), "d": pool.d, "sha256": pool.fingerprint, "columns": columns}
        write_checksums(building, pool.names, pool.fingerprint)
        write_settings(building, fitted(settings.changed(data=data)))
        if finish is not None:
            finish(open_project(building))
    return open_project(folder)


def fitted(settings: Settings) -> Settings:
    """``settings`` for a new project: made by this version, and with no question larger than the number of items."""
    n, learning = settings.data.n, settings.learning
    sizes = [size for size in learning.sizes if size <= n] or [2]
    return settings.changed(
        learning={"sizes": sizes, "set_size": learning.set_size and min(learning.set_size, max(n, 2))},
        data={"version": __version__},
    )
