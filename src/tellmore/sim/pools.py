"""Pools by name for the laboratory: those of `load_pool`, data sets of scikit-learn, and thinned or rescaled versions of either.

    words                     a bundled pool, an .npz file or a project
    digits=8, digits<5        scikit-learn's digits, one against the others or the lower half against the upper
    breast-cancer, wine=1     malignant against benign; one cultivar against the others
    iris=2, diabetes          one species against the others; whether the disease progresses faster than in half of the patients
    gaussian=20               20 columns, half of which vary ten times as much as those that matter
    tails=15                  15 columns with long tails, such as amounts; their logarithms matter
    strays=20                 20 columns, and 3 % of the items far away along a quarter that does not matter
    group=50                  50 columns, and the positive items, 3 %, are a group far from the others

After a comma: `5%` thins the positive items to this share and leaves neutral ones out, `2500` keeps this many items at
random, `unit` scales rows to length 1, `standardised` scales columns to variance 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore.data.bundled import BUNDLED, load_pool
from tellmore.errors import DataFileError, PoolError, needs
from tellmore.pool import Pool
from tellmore.ratings import Scores
from tellmore.types import Array

SETS = (
    *("digits=0…9", "digits<1…9", "breast-cancer", "wine=0…2", "iris=0…2", "diabetes"),
    *("gaussian=D", "tails=D", "strays=D", "group=D"),
)
CHANGES = ("5%", "2500", "unit", "standardised")
_CHANGE = re.compile(r"(?P<share>\d+(\.\d+)?)%|(?P<count>\d+)|unit|standardised")
_SET = re.compile(r"digits(=|<)\d|breast-cancer|(wine|iris)=[012]|diabetes|(gaussian|tails|strays|group)=\d+")
GAUSSIAN_ITEMS, ITEMS, FEW = 1000, 2000, 0.03


@lru_cache(maxsize=8)
def open_pool(name: str, matrix: str = "X", *, whole: bool = False) -> Pool:
    """The pool of this name; ``whole``: with all its items, even if ``name`` thins it."""
    base, changes = _split(name)
    pool = _set(base) if _SET.fullmatch(base) else _stored(base, matrix)
    for change in changes:
        pool = _changed(pool, change, whole)
    return pool.subset(np.arange(len(pool)), name=_title(pool.name, changes)) if changes else pool


def absolute(name: str) -> str:
    """The name of a pool with an absolute path, for workers in other folders; other names stay as they are."""
    base, changes = _split(name)
    path = Path(base)
    return ",".join([str(path.resolve()) if base not in BUNDLED and path.exists() else base, *changes])


def _split(name: str) -> tuple[str, list[str]]:
    """The base of a name and its changes; a path may contain commas."""
    parts = name.split(",")
    kept = len(parts)
    while kept > 1 and _CHANGE.fullmatch(parts[kept - 1].strip()):
        kept -= 1
    return ",".join(parts[:kept]), [part.strip() for part in parts[kept:]]


def _stored(base: str, matrix: str) -> Pool:
    try:
        return load_pool(base, matrix=matrix)
    except DataFileError as problem:
        if base in BUNDLED or Path(base).exists():
            raise
        raise DataFileError(f"{problem}; or a set of scikit-learn: {', '.join(SETS)}") from None


def _title(name: str, changes: list[str]) -> str:
    return ", ".join([name, *(change.replace("%", " %") for change in changes)])


def _set(name: str) -> Pool:
    what, how, number = re.fullmatch(r"([a-z-]+)(=|<)?(\d+)?", name).groups()  # type: ignore[union-attr]
    made = MADE.get(what)
    X, positive = made(int(number)) if made else _scikit_learn(what, how, int(number or 0))
    return Pool(X, scores=Scores(np.where(positive, 1.0, -1.0)), name=name)


def _scikit_learn(what: str, how: str | None, number: int) -> tuple[Array, NDArray[np.bool_]]:
    with needs("scikit-learn", "race"):
        from sklearn import datasets
    load: Callable[..., Any] = {
        "digits": datasets.load_digits,
        "breast-cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
        "iris": datasets.load_iris,
        "diabetes": partial(datasets.load_diabetes, scaled=False),
    }[what]
    X, target = load(return_X_y=True)
    if what == "diabetes":
        return X, target > np.median(target)
    return X, target < number if how == "<" else target == number


def _gaussian(d: int) -> tuple[Array, NDArray[np.bool_]]:
    rng = np.random.default_rng(d)
    scale = np.where(np.arange(d) < d // 2, 10.0, 1.0)
    X = rng.normal(size=(GAUSSIAN_ITEMS, d)) * scale
    return X, X @ np.where(scale > 1, 0.0, rng.normal(size=d)) > 0


def _tails(d: int) -> tuple[Array, NDArray[np.bool_]]:
    rng = np.random.default_rng(d)
    logs = rng.normal(size=(ITEMS, d)) * np.linspace(0.3, 1.5, d)
    return np.exp(logs), logs @ rng.normal(size=d) > 0


def _strays(d: int) -> tuple[Array, NDArray[np.bool_]]:
    rng = np.random.default_rng(d)
    X, matters = rng.normal(size=(ITEMS, d)), np.arange(d) < d - d // 4
    positive = X @ np.where(matters, rng.normal(size=d), 0.0) > 0
    X[: round(FEW * ITEMS), ~matters] *= 25
    return X, positive


def _group(d: int) -> tuple[Array, NDArray[np.bool_]]:
    rng = np.random.default_rng(d)
    X, positive = rng.normal(size=(ITEMS, d)) * np.linspace(1, 0.2, d), np.arange(ITEMS) < FEW * ITEMS
    X[positive] = X[positive] * 0.3 + 4 * float(np.sqrt(np.mean(X**2) * d)) * _unit(rng.normal(size=d))
    return X, positive


def _unit(vector: Array) -> Array:
    return vector / float(np.linalg.norm(vector))


MADE: dict[str, Callable[[int], tuple[Array, NDArray[np.bool_]]]] = {
    "gaussian": _gaussian,
    "tails": _tails,
    "strays": _strays,
    "group": _group,
}


def _changed(pool: Pool, change: str, whole: bool) -> Pool:
    if change == "unit":
        return _with_rows(pool, pool.X / np.maximum(np.linalg.norm(pool.X, axis=1, keepdims=True), 1e-12))
    if change == "standardised":
        sd = pool.X.std(axis=0)
        return _with_rows(pool, (pool.X - pool.X.mean(axis=0)) / np.where(sd > 0, sd, 1))
    return pool if whole else pool.subset(_kept(pool, change))


def _with_rows(pool: Pool, X: Array) -> Pool:
    return Pool(X, pool.ids, pool.text, scores=pool.scores, name=pool.name, images=pool.images)


def _kept(pool: Pool, change: str) -> NDArray[np.intp]:
    """The rows that stay, in their order; the same at every call."""
    rng = np.random.default_rng(0)
    if not change.endswith("%"):
        return np.sort(rng.permutation(len(pool))[: int(change)])
    share = float(change[:-1]) / 100
    if pool.scores is None or not 0 < share < 1:
        raise PoolError(
            f"{change} of {pool.name!r} cannot be positive: it takes human scores and a share above 0 and below 100 %"
        )
    positive, counted = pool.scores.labels(), pool.scores.non_neutral()
    yes, no = np.flatnonzero(positive & counted), np.flatnonzero(~positive & counted)
    few = round(share / (1 - share) * len(no))
    if not 1 <= few <= len(yes):
        raise PoolError(
            f"{pool.name!r} has {len(yes)} positive and {len(no)} negative items: {change} would need {few} positive"
        )
    return np.sort(np.concatenate([rng.permutation(yes)[:few], no]))
