"""Embeddings as people have them: arrays of numbers, and DataFrames of pandas, polars or any library with the same few methods;
none of them is required."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import PoolError

NO_MATRIX = "embeddings must be a matrix of numbers, one row per item"
LARGEST = float(np.finfo(np.float32).max)
"""The largest number that float32 can hold, and an embedding may have: squares of larger ones could overflow."""
_NO_NUMBERS = {"U": "texts", "S": "bytes", "M": "dates", "m": "times", "c": "complex numbers"}


def numbers(X: Any) -> NDArray[Any]:
    """``X`` as an array; TypeError or ValueError if NumPy would have to guess numbers from its values."""
    if hasattr(X, "toarray"):
        raise TypeError("these are sparse; write X.toarray()")
    if hasattr(X, "collect"):
        raise TypeError("this is a lazy frame; write X.collect()")
    if np.ma.is_masked(X):
        raise TypeError("some of these are masked; fill them in, or leave their rows out")
    array = X if isinstance(X, np.memmap) else np.asarray(X)
    found = np.array(array.tolist()) if array.dtype == object else array
    if found.dtype.kind in _NO_NUMBERS:
        raise TypeError(f"these are {_NO_NUMBERS[found.dtype.kind]}")
    return array


def embeddings(X: Any, d: int, whose: str, columns: Sequence[Any] | None = None) -> NDArray[np.float64]:
    """``X`` as a finite matrix [n, d] in float64; PoolError if it is none. ``whose`` embeddings it must be like. If the
    dimensions have names, those are the ``columns`` of a DataFrame that are used."""
    if columns and is_table(X):
        X = vectors(X, columns)
    try:
        found = numbers(X).astype(np.float64, copy=False)
    except (TypeError, ValueError) as problem:
        raise PoolError(f"{NO_MATRIX}: {problem}") from None
    if found.ndim != 2 or found.shape[1] != d:
        advice = "; for a single item x, write [x]" if found.shape == (d,) else ""
        raise PoolError(f"embeddings must have the shape (n, {d}), like {whose}, not {found.shape}{advice}")
    if found.size and not -LARGEST <= found.min() <= found.max() <= LARGEST:  # NaN is in no order
        raise PoolError("embeddings must be finite; remove the rows with NaN or infinity (or a number beyond float32)")
    return found


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


def places(names: Sequence[Any], present: Sequence[Any]) -> list[int]:
    """Where the columns of these names are among those ``present``. Names that are not texts may be given as texts, as files
    hold them."""
    known = {str(name): at for at, name in enumerate(present)} | {name: at for at, name in enumerate(present)}
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        raise PoolError(f"there is no column {missing!r}; the columns are {', '.join(map(str, present))}")
    return [known[name] for name in names]


def vectors(table: Any, names: Sequence[Any]) -> NDArray[Any]:
    """The matrix [n, d] of some columns of numbers, or of one column of vectors; see `places` for their names."""
    present = list(table.columns)
    own = {name: present[at] for name, at in zip(names, places(names, present), strict=True)}
    twice = next((name for name in names if present.count(own[name]) > 1), None)
    if twice is not None:
        raise PoolError(f"several columns are called {twice!r}; give each a name of its own")
    if not names:
        raise PoolError("no column is left for the vectors; name some with vectors=")
    found = [_numbers(table[own[name]], name) for name in names]
    return found[0] if len(found) == 1 and found[0].ndim == 2 else np.column_stack(found)


def _numbers(series: Any, name: Any) -> NDArray[Any]:
    """The numbers of a column [n], or its vectors [n, d]."""
    values = np.asarray(series.to_numpy())
    if values.dtype == object:
        try:
            values = np.array([numbers(value).astype(np.float64) for value in values])
        except (TypeError, ValueError):
            values = np.array(["not numbers"])
    if values.dtype.kind not in "biuf":
        raise PoolError(
            f"the column {name!r} does not hold numbers, or vectors of one length; say what it is with ids=, text= or images=, "
            "or name the columns of numbers with vectors="
        )
    return values
