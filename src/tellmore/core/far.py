"""Items far from all others. An answer about one of them seems to say most about the classifier, because its score varies most,
and says little about the other items. In tables with long tails (amounts, counts) the most informative items of a pool are all
of this sort.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import Coordinates, Moments, Rows, far_from
from tellmore.core.scan import Part, PoolRows, visit
from tellmore.types import Array

SAMPLED = 4_096
"""The median distance from the centre is that of so many items at most."""


def far_rows(rows: PoolRows) -> NDArray[np.int64]:
    """The numbers of the items far from the others, in order, found in one pass over the pool."""
    spaced = np.arange(0, len(rows), -(-len(rows) // SAMPLED))
    limit = far_from(np.sqrt(_squares(rows.take(spaced))))
    return np.concatenate(visit(rows, (), partial(_beyond, limit=limit)))


def far_share(X: Array) -> float:
    """The share of the rows of X [n, d] that are far from the others."""
    moments = Moments.typical(X)
    return 0.0 if moments.constant else len(far_rows(Rows(X, Coordinates.of(moments)))) / len(X)


def _beyond(part: Part, *, limit: float) -> NDArray[np.int64]:
    return part.first + np.flatnonzero(_squares(part.rows) > limit**2)


def _squares(rows: Rows) -> Array:
    """The squared length of each row, computed some rows at a time."""
    return np.concatenate([np.einsum("nd,nd->n", z, z) for _, z in rows.chunks()])
