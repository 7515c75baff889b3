"""Makes a project from the user's files: read, check, join by id, normalise, write. If anything fails, nothing is made."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tellmore.data.embed import embed_all, embedding_key, open_embedder, tfidf_embedder
from tellmore.data.embedder import Embedder, EmbedItem, Media
from tellmore.data.images import thumbnail
from tellmore.data.items import Columns, ItemTable, read_items
from tellmore.data.joining import Joined, Statistics, check_distinct, join
from tellmore.data.progress import ProgressBar, silent
from tellmore.data.project import (
    EMBEDDINGS_FILE,
    IMAGES_FOLDER,
    PICTURES_FOLDER,
    Project,
    fitted,
    open_project,
    project_folder,
    write_checksums,
    write_items,
    write_settings,
)
from tellmore.data.reading import Reading
from tellmore.data.settings import Settings
from tellmore.data.tfidf import TFIDF, TFIDF_FILE, Tfidf
from tellmore.data.vectors import CHUNK_BYTES, MatrixWriter, VectorFile, open_vectors
from tellmore.errors import DataFileError, InputError, SettingError, StoreError
from tellmore.types import Array
from tellmore.warnings import long_tails

TINY_NORM = 1e-12
"""Vectors shorter than this count as zero and are not normalised."""


NAMED = 5
"""How many items a finding names."""


@dataclass(frozen=True)
class EmbeddingSource:
    """Where vectors come from: ready in a file, or made by an embedder named on the command line."""

    file: Path | None = None
    ids_file: Path | None = None
    id_column: str = "id"
    by_row: bool = False
    embed: str | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.file is None) == (self.embed is None):
            raise SettingError("give the vectors either ready (--embeddings FILE) or to be made (--embed MODEL)")
        if self.embed is not None and (self.ids_file or self.by_row or self.columns):
            raise SettingError(
                "--embedding-ids, --by-row and --vector-columns belong to --embeddings; --embed needs none of them"
            )
        if self.by_row and self.ids_file:
            raise SettingError("--by-row takes the rows in order, --embedding-ids joins by id: choose one")

    def opened(self) -> VectorFile:
        """The ready vectors."""
        assert self.file is not None
        return open_vectors(self.file, ids_path=self.ids_file, id_column=self.id_column, columns=self.columns)

    @property
    def recorded(self) -> str:
        """The record of it in the settings. Never a command: settings may be passed on, and commands may contain secrets."""
        if self.file is not None:
            return self.file.name
        assert self.embed is not None
        scheme = self.embed.partition(":")[0]
        return scheme if scheme in ("exec", TFIDF) else self.embed


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
    zero_vectors: tuple[str, ...] = ()
    constant_columns: tuple[int, ...] = ()
    unreadable_images: tuple[str, ...] = ()
    labelled_positive: int = 0
    labelled_negative: int = 0
    tails: float = 0.0
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The findings as lines for people; counts of zero are left out."""
        norm = "scaled to length 1" if self.normalised else "as given"
        lines = [f"{self.items} items, {self.dimensions} dimensions ({norm})"]
        lines += [f"for learning, vectors are {self.learnt_as}"] if self.learnt_as else []
        counts = {
            "texts left empty": self.empty_texts,
            "texts repeating an earlier one": self.duplicate_texts,
            "vectors repeating an earlier one": self.duplicate_vectors,
            "columns with the same number everywhere": len(self.constant_columns),
            "pictures left out as unreadable": len(self.unreadable_images),
            "items labelled positive": self.labelled_positive,
            "items labelled negative": self.labelled_negative,
        }
        lines += [_counted(count, what) for what, count in counts.items() if count]
        advice = long_tails(self.tails)
        return [*lines, *self._zero_line(), *([advice] if advice else []), *self.notes]

    def _zero_line(self) -> list[str]:
        """The line about vectors of length zero, which say nothing about their items."""
        n = len(self.zero_vectors)
        named = ", ".join(map(repr, self.zero_vectors[:NAMED])) + (f" and {n - NAMED} more" if n > NAMED else "")
        advice = "nothing tells these items apart; leave them out, or embed them again"
        return [f"{n} vector{'' if n == 1 else 's'} of length zero ({named}): {advice}"] if n else []


def _counted(count: int, what: str) -> str:
    """The count in words; the first word is in the singular if the count is one."""
    things, _, more = what.partition(" ")
    return f"{count} {things.removesuffix('s') if count == 1 else things} {more}"


