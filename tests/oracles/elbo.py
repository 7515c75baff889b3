"""The evidence lower bounds of an answer, maximised by a generic optimiser over (mean, Cholesky factor).

The objective is written down as the definition reads and differentiated by the complex step, so that no derivative
is worked out by hand. A ranking is k-1 choices among what remains and k labels; a selection one choice and one label.

Label (Jaakkola and Jordan): E log sigmoid(a) >= E[a]/2 - log(2 cosh(xi/2)) at its best xi, xi^2 = E[a^2].
Choice of i, any weights c that sum to 1: E log p(i) >= K m_i - log sum_j exp(K m_j + K^2/2 (e_j-c)'V(e_j-c)).
The paper's bound (eq. 8) is c = 0; the centred bound also maximises over c, which are parameters here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize


@dataclass(frozen=True)
class Terms:
    """An answer as choices (sharpness, chosen row, rows it was among) and labels (row, y)."""

    choices: list[tuple[float, int, list[int]]]
    labels: list[tuple[int, int]]


def terms(kind: str, size: int, outcome: Any, K: float) -> Terms:
    """Split an answer into its choices and labels."""
    if kind == "label":
        return Terms([], [(0, outcome)])
    if kind == "tick":
        return Terms([], list(enumerate(outcome)))
    if kind == "rank":
        order, n_positive = outcome
        choices = [(K, order[j], list(order[j:])) for j in range(size - 1)]
        return Terms(choices, [(item, 1 if j < n_positive else -1) for j, item in enumerate(order)])
    chosen, y = outcome
    return Terms([(-K if kind == "select_low" else K, chosen, list(range(size)))], [(chosen, y)])


def label_bound(m: Any, v: Any, y: int, w: float) -> Any:
    """Jaakkola-Jordan bound for a score of mean m and variance v."""
    xi = np.sqrt(w**2 * (v + m**2))
    return y * w * m / 2 - xi / 2 - np.log1p(np.exp(-xi))


def choice_bound(m: Any, V: Any, K: float, chosen: int, among: list[int], c: Any) -> Any:
    """Bound of one choice for scores of mean m [k] and covariance V [k, k]; weights c [len(among)] or 0."""
    local_m, local_V = m[among], V[np.ix_(among, among)]
    offsets = np.eye(len(among)) - c
    exponents = K * local_m + K**2 / 2 * np.array([row @ local_V @ row for row in offsets])
    shift = exponents.real.max()
    return K * m[chosen] - shift - np.log(np.exp(exponents - shift).sum())


def expected_bound(m: Any, V: Any, answer: Terms, w: float, weights: list[Any]) -> Any:
    """Lower bound on E log p(answer)."""
    total = 0.0
    for (K, chosen, among), c in zip(answer.choices, weights, strict=True):
        total = total + choice_bound(m, V, K, chosen, among, c)
    for row, y in answer.labels:
        total = total + label_bound(m[row], V[row, row], y, w)
    return total


class Objective:
    """Minus the ELBO of one answer as a function of one flat parameter vector, in the prior's own units.

    theta = mean + F u with F the Cholesky factor of the prior's covariance, u ~ N(nu, R R'), R lower triangular with
    exp(.) on its diagonal. KL(q || prior) is then the textbook formula against N(0, I).
    """

    def __init__(
        self,
        mean: np.ndarray,
        cov: np.ndarray,
        items: np.ndarray,
        kind: str,
        outcome: Any,
        w: float,
        K: float,
        bound: str,
    ) -> None:
        self.mean, self.factor, self.items, self.w = mean, np.linalg.cholesky(cov), items, w
        self.answer = terms(kind, len(items), outcome, K)
        self.centred = bound == "centred"
        self.d = len(mean)
        self.rows, self.cols = np.tril_indices(self.d)
        self.n_belief = self.d + len(self.rows)
        sizes = [len(among) - 1 for _, _, among in self.answer.choices] if self.centred else []
        self.cuts = np.cumsum(sizes)
        self.start = np.zeros(self.n_belief + sum(sizes))
        if self.centred:
            self.start[self.n_belief :] = np.concatenate([np.full(n, 1 / (n + 1)) for n in sizes] or [np.zeros(0)])

    def unpack(self, parameters: Any) -> tuple[Any, Any, list[Any]]:
        """Whitened mean [D], factor [D, D] and the centring weights of every choice."""
        nu = parameters[: self.d]
        R = np.zeros((self.d, self.d), dtype=parameters.dtype)
        R[self.rows, self.cols] = parameters[self.d : self.n_belief]
        R[np.diag_indices(self.d)] = np.exp(np.diag(R))
        if not self.centred:
            return nu, R, [0.0] * len(self.answer.choices)
        free = np.split(parameters[self.n_belief :], self.cuts[:-1]) if len(self.cuts) else []
        return nu, R, [np.append(c, 1 - c.sum()) for c in free]

    def __call__(self, parameters: Any) -> Any:
        nu, R, weights = self.unpack(parameters)
        projected = self.items @ self.factor
        m = self.items @ self.mean + projected @ nu
        V = (projected @ R) @ (projected @ R).T
        logdet = 2 * parameters[self.d : self.n_belief][self.rows == self.cols].sum()
        divergence = 0.5 * ((R * R).sum() + nu @ nu - self.d - logdet)
        return divergence - expected_bound(m, V, self.answer, self.w, weights)

    def gradient(self, parameters: np.ndarray) -> np.ndarray:
        """Complex-step derivative: exact to machine precision."""
        step = 1e-30
        return np.array([self(parameters + 1j * step * unit).imag / step for unit in np.eye(len(parameters))])

    def hessian(self, parameters: np.ndarray) -> np.ndarray:
        """Central differences of the exact gradient; good enough for Newton to converge fully."""
        step = 1e-5
        columns = [
            (self.gradient(parameters + step * unit) - self.gradient(parameters - step * unit)) / (2 * step)
            for unit in np.eye(len(parameters))
        ]
        matrix = np.array(columns)
        return (matrix + matrix.T) / 2

    def moments(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of theta."""
        nu, R, _ = self.unpack(parameters)
        root = self.factor @ R
        return self.mean + self.factor @ nu, root @ root.T


