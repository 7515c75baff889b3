"""Reading tables that were written earlier."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tellmore.rows import Rows


def rows_of(path: Path) -> Rows:
    """The rows of a CSV file, with numbers and truth values converted."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def _value(cell: str) -> Any:
    if cell == "":
        return None
    try:
        number = float(cell)
    except ValueError:
        return {"True": True, "False": False}.get(cell, cell)
    return int(number) if number.is_integer() else number