@dataclass(frozen=True)
class Ingest:
    """A project to be made: the files, what their columns mean, and what to do with pictures that cannot be read.

    normalise: whether vectors are scaled to length 1; None: only if all columns have the same unit, by the learner's rule.
    """

    folder: Path
    items: Path
    source: EmbeddingSource
    settings: Settings = field(default_factory=Settings)
    columns: Columns = field(default_factory=Columns)
    normalise: bool | None = None
    skip_unreadable: bool = False
    progress: ProgressBar = silent
    reading: Reading = field(default_factory=Reading)

    def run(self, finish: Callable[[Project], None] | None = None) -> tuple[Project, Findings]:
        """Make the project. ``finish`` is called before it appears, to add first answers; if that fails, nothing is made."""
        table = read_items(self.items, self.columns, self.reading)
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
        self.reading.finish()
        return open_project(self.folder), replace(findings, notes=tuple(self.reading.notes))

    def _build(self, building: Path, table: ItemTable, cache: Path) -> tuple[Project, Findings]:
        """Write everything of a project except its log. Quick checks come before the pictures and the embedding."""
        self._check_number(table)
        embedder = None if self.source.embed is None else self._embedder(self.source.embed, table, building)
        table, unreadable = self._check_pictures(table, building / IMAGES_FOLDER)
        self._check_number(table)
        vectors = self._vectors(table, embedder, cache)
        joined = join(table, vectors, by_row=self.source.by_row, reading=self.reading)
        table = joined.table
        self._check_number(table)
        normalise = joined.statistics.one_unit if self.normalise is None else self.normalise
        self._write_matrix(joined, normalise, building / EMBEDDINGS_FILE)
        table = self._with_own_pictures(table, building)
        write_items(building, table.ids, table.text, table.images, table.labels, table.kept)
        project = Project(building, self._final_settings(building, table, normalise, vectors.d))
        write_settings(building, project.settings)
        write_checksums(building, table.ids, project.settings.data.sha256)
        found = _findings(table, joined.statistics, normalise, unreadable)
        passing = Project(building, project.settings)  # the returned project must not keep the matrix open
        check_distinct(self.source.file or self.items, passing.pool.moments)
        return project, replace(found, learnt_as=str(passing.pool.coordinates))

    def _check_number(self, table: ItemTable) -> None:
        if len(table) < 2:
            left_out = self.reading.finish()
            why = f" ({left_out})" if left_out else ""
            raise DataFileError(f"{self.items}: a project needs at least 2 items, not {len(table)}{why}")

    def _embedder(self, spec: str, table: ItemTable, building: Path) -> Embedder:
        """The embedder named by ``spec``; if it is fitted on these texts, it is stored in the project, for new texts."""
        scheme, _, name = spec.partition(":")
        if scheme != TFIDF:
            return open_embedder(spec, media_of(table))
        if media_of(table) != "text":
            raise SettingError(f"--embed {spec}: {TFIDF} embeds texts, but the items are images")
        model = Tfidf.load(Path(name)) if name else Tfidf.fit(table.text or ())
        model.save(building / TFIDF_FILE)
        return tfidf_embedder(model)

    def _check_pictures(self, table: ItemTable, cache: Path) -> tuple[ItemTable, tuple[str, ...]]:
        """Make all thumbnails, for which every picture is decoded completely; bad pictures are an error or are left out."""

        def look(identifier: str, image: Path) -> None:
            thumbnail(cache, identifier, image)

        return readable(table, look, self.reading, skip=self.skip_unreadable, progress=self.progress)

    def _with_own_pictures(self, table: ItemTable, building: Path) -> ItemTable:
        """Copy pictures that were inside the file of items into the project."""

        def kept(image: str) -> str:
            if not self.reading.holds(image):
                return image
            (building / PICTURES_FOLDER).mkdir(exist_ok=True)
            shutil.move(image, building / PICTURES_FOLDER)
            return str(self.folder.absolute() / PICTURES_FOLDER / Path(image).name)

        return table if table.images is None else replace(table, images=tuple(map(kept, table.images)))

    def _vectors(self, table: ItemTable, embedder: Embedder | None, cache: Path) -> VectorFile:
        if embedder is None:
            return self.source.opened()
        assert self.source.embed is not None
        return embedded(table, self.source.embed, embedder, cache, self.progress)

    def _write_matrix(self, joined: Joined, normalise: bool, target: Path) -> None:
        vectors = joined.vectors
        with (
            MatrixWriter(target, len(joined.table), vectors.d) as writer,
            self.progress("vectors", vectors.n) as advance,
        ):
            for rows, block, passed in joined.blocks():
                writer.write(rows, unit_rows(block) if normalise else block.astype(np.float32))
                advance(passed)

    def _final_settings(self, building: Path, table: ItemTable, normalise: bool, d: int) -> Settings:
        """The settings, with what is known about the data once items and embeddings are written."""
        data = {
            "items": self.items.name,
            "embeddings": self.source.recorded,
            "normalised": normalise,
            "n": len(table),
            "d": d,
        }
        settings = fitted(self.settings.changed(data=data))
        return settings.changed(data={"sha256": Project(building, settings).fingerprint})


def readable(
    table: ItemTable, look: Callable[[str, Path], None], reading: Reading, *, skip: bool, progress: ProgressBar
) -> tuple[ItemTable, tuple[str, ...]]:
    """The items without those whose picture cannot be read, and the ids of these. They are an error unless ``skip``."""
    if table.images is None:
        return table, ()
    bad: dict[int, str] = {}
    with progress("pictures", len(table)) as advance:
        for position, image in enumerate(table.images):
            try:
                if image:
                    look(table.ids[position], Path(image))
            except DataFileError as error:
                where = f"{table.source}, row {table.rows[position]}: " if table.source.is_file() else ""
                bad[position] = f"{where}{error}; leave such pictures out with --skip-unreadable"
            advance()
    if bad and not skip:
        reading.faults += bad.values()
        reading.settle()
    kept = [position for position in range(len(table)) if position not in bad]
    return (table.keep(kept) if bad else table), tuple(table.ids[position] for position in bad)


def media_of(table: ItemTable) -> Media:
    """What an embedder gets: the items' pictures if they have any, else their texts."""
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


def unit_rows(block: Array) -> Array:
    """Rows [m, d] scaled to length 1, float32; rows of length zero are not changed."""
    norms = np.linalg.norm(block, axis=1, keepdims=True)
    return np.asarray(block / np.where(norms > TINY_NORM, norms, 1.0), dtype=np.float32)


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
        zero_vectors=tuple(statistics.zero),
        constant_columns=statistics.constant,
        unreadable_images=unreadable,
        labelled_positive=labels["positive"],
        labelled_negative=labels["negative"],
        tails=statistics.tails,
    )