@dataclass(frozen=True)
class Optimum:
    """What the generic optimiser found."""

    mean: np.ndarray
    cov: np.ndarray
    elbo: float
    gradient_norm: float


def _newton_polish(value: Callable[[np.ndarray], np.ndarray], jacobian: Any, parameters: np.ndarray) -> np.ndarray:
    """Plain Newton on the gradient until it stops falling."""
    residual = np.abs(value(parameters)).max()
    for _ in range(20):
        candidate = parameters - np.linalg.lstsq(jacobian(parameters), value(parameters), rcond=None)[0]
        next_residual = np.abs(value(candidate)).max()
        if next_residual >= residual:
            break
        parameters, residual = candidate, next_residual
    return parameters


def maximise(
    mean: np.ndarray, cov: np.ndarray, items: np.ndarray, kind: str, outcome: Any, w: float, K: float, bound: str
) -> Optimum:
    """Best Gaussian under one bound. ``items`` [k, D] with the constant column. Quasi-Newton, then Newton to the end."""
    objective = Objective(mean, cov, items, kind, outcome, w, K, bound)
    rough = minimize(
        lambda p: float(objective(p)), objective.start, jac=objective.gradient, method="BFGS", options={"gtol": 1e-6}
    )
    best = _newton_polish(objective.gradient, objective.hessian, rough.x)
    found_mean, found_cov = objective.moments(best)
    return Optimum(found_mean, found_cov, -float(objective(best)), float(np.abs(objective.gradient(best)).max()))


def value(
    mean: np.ndarray,
    cov: np.ndarray,
    posterior: tuple[np.ndarray, np.ndarray],
    items: np.ndarray,
    kind: str,
    outcome: Any,
    w: float,
    K: float,
    bound: str,
) -> float:
    """The ELBO of a given Gaussian, the centring weights at their best."""
    new_mean, new_cov = posterior
    answer = terms(kind, len(items), outcome, K)
    m, V = items @ new_mean, items @ new_cov @ items.T
    weights: list[Any] = [0.0] * len(answer.choices)
    if bound == "centred":
        weights = [best_weights(m[among], V[np.ix_(among, among)], sharpness) for sharpness, _, among in answer.choices]
    gap = new_mean - mean
    ratio = np.linalg.solve(cov, new_cov)
    divergence = 0.5 * (np.trace(ratio) - len(mean) - np.linalg.slogdet(ratio)[1] + gap @ np.linalg.solve(cov, gap))
    return float(expected_bound(m, V, answer, w, weights) - divergence)


