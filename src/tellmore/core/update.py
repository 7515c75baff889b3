"""Learning from an answer: (belief, items, answer) -> (belief, info). Algorithm 4, in the scores of the items shown.

People make mistakes: they press the wrong key, misread or do not look. If lapses are expected, the new belief is a mixture:
the belief after the answer with the probability r that the answer was meant, and the belief before it with 1 - r. It is
replaced by the Gaussian of the same mean and covariance. r follows from the predictive probability of the answer and from its
probability by chance. An answer that contradicts all earlier ones is then hardly learnt at all: no answer, however sharp,
moves the mean by more than sqrt(2 log((1 - lapse) / (lapse chance))) standard deviations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import log, log1p
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import expit

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.habits import Site
from tellmore.core.moments import fixed_points, tilted_moments, whitened
from tellmore.core.small import cholesky, plus_identity, solved
from tellmore.core.variational import Bound, Sites, solve
from tellmore.types import Array

Rule: TypeAlias = Bound | Literal["moments"]
"""How an answer is learnt: at the optimum of a variational bound, or from the mean and covariance of the exact posterior."""
ENOUGH_POINTS = 20
"""Effective points required for each direction in which the scores vary; with fewer, the moments are not reliable."""
BOUND_POINTS = 256
"""Points used to estimate the expected log likelihood of an answer."""


@dataclass(frozen=True, eq=False)
class UpdateInfo:
    """What an update did: its steps, the log evidence in nats (a lower bound if variational), solver iterations, the decrease
    of log |cov|, the probability that the answer was ``meant`` and not a lapse, mean and covariance of the scores before the
    answer (``seen``), and how they changed (``told``)."""

    steps: tuple[Step, ...] = field(repr=False)
    elbo_nats: float
    iterations: int
    residual: float
    logdet_drop_nats: float
    meant: float = 1.0
    seen: tuple[Array, Array] | None = field(default=None, repr=False)
    told: _Told | None = field(default=None, repr=False)

    @cached_property
    def site(self) -> Site | None:
        """The answer as a factor on the scores of its items, if it was learnt as a whole."""
        return None if self.told is None or self.seen is None else _site(self.told, self.seen[0])


@dataclass(frozen=True, eq=False)
class _Told:
    """The posterior of the scores in whitened coordinates e = axes'(z - m0), which were standard normal before the answer.

    ``mean`` [r] and ``cov`` [r, r] of e, ``axes`` [k, r], the log evidence of the answer, and how the solver converged.
    """

    mean: Array
    cov: Array
    axes: Array
    log_evidence: float
    iterations: int
    residual: float


def with_constant(X: Array) -> Array:
    """Rows (1, x): X [k, d] -> [k, d + 1]."""
    A = np.ones((X.shape[0], X.shape[1] + 1))
    A[:, 1:] = X
    return A


def learn(
    prior: Gaussian, X: Array, parts: list[Evidence], behaviour: Behaviour, *, bound: Bound = "centred"
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after learning each part of the evidence in turn, all about the items X [k, d] (no constant column).

    A lapse concerns a whole answer, and the paper has no lapses: they count only with a single part and the centred bound.
    """
    A = with_constant(X)
    lapse = behaviour.lapse if len(parts) == 1 and bound == "centred" else 0.0
    belief, steps = prior, []
    elbo, iterations, residual = 0.0, 0, 0.0
    for part in parts:
        mean, gram, reach = belief.project(A)
        sites = solve(mean, gram, part, behaviour, bound)
        if lapse and (gram.diagonal() > 0).any():
            told = _of_sites(sites, mean, gram, part, behaviour)
            return _carried(prior, reach, (mean, gram), told, lapse, part.log_chance(behaviour))
        belief, step = belief.conditioned(reach, gram, sites.precision, sites.shift)
        steps.append(step)
        elbo += sites.elbo
        iterations += sites.iterations
        residual = max(residual, sites.residual)
    return belief, UpdateInfo(tuple(steps), elbo, iterations, residual, prior.logdet - belief.logdet)


