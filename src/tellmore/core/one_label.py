"""The variational optimum of a single label: one equation in one unknown (eq. 8, Jaakkola and Jordan's bound).

A label y = +-1 on a score N(m0, v) adds the weight c to its precision and leaves it with

    V = v / (1 + c v),    m = (m0 + v w y / 2) / (1 + c v),    c = w^2 tanh(xi / 2) / (2 xi),    xi^2 = w^2 (m^2 + V).

The right side of the equation for c grows with c and is at most w^2 / 4, so the root lies between its value at c = 0 and
w^2 / 4. Fixed-point iteration, as in Algorithm 4, is slow if the label is sharp and contradicts the belief; Brent's method is
not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq


class LabelSite(NamedTuple):
    """What the label adds to the precision of its score and to precision times mean; and the bound reached, in nats."""

    precision: float
    shift: float
    elbo: float
    iterations: int
    residual: float  # of log c


def one_label(m0: float, v: float, w: float, y: float) -> LabelSite:
    """The optimal site of a label y = +-1 on a score N(m0, v)."""

    def moments(c: float) -> tuple[float, float]:
        return (m0 + v * w * y / 2) / (1 + c * v), v / (1 + c * v)

    def weight(c: float) -> float:
        m, V = moments(c)
        xi = max(w * math.sqrt(m * m + V), 1e-10)
        return w * w * math.tanh(xi / 2) / (2 * xi)

    lowest, iterations = weight(0.0), 0
    c = lowest
    if weight(lowest) > lowest:
        c, found = brentq(
            lambda c: weight(c) - c, lowest, w * w / 4 * (1 + 1e-12), xtol=1e-300, rtol=1e-15, full_output=True
        )
        iterations = found.iterations
    m, V = moments(c)
    xi = w * math.sqrt(m * m + V)
    shift = (w * y / 2 - c * m0) / (1 + c * v)
    divergence = (math.log1p(c * v) - c * V + v * shift * shift) / 2
    bound = -math.log1p(math.exp(-xi)) + (w * y * m - xi) / 2
    return LabelSite(c, shift, bound - divergence, iterations, abs(math.log(weight(c) / c)))
