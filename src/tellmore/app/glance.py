"""Predictions for a few items that nobody was asked about, shown to owners now and then."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from tellmore.app.dashboard import item_out
from tellmore.app.view import FullView
from tellmore.app.wire import GlanceOut
from tellmore.pool import Pool
from tellmore.types import Array

FIRST = 8
"""The number of answers after which predictions are first shown; then after twice as many, and so on."""
SHOWN = 4


def is_due(answers: int) -> bool:
    """Whether predictions are shown after this many answers.

    >>> [answers for answers in range(100) if is_due(answers)]
    [8, 16, 32, 64]
    """
    return answers >= FIRST and answers % FIRST == 0 and (answers // FIRST).bit_count() == 1


def glance_at(pool: Pool, view: FullView, asked: Collection[str] = ()) -> GlanceOut | None:
    """The items without a label with the highest scores above the boundary and the lowest below it, and the one nearest to it;
    None if too few are left. Items that are ``asked`` about now are left out, so that nobody is told what to answer. The next
    question waits for this, so it uses the scores, which are there already, and not the probabilities of all items."""
    rows = unlabelled(pool, view, asked)
    if len(rows) < 2 * SHOWN + 1:
        return None
    score = view.mean[rows]
    unsure = int(np.argmin(np.abs(score)))
    most, least = (
        [item_out(pool, pool.ids[rows[at]]) for at in beyond(side, unsure, SHOWN)] for side in (score, -score)
    )
    return GlanceOut(most=most, least=least, unsure=item_out(pool, pool.ids[rows[unsure]]))


def unlabelled(pool: Pool, view: FullView, asked: Collection[str]) -> NDArray[np.intp]:
    """Rows of the items without a label that are not ``asked`` about."""
    free = np.ones(len(pool), bool)
    free[pool.rows([*view.learner.labels(), *asked])] = False
    return np.flatnonzero(free)


def beyond(score: Array, unsure: int, n: int) -> list[int]:
    """Indices of the ``n`` highest scores, or fewer: only those above 0, and without the one that is ``unsure``."""
    return [int(at) for at in first(-score, n + 1) if score[at] > 0 and at != unsure][:n]


def first(key: Array, n: int) -> NDArray[np.intp]:
    """Indices of the ``n`` smallest, in order, without sorting all."""
    found = np.argpartition(key, n)[:n]
    return found[np.argsort(key[found], kind="stable")]
