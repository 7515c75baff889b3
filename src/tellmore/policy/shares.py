"""Shares with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import ndtri

from tellmore.policy.words import percent, range_words

Z = float(ndtri(0.975))
"""Half the width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class Share:
    """A share and its 95 % interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{percent(self.estimate)} ({range_words(self.low, self.high)})"


def share_of(count: int, n: int) -> Share:
    """The share ``count`` / ``n`` with its interval.

    >>> str(share_of(9, 10))
    '90 % (60 to 98 %)'
    """
    return wilson(count / n, n)


@lru_cache(maxsize=10_000)
def wilson(estimate: float, n: int) -> Share:
    """A mean of ``n`` values from 0 to 1 with Wilson's interval. An average precision is a mean over the positive items; Boyd,
    Eng and Page, "Area under the precision-recall curve" (2013), find that a binomial interval with that n covers it."""
    centre = (estimate + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(estimate * (1 - estimate) / n + Z**2 / (4 * n**2))
    return Share(estimate, max(0.0, min(estimate, centre - half)), min(1.0, max(estimate, centre + half)))
