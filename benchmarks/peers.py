"""Well-written, straightforward implementations of what the engine does, for comparison."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian

FloatArray = np.ndarray


def alternating_optimiser(
    prior: Gaussian,
    X: FloatArray,
    chosen: int,
    y: int,
    behaviour: Behaviour,
    *,
    sweeps: int = 50,
    tolerance: float = 1e-8,
) -> FloatArray:
    """The mean after a selection by Algorithm 4 as printed: the label by its fixed point, the choice by L-BFGS over (mu, L).

    X [k, D] has the constant column. Both steps repeat, each starting from the result of the other, until the mean converges.
    """
    inverse = np.linalg.inv(prior.cov)
    natural = inverse @ prior.mean
    x = behaviour.w * X[chosen]
    mean, factor = prior.mean, np.linalg.cholesky(prior.cov)
    for _ in range(sweeps):
        before = mean
        xi = np.sqrt(((x @ factor) ** 2).sum() + (x @ mean) ** 2)
        label_inverse = inverse + 2 * _lambda(xi) * np.outer(x, x)
        label_mean = np.linalg.solve(label_inverse, natural + y / 2 * x)
        mean, factor = _minimise(label_inverse, label_mean, behaviour.K * X, chosen, mean, factor)
        if np.abs(mean - before).max() < tolerance * np.abs(mean).max():
            break
    return mean


def joint_optimiser(prior: Gaussian, X: FloatArray, chosen: int, y: int, behaviour: Behaviour) -> FloatArray:
    """The same optimum in one run of L-BFGS over (mu, L): better than Algorithm 4 as printed, with the label in the objective."""
    label = (behaviour.w * X[chosen], y)
    factor = np.linalg.cholesky(prior.cov)
    inverse = np.linalg.inv(prior.cov)
    return _minimise(inverse, prior.mean, behaviour.K * X, chosen, prior.mean, factor, label)[0]


def _minimise(
    inverse: FloatArray,
    centre: FloatArray,
    A: FloatArray,
    chosen: int,
    mean: FloatArray,
    factor: FloatArray,
    label: tuple[FloatArray, int] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Minimise the KL to N(centre, inverse^-1) minus the bound of the choice (and of the label), from (mean, factor).

    Gradients are analytic, and products use BLAS. L-BFGS ends when rounding hides any further decrease of the objective.
    """
    D = centre.size
    lower = np.tril_indices(D)

    def objective(packed: FloatArray) -> tuple[float, FloatArray]:
        m, L = packed[:D], np.zeros((D, D))
        L[lower] = packed[D:]
        gap = m - centre
        pull, spread, reach = inverse @ gap, inverse @ L, A @ L
        exponent = A @ m + 0.5 * (reach**2).sum(axis=1)
        top = exponent.max()
        weights = np.exp(exponent - top)
        total = weights.sum()
        weights /= total
        diagonal = np.abs(np.diag(L))
        value = 0.5 * (gap @ pull + np.sum(L * spread)) - np.log(diagonal).sum() - A[chosen] @ m + top + np.log(total)
        grad_m = pull - A[chosen] + A.T @ weights
        grad_L = spread + (A.T * weights) @ reach
        grad_L[np.diag_indices(D)] -= 1 / np.diag(L)
        if label is not None:  # at the best xi, so that xi has no gradient
            x, y = label
            along, score = x @ L, x @ m
            xi = np.sqrt(along @ along + score**2)
            value -= log_expit(xi) + (y * score - xi) / 2
            grad_m += (2 * _lambda(xi) * score - y / 2) * x
            grad_L += 2 * _lambda(xi) * np.outer(x, along)
        return float(value), np.concatenate([grad_m, grad_L[lower]])

    start = np.concatenate([mean, factor[lower]])
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-8},
    )
    L = np.zeros((D, D))
    L[lower] = found.x[D:]
    return found.x[:D], L


def _lambda(xi: float) -> float:
    """lambda(xi) of Jaakkola and Jordan's bound."""
    return float(np.tanh(xi / 2) / (4 * xi))


def particle_greedy_select(
    X: FloatArray, belief: Gaussian, size: int, behaviour: Behaviour, rng: np.random.Generator, particles: int = 10_000
) -> list[int]:
    """Algorithm 5, vectorised: new particles in D dimensions at each step score every item of the pool, X [n, D] in float32."""
    rows: list[int] = []
    for _ in range(size):
        theta = belief.sample(particles, rng)
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        z = X @ theta.T.astype(np.float32)  # [n, N]
        gains = np.full(len(X), -np.inf)
        own = z[rows]
        for start in range(0, len(X), 256):
            gains[start : start + 256] = _select_gains(own, z[start : start + 256], behaviour)
        gains[rows] = -np.inf
        rows.append(int(np.argmax(gains)))
    return rows


def _select_gains(own: FloatArray, candidates: FloatArray, behaviour: Behaviour) -> FloatArray:
    """Gains in nats of adding each candidate [C, N] to a set with scores own [j, N]."""
    if len(own) == 0:
        p = expit(behaviour.w * candidates)
        return _entropy(p.mean(axis=1)) - _entropy(p).mean(axis=1)
    top = np.maximum(own.max(axis=0), candidates)
    e_own = np.exp(behaviour.K * (own[:, None] - top))  # [j, C, N]
    e_new = np.exp(behaviour.K * (candidates - top))
    total = e_own.sum(axis=0) + e_new
    conditional = np.log(total)
    marginal = np.zeros(len(candidates))
    for e, z in [*zip(e_own, own, strict=True), (e_new, candidates)]:
        share, p = e / total, expit(behaviour.w * z)
        conditional += share * (_entropy(p) - behaviour.K * (z - top))
        positive = (share * p).mean(axis=1)
        negative = share.mean(axis=1) - positive
        marginal -= positive * np.log(positive + 1e-30) + negative * np.log(negative + 1e-30)
    return marginal - conditional.mean(axis=1)


def _entropy(p: FloatArray) -> FloatArray:
    return -(p * np.log(p + 1e-30) + (1 - p) * np.log(1 - p + 1e-30))
