"""Items far from all others. An answer about one of them seems to say most about the classifier, because its score varies most,
and says little about the other items. In tables with long tails (amounts, counts) the most informative items of a pool are all
of this sort.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import FAR, Coordinates, Moments, Rows, far_from
from tellmore.core.scan import Part, PoolRows, visit
from tellmore.types import Array

SAMPLED = 4_096
"""The median distance from the centre is that of so many items at most."""
FEWEST_FAR, MANY_FAR, FEWEST_VERY_FAR, SOME_VERY_FAR = 10, 0.05, 3, 0.01
"""Columns have long tails if so many of these items, and this share of them, are far, and so many and this share more than twice
as far."""


def far_rows(rows: PoolRows) -> NDArray[np.int64]:
    """The numbers of the items far from the others, in order, found in one pass over the pool."""
    return np.concatenate(visit(rows, (), partial(_beyond, limit=far_from(_lengths(rows)))))


def share_in_tails(rows: PoolRows) -> float:
    """The share of items far from the others, if these are many and some are very far, as in columns with long tails; else 0.
    In few dimensions, up to 9 % of normally distributed items are far, and hardly any of them twice as far."""
    length = _lengths(rows)
    far, very = (int(np.sum(length > beyond)) for beyond in (far_from(length), 2 * FAR * np.median(length)))
    many = far >= max(FEWEST_FAR, MANY_FAR * len(length)) and very >= max(FEWEST_VERY_FAR, SOME_VERY_FAR * len(length))
    return far / len(length) if many else 0.0


def tails_of(X: Array) -> float:
    """The same for the rows of X [n, d]."""
    moments = Moments.typical(X)
    return 0.0 if moments.constant else share_in_tails(Rows(X, Coordinates.of(moments)))


def _beyond(part: Part, *, limit: float) -> NDArray[np.int64]:
    return part.first + np.flatnonzero(_squares(part.rows) > limit**2)


def _lengths(rows: PoolRows) -> Array:
    """Distances from the centre of evenly spaced items."""
    return np.asarray(np.sqrt(_squares(rows.take(np.arange(0, len(rows), -(-len(rows) // SAMPLED))))))


def _squares(rows: Rows) -> Array:
    """The squared length of each row, computed some rows at a time."""
    return np.concatenate([np.einsum("nd,nd->n", z, z) for _, z in rows.chunks()])
