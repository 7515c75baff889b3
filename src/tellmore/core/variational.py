"""The variational optimum of one answer, solved in the k scores that the question shows (eqs. 8-9, Algorithm 4).

A question sees theta only through z = X_S theta, Gaussian with mean m0 and covariance G. The best Gaussian posterior is

    Sigma^-1 = Sigma_p^-1 + X'(A' diag(p) A + diag(c)) X,        mu = mu_p + Sigma_p X' b,

with a softmax p for each choice, stacked to N numbers, and a Jaakkola-Jordan weight c for each label. Rows of A are
K e_l for the paper's bound and K (e_l - sum_j p_j e_j) for the centred one, which is the tightest over all shifts of the
items. For fixed c the choices solve a concave problem on a product of simplices,

    g(p) = H(p) + logdet(I + V1 A' diag(p) A) / 2 - beta'm1 - beta'V1 beta / 2,       beta = A'(e_chosen - p),
    -Hessian = diag(1/p) + Gamma + V o V / 2    (+ V within each choice, for the centred bound),

Gamma and V the covariances of A z before and after the choices: positive definite, so the optimum is unique. Newton steps
are taken jointly in (log p, log c); where they do not help, a sweep of the concave problem and then of c always does,
because both only raise the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs  # solve_triangular without its checks, which cost more than the solve
from scipy.special import log_expit

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.errors import NumericalError
from tellmore.types import Array

Bound = Literal["centred", "paper"]
TOLERANCE = 1e-12
ROUNDING_FLOOR = 1e-9  # of problems so stiff that rounding keeps them from TOLERANCE
MAX_STEPS = 200
MAX_LOG_STEP = 5.0
STEP_LENGTHS = (1.0, 0.5, 0.2)


@dataclass(frozen=True, eq=False)
class Sites:
    """What the answer adds to the belief: precision [k, k] and shift b [k] of the scores, and the bound reached in nats."""

    precision: Array
    shift: Array
    elbo: float
    iterations: int
    residual: float


@dataclass(frozen=True, eq=False)
class _Problem:
    """m0 [k], G [k, k], the labels and, for the N stacked candidates of all choices, their item, choice and whether chosen."""

    m0: Array
    G: Array
    labels: Array
    labelled: NDArray[np.intp]  # positions of labelled items
    w: float
    K: float  # negative when the lowest is chosen
    item: NDArray[np.intp]  # [N]
    member: Array  # [J, N] membership of candidates in choices
    same: Array  # [N, N] True where two candidates stand in the same choice
    chosen: Array  # [N]
    centred: bool


@dataclass(frozen=True, eq=False)
class _State:
    """The unknowns and everything that follows from them."""

    log_p: Array  # [N]
    c: Array  # [k]
    p: Array
    A: Array  # [N, k]
    V1: Array  # [k, k] covariance of z after the labels alone
    m: Array  # [k] mean of z
    V: Array  # [k, k] covariance of z
    gamma: Array  # [N, N]
    spread: Array  # [N, N] covariance of A z
    dual: float
    gap_p: Array  # [N] what log p lacks to its fixed point
    gap_c: Array  # [labelled]
    residual: float


def solve(m0: Array, G: Array, evidence: Evidence, behaviour: Behaviour, bound: Bound = "centred") -> Sites:
    """The optimal sites for ``evidence`` on scores N(m0 [k], G [k, k])."""
    problem = _problem(m0, G, evidence, behaviour, bound)
    state = _start(problem)
    for iteration in range(MAX_STEPS):
        if state.residual <= TOLERANCE:
            return _sites(problem, state, iteration)
        after = _newton(problem, state) or _sweep(problem, state)
        if state.residual <= ROUNDING_FLOOR and after.residual >= state.residual:
            return _sites(problem, state, iteration + 1)
        state = after
    raise NumericalError(
        f"the update did not converge (residual {state.residual:.1e}); check the scale of the embeddings and of w and K"
    )


def _problem(m0: Array, G: Array, evidence: Evidence, behaviour: Behaviour, bound: Bound) -> _Problem:
    choice, item = np.nonzero(evidence.candidates)
    member = choice == np.arange(evidence.chosen.size)[:, None]
    return _Problem(
        m0=m0,
        G=G,
        labels=evidence.labels,
        labelled=np.flatnonzero(evidence.labels),
        w=behaviour.w,
        K=evidence.sign * behaviour.K,
        item=item,
        member=member.astype(float),
        same=choice[:, None] == choice,
        chosen=(item == evidence.chosen[choice]).astype(float),
        centred=bound == "centred",
    )


def _start(problem: _Problem) -> _State:
    sizes = problem.member.sum(axis=1)
    c = np.zeros(problem.m0.size)
    index = problem.labelled
    c[index] = 2 * problem.w**2 * _lambda(problem.w * np.sqrt(problem.m0[index] ** 2 + problem.G[index, index]))
    return _state(problem, -np.log(sizes) @ problem.member, c)


def _state(problem: _Problem, log_p: Array, c: Array) -> _State:
    m0, G, K = problem.m0, problem.G, problem.K
    k, n = m0.size, log_p.size
    p = np.exp(log_p)
    A = np.zeros((n, k))
    A[np.arange(n), problem.item] = K
    beta = A.T @ (problem.chosen - p)
    if problem.centred:
        A -= problem.member.T @ (problem.member @ (p[:, None] * A))
    root_c = np.sqrt(c)
    V1 = _downdate(G, G * root_c, root_c[:, None] * G * root_c)[0]
    pull = problem.w * problem.labels / 2 - c * m0
    shifts = np.linalg.solve(np.eye(k) + c[:, None] * G, np.column_stack([pull, pull + beta]))
    m1, m = (m0[:, None] + G @ shifts).T
    reach = V1 @ A.T
    gamma = A @ reach
    root_p = np.sqrt(p)
    V, logdet = _downdate(V1, reach * root_p, root_p[:, None] * gamma * root_p)
    spread = A @ V @ A.T
    entropy = -float(p @ log_p)
    dual = entropy + logdet / 2 - float(beta @ m1) - float(beta @ V1 @ beta) / 2
    eta = A @ m + np.diag(spread) / 2
    gap_p = eta - log_p
    gap_p = gap_p - problem.member.T @ (problem.member @ (p * gap_p))
    index = problem.labelled
    xi = problem.w * np.sqrt(m[index] ** 2 + V[index, index])
    gap_c = np.log(2 * problem.w**2 * _lambda(xi)) - np.log(c[index])
    # p * gap alone is blind where p is far too small, so the softmax that the gap asks for is compared as well.
    wanted = np.exp(_normalised(problem, log_p + gap_p))
    off = np.maximum(np.abs(p * gap_p), np.abs(wanted - p))
    residual = max(off.max(initial=0.0), np.abs(gap_c).max(initial=0.0))
    return _State(log_p, c, p, A, V1, m, V, gamma, spread, dual, gap_p, gap_c, float(residual))


def _downdate(V: Array, reach: Array, inner: Array) -> tuple[Array, float]:
    """V - reach (I + inner)^-1 reach', and logdet(I + inner)."""
    factor = np.linalg.cholesky(np.eye(len(inner)) + (inner + inner.T) / 2)
    loss = dtrtrs(factor, reach.T, lower=1)[0] if len(inner) else reach.T
    return V - loss.T @ loss, 2.0 * float(np.log(np.diag(factor)).sum())


