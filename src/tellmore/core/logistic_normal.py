"""Averages of the logistic function over a Gaussian score, exact to about 1e-8 for every spread.

The integrand has its nearest poles at +-i pi, so the trapezoidal rule converges exponentially: on a grid scaled to the Gaussian
if it is narrow (s < 1), and on a fixed grid of scores if it is wide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from tellmore.types import Array

NARROW_NODES = np.linspace(-8.0, 8.0, 33)
NARROW_WEIGHTS = np.exp(-0.5 * NARROW_NODES**2) / np.exp(-0.5 * NARROW_NODES**2).sum()
WIDE_STEP = 0.75
WIDE_NODES = WIDE_STEP * np.arange(-48, 49)
WIDE_WEIGHTS = expit(WIDE_NODES) * expit(-WIDE_NODES)  # the logistic density, normalised below
WIDE_WEIGHTS /= WIDE_WEIGHTS.sum()
# The logistic function as a weighted sum of normal distribution functions Phi(t x), whose averages over a Gaussian have a closed
# form (Monahan and Stefanski, "Normal scale mixture approximations to F*(z)", 1992): weights, and 2 / t^2, of the best four.
SHARES = np.array([[0.060945], [0.374161], [0.458375], [0.106519]], dtype=np.float32)
SPREADS = 2 * np.array([[0.321061], [0.475118], [0.698756], [1.023111]]) ** -2
# Phi to 1e-7 by one exponential (Abramowitz and Stegun, 7.1.26), which processors compute in float32 for many numbers at once.
PHI_SCALE = 0.3275911
PHI_POWERS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)  # the highest first
NOWHERE = 9.0  # Phi is 1 from sqrt(2) times this on
BLOCK = 4_096  # numbers at a time, so that they stay in the processor's cache


def entropy_nats(x: Array) -> Array:
    """Entropy of a label with log odds x, in nats; accurate for any finite x."""
    a = np.abs(x)
    t = np.exp(-a)
    return np.asarray(np.log1p(t) + a * t / (1 + t))


def chance_and_entropy(x: Array) -> tuple[Array, Array]:
    """Probability of positive and entropy in nats of a label with log odds x, both from one exponential."""
    a = np.abs(x)
    t = np.exp(-a)
    likely = 1 / (1 + t)
    unlikely = t * likely
    return np.where(x > 0, likely, unlikely), a * unlikely - np.log(likely)


def mean_sigmoid(m: Array, s: Array) -> Array:
    """E[sigmoid(m + s e)] with e standard normal, from 0 to 1; m and s may have any shape, but the same."""
    # If s is large, the logistic is used as a distribution function: E[sigmoid] = E_L[Phi((m - L) / s)].
    mean = _by_spread(
        m,
        s,
        lambda m, s: expit(m[:, None] + s[:, None] * NARROW_NODES) @ NARROW_WEIGHTS,
        lambda m, s: ndtr((m[:, None] - WIDE_NODES) / s[:, None]) @ WIDE_WEIGHTS,
    )
    return np.clip(mean, 0.0, 1.0)  # weights that sum to one may still round past it


def quick_mean_sigmoid(m: Array, s: Array) -> Array:
    """`mean_sigmoid` to 5e-6, many times faster."""
    mean = np.zeros(np.shape(m))
    flat, flat_m, flat_s = mean.reshape(-1), np.ravel(m), np.ravel(s)
    for start in range(0, flat.size, BLOCK):
        part = slice(start, start + BLOCK)
        above, variance = np.abs(flat_m[part]), 2 * flat_s[part] ** 2
        far = np.minimum(above / np.sqrt(SPREADS + variance), NOWHERE)  # [4, n]
        beyond = np.add.reduce(SHARES * _tail(far.astype(np.float32)))
        flat[part] = np.where(flat_m[part] < 0, beyond, 1 - beyond)
    return np.clip(mean, 0.0, 1.0, out=mean)


def _tail(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 - Phi(sqrt(2) x) for x >= 0, to 1e-7."""
    t = 1 / (1 + np.float32(PHI_SCALE) * x)
    power = np.full_like(t, PHI_POWERS[0])
    for factor in PHI_POWERS[1:]:
        power *= t
        power += np.float32(factor)
    power *= t
    np.square(x, out=x)
    power *= np.exp(np.negative(x, out=x), out=x)
    return np.multiply(power, np.float32(0.5), out=power)


def mean_entropy_nats(m: Array, s: Array) -> Array:
    """E[entropy of a label with log odds m + s e], in nats."""
    return _by_spread(
        m,
        s,
        lambda m, s: entropy_nats(m[:, None] + s[:, None] * NARROW_NODES) @ NARROW_WEIGHTS,
        lambda m, s: (
            np.exp(-0.5 * ((WIDE_NODES - m[:, None]) / s[:, None]) ** 2)
            @ (WIDE_STEP * entropy_nats(WIDE_NODES))
            / (s * np.sqrt(2 * np.pi))
        ),
    )


def _by_spread(
    m: Array, s: Array, narrow: Callable[[Array, Array], Array], wide: Callable[[Array, Array], Array]
) -> Array:
    m, s = np.broadcast_arrays(np.asarray(m, dtype=np.float64), np.asarray(s, dtype=np.float64))
    flat_m, flat_s = m.ravel(), s.ravel()
    out = np.empty(flat_m.size)
    is_wide = flat_s >= 1.0
    for mask, rule in ((~is_wide, narrow), (is_wide, wide)):
        if mask.any():
            out[mask] = rule(flat_m[mask], flat_s[mask])
    return out.reshape(m.shape)
