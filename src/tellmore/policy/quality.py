"""How good the predictions are, measured on the labels of random items that were predicted before they were labelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from tellmore.policy.tally import Check
from tellmore.types import Array

NEWEST = 100
"""Only so many of the newest checks count: mistakes before them are of beliefs long past."""

ROUNDING = 1e-9
"""A probability that falls short of the threshold by rounding alone is at it: before the first answer, all are one half."""
Z = float(ndtri(0.975))
"""Half the width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class Share:
    """A share and its 95 % interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.0%} ({self.low:.0%} to {self.high:.0%})"


@dataclass(frozen=True)
class Quality:
    """``checks`` labels of random items: the share predicted correctly, and the share that are positive.

    precision: of those foretold as positive, the share that were; recall: of the positive, the share that were foretold; f1:
    their harmonic mean; average_precision: the mean precision at each positive item, likeliest first. None where nothing
    was foretold as positive, or nothing was positive. Intervals are Wilson's.
    """

    checks: int
    accuracy: Share
    prevalence: Share
    precision: Share | None
    recall: Share | None
    f1: Share | None
    average_precision: Share | None

    def named(self) -> dict[str, Share]:
        """What is known, by the name that people read, the accuracy first."""
        shares = {
            "accuracy": self.accuracy,
            "share of positives": self.prevalence,
            "precision": self.precision,
            "recall": self.recall,
            "F1": self.f1,
            "average precision": self.average_precision,
        }
        return {name: share for name, share in shares.items() if share is not None}


def quality_of(checks: Sequence[Check], threshold: float = 0.5) -> Quality | None:
    """The quality that the newest checks show, with positive from ``threshold`` on; None before the first."""
    newest = checks[-NEWEST:]
    if not newest:
        return None
    p, told = np.array([one.probability for one in newest]), np.array([one.told for one in newest])
    called = p >= threshold - ROUNDING
    hits, positive = int((called & told).sum()), int(told.sum())
    return Quality(
        len(newest),
        share_of(int((called == told).sum()), len(newest)),
        share_of(positive, len(newest)),
        share_of(hits, int(called.sum())) if called.any() else None,
        share_of(hits, positive) if positive else None,
        _f1(hits, int((called | told).sum())) if positive else None,
        wilson(average_precision(p, told), positive) if positive else None,
    )


def share_of(count: int, n: int) -> Share:
    """``count`` of ``n``.

    >>> str(share_of(9, 10))
    '90% (60% to 98%)'
    """
    return wilson(count / n, n)


@lru_cache(maxsize=10_000)
def wilson(estimate: float, n: int) -> Share:
    """A mean of ``n`` values from 0 to 1 with Wilson's interval. An average precision is one over the positive items: Boyd, Eng
    and Page, "Area under the precision-recall curve" (2013), find that a binomial interval with that n covers it."""
    centre = (estimate + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(estimate * (1 - estimate) / n + Z**2 / (4 * n**2))
    return Share(estimate, max(0.0, min(estimate, centre - half)), min(1.0, max(estimate, centre + half)))


def _f1(hits: int, either: int) -> Share:
    """F1 is 2 J / (1 + J), where J is the share of hits among the items that are positive or were called so."""
    overlap = share_of(hits, either)
    return Share(*(2 * J / (1 + J) for J in (overlap.estimate, overlap.low, overlap.high)))


def average_precision(p: Array, told: NDArray[np.bool_]) -> float:
    """The mean over positive items of the precision among the items at least as likely as each."""
    return float(np.mean([told[p >= level].mean() for level in p[told]]))
