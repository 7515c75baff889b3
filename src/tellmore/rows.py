"""Rows of named values, from which figures and tables are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Sequence[Row]


def where(rows: Rows, **equal: Any) -> list[Row]:
    """The rows whose columns have these values."""
    return [row for row in rows if all(row[name] == value for name, value in equal.items())]


def column(rows: Rows, name: str) -> list[float]:
    """One numeric column; a missing value becomes NaN."""
    return [float("nan") if row[name] is None else float(row[name]) for row in rows]


def distinct(rows: Rows, name: str) -> list[Any]:
    """The values of a column, each once, in order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))
