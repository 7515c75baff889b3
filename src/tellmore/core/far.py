"""Items far from all others. An answer about one of them seems to say most about the classifier, because its score varies most,
and says little about the other items. In tables with long tails (amounts, counts) the most informative items of a pool are all
of this sort.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tellmore.core.coordinates import far_from
from tellmore.core.scan import Part, PoolRows, visit

SAMPLED = 16_384
"""The median distance from the centre is that of so many items at most."""


def far_rows(rows: PoolRows) -> NDArray[np.int64]:
    """The numbers of the items far from the others, in order, found in one pass over the pool."""
    spaced = np.arange(0, len(rows), -(-len(rows) // SAMPLED))
    limit = far_from(np.linalg.norm(rows.take(spaced)[:], axis=1))
    return np.concatenate(visit(rows, (), partial(_beyond, limit=limit)))


def _beyond(part: Part, *, limit: float) -> NDArray[np.int64]:
    squared = [np.einsum("nd,nd->n", z, z) for _, z in part.rows.chunks()]
    return part.first + np.flatnonzero(np.concatenate(squared) > limit**2)
