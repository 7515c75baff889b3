"""Learning from an answer: update(belief, question, answer) -> (belief, info). Algorithm 4, exact and in the scores shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.variational import Bound, solve
from tellmore.kinds import KINDS_BY_NAME, Outcome
from tellmore.types import Array


@dataclass(frozen=True, eq=False)
class UpdateInfo:
    """What an update did: its steps, the variational bound in nats, solver iterations, and how much log |cov| fell."""

    steps: tuple[Step, ...]
    elbo_nats: float
    iterations: int
    residual: float
    logdet_drop_nats: float


def with_constant(X: Array) -> Array:
    """Rows (1, x): X [k, d] -> [k, d + 1]."""
    X = np.asarray(X, dtype=np.float64)
    return np.hstack([np.ones((len(X), 1)), X])


def update(
    prior: Gaussian,
    X: Array,
    kind: str,
    outcome: Outcome,
    behaviour: Behaviour,
    *,
    bound: Bound = "centred",
    joint: bool = True,
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after ``outcome`` on items X [k, d] (no constant column).

    joint: all labels and choices of the answer at once, at the exact optimum; otherwise one factor after another, as the
    paper's Algorithm 4 reads.
    """
    evidence = KINDS_BY_NAME[kind].evidence(outcome, len(X))
    return learn(prior, X, [evidence] if joint else evidence.factors(), behaviour, bound=bound)


def learn(
    prior: Gaussian, X: Array, parts: list[Evidence], behaviour: Behaviour, *, bound: Bound = "centred"
) -> tuple[Gaussian, UpdateInfo]:
    """The belief after each part of the evidence in turn, all on the items X [k, d]."""
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
