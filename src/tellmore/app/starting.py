"""The preview of a start before it is saved: which names are items or words, and which items fit it most and least.

This needs no learner. The mean scores of all items are one product with the pool's matrix. Probabilities, which take longer,
are computed only for the items at both ends: about 40 ms for 100,000 items of 300 dimensions, 170 ms for 768 dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tellmore.app.dashboard import item_out
from tellmore.app.session import Session
from tellmore.app.wire_start import LikelyItem, NamedOut, StartIn, StartOut, StartPreviewOut
from tellmore.core.coordinates import Rows
from tellmore.errors import SettingError
from tellmore.pool import Pool
from tellmore.start import NOTHING_GIVEN
from tellmore.store.beforehand import named_examples
from tellmore.store.fold import beginning
from tellmore.types import Array

SHOWN = 8
"""Items shown at each end."""
CONSIDERED = 64
"""How many items at each end, by mean score, are then ordered by probability."""


def start_out(session: Session) -> StartOut:
    """Whether to ask for a start, and whether words can be used."""
    with session.lock:
        settings, begun = session.settings, session.desk.over or bool(session.desk.counting())
    given = bool(any(settings.examples) or settings.start.scores_column or settings.start.earlier)
    return StartOut(
        project=session.repository.project_id,
        fresh=not begun and not given,
        attribute=settings.project.attribute,
        no_words=session.beforehand.no_words,
    )


def preview(session: Session, given: StartIn) -> StartPreviewOut:
    """The items that fit ``given`` most and least; raises SettingError if it cannot be a start."""
    if not given.like and not given.unlike:
        raise SettingError(NOTHING_GIVEN)
    pool = session.pool
    sides = {"like": named_examples(pool, given.like), "unlike": named_examples(pool, given.unlike)}
    old = {"seeds_positive": (), "seeds_negative": ()}
    settings = session.settings.changed(learning=old, start=sides)
    frame, belief = beginning(pool, settings, session.beforehand)
    rows = Rows(pool.X, frame.coordinates)
    mean = np.concatenate([part[:, 0] for _, part in rows.times(belief.mean[:, None])])
    ends = _ends(mean)
    probability = dict(zip(ends.tolist(), belief.probability(rows[ends], frame.w).tolist(), strict=True))
    ordered = sorted(probability, key=lambda row: -probability[row])
    shown = min(SHOWN, len(pool) // 2)

    def listed(some: Sequence[int]) -> list[LikelyItem]:
        return [LikelyItem(**item_out(pool, pool.ids[row]).model_dump(), probability=probability[row]) for row in some]

    return StartPreviewOut(
        like=_named(pool, sides["like"]),
        unlike=_named(pool, sides["unlike"]),
        most=listed(ordered[:shown]),
        least=listed(ordered[: -shown - 1 : -1]),
    )


def _ends(mean: Array) -> NDArray[np.intp]:
    """The rows with the lowest and the highest mean scores."""
    if len(mean) <= 2 * CONSIDERED:
        return np.arange(len(mean))
    ordered = np.argpartition(mean, (CONSIDERED, len(mean) - CONSIDERED))
    return np.concatenate([ordered[:CONSIDERED], ordered[-CONSIDERED:]])


def _named(pool: Pool, names: Sequence[str]) -> list[NamedOut]:
    found = ((name, pool.find(name)) for name in names)
    return [NamedOut(name=name, item=None if row is None else item_out(pool, pool.ids[row])) for name, row in found]
