"""What a taught classifier leaves as: ONNX, scikit-learn, NPZ, JSON, tables, its log, a report.

``render`` is the one way in; what a format needs is imported when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellmore.errors import SettingError
from tellmore.files import write_whole

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
}
"""Format -> usual suffix of the file, and media type."""

CLASSIFIERS = ("onnx", "sklearn", "npz", "json")
"""The formats that can be applied to new items."""

TABLES = ("scores", "answers")
"""What csv and parquet can hold: the scores of all items, or the answers one a row."""


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
    return {"npz": tables.npz_bytes, "json": tables.json_bytes, "jsonl": tables.log_jsonl_bytes}[format](state)


def write_export(state: State, format: str, out: Path, *, table: str = "scores") -> list[Path]:
    """Write ``render(state, format)`` to ``out``; returns the files written.

    CSV has no place for settings: they go beside it, into OUT.provenance.json. A classifier takes vectors; what makes them of
    texts goes beside it where the project holds it: OUT.tfidf.skops for scikit-learn, else OUT.tfidf.npz.
    """
    write_whole(out, render(state, format, table=table))
    if format == "csv":
        return [out, write_beside(out, state.provenance)]
    if format in CLASSIFIERS and state.tfidf_path is not None:
        return [out, _write_tfidf(state.tfidf_path, out, format)]
    return [out]


def _write_tfidf(path: Path, out: Path, format: str) -> Path:
    from tellmore.export.sklearn import tfidf_skops_bytes

    beside = out.with_name(f"{out.name}.tfidf{'.skops' if format == 'sklearn' else '.npz'}")
    write_whole(beside, tfidf_skops_bytes(path) if format == "sklearn" else path.read_bytes())
    return beside


def write_beside(out: Path, provenance: Mapping[str, Any]) -> Path:
    """Write ``provenance`` into OUT.provenance.json, for a file that has no place for it; returns where."""
    beside = out.with_name(f"{out.name}.provenance.json")
    write_whole(beside, json.dumps(provenance, indent=2, ensure_ascii=False) + "\n")
    return beside