def learn_moments(prior: Gaussian, X: Array, evidence: Evidence, behaviour: Behaviour) -> tuple[Gaussian, UpdateInfo]:
    """The belief with the moments of the exact posterior, by importance sampling around the variational one.

    Falls back on the variational belief if the answer is so sharp that too few points have any weight.
    """
    mean, gram, reach = prior.project(with_constant(X))
    sites = solve(mean, gram, evidence, behaviour)
    found = None
    if (gram.diagonal() > 0).any():
        spread = np.linalg.solve(np.eye(len(gram)) + gram @ sites.precision, gram)
        start = mean + gram @ sites.shift, spread
        found = tilted_moments(mean, gram, lambda z: evidence.log_likelihood(z, behaviour), start)
    if found is None or found.effective < ENOUGH_POINTS * len(found.mean):
        return learn(prior, X, [evidence], behaviour)
    told = _Told(found.mean, found.cov, found.axes, found.log_evidence, sites.iterations, found.error)
    return _carried(prior, reach, (mean, gram), told, behaviour.lapse, evidence.log_chance(behaviour))


def learn_likelihood(
    prior: Gaussian, X: Array, log_likelihood: Callable[[Array], Array], *, lapse: float = 0.0
) -> tuple[Gaussian, UpdateInfo]:
    """The belief with the mean and covariance of the exact posterior, given log P(answer | z) for scores z [N, k] -> [N].

    Only the k scores of X [k, d] are integrated over; the posterior of the weights then follows exactly.
    """
    mean, gram, reach = prior.project(with_constant(X))
    found = tilted_moments(mean, gram, log_likelihood)
    told = _Told(found.mean, found.cov, found.axes, found.log_evidence, found.rounds, found.error)
    return _carried(prior, reach, (mean, gram), told, lapse, float(log_likelihood(np.zeros((1, len(X))))[0]))


def _of_sites(sites: Sites, mean: Array, gram: Array, evidence: Evidence, behaviour: Behaviour) -> _Told:
    """The variational optimum, with a tighter lower bound on the evidence: E[log P(answer | z)] minus the divergence.

    The bound that was maximised can be several nats lower if an answer has many sharp parts, which would look like a lapse.
    """
    root, axes = whitened(gram)
    cov = solved(plus_identity(root.T @ sites.precision @ root), np.eye(root.shape[1]))
    cov, shift = (cov + cov.T) / 2, root.T @ sites.shift
    factor = cholesky(cov)
    z = (mean + root @ shift) + fixed_points(len(shift), BOUND_POINTS) @ (root @ factor).T
    likelihood = float(evidence.log_likelihood(z, behaviour).mean())
    divergence = (float(np.trace(cov) + shift @ shift) - len(shift)) / 2 - float(np.log(factor.diagonal()).sum())
    elbo = max(likelihood - divergence, sites.elbo)
    return _Told(shift, cov, axes, elbo, sites.iterations, sites.residual)


def _carried(
    prior: Gaussian, reach: Array, seen: tuple[Array, Array], told: _Told, lapse: float, log_chance: float
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after the scores changed to ``told``, mixed with the prior in proportion to the probability of a lapse.

    reach: cov(theta, z) [D, k]. seen: mean [k] and covariance [k, k] of the scores before the answer.
    """
    meant, evidence = 1.0, told.log_evidence
    if lapse:
        attentive, absent = log1p(-lapse) + told.log_evidence, log(lapse) + log_chance
        meant, evidence = float(expit(attentive - absent)), float(np.logaddexp(attentive, absent))
        told = _lessened(told, meant)
    belief, step = prior.matched(reach @ told.axes, told.mean, told.cov)
    drop = prior.logdet - belief.logdet
    return belief, UpdateInfo((step,), evidence, told.iterations, told.residual, drop, meant, seen, told)


def _site(told: _Told, mean: Array) -> Site:
    """The answer as a factor exp(-z' precision z / 2 + shift' z); mean [k]: that of the scores before it."""
    identity = np.eye(len(told.cov))
    inverse = solved(told.cov, identity)
    precision = told.axes @ (inverse - identity) @ told.axes.T
    return Site(precision, told.axes @ (inverse @ told.mean) + precision @ mean)


def _lessened(told: _Told, meant: float) -> _Told:
    """The moments of a mixture: ``told`` with the probability ``meant``, else the standard normal from before."""
    between = (meant * (1 - meant)) * told.mean[:, None] * told.mean
    cov = meant * told.cov + (1 - meant) * np.eye(len(told.mean)) + between
    return _Told(meant * told.mean, cov, told.axes, told.log_evidence, told.iterations, told.residual)
