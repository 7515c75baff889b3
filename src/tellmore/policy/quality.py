"""How good the predictions are, measured on the labels of random items that were predicted before they were labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellmore.core.calibration import UNCHECKED, Calibration, tempered
from tellmore.policy.calibration import NEWEST, Stated, reliability
from tellmore.policy.shares import Share, share_of, wilson
from tellmore.policy.tally import Check
from tellmore.types import Array

ROUNDING = 1e-9
"""A probability below the threshold only by rounding counts as at it: before the first answer, all are one half."""


@dataclass(frozen=True)
class Quality:
    """``checks`` labels of random items: the share predicted correctly, and the share that are positive.

    precision: of the items predicted positive, the share that are; recall: of the positive items, the share predicted so; f1:
    their harmonic mean; average_precision: the mean precision at each positive item, likeliest first. None if no item
    was predicted positive, or none is positive. Intervals are Wilson's.
    calibration: the slope by which these checks correct probabilities; reliability: how often the probabilities stated before
    each label came true.
    """

    checks: int
    accuracy: Share
    prevalence: Share
    precision: Share | None
    recall: Share | None
    f1: Share | None
    average_precision: Share | None
    calibration: Calibration
    reliability: tuple[Stated, ...]

    def named(self) -> dict[str, Share]:
        """The shares that are known, by the names that people read, with the accuracy first."""
        shares = {
            "accuracy": self.accuracy,
            "share of positives": self.prevalence,
            "precision": self.precision,
            "recall": self.recall,
            "F1": self.f1,
            "average precision": self.average_precision,
        }
        return {name: share for name, share in shares.items() if share is not None}


def quality_of(checks: Sequence[Check], threshold: float = 0.5, calibration: Calibration = UNCHECKED) -> Quality | None:
    """The quality according to the newest checks, with probabilities as calibrated now and positive from ``threshold`` on; None
    before the first check."""
    newest = checks[-NEWEST:]
    if not newest:
        return None
    told = np.array([one.told for one in newest])
    p = tempered(np.array([one.probability for one in newest]), calibration.slope)
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
        calibration,
        reliability(newest),
    )


def _f1(hits: int, either: int) -> Share:
    """F1 = 2 J / (1 + J), where J is the share of hits among the items that are positive or were predicted positive."""
    overlap = share_of(hits, either)
    return Share(*(2 * J / (1 + J) for J in (overlap.estimate, overlap.low, overlap.high)))


def average_precision(p: Array, told: NDArray[np.bool_]) -> float:
    """The mean over positive items of the precision among the items at least as likely as each."""
    return float(np.mean([told[p >= level].mean() for level in p[told]]))
