"""Export formats: models, tables, the log, a report, and files for other tools. ``render`` is the only entry point; what
a format needs is imported when it is used.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellmore.errors import DataFileError, SettingError
from tellmore.files import WHERE_TO_WRITE, write_whole

if TYPE_CHECKING:
    from tellmore.store.state import State

FORMATS: dict[str, tuple[str, str]] = {
    "onnx": (".onnx", "application/octet-stream"),
    "sklearn": (".skops", "application/octet-stream"),
    "npz": (".npz", "application/octet-stream"),
    "json": (".json", "application/json"),
    "csv": (".csv", "text/csv; charset=utf-8"),
    "parquet": (".parquet", "application/vnd.apache.parquet"),
    "jsonl": (".jsonl", "application/x-ndjson"),
    "report": (".html", "text/html; charset=utf-8"),
    "sql": (".sql", "application/sql; charset=utf-8"),
    "label-studio": (".json", "application/json"),
    "argilla": (".json", "application/json"),
    "hub": ("", "application/zip"),
    "mlflow": ("", "application/zip"),
}
"""Format -> usual suffix of the file, and media type. A format without a suffix is a folder, or a zip archive of it."""

FOLDERS = tuple(name for name, (suffix, _) in FORMATS.items() if not suffix)

CLASSIFIERS = ("onnx", "sklearn", "npz", "json")
"""The formats that can be applied to new items."""

TABULAR = ("csv", "parquet")
TABLES = ("scores", "answers")
"""The tables for csv and parquet: the scores of all items, or the answers, one per row."""


def render(state: State, format: str, *, table: str = "scores") -> bytes:
    """``state`` in ``format``, as the bytes of a file; ``table`` is for csv and parquet."""
    if format not in FORMATS:
        raise SettingError(f"unknown format {format!r}; the formats are {', '.join(FORMATS)}")
    if table not in TABLES:
        raise SettingError(f"unknown table {table!r}; the tables are {', '.join(TABLES)}")
    from tellmore.export import tables

    match format:
        case "onnx":
            from tellmore.export.onnx import onnx_bytes

            return onnx_bytes(state.classifier, state.metadata)
        case "sklearn":
            from tellmore.export.sklearn import skops_bytes

            return skops_bytes(state.classifier, state.metadata)
        case "report":
            from tellmore.export.report import report_bytes

            return report_bytes(state)
        case "csv":
            return tables.csv_bytes(*tables.table_of(state, table))
        case "parquet":
            return tables.parquet_bytes(*tables.table_of(state, table), state.metadata)
        case "sql":
            from tellmore.export.sql import sql_bytes

            return sql_bytes(state)
        case "label-studio" | "argilla":
            from tellmore.export import tools

            return tools.argilla_bytes(state) if format == "argilla" else tools.label_studio_bytes(state)
        case "hub" | "mlflow":
            return _zipped(folder_files(state, format))
    return {"npz": tables.npz_bytes, "json": tables.json_bytes, "jsonl": tables.log_jsonl_bytes}[format](state)


def folder_files(state: State, format: str) -> dict[str, bytes]:
    """The files of a format that is a folder, by name."""
    from tellmore.export import folders

    return {"hub": folders.hub_files, "mlflow": folders.mlflow_files}[format](state)


def companions(state: State, format: str) -> dict[str, bytes]:
    """The files that a file in ``format`` needs next to it: suffix of its name -> content.

    CSV has no place for settings, which are in .provenance.json. If the project has a fitted embedder of texts, it is written
    in the format of the classifier: .tfidf.onnx, .tfidf.skops, or else .tfidf.npz.
    """
    if format == "csv":
        return {".provenance.json": _json(state.provenance)}
    if format not in CLASSIFIERS or state.tfidf_path is None:
        return {}
    from tellmore.data.tfidf import Tfidf

    match format:
        case "onnx":
            from tellmore.export.onnx_tfidf import tfidf_onnx_bytes

            return {".tfidf.onnx": tfidf_onnx_bytes(Tfidf.load(state.tfidf_path), state.metadata)}
        case "sklearn":
            from tellmore.export.sklearn import tfidf_skops_bytes

            return {".tfidf.skops": tfidf_skops_bytes(state.tfidf_path)}
    return {".tfidf.npz": state.tfidf_path.read_bytes()}


def write_export(state: State, format: str, out: Path, *, table: str = "scores") -> list[Path]:
    """Write ``render(state, format)`` to ``out`` and its companions next to it; returns the files written. The scores of a pool
    on Dask workers are a folder of Parquet files, which the workers write."""
    if table != TABLES[0] and format not in TABULAR:
        raise SettingError(f"the table of {table} is written as {' or '.join(TABULAR)}, not as {format}")
    if (format, table) == ("parquet", "scores") and state.on_dask:
        from tellmore.export.parts import export_parts

        return export_parts(state, out)
    if format in FOLDERS:
        contents = {out / name: content for name, content in folder_files(state, format).items()}
        make_folder(out)
    else:
        contents = {out: render(state, format, table=table)}
        contents |= {out.with_name(out.name + suffix): content for suffix, content in companions(state, format).items()}
    for path, content in contents.items():
        write_whole(path, content)
    return list(contents)


def download(state: State, format: str, *, table: str = "scores") -> tuple[str, str, bytes]:
    """The export as one file: its name, media type and content. A classifier with companions becomes a zip archive."""
    suffix, media_type = FORMATS.get(format, ("", ""))
    stem = f"tellmore-{table if format in TABULAR else format}"
    suffix = suffix or ".zip"
    content = render(state, format, table=table)
    along = companions(state, format) if format in CLASSIFIERS else {}
    if not along:
        return stem + suffix, media_type, content
    parts = {stem + suffix + name: part for name, part in {"": content, **along}.items()}
    return f"{stem}.zip", "application/zip", _zipped(parts)


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        for name, part in parts.items():
            files.writestr(name, part)
    return archive.getvalue()


def make_folder(out: Path) -> None:
    """Make an empty folder at ``out``; raises SettingError if it already exists."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingError(f"{out} already exists; choose another folder or remove it first")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileError(f"{out}: cannot be made: {error.strerror}; {WHERE_TO_WRITE}") from error


def write_provenance(out: Path, provenance: Mapping[str, Any]) -> Path:
    """Write ``provenance`` to OUT.provenance.json, for a file that has no place for it; returns the path."""
    path = out.with_name(f"{out.name}.provenance.json")
    write_whole(path, _json(provenance))
    return path


def _json(provenance: Mapping[str, Any]) -> bytes:
    return (json.dumps(provenance, indent=2, ensure_ascii=False) + "\n").encode()