def best_weights(m: np.ndarray, V: np.ndarray, K: float) -> np.ndarray:
    """The centring weights that make the bound largest, by a generic optimiser."""

    def negative(free: np.ndarray) -> float:
        c = np.append(free, 1 - free.sum())
        exponents = K * m + K**2 / 2 * np.array([row @ V @ row for row in np.eye(len(m)) - c])
        return float(np.logaddexp.reduce(exponents))

    found = minimize(negative, np.full(len(m) - 1, 1 / len(m)), method="BFGS", options={"gtol": 1e-10})
    return np.append(found.x, 1 - found.x.sum())


def tightest_weights(m: np.ndarray, V: np.ndarray, K: float) -> np.ndarray:
    """The same weights by Newton on c = softmax(K m_j + K^2/2 (e_j-c)'V(e_j-c)), for hard cases; V [k, k].

    The residual is kept in the precision of m and V, the slope, dp/dc = -K^2 (diag(p) - p p') V, in double.
    """
    c = np.full(len(m), 1 / len(m), dtype=m.dtype)
    for _ in range(100):
        p = _exponent_softmax(m, V, K, c)
        if np.abs(p - c).max() < 1e-17:
            break
        slope = -(K**2) * (np.diag(p) - np.outer(p, p)) @ V
        step = np.linalg.solve(np.eye(len(m)) - slope.astype(float), (p - c).astype(float))
        scale = 1.0
        before = np.logaddexp.reduce(_exponents(m, V, K, c))
        while scale > 1e-3 and np.logaddexp.reduce(_exponents(m, V, K, c + scale * step)) > before:
            scale /= 2
        c = c + scale * step
    return c


def _exponents(m: np.ndarray, V: np.ndarray, K: float, c: np.ndarray) -> np.ndarray:
    offsets = np.eye(len(m)) - c
    return K * m + K**2 / 2 * np.einsum("ji,ik,jk->j", offsets, V, offsets)


def _exponent_softmax(m: np.ndarray, V: np.ndarray, K: float, c: np.ndarray) -> np.ndarray:
    exponents = _exponents(m, V, K, c)
    return np.exp(exponents - np.logaddexp.reduce(exponents))


def _refined_posterior(
    m0: np.ndarray, G: np.ndarray, precision: np.ndarray, shift: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """m = m0 + G shift and V = (I + G P)^-1 G in extended precision, by iterative refinement of the double solution."""
    wide_G, wide_P = G.astype(np.longdouble), precision.astype(np.longdouble)
    system = np.eye(len(m0), dtype=np.longdouble) + wide_G @ wide_P
    V = np.zeros_like(wide_G)
    for _ in range(4):
        V = V + np.linalg.solve(system.astype(float), (wide_G - system @ V).astype(float))
    return m0 + wide_G @ shift.astype(np.longdouble), (V + V.T) / 2


def stationary_residual(
    m0: np.ndarray,
    G: np.ndarray,
    precision: np.ndarray,
    shift: np.ndarray,
    answer: Terms,
    w: float,
    bound: str,
) -> float:
    """Gradient of the ELBO at the posterior that sites (precision [k, k], shift [k]) on scores N(m0, G) give.

    From that posterior N(m, V) work out the softmax of every choice and the weight of every label, and from those the
    sites b, P that the optimum's equations ask for. The gradients are b - shift for m and (precision - P) / 2 for V; they
    are measured in posterior standard deviations, V = R R', where the curvature is about one: so this is about how
    many standard deviations the optimum is away.
    """
    m, V = _refined_posterior(m0, G, precision, shift)
    again_precision, again_shift = np.zeros_like(V), np.zeros_like(m)
    for K, chosen, among in answer.choices:
        local = np.ix_(among, among)
        c = tightest_weights(m[among], V[local], K) if bound == "centred" else np.zeros(len(among))
        p = _exponent_softmax(m[among], V[local], K, c)
        again_shift[among] -= K * p
        again_shift[chosen] += K
        again_precision[local] += K**2 * (np.diag(p) - (np.outer(p, p) if bound == "centred" else 0))
    for row, y in answer.labels:
        xi = w * np.sqrt(V[row, row] + m[row] ** 2)
        weight = 2 * w**2 * np.tanh(xi / 2) / (4 * xi)
        again_precision[row, row] += weight
        again_shift[row] += y * w / 2 - weight * m[row]
    spread, axes = np.linalg.eigh(V.astype(float))
    scale = axes * np.sqrt(np.maximum(spread, 0))
    by_mean = scale.T @ (again_shift - shift)
    by_covariance = scale.T @ (again_precision - precision) @ scale / 2
    return max(float(np.abs(by_mean).max()), float(np.abs(by_covariance).max()))
