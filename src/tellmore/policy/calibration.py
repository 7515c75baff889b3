"""Whether probabilities can be trusted, from the random checks: the slope that corrects them, and how often each came true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellmore.core.calibration import Calibration, calibrated
from tellmore.policy.shares import Share, share_of
from tellmore.policy.tally import Check

NEWEST = 100
"""Only this many of the newest checks count: older ones are about beliefs long past."""
BINS = 5


@dataclass(frozen=True)
class Stated:
    """Checks with a stated probability from ``low`` to ``high``: their number, mean probability, and share of positives."""

    low: float
    high: float
    checks: int
    mean: float
    positive: Share


def calibration_of(checks: Sequence[Check]) -> Calibration:
    """The slope according to the newest checks."""
    newest = checks[-NEWEST:]
    return calibrated(np.array([one.probability for one in newest]), np.array([one.told for one in newest]))


def reliability(checks: Sequence[Check]) -> tuple[Stated, ...]:
    """The newest checks in equal bins of the probability stated before each label was given; empty bins are left out."""
    newest = checks[-NEWEST:]
    p, told = np.array([one.stated for one in newest]), np.array([one.told for one in newest])
    own = np.minimum((p * BINS).astype(int), BINS - 1)
    return tuple(
        Stated(
            at / BINS,
            (at + 1) / BINS,
            int((own == at).sum()),
            float(p[own == at].mean()),
            share_of(int(told[own == at].sum()), int((own == at).sum())),
        )
        for at in np.unique(own).tolist()
    )
