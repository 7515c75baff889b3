"""Loads pools by name or path: the bundled words, and .npz files with the same arrays."""

from __future__ import annotations

import zipfile
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.errors import DataFileError, PoolError
from tellmore.files import reading_npz
from tellmore.options import one_path
from tellmore.pool import Pool
from tellmore.ratings import Scores

BUNDLED = ("words",)
"""Names of the pools inside the package."""

Arrays = dict[str, NDArray[Any]]


def load_pool(name_or_path: str | PathLike[str], *, matrix: str = "X") -> Pool:
    """The bundled pool, or one from an ``.npz`` file or a project folder.

    name_or_path: ``words``, or a path. An ``.npz`` file contains ``X`` [n, d] and optionally ``ids``, ``text``,
        ``mean``, ``sd``, ``histogram``, ``histogram_values``, ``threshold``. Pickles are never read.
    matrix: the name of the embeddings in the file, if it is not ``X``.

    >>> load_pool("words")
    Pool('words', 3062 items x 300 dimensions, scored)
    """
    if str(name_or_path) in BUNDLED:
        return _pool_of(_bundled_arrays(), matrix, "words", unit_norm=True)
    path = one_path("name_or_path", name_or_path)
    if path.is_dir():
        return _project_pool(path, matrix)
    if not path.exists():
        raise DataFileError(
            f"there is no pool {str(name_or_path)!r}; bundled: {', '.join(BUNDLED)}; or an .npz file or a project"
        )
    return _pool_of(_read_npz(path), matrix, path.stem)


def demo_pool() -> Pool:
    """The words pool as the demo shows it: without the words marked hidden (slurs and obscenities)."""
    arrays = _bundled_arrays()
    whole = _pool_of(arrays, "X", "words", unit_norm=True)
    return whole.subset(~arrays["hidden"])


def _project_pool(folder: Path, matrix: str) -> Pool:
    from tellmore.data.project import open_project

    if matrix != "X":
        raise DataFileError(
            f"the project {folder} has one matrix, X; --matrix {matrix} is for .npz files that hold several"
        )
    return open_project(folder).pool


def _bundled_arrays() -> Arrays:
    with files("tellmore.data").joinpath("words.npz").open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return dict(archive)


def _read_npz(path: Path) -> Arrays:
    try:
        with reading_npz(path) as archive:
            return dict(archive)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
        raise DataFileError(
            f"{path} cannot be read as a pool: {problem}; a pool is an .npz file with ids and X (numpy.savez), without pickles"
        ) from None


def _pool_of(arrays: Arrays, matrix: str, name: str, *, unit_norm: bool = False) -> Pool:
    if matrix not in arrays:
        others = sorted(key for key, array in arrays.items() if array.ndim == 2 and key != "histogram")
        raise DataFileError(
            f"the pool {name!r} has no matrix {matrix!r}; it has {', '.join(others) or 'none'} (--matrix)"
        )
    X = arrays[matrix]
    if unit_norm:
        X = X.astype(np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    ids, text = arrays.get("ids"), arrays.get("text")
    try:
        return Pool(
            X,
            None if ids is None else ids.tolist(),
            None if text is None else text.tolist(),
            scores=_scores_of(arrays),
            name=name,
        )
    except PoolError as problem:
        raise PoolError(f"the pool {name!r}: {problem}") from None


def _scores_of(arrays: Arrays) -> Scores | None:
    if "mean" not in arrays:
        return None
    if "threshold" not in arrays:
        raise PoolError("mean needs a threshold too: the score above which an item is positive")
    return Scores(
        arrays["mean"],
        arrays.get("sd"),
        arrays.get("histogram"),
        arrays.get("histogram_values"),
        float(arrays["threshold"]),
    )
