"""One rule for every claim: an estimate with its 95 % interval is compared with the range that the sentence allows.

A printed number allows itself and a tenth on either side; "more than" allows everything above. If the interval is wholly inside
the range, the claim holds; if wholly outside, it does not hold; otherwise, or if it is not measured yet, it is inconclusive.
Claims that need people or data that are not available cannot be tested here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scipy import stats

from tellmore.rows import Row

HOLDS, FAILS, OPEN, UNTESTED = "holds", "does not hold", "inconclusive", "cannot be tested here"
VERDICTS = (FAILS, OPEN, HOLDS, UNTESTED)
TOLERANCE = 0.1
"""A printed number is met within a tenth of it, because seeds, embeddings and data are not the paper's."""


class Allowed(NamedTuple):
    """The values for which a sentence is true."""

    low: float = -math.inf
    high: float = math.inf


def about(value: float) -> Allowed:
    """The range that a printed number allows."""
    return Allowed(*sorted((value * (1 - TOLERANCE), value * (1 + TOLERANCE))))


ABOVE_ZERO = Allowed(low=0.0)


@dataclass(frozen=True)
class Estimate:
    """What was measured: ``value`` with a 95 % interval, or None; ``reason``: what it is, or why there is none."""

    value: float | None
    low: float = math.nan
    high: float = math.nan
    reason: str = ""
    testable: bool = True

    @classmethod
    def of(cls, value: float, se: float, n: int, reason: str = "", *, among: int = 1) -> Estimate:
        """An estimate with the interval of Student's t for a mean over ``n`` seeds; one of ``among`` intervals that are to hold
        at once (Bonferroni)."""
        half = float(stats.t.ppf(1 - 0.025 / among, n - 1)) * se if n > 1 else math.inf
        return cls(value, value - half, value + half, reason)

    @classmethod
    def missing(cls, reason: str, *, testable: bool = True) -> Estimate:
        """No estimate, for this reason; ``testable``: whether the available data would allow one."""
        return cls(None, reason=reason, testable=testable)


def least(estimates: Mapping[str, Estimate], reason: str) -> Estimate:
    """The smallest of several values, named in the reason. If the intervals hold at once, so does that of their smallest ends.

    A sentence about all of them holds if the smallest value is high enough.
    """
    name = min(estimates, key=lambda one: estimates[one].value or 0.0)
    found = list(estimates.values())
    low, high = min(one.low for one in found), min(one.high for one in found)
    return Estimate(estimates[name].value, low, high, f"{reason}: the smallest of {len(found)}, {name}")


def verdict(estimate: Estimate, allowed: Allowed) -> str:
    """The verdict on a claim. An estimate without an interval is inconclusive, whatever its value."""
    if not estimate.testable:
        return UNTESTED
    if allowed.low <= estimate.low and estimate.high <= allowed.high:
        return HOLDS
    if estimate.high < allowed.low or estimate.low > allowed.high:
        return FAILS
    return OPEN


def claim_row(section: str, claim: str, mode: str, estimate: Estimate, allowed: Allowed = ABOVE_ZERO) -> Row:
    """A row of the table of claims."""
    return {
        "section": section,
        "claim": claim,
        "mode": mode,
        "estimate": estimate.value,
        "low": None if math.isnan(estimate.low) else estimate.low,
        "high": None if math.isnan(estimate.high) else estimate.high,
        "allowed_low": None if math.isinf(allowed.low) else allowed.low,
        "allowed_high": None if math.isinf(allowed.high) else allowed.high,
        "verdict": verdict(estimate, allowed),
        "measured": estimate.reason,
    }
