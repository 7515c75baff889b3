"""From the user's files to a project: read, check, join by id, normalise, write. All of it, or nothing."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import Moments, units_differ
from tellmore.data.embed import embed_all, embedding_key, open_embedder, tfidf_embedder
from tellmore.data.embedder import Embedder, EmbedItem, Media
from tellmore.data.images import thumbnail
from tellmore.data.items import Columns, ItemTable, read_items
from tellmore.data.progress import ProgressBar, silent
from tellmore.data.project import (
    EMBEDDINGS_FILE,
    IMAGES_FOLDER,
    Project,
    fitted,
    open_project,
    project_folder,
    write_items,
    write_settings,
)
from tellmore.data.settings import Settings
from tellmore.data.tfidf import TFIDF, TFIDF_FILE, Tfidf
from tellmore.data.vectors import CHUNK_BYTES, MatrixWriter, VectorFile, open_vectors
from tellmore.errors import DataFileError, InputError, SettingError, StoreError
from tellmore.types import Array

TINY_NORM = 1e-12
"""Vectors shorter than this count as zero: they keep their (zero) length when the others are normalised."""


@dataclass(frozen=True)
class EmbeddingSource:
    """Where vectors come from: ready in a file, or made by an embedder named on the command line."""

    file: Path | None = None
    ids_file: Path | None = None
    id_column: str = "id"
    by_row: bool = False
    embed: str | None = None

    def __post_init__(self) -> None:
        if (self.file is None) == (self.embed is None):
            raise SettingError("give the vectors either ready (--embeddings FILE) or to be made (--embed MODEL)")
        if self.embed is not None and (self.ids_file or self.by_row):
            raise SettingError("--embedding-ids and --by-row belong to --embeddings; --embed needs neither")
        if self.by_row and self.ids_file:
            raise SettingError("--by-row takes the rows in order, --embedding-ids joins by id: choose one")

    @property
    def recorded(self) -> str:
        """What the settings say of it. Never a command: settings may be passed on, and commands may hold secrets."""
        if self.file is not None:
            return self.file.name
        assert self.embed is not None
        scheme = self.embed.partition(":")[0]
        return scheme if scheme in ("exec", TFIDF) else self.embed


UNIT_ROWS = 5_000
"""Rows that show whether columns are in the same unit."""


@dataclass(frozen=True)
class Findings:
    """What was found in the user's files."""

    items: int
    dimensions: int
    normalised: bool
    learnt_as: str = ""
    empty_texts: int = 0
    duplicate_texts: int = 0
    duplicate_vectors: int = 0
    zero_vectors: int = 0
    constant_columns: tuple[int, ...] = ()
    unreadable_images: tuple[str, ...] = ()
    labelled_positive: int = 0
    labelled_negative: int = 0

    def lines(self) -> list[str]:
        """For people; what is zero and worth no thought is left out."""
        norm = "scaled to length 1" if self.normalised else "as given"
        lines = [f"{self.items} items, {self.dimensions} dimensions ({norm})"]
        lines += [f"for learning, vectors are {self.learnt_as}"] if self.learnt_as else []
        counts = {
            "empty texts": self.empty_texts,
            "texts that repeat an earlier one": self.duplicate_texts,
            "vectors that repeat an earlier one": self.duplicate_vectors,
            "vectors of length zero": self.zero_vectors,
            "columns with the same number everywhere": len(self.constant_columns),
            "unreadable pictures left out": len(self.unreadable_images),
            "labelled positive": self.labelled_positive,
            "labelled negative": self.labelled_negative,
        }
        return lines + [f"{count} {what}" for what, count in counts.items() if count]


