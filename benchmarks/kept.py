"""Rows of long measurements, written to a file one by one, so that a stopped run continues where it stopped."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def kept_rows(
    path: Path, fields: list[str], cases: Sequence[tuple[Any, ...]], measure: Callable[..., tuple[Any, ...]]
) -> list[dict[str, str]]:
    """A row for each case: its parts are the first of ``fields``, and the results of ``measure`` are the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    done = {tuple(row.values())[: len(cases[0])] for row in known} if cases else set()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow(fields)
        for case in cases:
            if tuple(map(str, case)) not in done:
                writer.writerow((*case, *measure(*case)))
                file.flush()
    return list(csv.DictReader(path.open(encoding="utf-8")))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def pool_path(pool: str, data: Path) -> str | None:
    """The name under which a pool is opened, with the path of a file in ``data``; None if the file is missing."""
    if ".npz" not in pool:
        return pool
    return str(data / pool) if (data / pool.split(",")[0]).exists() else None
