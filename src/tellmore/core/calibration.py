"""Calibrated probabilities: one slope on the log odds, learnt from labels that were predicted before they were given.

Odds are raised to the power of the slope: above 1 if predictions were too close to one half, below 1 if they were too
extreme. A slope moves no probability across one half, so predicted classes do not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from tellmore.types import Array

SPREAD = 0.3
"""Prior standard deviation of the slope's logarithm: few labels change it little."""
SURE = 1e-6
"""Probabilities are kept about this far from 0 and 1 before their odds are raised, so that rounding is not amplified."""
MOST, LEAST = 1.0, -5.0
"""Limits of the slope's logarithm: below the upper one the posterior has a single peak, which lies above the lower one."""
HALF_WIDTH = float(ndtri(0.975))


@dataclass(frozen=True)
class Calibration:
    """The ``slope`` on the log odds with its 95 % interval, from this number of ``checks``.

    >>> str(Calibration(1.25, 0.9, 1.7, 40))
    'odds to the power of 1.25 (0.90 to 1.70), by 40 random checks'
    """

    slope: float
    low: float
    high: float
    checks: int

    def __str__(self) -> str:
        if not self.checks:
            return "not calibrated, as there are no random checks"
        return (
            f"odds to the power of {self.slope:.2f} ({self.low:.2f} to {self.high:.2f}), by {self.checks} random checks"
        )


UNCHECKED = Calibration(1.0, exp(-HALF_WIDTH * SPREAD), exp(HALF_WIDTH * SPREAD), 0)
"""The calibration before the first check: the prior, with a slope of about 1."""


def tempered(p: Array, slope: float) -> Array:
    """Probabilities p whose odds are raised to the power of ``slope``; any shape."""
    if slope == 1.0:
        return p
    return np.asarray(expit(slope * log_odds(p)))


def log_odds(p: Array) -> Array:
    """The log odds of probabilities from 0 to 1, finite and in the same order."""
    return np.asarray(logit((np.asarray(p) + SURE) / (1 + 2 * SURE)))


def calibrated(p: Array, told: Array) -> Calibration:
    """The most probable slope after labels ``told`` [n] that were predicted with the probabilities p [n].

    Logistic regression without an offset, with a normal prior on the logarithm of the slope; the interval is Laplace's.
    """
    if not len(p):
        return UNCHECKED
    x, y = log_odds(p), np.asarray(told, dtype=np.float64)

    def rise(log_slope: float) -> float:
        z = exp(log_slope) * x
        return float(np.sum((expit(z) - y) * z)) + log_slope / SPREAD**2

    best = MOST if rise(MOST) <= 0 else float(brentq(rise, LEAST, MOST, xtol=1e-12))
    z = exp(best) * x
    sd = 1 / sqrt(float(np.sum(expit(z) * expit(-z) * z**2)) + SPREAD**-2)
    return Calibration(exp(best), exp(best - HALF_WIDTH * sd), exp(best + HALF_WIDTH * sd), len(x))
