"""Well-written straightforward versions of what the engine does, to measure it against."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian

FloatArray = np.ndarray


def optimiser_select_update(
    prior: Gaussian,
    X: FloatArray,
    chosen: int,
    y: int,
    behaviour: Behaviour,
    *,
    sweeps: int = 50,
    tolerance: float = 1e-8,
) -> tuple[FloatArray, FloatArray]:
    """Algorithm 4 as it reads: label by its fixed point, choice by a numerical optimiser over mean and Cholesky factor.

    X [k, D] with the constant column. Gradients are analytic, products are BLAS; both halves repeat until nothing moves.
    """
    inverse = np.linalg.inv(prior.cov)
    natural = inverse @ prior.mean
    mean, cov = prior.mean.copy(), prior.cov.copy()
    x = behaviour.w * X[chosen]
    for _ in range(sweeps):
        before = mean.copy()
        xi = np.sqrt(x @ cov @ x + (x @ mean) ** 2)
        label_inverse = inverse + 2 * np.tanh(xi / 2) / (4 * xi) * np.outer(x, x)
        label_mean = np.linalg.solve(label_inverse, natural + y / 2 * x)
        mean, cov = _minimise(label_inverse, label_mean, behaviour.K * X, chosen, mean, np.linalg.cholesky(cov))
        if np.abs(mean - before).max() < tolerance * np.abs(mean).max():
            break
    return mean, cov


def _minimise(
    inverse: FloatArray, centre: FloatArray, A: FloatArray, chosen: int, mean: FloatArray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
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
    return found.x[:D], L @ L.T


def particle_greedy_select(
    X: FloatArray, belief: Gaussian, size: int, behaviour: Behaviour, rng: np.random.Generator, particles: int = 10_000
) -> list[int]:
    """Algorithm 5, vectorised: fresh particles in D dimensions at each step, every item of the pool scored. X [n, D] float32."""
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
    """Gains in nats of adding each candidate [C, N] to a set whose scores are own [j, N]."""
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