def _curvature(problem: _Problem, state: _State) -> Array:
    M = state.gamma + state.spread**2 / 2
    return M + np.where(problem.same, state.spread, 0.0) if problem.centred else M


def _newton_direction(problem: _Problem, state: _State) -> tuple[Array, Array] | None:
    """Newton's change of (log p [N], log c [labelled]) with one multiplier a choice; None where it has no finite value."""
    p, m, V, V1, A = state.p, state.m, state.V, state.V1, state.A
    index, member = problem.labelled, problem.member
    n, n_labels, n_choices = p.size, index.size, len(member)
    c = state.c[index]
    slope = _log_lambda_slope(problem.w**2 * (m[index] ** 2 + V[index, index])) * problem.w**2
    J = np.zeros((n + n_labels + n_choices,) * 2)
    J[:n, :n] = np.eye(n) + _curvature(problem, state) * p
    J[:n, n : n + n_labels] = ((A @ V1)[:, index] * m[index] + (A @ V)[:, index] ** 2 / 2) * c
    J[n : n + n_labels, :n] = -slope[:, None] * (2 * m[index, None] * (V1 @ A.T)[index] + (V @ A.T)[index] ** 2) * p
    pull = 2 * m[index, None] * V1[np.ix_(index, index)] * m[index] + V[np.ix_(index, index)] ** 2
    J[n : n + n_labels, n : n + n_labels] = np.eye(n_labels) - slope[:, None] * pull * c
    J[:n, n + n_labels :] = member.T
    J[n + n_labels :, :n] = member * p
    try:
        step = np.linalg.solve(J, np.concatenate([state.gap_p, state.gap_c, np.zeros(n_choices)]))
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(step).all():
        return None
    return step[:n], np.clip(step[n : n + n_labels], -MAX_LOG_STEP, MAX_LOG_STEP)


def _newton(problem: _Problem, state: _State) -> _State | None:
    """One Newton step in (log p, log c), shortened until the residual falls; None where it does not help."""
    direction = _newton_direction(problem, state)
    if direction is None:
        return None
    u, v = direction
    for length in STEP_LENGTHS:
        c = _scaled(problem, state.c, length * v)
        trial = _state(problem, _normalised(problem, _moved(state.log_p, length * u)), c)
        if trial.residual < (1 - length / 2) * state.residual:
            return trial
    return None


