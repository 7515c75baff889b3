"""Learning from an answer: belief, items and what was said of them -> (belief, info). Algorithm 4, in the scores shown.

People err: they press the wrong key, misread, do not look. Where lapses are expected, the belief becomes that of the answer
with the probability that it was meant, and stays as it was with the other: r learnt + (1 - r) not learnt, as one Gaussian of
the same mean and covariance. r follows from how well the answer was predicted and how likely it is by chance. What contradicts
all that was told before is then hardly learnt at all: no answer, however sharp, moves the mean by more than
sqrt(2 log((1 - lapse) / (lapse chance))) standard deviations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import expit

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.habits import Site
from tellmore.core.moments import fixed_points, tilted_moments, whitened
from tellmore.core.variational import Bound, Sites, solve
from tellmore.types import Array

Rule: TypeAlias = Bound | Literal["moments"]
"""How an answer is learnt: at the optimum of a variational bound, or by the mean and covariance of the exact posterior."""
ENOUGH_POINTS = 20
"""Points that must count for each direction in which the scores vary; with fewer, their moments are not to be trusted."""
BOUND_POINTS = 256
"""Points for the expected log likelihood of an answer."""


@dataclass(frozen=True, eq=False)
class UpdateInfo:
    """What an update did: its steps, the evidence in nats (a lower bound, where variational), solver iterations, how much
    log |cov| fell, the probability that the answer was ``meant`` and no lapse, and what it taught about the scores."""

    steps: tuple[Step, ...] = field(repr=False)
    elbo_nats: float
    iterations: int
    residual: float
    logdet_drop_nats: float
    meant: float = 1.0
    site: Site | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class _Told:
    """What an answer says of the standard normal scores e = axes'(z - m0): their mean [r] and cov [r, r] after it.

    axes [k, r]; the log evidence of the answer, and how it was found.
    """

    mean: Array
    cov: Array
    axes: Array
    log_evidence: float
    iterations: int
    residual: float


def with_constant(X: Array) -> Array:
    """Rows (1, x): X [k, d] -> [k, d + 1]."""
    X = np.asarray(X, dtype=np.float64)
    return np.hstack([np.ones((len(X), 1)), X])


def learn(
    prior: Gaussian, X: Array, parts: list[Evidence], behaviour: Behaviour, *, bound: Bound = "centred"
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after each part of the evidence in turn, all on the items X [k, d] (no constant column).

    Lapses are of whole answers, and the paper knows none: they are allowed for if there is one part, with our own bound.
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
            return _carried(prior, reach, mean, told, lapse, part.log_chance(behaviour))
        belief, step = belief.conditioned(reach, gram, sites.precision, sites.shift)
        steps.append(step)
        elbo += sites.elbo
        iterations += sites.iterations
        residual = max(residual, sites.residual)
    return belief, UpdateInfo(tuple(steps), elbo, iterations, residual, prior.logdet - belief.logdet)


def learn_moments(prior: Gaussian, X: Array, evidence: Evidence, behaviour: Behaviour) -> tuple[Gaussian, UpdateInfo]:
    """The belief with the moments of the exact posterior, looked for near the variational one.

    The variational belief itself where the answer is so sharp that hardly a point of the search counts.
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
    return _carried(prior, reach, mean, told, behaviour.lapse, evidence.log_chance(behaviour))


def learn_likelihood(
    prior: Gaussian, X: Array, log_likelihood: Callable[[Array], Array], *, lapse: float = 0.0
) -> tuple[Gaussian, UpdateInfo]:
    """The belief with the mean and covariance of the exact posterior, given log P(answer | z) for scores z [N, k] -> [N].

    Only the k scores of X [k, d] are integrated over; what they say of the weights follows exactly.
    """
    mean, gram, reach = prior.project(with_constant(X))
    found = tilted_moments(mean, gram, log_likelihood)
    told = _Told(found.mean, found.cov, found.axes, found.log_evidence, found.rounds, found.error)
    return _carried(prior, reach, mean, told, lapse, float(log_likelihood(np.zeros((1, len(X))))[0]))


def _of_sites(sites: Sites, mean: Array, gram: Array, evidence: Evidence, behaviour: Behaviour) -> _Told:
    """What the variational optimum says, with its own lower bound of the evidence: E[log P(answer | z)] less the divergence.

    The bound that was maximised is lower, by up to nats where an answer has many sharp parts, which would look like a lapse.
    """
    root, axes = whitened(gram)
    cov = np.linalg.inv(np.eye(root.shape[1]) + root.T @ sites.precision @ root)
    cov, shift = (cov + cov.T) / 2, root.T @ sites.shift
    factor = np.linalg.cholesky(cov)
    points = shift + fixed_points(len(shift), BOUND_POINTS) @ factor.T
    likelihood = float(evidence.log_likelihood(mean + points @ root.T, behaviour).mean())
    divergence = (float(np.trace(cov) + shift @ shift) - len(shift)) / 2 - float(np.log(np.diag(factor)).sum())
    elbo = max(likelihood - divergence, sites.elbo)
    return _Told(shift, cov, axes, elbo, sites.iterations, sites.residual)


def _carried(
    prior: Gaussian, reach: Array, mean: Array, told: _Told, lapse: float, log_chance: float
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after what was told of the scores, reach = cov(theta, z) [D, k], mean [k] theirs before, or of
    chance with the probability of that."""
    meant, evidence = 1.0, told.log_evidence
    if lapse:
        attentive, absent = np.log1p(-lapse) + told.log_evidence, np.log(lapse) + log_chance
        meant, evidence = float(expit(attentive - absent)), float(np.logaddexp(attentive, absent))
        told = _lessened(told, meant)
    belief, step = prior.matched(reach @ told.axes, told.mean, told.cov)
    drop = prior.logdet - belief.logdet
    return belief, UpdateInfo((step,), evidence, told.iterations, told.residual, drop, meant, _site(told, mean))


def _site(told: _Told, mean: Array) -> Site:
    """What was told, as a factor exp(-z' precision z / 2 + shift' z); mean [k]: that of the scores before."""
    inverse = np.linalg.inv(told.cov)
    precision = told.axes @ (inverse - np.eye(len(inverse))) @ told.axes.T
    return Site(precision, told.axes @ inverse @ told.mean + precision @ mean)


def _lessened(told: _Told, meant: float) -> _Told:
    """The moments of: what was told with the probability ``meant``, else a standard normal as before."""
    between = meant * (1 - meant) * np.outer(told.mean, told.mean)
    cov = meant * told.cov + (1 - meant) * np.eye(len(told.mean)) + between
    return replace(told, mean=meant * told.mean, cov=cov)
