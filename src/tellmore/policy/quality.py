"""How good the predictions are, measured on the labels of random items that were foretold before they were told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from tellmore.policy.tally import Check
from tellmore.types import Array

NEWEST = 100
"""Only so many of the newest checks count: mistakes before them are of beliefs long past."""


@dataclass(frozen=True)
class Share:
    """A share and its 95 % Wilson interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.0%} ({self.low:.0%} to {self.high:.0%})"


@dataclass(frozen=True)
class Quality:
    """``checks`` labels of random items: the share foretold rightly, and the share that are positive.

    precision: of those foretold as positive, the share that were; recall: of the positive, the share that were foretold; f1:
    their harmonic mean; average_precision: the mean precision at each positive item, the likeliest first. None where nothing
    was foretold as positive, or nothing was positive.
    """

    checks: int
    accuracy: Share
    prevalence: Share
    precision: Share | None
    recall: Share | None
    f1: float | None
    average_precision: float | None


def quality_of(checks: Sequence[Check], threshold: float = 0.5) -> Quality | None:
    """The quality that the newest checks show, with positive from ``threshold`` on; None before the first."""
    newest = checks[-NEWEST:]
    if not newest:
        return None
    p, told = np.array([one.probability for one in newest]), np.array([one.told for one in newest])
    called = p >= threshold
    hits, positive = int((called & told).sum()), int(told.sum())
    return Quality(
        len(newest),
        share_of(int((called == told).sum()), len(newest)),
        share_of(positive, len(newest)),
        share_of(hits, int(called.sum())) if called.any() else None,
        share_of(hits, positive) if positive else None,
        2 * hits / (int(called.sum()) + positive) if positive else None,
        average_precision(p, told) if positive else None,
    )


@lru_cache(maxsize=10_000)
def share_of(count: int, n: int) -> Share:
    """``count`` of ``n``.

    >>> str(share_of(9, 10))
    '90% (60% to 98%)'
    """
    interval = binomtest(count, n).proportion_ci(confidence_level=0.95, method="wilson")
    return Share(count / n, float(interval.low), float(interval.high))


def average_precision(p: Array, told: NDArray[np.bool_]) -> float:
    """The mean over positive items of the precision among the items at least as likely as each."""
    return float(np.mean([told[p >= level].mean() for level in p[told]]))
