"""Choosing items whose labels together are most informative: the label with the largest gain, then the next given that one, etc.

A label chosen earlier, on a score of mean m and variance v, is accounted for by its expected curvature q = w^2 p (1 - p): it
reduces the variance of a score with which it has the covariance c by c^2 q / (1 + q v), and moves no mean. Items come from a
shortlist of the pool, whose covariances are computed once, so that the number of items chosen hardly affects the cost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellmore.core.acquire import Acquired, Rows, argmax, available_rows, logistic_gain, top
from tellmore.core.evidence import Behaviour
from tellmore.core.gain import label_gain_bits
from tellmore.core.gaussian import Gaussian
from tellmore.core.predict import probability
from tellmore.core.scan import PoolScan
from tellmore.core.update import with_constant
from tellmore.types import Array

BEST = 384
AT_RANDOM = 128  # added so that not all candidates are alike
FINALISTS = 32


def label_set(
    scan: PoolScan,
    belief: Gaussian,
    size: int,
    behaviour: Behaviour,
    *,
    rng: np.random.Generator,
    exclude: Rows | Sequence[int] = (),
    finalists: int = FINALISTS,
) -> Acquired:
    """``size`` items to label at once, and the bits of the nested sets, by the chain rule over the labels. At each step the
    best ``finalists`` by a closed form are compared exactly."""
    rows = _shortlist(scan, size, behaviour, rng, exclude)
    mean, gram, _ = belief.project(with_constant(scan.rows[rows]))
    variance = np.maximum(gram.diagonal(), 0.0)
    known = np.zeros((len(rows), size))  # the squares of its columns are what earlier labels take off the variances
    chosen: list[int] = []
    gains: list[float] = []
    free = np.ones(len(rows), dtype=bool)
    for step in range(size):
        at, gain = _best(mean, variance, free, behaviour, rng, finalists)
        chosen.append(at)
        gains.append(gain)
        free[at] = False
        p = float(probability(mean[at], variance[at], behaviour.w))
        q = behaviour.w**2 * p * (1 - p)
        column = gram[:, at] - known[:, :step] @ known[at, :step]
        known[:, step] = column * np.sqrt(q / (1 + q * variance[at]))
        variance = np.maximum(variance - known[:, step] ** 2, 0.0)
    return Acquired(rows[chosen], np.cumsum(gains))


class Several:
    """The items of several questions at once, whatever their kind: those whose labels together are most informative."""

    def search(
        self,
        scan: PoolScan,
        belief: Gaussian,
        size: int,
        behaviour: Behaviour,
        *,
        rng: np.random.Generator,
        exclude: Rows | Sequence[int] = (),
    ) -> Acquired:
        """``size`` items, over all questions; the closed form decides, because each single item matters little."""
        return label_set(scan, belief, size, behaviour, rng=rng, exclude=exclude, finalists=1)


def _shortlist(
    scan: PoolScan, size: int, behaviour: Behaviour, rng: np.random.Generator, exclude: Rows | Sequence[int]
) -> Rows:
    """The items with the most informative labels by a closed form, and some of the rest at random."""
    available = available_rows(len(scan.mean), exclude, size)
    promise = np.where(available, logistic_gain(behaviour.w * scan.mean, behaviour.w**2 * scan.variance), -1.0)
    n = int(available.sum())
    best = top(promise, min(max(BEST, 4 * size), n), rng)
    available[best] = False
    rest = np.flatnonzero(available)
    extra = rng.choice(rest, size=min(AT_RANDOM, rest.size), replace=False) if rest.size else rest
    return np.concatenate([best, extra])


def _best(
    mean: Array,
    variance: Array,
    free: np.typing.NDArray[np.bool_],
    behaviour: Behaviour,
    rng: np.random.Generator,
    finalists: int,
) -> tuple[int, float]:
    """The free item with the most informative label, first by a closed form and then exactly; and its gain in bits."""
    rough = np.where(free, logistic_gain(behaviour.w * mean, behaviour.w**2 * variance), -1.0)
    compared = top(rough, min(finalists, int(free.sum())), rng)
    exact = label_gain_bits(mean[compared], variance[compared], behaviour)
    best = argmax(exact, rng)
    return int(compared[best]), float(exact[best])