@dataclass(frozen=True)
class Ingest:
    """One project to be made: the files, what their columns mean, and what to do with pictures that cannot be read.

    normalise: whether vectors are scaled to length 1; None: unless their columns are in different units, by the learner's rule.
    """

    folder: Path
    items: Path
    source: EmbeddingSource
    settings: Settings = field(default_factory=Settings)
    columns: Columns = field(default_factory=Columns)
    normalise: bool | None = None
    skip_unreadable: bool = False
    progress: ProgressBar = silent

    def run(self, finish: Callable[[Project], None] | None = None) -> tuple[Project, Findings]:
        """Make the project. ``finish`` gets it while it is still unseen, to add seed answers; its failure undoes all."""
        table = read_items(self.items, self.columns)
        cache = self.folder.parent / f".{self.folder.name}.embedding"
        try:
            with project_folder(self.folder) as building:
                project, findings = self._build(building, table, cache)
                if finish is not None:
                    finish(project)
        except (InputError, StoreError):
            shutil.rmtree(cache, ignore_errors=True)
            raise
        shutil.rmtree(cache, ignore_errors=True)
        return open_project(self.folder), findings

    def _build(self, building: Path, table: ItemTable, cache: Path) -> tuple[Project, Findings]:
        """Write all of a project but its log; what is cheap to check comes before the pictures and the embedding."""
        embedder = None if self.source.embed is None else self._embedder(self.source.embed, table, building)
        table, unreadable = self._check_pictures(table, building / IMAGES_FOLDER)
        if len(table) < 2:
            raise DataFileError(f"{self.items}: a project needs at least 2 items, not {len(table)}")
        vectors = self._vectors(table, embedder, cache)
        normalise = _has_one_unit(vectors) if self.normalise is None else self.normalise
        statistics = self._write_matrix(table, vectors, normalise, building / EMBEDDINGS_FILE)
        write_items(building, table.ids, table.text, table.images, table.labels, table.kept)
        project = Project(building, self._final_settings(building, table, normalise, statistics.d))
        write_settings(building, project.settings)
        found = _findings(table, statistics, normalise, unreadable)
        passing = Project(building, project.settings)  # the one that is returned must not hold the matrix open
        return project, replace(found, learnt_as=str(passing.pool.coordinates))

    def _embedder(self, spec: str, table: ItemTable, building: Path) -> Embedder:
        """The embedder named by ``spec``; one fitted on these texts stays with the project, for new texts."""
        scheme, _, name = spec.partition(":")
        if scheme != TFIDF:
            return open_embedder(spec, media_of(table))
        if media_of(table) != "text":
            raise SettingError(f"--embed {spec}: {TFIDF} embeds texts, but the items are images")
        model = Tfidf.load(Path(name)) if name else Tfidf.fit(table.text or ())
        model.save(building / TFIDF_FILE)
        return tfidf_embedder(model)

    def _check_pictures(self, table: ItemTable, cache: Path) -> tuple[ItemTable, tuple[str, ...]]:
        """Make every thumbnail, which decodes every picture whole; a bad one is an error or is left out."""
        if table.images is None:
            return table, ()
        good, bad = [], []
        with self.progress("pictures", len(table)) as advance:
            for position, image in enumerate(table.images):
                try:
                    if image:
                        thumbnail(cache, table.ids[position], Path(image))
                    good.append(position)
                except DataFileError as error:
                    if not self.skip_unreadable:
                        where = f"{table.source}, row {table.rows[position]}: " if table.source.is_file() else ""
                        raise DataFileError(f"{where}{error}; leave such out with --skip-unreadable") from None
                    bad.append(table.ids[position])
                advance()
        return (table.keep(good) if bad else table), tuple(bad)

    def _vectors(self, table: ItemTable, embedder: Embedder | None, cache: Path) -> VectorFile:
        if embedder is not None:
            assert self.source.embed is not None
            return embedded(table, self.source.embed, embedder, cache, self.progress)
        assert self.source.file is not None
        return open_vectors(self.source.file, ids_path=self.source.ids_file, id_column=self.source.id_column)

    def _write_matrix(self, table: ItemTable, vectors: VectorFile, normalise: bool, target: Path) -> Statistics:
        rows = matching_rows(table, vectors, by_row=self.source.by_row)
        statistics = Statistics(vectors.d)
        start = 0
        with MatrixWriter(target, len(table), vectors.d) as writer, self.progress("vectors", vectors.n) as advance:
            for block in vectors.chunks():
                checked_block(vectors.path, block, start, vectors.d)
                kept = unit_rows(block) if normalise else block.astype(np.float32)
                statistics.add(block.astype(np.float32))
                writer.write(rows[start : start + len(block)], kept)
                start += len(block)
                advance(len(block))
        return statistics

    def _final_settings(self, building: Path, table: ItemTable, normalise: bool, d: int) -> Settings:
        """The settings with what is known of the data once items and embeddings are written."""
        data = {
            "items": self.items.name,
            "embeddings": self.source.recorded,
            "normalised": normalise,
            "n": len(table),
            "d": d,
        }
        settings = fitted(self.settings.changed(data=data))
        return settings.changed(data={"sha256": Project(building, settings).pool.fingerprint})


def _has_one_unit(vectors: VectorFile) -> bool:
    """Whether the columns seem to be in the same unit, so that the length of a vector means something."""
    step = -(-vectors.n // UNIT_ROWS)
    with np.errstate(all="ignore"):  # what is not finite is named when it is written
        sample = np.vstack([np.asarray(block[::step], dtype=np.float32) for block in vectors.chunks()])
        return not units_differ(Moments.of(sample))


def media_of(table: ItemTable) -> Media:
    """What an embedder sees of these items: their pictures where they have some, else their texts."""
    return "image" if table.images is not None and any(table.images) else "text"


def embedded(table: ItemTable, spec: str, embedder: Embedder, cache: Path, progress: ProgressBar) -> VectorFile:
    """The vectors of ``table`` made by ``embedder``, which ``spec`` names, in the order of the items."""
    media = media_of(table)
    if media == "image" and not all(table.images or ()):
        missing = (table.images or ()).index("")
        raise DataFileError(f"{table.source}, row {table.rows[missing]}, column image: no picture to embed")
    items = [
        EmbedItem(identifier, table.text[row] if media == "text" and table.text else None, _picture(table, row, media))
        for row, identifier in enumerate(table.ids)
    ]
    X = embed_all(embedder, items, cache, key=embedding_key(spec, items), progress=progress)
    return VectorFile(cache, len(X), X.shape[1], table.ids, lambda: _blocks(X))


def _picture(table: ItemTable, row: int, media: Media) -> Path | None:
    return Path(table.images[row]) if media == "image" and table.images else None


def _blocks(X: Array) -> Iterator[Array]:
    step = max(1, CHUNK_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), step):
        yield np.asarray(X[start : start + step], dtype=np.float64)


