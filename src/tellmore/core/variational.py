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
from scipy.linalg.lapack import dgesv
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
SHARP = 1e3  # K^2 times the largest variance of a score
NEGLIGIBLE_LOG_P = -7.0


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
    """m0 [k], G [k, k], the labels and the N candidates of all J choices, stacked one choice after another."""

    m0: Array
    G: Array
    w: float
    labels: Array  # [k]
    labelled: NDArray[np.intp]  # positions of labelled items
    choice: NDArray[np.intp]  # [N] the choice in which a candidate stands
    starts: NDArray[np.intp]  # [J] where each choice begins
    member: Array  # [J, N] membership of candidates in choices
    same: Array  # [N, N] 1 where two candidates stand in the same choice
    chosen: Array  # [N] 1 for those chosen
    E: Array  # [N, k] +-K at a candidate's item
    centred: bool
    identity: Array  # [k, k]

    def per_choice(self, values: Array) -> Array:
        """Sums [N] of values [N] within each choice."""
        return np.asarray(np.add.reduceat(values, self.starts)[self.choice])


@dataclass(frozen=True, eq=False)
class _State:
    """The unknowns and what follows from them."""

    log_p: Array  # [N]
    c: Array  # [k]
    p: Array
    A: Array  # [N, k]
    beta: Array  # [k]
    V1: Array  # [k, k] covariance of z after the labels alone
    m: Array  # [k] mean of z
    V: Array  # [k, k] covariance of z
    gap_p: Array  # [N] what log p lacks to its fixed point
    gap_c: Array  # [labelled]
    off_p: float  # largest error of p and of log c
    off_c: float

    @property
    def residual(self) -> float:
        return max(self.off_p, self.off_c)


def solve(m0: Array, G: Array, evidence: Evidence, behaviour: Behaviour, bound: Bound = "centred") -> Sites:
    """The optimal sites for ``evidence`` on scores N(m0 [k], G [k, k])."""
    problem = _problem(m0, G, evidence, behaviour, bound)
    state = _start(problem)
    for iteration in range(MAX_STEPS):
        if state.residual <= TOLERANCE:
            return _sites(problem, _polished(problem, state), iteration)
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
    E = np.zeros((item.size, m0.size))
    E[np.arange(item.size), item] = evidence.sign * behaviour.K
    return _Problem(
        m0=m0,
        G=G,
        w=behaviour.w,
        labels=evidence.labels,
        labelled=np.flatnonzero(evidence.labels),
        choice=choice,
        starts=np.searchsorted(choice, np.arange(evidence.chosen.size)),
        member=member.astype(float),
        same=(choice[:, None] == choice).astype(float),
        chosen=(item == evidence.chosen[choice]).astype(float),
        E=E,
        centred=bound == "centred",
        identity=np.eye(m0.size),
    )


def _start(problem: _Problem) -> _State:
    c = np.zeros(problem.m0.size)
    index = problem.labelled
    c[index] = _fixed_point(problem, problem.m0[index], problem.G[index, index])
    return _state(problem, -np.log(problem.per_choice(np.ones(problem.choice.size))), c)


def _state(problem: _Problem, log_p: Array, c: Array) -> _State:
    E, G = problem.E, problem.G
    p = np.exp(log_p)
    beta = E.T @ (problem.chosen - p)
    A = E - problem.member.T @ ((problem.member * p) @ E) if problem.centred else E
    after_labels, shift = _label_solve(problem, c, beta)
    V1 = G @ after_labels
    m = problem.m0 + G @ shift
    V = V1 @ _solve(problem.identity + (A.T * p) @ A @ V1, problem.identity)
    gap_p = A @ m + ((A @ V) * A).sum(axis=1) / 2 - log_p
    gap_p -= problem.per_choice(p * gap_p)
    index = problem.labelled
    gap_c = np.log(_fixed_point(problem, m[index], V[index, index]) / c[index])
    # p * gap alone is blind where p is far too small, so the softmax that the gap asks for is compared as well.
    wanted = np.exp(_normalised(problem, log_p + gap_p))
    off_p = max(np.abs(p * gap_p).max(initial=0.0), np.abs(wanted - p).max(initial=0.0))
    return _State(log_p, c, p, A, beta, V1, m, V, gap_p, gap_c, float(off_p), float(np.abs(gap_c).max(initial=0.0)))


def _label_solve(problem: _Problem, c: Array, beta: Array) -> tuple[Array, Array]:
    """(I + diag(c) G)^-1 [k, k], and it times the pull of the labels and of beta [k]."""
    right = np.column_stack([problem.identity, problem.w / 2 * problem.labels - c * problem.m0 + beta])
    solved = _solve(problem.identity + c[:, None] * problem.G, right)
    return solved[:, :-1], solved[:, -1]


def _solve(matrix: Array, right: Array) -> Array:
    """numpy.linalg.solve without its checks, which cost more than the solve; NaN where the matrix is singular."""
    solution, failed = dgesv(matrix, right)[2:]
    return np.full(right.shape, np.nan) if failed else np.asarray(solution).reshape(right.shape)


def _dual(problem: _Problem, state: _State) -> float:
    """g(p) for the state's c, up to a constant."""
    p, A, V1, beta = state.p, state.A, state.V1, state.beta
    logdet = np.linalg.slogdet(problem.identity + (A.T * p) @ A @ V1)[1]
    m1 = problem.m0 + problem.G @ _label_solve(problem, state.c, np.zeros_like(beta))[1]
    return float(logdet / 2 - p @ state.log_p - beta @ m1 - beta @ V1 @ beta / 2)


def _curvature(problem: _Problem, state: _State) -> Array:
    """[N, N] of the dual, less its entropy."""
    A = state.A
    spread = A @ state.V @ A.T
    M = A @ state.V1 @ A.T + spread**2 / 2
    return M + problem.same * spread if problem.centred else M


