"""Candidates from an index of the user's, such as one for nearest neighbours: no item but those that it names is looked at.

A label tells most where the score may well be on either side, and little is known. So the index is asked what is near some
points there: of items drawn at random and moved along the weights until the score is 0, give or take what is not known of it,
those of which least is known.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore.core.coordinates import Rows
from tellmore.core.gaussian import Gaussian
from tellmore.errors import PoolError
from tellmore.types import Array

DRAWN = 2_048
"""Items that points are made of."""
POINTS = 64
"""Places at which to look."""
FARTHEST = 2.0
"""No point is moved farther than twice the typical distance of items from their mean: there would be none."""
BY_LOT = 8
"""One of so many candidates is drawn from the whole pool, wherever the index looks."""


class Index(Protocol):
    """Finds items by where they are."""

    def near(self, points: Array, count: int) -> ArrayLike:
        """Rows of about ``count`` items near any of ``points`` [m, d], which are in the space of the pool's embeddings; in any
        shape, and a row may come several times."""


def from_index(
    index: Index, rows: Rows, belief: Gaussian, count: int, *, rng: np.random.Generator
) -> NDArray[np.int64]:
    """At most ``count`` rows of a pool, in its order: those near the boundary by the index, and some drawn from all."""
    n, lots = len(rows), count // BY_LOT
    at = boundary(rows[np.sort(rng.choice(n, min(DRAWN, n), replace=False))], belief, rng)
    least_known = np.argsort(-belief.scores(at)[1], kind="stable")[:POINTS]
    points = at[least_known] * rows.coordinates.scale + rows.coordinates.centre
    found = checked_rows(index.near(points, count - lots), n)
    if len(found) > count - lots:
        found = rng.choice(found, count - lots, replace=False)
    return np.union1d(found, rng.choice(n, min(lots, n), replace=False)).astype(np.int64)


def boundary(z: Array, belief: Gaussian, rng: np.random.Generator) -> Array:
    """Items z [m, d], each moved along the weights to where the score is as far from 0 as it may be off."""
    weights = belief.mean[1:]
    steep = float(np.linalg.norm(weights))
    if steep == 0:
        return z
    mean, variance = belief.scores(z)
    off = (mean - np.sqrt(variance) * rng.standard_normal(len(z))) / steep
    return np.asarray(z - np.clip(off, -FARTHEST, FARTHEST)[:, None] * (weights / steep))


def checked_rows(found: Any, n: int) -> NDArray[np.int64]:
    """What an index returned, each row once; PoolError if these are no rows of a pool of ``n``."""
    try:
        rows = np.unique(np.asarray(found))
    except (TypeError, ValueError) as problem:
        raise PoolError(f"the index must return row numbers, and returned no array: {problem}") from None
    if rows.dtype.kind not in "iu" or rows.size == 0:
        raise PoolError(f"the index must return row numbers, at least one, not {rows.size} of type {rows.dtype}")
    wrong = rows[(rows < 0) | (rows >= n)]
    if wrong.size:
        raise PoolError(
            f"the index returned row {wrong[0]}, and the pool has rows 0 to {n - 1}; make the index from the same items"
        )
    return rows.astype(np.int64)


def checked_index(index: Index | None) -> Index | None:
    """An index, or none; PoolError where it cannot be asked."""
    if index is not None and not callable(getattr(index, "near", None)):
        raise PoolError(f"an index needs a method near(points, count), and {type(index).__name__} has none")
    return index
