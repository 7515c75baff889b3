"""People's ratings of items, and what follows from them: labels, spread and neutral items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tellmore.errors import PoolError
from tellmore.types import Array

NEUTRAL_MARGIN = 0.1
"""An item counts as neutral if people are almost evenly split on it: |P - 0.5| below this."""


@dataclass(frozen=True)
class Scores:
    """People's ratings of each item, on any scale. Without a spread, the mean is treated as certain.

    mean: the mean rating of each item [n].
    sd: the standard deviation of the ratings of each item [n].
    histogram: how often each rating was given [n, b].
    histogram_values: the ratings [b] that were counted.
    threshold: items with a mean above it are positive.

    Parameters of the methods:

    rows: the row numbers of some items.

    >>> Scores(mean=[1.5, -0.5]).labels()
    array([ True, False])
    """

    mean: Array
    sd: Array | None = None
    histogram: Array | None = None
    histogram_values: Array | None = None
    threshold: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean", "sd", "histogram", "histogram_values"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _frozen(_numbers(name, given)))
        object.__setattr__(self, "threshold", float(_numbers("threshold", self.threshold)))
        self._check()

    def _check(self) -> None:
        n = len(self.mean) if self.mean.ndim == 1 else -1
        if n < 0 or not np.isfinite(self.mean).all() or not np.isfinite(self.threshold):
            raise PoolError(
                "scores need one finite mean per item and a finite threshold; remove items without a mean, or fill it in"
            )
        if self.sd is not None and (self.sd.shape != (n,) or not np.isfinite(self.sd).all() or (self.sd < 0).any()):
            raise PoolError(f"sd must hold {n} finite numbers that are not negative, one per item")
        if self.histogram is None:
            return
        if self.histogram_values is None or self.histogram.shape != (n, len(self.histogram_values)):
            raise PoolError(f"histogram needs histogram_values [b] and the shape ({n}, b), not {self.histogram.shape}")
        if (
            not np.isfinite(self.histogram).all()
            or (self.histogram < 0).any()
            or (self.histogram.sum(axis=1) <= 0).any()
        ):
            raise PoolError("every row of histogram needs counts that are not negative and at least one above zero")

    @property
    def has_spread(self) -> bool:
        """Whether the spread of people's ratings is known."""
        return self.sd is not None or self.histogram is not None

    def spread(self) -> Array:
        """Standard deviation [n] of people's ratings: ``sd``, else that of the histogram, else zero."""
        if self.sd is not None:
            return self.sd
        if self.histogram is None or self.histogram_values is None:
            return np.zeros_like(self.mean)
        weights = self.histogram / self.histogram.sum(axis=1, keepdims=True)
        centre = weights @ self.histogram_values
        return np.asarray(np.sqrt(np.maximum(weights @ self.histogram_values**2 - centre**2, 0.0)))

    def probability_positive(self) -> Array:
        """P(rating > threshold) [n] under a normal distribution with each item's mean and standard deviation."""
        above = self.mean - self.threshold
        sd = self.spread()
        certain = np.where(above > 0, 1.0, np.where(above < 0, 0.0, 0.5))
        return np.asarray(np.where(sd > 0, ndtr(above / np.where(sd > 0, sd, 1.0)), certain))

    def labels(self) -> NDArray[np.bool_]:
        """Whether each item's mean is above the threshold [n]."""
        return np.asarray(self.mean > self.threshold)

    def non_neutral(self) -> NDArray[np.bool_]:
        """Which items [n] accuracy is measured on: those with |P - 0.5| >= 0.1, or all if no spread is known."""
        if not self.has_spread:
            return np.ones(len(self.mean), dtype=bool)
        return np.asarray(np.abs(self.probability_positive() - 0.5) >= NEUTRAL_MARGIN)

    def take(self, rows: NDArray[np.intp]) -> Scores:
        """The scores of some items, in the order of ``rows``."""
        return Scores(
            self.mean[rows],
            None if self.sd is None else self.sd[rows],
            None if self.histogram is None else self.histogram[rows],
            self.histogram_values,
            self.threshold,
        )


def _numbers(name: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise PoolError(f"{name} of the scores must be numbers, not {given!r:.60}") from None


def _frozen(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
