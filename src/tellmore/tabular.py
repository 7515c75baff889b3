"""DataFrames and their columns, from pandas, polars or any library with the same few methods; none of them is required."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import PoolError


def is_table(thing: Any) -> bool:
    """Whether it has named columns, like a DataFrame."""
    return callable(getattr(thing, "to_numpy", None)) and hasattr(thing, "columns")


def index_of(thing: Any) -> list[Any] | None:
    """The row labels of a DataFrame or a Series; None if there are none, as in polars."""
    index = getattr(thing, "index", None)
    if index is None or callable(index):  # a list's index is a method
        return None
    if getattr(index, "nlevels", 1) > 1:
        raise PoolError("the index has several levels; make it one, or name a column of ids with ids=")
    return list(index)


def column(table: Any, name: Any, option: str) -> list[Any]:
    """The values of the column that ``option`` names."""
    names = list(table.columns)
    if name not in names:
        raise PoolError(f"{option} names the column {name!r}, and there are {', '.join(map(str, names))}")
    return list(table[name].to_list())


def vectors(table: Any, names: Sequence[Any]) -> NDArray[Any]:
    """The matrix [n, d] of some columns of numbers, or of one column of vectors."""
    missing = next((name for name in names if name not in list(table.columns)), None)
    if missing is not None:
        raise PoolError(f"there is no column {missing!r}; the columns are {', '.join(map(str, table.columns))}")
    twice = next((name for name in names if list(table.columns).count(name) > 1), None)
    if twice is not None:
        raise PoolError(f"several columns are called {twice!r}; give each a name of its own")
    if not names:
        raise PoolError("no column is left for the vectors; name some with vectors=")
    found = [_numbers(table[name], name) for name in names]
    return found[0] if len(found) == 1 and found[0].ndim == 2 else np.column_stack(found)


def _numbers(series: Any, name: Any) -> NDArray[Any]:
    """The numbers of a column [n], or its vectors [n, d]."""
    values = np.asarray(series.to_numpy())
    if values.dtype == object:
        try:
            values = np.array([_plain(value) for value in values])
        except (TypeError, ValueError):
            values = np.array(["not numbers"])
    if values.dtype.kind not in "biuf":
        raise PoolError(
            f"the column {name!r} does not hold numbers, or vectors of one length; say what it is with ids=, text= or images=, "
            "or name the columns of numbers with vectors="
        )
    return values


def _plain(value: Any) -> NDArray[np.float64]:
    """A number, or a vector of numbers; TypeError for texts such as "00001", which NumPy would read as numbers."""
    found = np.asarray(value)
    if (np.array(found.tolist()) if found.dtype == object else found).dtype.kind in "US":
        raise TypeError("these are texts")
    return found.astype(np.float64)