def matching_rows(table: ItemTable, vectors: VectorFile, *, by_row: bool) -> NDArray[np.intp]:
    """For each row of ``vectors`` the row of its item [n]; both must hold exactly the same ids."""
    if by_row:
        if vectors.n != len(table):
            raise DataFileError(
                f"{vectors.path}: {vectors.n} rows for the {len(table)} items of {table.source}; --by-row needs as many"
            )
        return np.arange(vectors.n, dtype=np.intp)
    if vectors.ids is None:
        raise DataFileError(
            f"{vectors.path}: no ids to join by; add ids (.npz: an array 'ids'; .npy: --embedding-ids FILE; Parquet: "
            "an id column), or say --by-row if the rows are in the order of the items"
        )
    if len(vectors.ids) != vectors.n:
        raise DataFileError(f"{vectors.path}: {vectors.n} vectors but {len(vectors.ids)} ids; give one id a vector")
    return _rows_by_id(table, vectors.path, vectors.ids)


def _rows_by_id(table: ItemTable, path: Path, ids: tuple[str, ...]) -> NDArray[np.intp]:
    row_of = {identifier: row for row, identifier in enumerate(table.ids)}
    seen: dict[str, int] = {}
    rows = np.empty(len(ids), dtype=np.intp)
    for number, identifier in enumerate(ids, start=1):
        if identifier in seen:
            raise DataFileError(f"{path}, row {number}: the id {identifier!r} is already in row {seen[identifier]}")
        if identifier not in row_of:
            foreign = sum(other not in row_of for other in ids)
            raise DataFileError(
                f"{path}, row {number}: the id {identifier!r} is not in {table.source} ({foreign} such in all)"
            )
        seen[identifier] = number
        rows[number - 1] = row_of[identifier]
    if len(ids) < len(table):
        first = next(row for row, identifier in enumerate(table.ids) if identifier not in seen)
        raise DataFileError(
            f"{table.source}, row {table.rows[first]}: the item {table.ids[first]!r} has no vector in {path} "
            f"({len(table) - len(ids)} such in all)"
        )
    return rows


def checked_block(path: Path, block: Array, start: int, d: int) -> None:
    """Refuse blocks of another width and numbers that are not finite in float32, with row and column counted from 1."""
    if block.shape[1] != d:
        raise DataFileError(f"{path}, row {start + 1}: {block.shape[1]} numbers, expected {d}")
    usable = np.abs(block) <= np.finfo(np.float32).max
    if not usable.all():
        row, column = (int(index[0]) for index in np.nonzero(~usable))
        value = block[row, column]
        raise DataFileError(f"{path}, row {start + row + 1}, column {column + 1}: {value} is not a usable number")


def unit_rows(block: Array) -> Array:
    """Rows [m, d] scaled to length 1, float32; rows of length zero stay."""
    norms = np.linalg.norm(block, axis=1, keepdims=True)
    return np.asarray(block / np.where(norms > TINY_NORM, norms, 1.0), dtype=np.float32)


class Statistics:
    """What the findings need of the vectors, gathered block by block."""

    def __init__(self, d: int) -> None:
        self.d = d
        self.zero = 0
        self._hashes: list[int] = []
        self._lowest = np.full(d, np.inf)
        self._highest = np.full(d, -np.inf)

    def add(self, block: Array) -> None:
        self.zero += int((~block.any(axis=1)).sum())
        self._hashes += [hash(row.tobytes()) for row in block]
        self._lowest = np.minimum(self._lowest, block.min(axis=0))
        self._highest = np.maximum(self._highest, block.max(axis=0))

    @property
    def duplicates(self) -> int:
        """Vectors equal to an earlier one."""
        return len(self._hashes) - len(set(self._hashes))

    @property
    def constant(self) -> tuple[int, ...]:
        """Columns, counted from 1, with the same number everywhere."""
        return tuple(int(column) + 1 for column in np.flatnonzero(self._lowest == self._highest))


def _findings(table: ItemTable, statistics: Statistics, normalised: bool, unreadable: tuple[str, ...]) -> Findings:
    texts = Counter(text for text in table.text or () if text.strip())
    labels = Counter(table.labels or ())
    return Findings(
        items=len(table),
        dimensions=statistics.d,
        normalised=normalised,
        empty_texts=sum(not text.strip() for text in table.text or ()),
        duplicate_texts=sum(texts.values()) - len(texts),
        duplicate_vectors=statistics.duplicates,
        zero_vectors=statistics.zero,
        constant_columns=statistics.constant,
        unreadable_images=unreadable,
        labelled_positive=labels["positive"],
        labelled_negative=labels["negative"],
    )