def _newton_direction(problem: _Problem, state: _State) -> tuple[Array, Array] | None:
    """Newton's change of (log p [N], log c [labelled]) with one multiplier a choice; None where it has no finite value."""
    p, A = state.p, state.A
    index, member = problem.labelled, problem.member
    n, n_labels = p.size, index.size
    m, V1, V = state.m[index], state.V1[index], state.V[index]  # of the labelled items
    c = state.c[index]
    slope = _log_lambda_slope(problem.w**2 * (m**2 + V[:, index].diagonal())) * problem.w**2
    reach1, reach = V1 @ A.T, V @ A.T  # [labelled, N]
    mV1 = m[:, None] * reach1
    labels, multipliers = slice(n, n + n_labels), slice(n + n_labels, None)
    J = np.eye(n + n_labels + len(member))
    J[multipliers, multipliers] = 0.0
    J[:n, :n] += _curvature(problem, state) * p
    J[:n, labels] = (mV1 + reach**2 / 2).T * c
    J[labels, :n] = -slope[:, None] * (2 * mV1 + reach**2) * p
    J[labels, labels] -= slope[:, None] * (2 * m[:, None] * V1[:, index] * m + V[:, index] ** 2) * c
    J[:n, multipliers] = member.T
    J[multipliers, :n] = member * p
    step = _solve(J, np.concatenate([state.gap_p, state.gap_c, np.zeros(len(member))]))
    if not np.isfinite(step).all():
        return None
    return step[:n], np.clip(step[labels], -MAX_LOG_STEP, MAX_LOG_STEP)


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


def _polished(problem: _Problem, state: _State) -> _State:
    """Further Newton steps where choices are so sharp that a small error of p is many posterior standard deviations."""
    if (problem.E**2).max(initial=0.0) * problem.G.max() > SHARP:
        for _ in range(3):
            state = _newton(problem, state) or state
    return state


def _sweep(problem: _Problem, state: _State) -> _State:
    """Solve the choices for fixed c, then move c: by Newton, halved until it beats c's fixed point, or else to that.

    The fixed point alone always raises the bound, but creeps where labels are sharp and contradict the belief.
    """
    state = _solved_choices(problem, state)

    def moved(log_factor: Array) -> tuple[_State, float]:
        after = _solved_choices(problem, _state(problem, state.log_p, _scaled(problem, state.c, log_factor)))
        return after, _sites(problem, after, 0).elbo

    fixed, bound = moved(state.gap_c)
    direction = _newton_direction(problem, state)
    v = np.zeros(0) if direction is None else direction[1]
    for length in 0.5 ** np.arange(8) if v.size else ():
        trial, reached = moved(length * v)
        if reached > bound or trial.off_c < state.off_c / 2:
            return trial
    return fixed


def _scaled(problem: _Problem, c: Array, log_factor: Array) -> Array:
    """c with the weights of the labelled items multiplied by exp(log_factor)."""
    c = c.copy()
    c[problem.labelled] *= np.exp(log_factor)
    return c


def _solved_choices(problem: _Problem, state: _State) -> _State:
    """The optimum of the choices for fixed c, by damped Newton on the concave dual."""
    for _ in range(MAX_STEPS):
        better = _ascend(problem, state) if state.off_p > TOLERANCE / 10 else None
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
    u = _solve(J, np.concatenate([state.gap_p, np.zeros(n_choices)]))[:n]
    dual, step = _dual(problem, state), 1.0
    while step > 1e-9:
        trial = _state(problem, _normalised(problem, _moved(state.log_p, step * u)), state.c)
        if _dual(problem, trial) > dual or trial.residual < 0.9 * state.residual:
            return trial
        step /= 2
    return None


def _moved(log_p: Array, u: Array) -> Array:
    """log p after a relative change u: tamed to a logarithm where u is large, so that p stays positive.

    Where p is negligible before and after, the change is exact in log p and needs no taming.
    """
    negligible = (u > 1) & (log_p + u < NEGLIGIBLE_LOG_P)
    return np.where(negligible, log_p + u, log_p + np.arcsinh(u))


def _normalised(problem: _Problem, log_p: Array) -> Array:
    """log p with every choice summing to one."""
    return np.asarray(log_p - np.logaddexp.reduceat(log_p, problem.starts)[problem.choice])


def _fixed_point(problem: _Problem, m: Array, variance: Array) -> Array:
    """The weights c of labelled items whose scores have these moments (Jaakkola-Jordan)."""
    return 2 * problem.w**2 * _lambda(problem.w * np.sqrt(np.maximum(m**2 + variance, 0.0)))


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
    shift = _label_solve(problem, state.c, state.beta)[1]
    return Sites(precision, shift, _elbo(problem, state, precision, shift), iterations, state.residual)


def _elbo(problem: _Problem, state: _State, precision: Array, shift: Array) -> float:
    """-KL(q || p) plus the bounds on the log-likelihood, in nats."""
    A, m, V = state.A, state.m, state.V
    logdet = np.linalg.slogdet(problem.identity + precision @ problem.G)[1]
    kl = 0.5 * (logdet - (precision * V).sum() + shift @ problem.G @ shift)
    exponent = A @ m + ((A @ V) * A).sum(axis=1) / 2
    choices = problem.chosen @ (A @ m) - np.logaddexp.reduceat(exponent, problem.starts).sum()
    index = problem.labelled
    xi = problem.w * np.sqrt(m[index] ** 2 + V[index, index])
    labels = (log_expit(xi) + (problem.w * problem.labels[index] * m[index] - xi) / 2).sum()
    return float(choices + labels - kl)