def _sweep(problem: _Problem, state: _State) -> _State:
    """Solve the choices for fixed c, then move c: by Newton with the choices following, or else to its fixed point.

    The fixed point alone always raises the bound, but creeps where labels are sharp and contradict the belief.
    """
    state = _solved_choices(problem, state)
    direction = _newton_direction(problem, state)
    v = np.zeros(0) if direction is None else direction[1]
    off = np.abs(state.gap_c).max(initial=0.0)
    for length in STEP_LENGTHS if v.size else ():
        trial = _solved_choices(problem, _state(problem, state.log_p, _scaled(problem, state.c, length * v)))
        if np.abs(trial.gap_c).max(initial=0.0) < (1 - length / 4) * off:
            return trial
    return _state(problem, state.log_p, _scaled(problem, state.c, state.gap_c))


def _scaled(problem: _Problem, c: Array, log_factor: Array) -> Array:
    """c with the weights of the labelled items multiplied by exp(log_factor)."""
    c = c.copy()
    c[problem.labelled] *= np.exp(log_factor)
    return c


def _solved_choices(problem: _Problem, state: _State) -> _State:
    """The optimum of the choices for fixed c, by damped Newton on the concave dual."""
    for _ in range(MAX_STEPS):
        wanted = np.exp(_normalised(problem, state.log_p + state.gap_p))
        if np.maximum(np.abs(state.p * state.gap_p), np.abs(wanted - state.p)).max(initial=0.0) <= TOLERANCE / 10:
            break
        better = _ascend(problem, state)
        if better is None:
            break
        state = better
    return state


def _ascend(problem: _Problem, state: _State) -> _State | None:
    """A Newton step on the dual, multiplicative in p and halved until the dual rises; None where it cannot rise."""
    p, member = state.p, problem.member
    n, n_choices = p.size, len(member)
    J = np.zeros((n + n_choices,) * 2)
    J[:n, :n] = np.eye(n) + _curvature(problem, state) * p
    J[:n, n:] = member.T
    J[n:, :n] = member * p
    u = np.linalg.solve(J, np.concatenate([state.gap_p, np.zeros(n_choices)]))[:n]
    step = 1.0
    while step > 1e-9:
        trial = _state(problem, _normalised(problem, _moved(state.log_p, step * u)), state.c)
        if trial.dual > state.dual or trial.residual < 0.9 * state.residual:
            return trial
        step /= 2
    return None


def _moved(log_p: Array, u: Array) -> Array:
    """log p after a relative change u: log p + u for small u, tamed to a logarithm for large, so that p stays positive."""
    return np.asarray(log_p + np.arcsinh(u))


def _normalised(problem: _Problem, log_p: Array) -> Array:
    stacked = np.where(problem.member > 0, log_p, -np.inf)
    return np.asarray(log_p - np.logaddexp.reduce(stacked, axis=1) @ problem.member)


def _lambda(xi: Array) -> Array:
    """tanh(xi / 2) / (4 xi), with its limit 1/8 at 0."""
    xi = np.maximum(xi, 1e-10)
    return np.asarray(np.tanh(xi / 2) / (4 * xi))


def _log_lambda_slope(xi_squared: Array) -> Array:
    """-d log lambda / d(xi^2), positive."""
    xi = np.sqrt(np.maximum(xi_squared, 1e-8))
    exact = (1 - 2 * xi * np.exp(-xi) / -np.expm1(-2 * xi)) / (2 * xi**2)
    return np.where(xi < 1e-2, 1 / 12 - xi**2 * 7 / 720, exact)


def _sites(problem: _Problem, state: _State, iterations: int) -> Sites:
    precision = (state.A.T * state.p) @ state.A + np.diag(state.c)
    uncentred = np.zeros_like(state.A)
    uncentred[np.arange(state.p.size), problem.item] = problem.K
    pull = uncentred.T @ (problem.chosen - state.p) + problem.w * problem.labels / 2 - state.c * problem.m0
    shift = np.linalg.solve(np.eye(len(problem.G)) + state.c[:, None] * problem.G, pull)
    return Sites(precision, shift, _elbo(problem, state, precision, shift), iterations, state.residual)


def _elbo(problem: _Problem, state: _State, precision: Array, shift: Array) -> float:
    """-KL(q || p) plus the bounds on the log-likelihood, in nats."""
    eigenvalues, vectors = np.linalg.eigh(precision)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    logdet = np.linalg.slogdet(np.eye(len(root)) + root.T @ problem.G @ root)[1]
    kl = 0.5 * (logdet - np.sum(precision * state.V) + shift @ problem.G @ shift)
    exponent = state.A @ state.m + np.diag(state.spread) / 2
    stacked = np.where(problem.member > 0, exponent, -np.inf)
    choices = (problem.chosen * (state.A @ state.m)).sum() - np.logaddexp.reduce(stacked, axis=1).sum()
    index = problem.labelled
    m, w = state.m[index], problem.w
    xi = w * np.sqrt(m**2 + state.V[index, index])
    labels = (log_expit(xi) + (w * problem.labels[index] * m - xi) / 2).sum()
    return float(choices + labels - kl)
