"""Learning from an answer: belief, items and what was said of them -> (belief, info). Algorithm 4, in the scores shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.moments import tilted_moments
from tellmore.core.variational import Bound, solve
from tellmore.types import Array

Rule: TypeAlias = Bound | Literal["moments"]
"""How an answer is learnt: at the optimum of a variational bound, or by the mean and covariance of the exact posterior."""
ENOUGH_POINTS = 20
"""Points that must count for each direction in which the scores vary; with fewer, their moments are not to be trusted."""


@dataclass(frozen=True, eq=False)
class UpdateInfo:
    """What an update did: its steps, the evidence in nats (a lower bound, where variational), solver iterations, and how
    much log |cov| fell."""

    steps: tuple[Step, ...]
    elbo_nats: float
    iterations: int
    residual: float
    logdet_drop_nats: float


def with_constant(X: Array) -> Array:
    """Rows (1, x): X [k, d] -> [k, d + 1]."""
    X = np.asarray(X, dtype=np.float64)
    return np.hstack([np.ones((len(X), 1)), X])


def learn(
    prior: Gaussian, X: Array, parts: list[Evidence], behaviour: Behaviour, *, bound: Bound = "centred"
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after each part of the evidence in turn, all on the items X [k, d] (no constant column)."""
    A = with_constant(X)
    belief, steps = prior, []
    elbo, iterations, residual = 0.0, 0, 0.0
    for part in parts:
        mean, gram, reach = belief.project(A)
        sites = solve(mean, gram, part, behaviour, bound)
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
    belief, step = prior.matched(reach @ found.axes, found.mean, found.cov)
    return belief, UpdateInfo((step,), found.log_evidence, sites.iterations, found.error, prior.logdet - belief.logdet)


def learn_likelihood(
    prior: Gaussian, X: Array, log_likelihood: Callable[[Array], Array]
) -> tuple[Gaussian, UpdateInfo]:
    """The belief with the mean and covariance of the exact posterior, given log P(answer | z) for scores z [N, k] -> [N].

    Only the k scores of X [k, d] are integrated over; what they say of the weights follows exactly.
    """
    mean, gram, reach = prior.project(with_constant(X))
    found = tilted_moments(mean, gram, log_likelihood)
    belief, step = prior.matched(reach @ found.axes, found.mean, found.cov)
    return belief, UpdateInfo((step,), found.log_evidence, found.rounds, found.error, prior.logdet - belief.logdet)
