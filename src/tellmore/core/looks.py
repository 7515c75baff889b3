"""Functions of one part of a pool, run wherever the part is held; their results are summed or joined afterwards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tellmore.core.candidates import within
from tellmore.core.mixture import Weighing
from tellmore.core.scan import Part
from tellmore.types import Array


def probabilities(
    part: Part, *, mixture: Weighing, w: float, of: int = 0, rows: NDArray[np.int64] | None = None
) -> Array:
    """Probability of positive of the items, or of those among ``rows``; ``of``: the number of items in all."""
    own = slice(None) if rows is None else within(rows, part)
    return mixture.probability_of([(mean[own], variance[own]) for mean, variance in part.scores], w, of=of)


def standing(part: Part, *, mixture: Weighing) -> tuple[float, int]:
    """The expected number of items on the wrong side for lack of answers, and the number predicted positive."""
    above = mixture.mean_of(part.scores) > 0
    side = np.where(above, 1.0, -1.0)
    doubt = (ndtr(-side * mean / np.sqrt(np.maximum(variance, 1e-300))).sum() for mean, variance in part.scores)
    return float(sum(weight * one for weight, one in zip(mixture.weights, doubt, strict=True))), int(above.sum())


def changed(part: Part, *, before: Weighing, after: Weighing) -> int:
    """How many items have another predicted side than before; the scores of the beliefs before come first."""
    then, now = part.scores[: len(before.weights)], part.scores[len(before.weights) :]
    return int(np.sum((before.mean_of(then) > 0) != (after.mean_of(now) > 0)))
