"""Several people's views of one attribute: a classifier that they share, and an offset for each person.

theta_p = theta + delta_p, with theta ~ N(m, (1 - own) S) and delta_p ~ N(0, own S). The prior of each person's view is the same
as that of a single person, N(m, S), and ``own`` is the share of its variance that is the person's own. 0: all mean the same;
near 1: one person's answers say nothing about another's view.

Each person's answers are a Gaussian factor: the belief learnt from them alone, starting from N(m, S), divided by N(m, S). Given
these factors, everything here is exact, because the graph is a star. In coordinates u in which the prior is standard normal, the
factor of person p is exp(-u'A u/2 + b'u) with A = V diag(a) V'; its message to the shared view has the precision
V diag(a / (1 + own a)) V' and the shift V diag(1 / (1 + own a)) V'b. One eigendecomposition per person serves every ``own``.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import solve_triangular

from tellmore.core.gaussian import Gaussian
from tellmore.types import Array

OWN_SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Values of ``own`` among which the answers decide."""

BEYOND_CHANCE_NATS = 3.0
"""People are said to differ if different views predict the answers better than one view by more than this."""


@dataclass(frozen=True, eq=False)
class Said:
    """One person's answers as a factor exp(-u'A u/2 + b'u), with A = axes diag(precision) axes' [D, D] and b = axes shift."""

    axes: Array  # [D, D]
    precision: Array  # [D]
    shift: Array  # [D]

    def towards(self, own: float) -> tuple[Array, Array]:
        """Precision [D, D] and shift [D] of the message to the shared view."""
        shrunk = 1 / (1 + own * self.precision)
        return (self.axes * (self.precision * shrunk)) @ self.axes.T, self.axes @ (shrunk * self.shift)

    def constant(self, own: float) -> float:
        """The logarithm of the constant factor of that message, which does not depend on the shared view."""
        shrunk = 1 / (1 + own * self.precision)
        return float(np.sum(np.log(shrunk)) + own * np.sum(shrunk * self.shift**2)) / 2


@dataclass(frozen=True, eq=False)
class Views:
    """What several people ``said``, and the ``prior`` N(m, S) that applies to each of them."""

    prior: Gaussian
    said: tuple[Said, ...]

    @classmethod
    def of(cls, prior: Gaussian, alone: Sequence[Gaussian]) -> Views:
        """The views of people, given the beliefs learnt from ``prior`` and each person's answers alone."""
        root = np.linalg.cholesky(prior.cov)
        return cls(prior, tuple(_said(root, prior.mean, belief) for belief in alone))

    def among(self, people: Sequence[int]) -> Views:
        """The views of some of the people."""
        return Views(self.prior, tuple(self.said[who] for who in people))

    @cached_property
    def _root(self) -> Array:
        return np.linalg.cholesky(self.prior.cov)

    def evidence_nats(self, own: float) -> float:
        """The log evidence of everyone's answers if this share of a view is a person's own, up to a constant."""
        precision, shift = self._shared(own, range(len(self.said)))
        inner = np.eye(len(shift)) + (1 - own) * precision
        constants = sum(said.constant(own) for said in self.said)
        gained = (1 - own) * float(shift @ np.linalg.solve(inner, shift))
        return constants + (gained - float(np.linalg.slogdet(inner)[1])) / 2

    def shared(self, own: float) -> Gaussian:
        """The belief about the shared view, given everyone's answers."""
        precision, shift = self._shared(own, range(len(self.said)))
        cov = (1 - own) * np.linalg.inv(np.eye(len(shift)) + (1 - own) * precision)
        return self._outward(cov @ shift, cov)

    def person(self, own: float, who: int) -> Gaussian:
        """The belief about one person's view, given everyone's answers."""
        precision, shift = self._shared(own, [one for one in range(len(self.said)) if one != who])
        eye, said = np.eye(len(shift)), self.said[who]
        others = (1 - own) * np.linalg.inv(eye + (1 - own) * precision)  # the shared view, given the others' answers
        before = np.linalg.inv(others + own * eye)
        cov = np.linalg.inv(before + (said.axes * said.precision) @ said.axes.T)
        return self._outward(cov @ (before @ (others @ shift) + said.axes @ said.shift), cov)

    def _shared(self, own: float, people: Sequence[int] | range) -> tuple[Array, Array]:
        D = self.prior.dim
        precision, shift = np.zeros((D, D)), np.zeros(D)
        for who in people:
            more, along = self.said[who].towards(own)
            precision += more
            shift += along
        return precision, shift

    def _outward(self, mean: Array, cov: Array) -> Gaussian:
        whole = self._root @ cov @ self._root.T
        return Gaussian.from_moments(self.prior.mean + self._root @ mean, (whole + whole.T) / 2)


def _said(root: Array, mean: Array, belief: Gaussian) -> Said:
    """The factor that leads from N(mean, root root') to ``belief``; a direction whose variance grew counts as no information."""
    half = solve_triangular(root, belief.cov, lower=True)
    whole = solve_triangular(root, half.T, lower=True)
    variance, axes = np.linalg.eigh((whole + whole.T) / 2)
    variance = np.clip(variance, 1e-12, 1.0)
    moved = axes.T @ solve_triangular(root, belief.mean - mean, lower=True)
    return Said(axes, 1 / variance - 1, moved / variance)


def best_share(views: Views) -> float:
    """The share ``own`` that best predicts everyone's answers; 0 unless it is clearly better than 0."""
    alike, *others = ((views.evidence_nats(own), own) for own in OWN_SHARES)
    best = max(others)
    return best[1] if best[0] > alike[0] + BEYOND_CHANCE_NATS else 0.0


def best_split(views: Views, own: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The split of two or more people into two camps, each with its own shared view, that makes all answers most probable.

    The two people who differ most start the camps, and the others join the one that they fit better. Then each person is
    moved to the other camp if that is better, until no move helps.
    """
    everybody = range(len(views.said))

    def evidence(second: Set[int]) -> float:
        camps = [who for who in everybody if who not in second], sorted(second)
        return sum(views.among(camp).evidence_nats(own) for camp in camps)

    alone = [views.among([who]).evidence_nats(own) for who in everybody]
    pairs = {frozenset(pair): views.among(pair).evidence_nats(own) for pair in combinations(everybody, 2)}
    alike = {pair: together - sum(alone[who] for who in pair) for pair, together in pairs.items()}
    one, other = min(alike, key=alike.__getitem__)
    second = {
        who
        for who in everybody
        if who != one and (who == other or alike[frozenset((who, other))] > alike[frozenset((who, one))])
    }
    best = evidence(second)
    better = True
    while better:
        better = False
        for who in everybody:
            moved = second ^ {who}
            if 0 < len(moved) < len(everybody) and (found := evidence(moved)) > best + 1e-9:
                second, best, better = moved, found, True
    return tuple(who for who in everybody if who not in second), tuple(sorted(second))
