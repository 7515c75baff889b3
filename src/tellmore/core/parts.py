"""Parts of a pool: items that point in similar directions, found by k-means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tellmore.types import Array

ROUNDS = 8
"""More rounds move few items from one part to another."""


def parts_of(Z: Array, count: int, *, rng: np.random.Generator) -> NDArray[np.intp]:
    """For each row of Z [n, d], the number of its part; ``count`` parts at most.

    This is k-means on rows scaled to length 1, from random rows as centres. A part that no row is nearest to stays empty.
    """
    directions = _scaled(Z)
    centres = directions[rng.choice(len(Z), count, replace=False)]
    for _ in range(ROUNDS):
        part = (directions @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, part, directions)
        centres = np.where(sums.any(axis=1, keepdims=True), _scaled(sums), centres)
    return np.asarray((directions @ centres.T).argmax(axis=1))


def _scaled(Z: Array) -> Array:
    """The rows at length 1; rows of zeros stay as they are."""
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.where(length > 0, length, 1.0))
