"""Applies a classifier to new items and writes its predictions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.classifier import Classifier, Predictions
from tellmore.data.embed import open_embedder
from tellmore.data.images import load_picture
from tellmore.data.ingest import NAMED, EmbeddingSource, embedded, media_of, readable
from tellmore.data.items import Columns, ItemTable, read_items
from tellmore.data.joining import Joined, join
from tellmore.data.progress import ProgressBar, silent
from tellmore.data.reading import Reading
from tellmore.data.settings import Settings
from tellmore.data.tfidf import TFIDF
from tellmore.data.vectors import VectorFile, open_vectors
from tellmore.errors import DataFileError, SettingError
from tellmore.export import write_provenance
from tellmore.export.tables import csv_bytes, parquet_bytes
from tellmore.files import write_whole
from tellmore.store.state import as_texts
from tellmore.types import Array

COLUMNS = ("id", "probability", "score", "score_sd")


def score_source(
    settings: Settings,
    items: Path,
    embeddings: Path | None = None,
    ids_file: Path | None = None,
    id_column: str = "id",
    by_row: bool = False,
    embed: str | None = None,
    columns: tuple[str, ...] = (),
    *,
    tfidf: Path | None = None,
) -> EmbeddingSource | None:
    """Where the vectors of ``items`` come from; None if ``items`` is itself a file of vectors.

    ``tfidf`` is the model fitted on the project's texts. It contains only numbers, so it is used without being named.
    """
    if embed == TFIDF and tfidf is None:
        raise SettingError(
            f"--embed {TFIDF}: the project's vectors were not made with it; name the embedder of the project"
        )
    if tfidf is not None and embeddings is None and embed in (None, TFIDF) and items.suffix.lower() != ".npz":
        return EmbeddingSource(embed=f"{TFIDF}:{tfidf}")
    if embeddings is None and embed is None:
        if items.suffix.lower() == ".npz":
            return None
        made_by = settings.data.embeddings
        raise SettingError(
            f"{items}: give its vectors with --embeddings FILE, or make them with --embed MODEL, the same way as for the "
            f"project (there: {made_by or 'not recorded'}); a model named in a project is never loaded automatically"
        )
    return EmbeddingSource(embeddings, ids_file, id_column, by_row, embed, columns)


def score_file(
    classifier: Classifier,
    items: Path,
    out: Path,
    source: EmbeddingSource | None,
    columns: Columns | None = None,
    progress: ProgressBar = silent,
    *,
    provenance: Mapping[str, Any],
    skip_unreadable: bool = False,
    reading: Reading | None = None,
) -> int:
    """Score ``items`` and write id, probability, score and score_sd to ``out``; returns how many.

    ``provenance`` of the classifier (see ``State.provenance``) goes into the first line of JSONL, the schema of Parquet,
    and OUT.provenance.json next to CSV.
    """
    cache = out.with_name(f".{out.name}.embedding")
    if out.suffix.lower() not in (".csv", ".jsonl", ".parquet"):
        raise SettingError(f"{out}: scores are written as .csv, .jsonl or .parquet")
    reading = reading or Reading()
    table, vectors = _items_and_vectors(items, source, columns, cache, progress, reading, skip_unreadable)
    if vectors.d != classifier.d:
        shutil.rmtree(cache, ignore_errors=True)
        made_by = f"--embed {source.embed}" if source and source.embed else vectors.path
        raise DataFileError(
            f"{made_by}: vectors of {vectors.d} dimensions, but the classifier takes {classifier.d}; use the same embedder"
        )
    joined = join(table, vectors, by_row=source is not None and source.by_row, reading=reading)
    ids = joined.table.ids
    write_whole(out, _bytes(out, ids, _predictions(classifier, joined, progress), provenance))
    if out.suffix.lower() == ".csv":
        write_provenance(out, provenance)
    shutil.rmtree(cache, ignore_errors=True)
    reading.finish()
    return len(ids)


def _items_and_vectors(
    items: Path,
    source: EmbeddingSource | None,
    columns: Columns | None,
    cache: Path,
    progress: ProgressBar,
    reading: Reading,
    skip_unreadable: bool,
) -> tuple[ItemTable, VectorFile]:
    """Items with their vectors; a file of vectors has the ids of its items."""
    if source is None:
        vectors = open_vectors(items)
        if vectors.ids is None:
            raise DataFileError(f"{items}: no array 'ids' to name the scores by")
        unique = tuple(dict.fromkeys(vectors.ids))
        return ItemTable(items, unique, tuple(range(1, len(unique) + 1))), vectors
    table = read_items(items, columns, reading)
    if skip_unreadable:
        table, left_out = readable(table, lambda _, image: _look(image), reading, skip=True, progress=progress)
        if left_out:
            more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
            named = ", ".join(map(repr, left_out[:NAMED])) + more
            reading.notes.append(f"left out as unreadable: {named}")
    return table, _vectors(table, source, cache, progress)


def _look(image: Path) -> None:
    """Decode the picture completely, as an embedder will."""
    load_picture(image)


def _vectors(table: ItemTable, source: EmbeddingSource, cache: Path, progress: ProgressBar) -> VectorFile:
    if source.embed is not None:
        return embedded(table, source.embed, open_embedder(source.embed, media_of(table)), cache, progress)
    return source.opened()


def _predictions(classifier: Classifier, joined: Joined, progress: ProgressBar) -> Predictions:
    """Predictions in the order of the items, block by block."""
    n = len(joined.table)
    found: tuple[Array, Array, Array] = (np.empty(n), np.empty(n), np.empty(n))
    with progress("scoring", joined.vectors.n) as advance:
        for rows, block, passed in joined.blocks():
            told = classifier.apply(block)
            for whole, part in zip(found, (told.probability, told.score, told.score_sd), strict=True):
                whole[rows] = part
            advance(passed)
    return Predictions(*found)


def _rows(ids: tuple[str, ...], told: Predictions) -> Iterator[dict[str, Any]]:
    for row, identifier in enumerate(ids):
        yield {
            "id": identifier,
            "probability": float(told.probability[row]),
            "score": float(told.score[row]),
            "score_sd": float(told.score_sd[row]),
        }


def _bytes(out: Path, ids: tuple[str, ...], told: Predictions, provenance: Mapping[str, Any]) -> bytes:
    rows = _rows(ids, told)
    match out.suffix.lower():
        case ".csv":
            return csv_bytes(COLUMNS, rows)
        case ".parquet":
            return parquet_bytes(COLUMNS, rows, as_texts(provenance))
        case _:
            lines = chain([{"kind": "provenance", "payload": provenance}], rows)
            return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
