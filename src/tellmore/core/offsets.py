"""Several people's views of one thing: a classifier that they share, and an offset of each person's own.

theta_p = theta + delta_p, with theta ~ N(m, (1 - own) S), delta_p ~ N(0, own S): what anybody means is as likely beforehand as
what one person alone would mean, N(m, S), and ``own`` is the share of it that is their own. 0: all mean the same; near 1:
nobody's answers say anything about another's view.

What each person's answers say is a Gaussian factor: their belief, learnt alone from N(m, S), over N(m, S). Given these factors
everything here is exact: the graph is a star. In coordinates u in which the prior is standard normal, factor p is
exp(-u'A u/2 + b'u) with A = V diag(a) V'; towards the shared view it has the precision V diag(a / (1 + own a)) V' and the shift
V diag(1 / (1 + own a)) V'b. One eigendecomposition a person serves every ``own``.
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
"""Shares of a view that may be a person's own, among which the answers decide."""

BEYOND_CHANCE_NATS = 3.0
"""By so much must views that differ predict the answers better than one view, before people are said to differ."""


@dataclass(frozen=True, eq=False)
class Said:
    """What one person said: exp(-u'A u/2 + b'u), A = axes diag(precision) axes' [D, D], b = axes shift."""

    axes: Array  # [D, D]
    precision: Array  # [D]
    shift: Array  # [D]

    def towards(self, own: float) -> tuple[Array, Array]:
        """Precision [D, D] and shift [D] of what is said of the shared view."""
        shrunk = 1 / (1 + own * self.precision)
        return (self.axes * (self.precision * shrunk)) @ self.axes.T, self.axes @ (shrunk * self.shift)

    def constant(self, own: float) -> float:
        """The logarithm of the factor of that message which does not depend on the shared view."""
        shrunk = 1 / (1 + own * self.precision)
        return float(np.sum(np.log(shrunk)) + own * np.sum(shrunk * self.shift**2)) / 2


@dataclass(frozen=True, eq=False)
class Views:
    """What several people ``said``, beside the ``prior`` N(m, S) that each of them began from."""

    prior: Gaussian
    said: tuple[Said, ...]

    @classmethod
    def of(cls, prior: Gaussian, alone: Sequence[Gaussian]) -> Views:
        """From the beliefs that each person's answers alone lead to, all from ``prior``."""
        root = np.linalg.cholesky(prior.cov)
        return cls(prior, tuple(_said(root, prior.mean, belief) for belief in alone))

    def among(self, people: Sequence[int]) -> Views:
        """The same of some people only."""
        return Views(self.prior, tuple(self.said[who] for who in people))

    @cached_property
    def _root(self) -> Array:
        return np.linalg.cholesky(self.prior.cov)

    def evidence_nats(self, own: float) -> float:
        """The log evidence of everybody's answers, where this share of a view is a person's own; up to a constant."""
        precision, shift = self._shared(own, range(len(self.said)))
        inner = np.eye(len(shift)) + (1 - own) * precision
        constants = sum(said.constant(own) for said in self.said)
        gained = (1 - own) * float(shift @ np.linalg.solve(inner, shift))
        return constants + (gained - float(np.linalg.slogdet(inner)[1])) / 2

    def shared(self, own: float) -> Gaussian:
        """The belief about the shared view, by everybody's answers."""
        precision, shift = self._shared(own, range(len(self.said)))
        cov = (1 - own) * np.linalg.inv(np.eye(len(shift)) + (1 - own) * precision)
        return self._outward(cov @ shift, cov)

    def person(self, own: float, who: int) -> Gaussian:
        """The belief about one person's view, by everybody's answers."""
        precision, shift = self._shared(own, [one for one in range(len(self.said)) if one != who])
        eye, said = np.eye(len(shift)), self.said[who]
        others = (1 - own) * np.linalg.inv(eye + (1 - own) * precision)  # the shared view, by what the others said
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
    """The factor that led from N(mean, root root') to ``belief``; a variance that grew counts as nothing said."""
    half = solve_triangular(root, belief.cov, lower=True)
    whole = solve_triangular(root, half.T, lower=True)
    variance, axes = np.linalg.eigh((whole + whole.T) / 2)
    variance = np.clip(variance, 1e-12, 1.0)
    moved = axes.T @ solve_triangular(root, belief.mean - mean, lower=True)
    return Said(axes, 1 / variance - 1, moved / variance)


def best_share(views: Views) -> float:
    """How much of a view is people's own, by what predicts everybody's answers best; 0 unless that is beyond chance."""
    alike, *others = ((views.evidence_nats(own), own) for own in OWN_SHARES)
    best = max(others)
    return best[1] if best[0] > alike[0] + BEYOND_CHANCE_NATS else 0.0


def best_split(views: Views, own: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The two or more people in two camps, each with a shared view of its own, that make everybody's answers most probable.

    From the two people who differ most, the others join whom they fit better; then each is tried on the other side, until
    nobody fits better there.
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
