"""What an exhibit is: a figure, table or check of the paper, as rows, a picture and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tellmore.figures.bench import Bench

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = Sequence[Row]


@dataclass(frozen=True)
class Exhibit:
    """``collect`` measures, ``draw`` pictures, ``compare`` says in words how it stands to the paper."""

    name: str
    title: str
    collect: Callable[[Bench], Rows]
    draw: Callable[[Rows], Figure]
    compare: Callable[[Rows], str]
    simulated: bool = False


def where(rows: Rows, **equal: Any) -> list[Row]:
    """The rows whose columns have these values."""
    return [row for row in rows if all(row[name] == value for name, value in equal.items())]


def column(rows: Rows, name: str) -> list[float]:
    """One numeric column; a missing value becomes NaN."""
    return [float("nan") if row[name] is None else float(row[name]) for row in rows]


def distinct(rows: Rows, name: str) -> list[Any]:
    """The values of a column, each once, in order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))
