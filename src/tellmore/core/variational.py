"""The variational optimum of one answer, solved in the scores of the k items shown (eqs. 8-9, Algorithm 4).

An answer depends on theta only through z = X_S theta, Gaussian with mean m0 and covariance G. The best Gaussian posterior is

    Sigma^-1 = Sigma_p^-1 + X'(A' diag(p) A + diag(c)) X,        mu = mu_p + Sigma_p X' b,

with a softmax p for each choice, stacked into N numbers, and a Jaakkola-Jordan weight c for each label. The rows of A are
K e_l for the paper's bound and K (e_l - sum_j p_j e_j) for the centred one, which is the tightest over all shifts of the
items. For fixed c, the choices solve a concave problem on a product of simplices,

    g(p) = H(p) + logdet(I + V1 A' diag(p) A) / 2 - beta'm1 - beta'V1 beta / 2,       beta = A'(e_chosen - p),
    -Hessian = diag(1/p) + Gamma + V o V / 2    (+ V within each choice, for the centred bound),

where Gamma and V are the covariances of A z before and after the choices. -Hessian is positive definite, so the optimum is
unique. Newton steps are taken jointly in (log p, log c). If a step does not help, a sweep that solves the concave problem and
then updates c always does, because both can only raise the bound. Sharp answers start from the optimum of softer ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.one_label import one_label
from tellmore.core.small import log_determinant, solved
from tellmore.errors import NumericalError
from tellmore.types import Array

Bound = Literal["centred", "paper"]
TOLERANCE = 1e-12
ROUNDING_FLOOR = 1e-9  # residual accepted if the problem is so stiff that rounding prevents TOLERANCE
MAX_STEPS = 200
MAX_LOG_STEP = 5.0
STEP_LENGTHS = (1.0, 0.5, 0.2)
EASY = 10.0  # largest standard deviation of w z or K z for which an answer is solved directly
SOFTEN = 5.0  # factor between the sharpness of one softer answer and the next
ROUGH = 1e-3  # residual that is good enough as the start of a sharper answer
SHARP = 1e3  # K^2 times the largest variance of a score
NEGLIGIBLE_LOG_P = -7.0
LEAST_XI = 1e-3
LARGEST_XI = 600.0  # its hyperbolic sine is finite


@dataclass(frozen=True, eq=False)
class Sites:
    """What the answer adds to the belief: precision [k, k] and shift b [k] of the scores; and the bound reached, in nats."""

    precision: Array
    shift: Array
    elbo: float
    iterations: int
    residual: float


class _Problem(NamedTuple):
    """m0 [k], G [k, k], the labels and the N candidates of all J choices, stacked one choice after another."""

    m0: Array
    G: Array
    w: float
    labels: Array  # [k]
    chosen: Array  # [N] 1 for the chosen candidates, else 0
    E: Array  # [N, k] +-K at the candidate's item
    centred: bool
    pull: Array  # [k, k + 1] the identity, then the linear term of the labels
    labelled: slice | NDArray[np.intp]  # positions of labelled items: a slice, which is faster, if they are contiguous
    choice: NDArray[np.intp]  # [N] the choice that each candidate belongs to
    starts: NDArray[np.intp]  # [J] position at which each choice begins
    member: Array  # [J, N] membership of candidates in choices
    same: Array  # [N, N] 1 for two candidates of the same choice, else 0
    identity: Array  # [k, k]
    halves: Array  # [k]
    jacobian: Array  # the constant part of Newton's matrix


class _State(NamedTuple):
    """The unknowns, and the quantities that follow from them."""

    log_p: Array  # [N]
    c: Array  # [k]
    p: Array
    A: Array  # [N, k]
    beta: Array  # [k]
    shift: Array  # [k] what the answer adds to the precision times the mean
    V1: Array  # [k, k] covariance of z after the labels alone
    m: Array  # [k] mean of z
    V: Array  # [k, k] covariance of z
    AV: Array  # [N, k]
    gap_p: Array  # [N] distance of log p from its fixed point
    off: Array  # errors of p, by two measures [2 N], and of log c [labelled]
    residual: float  # the largest of them

    @property
    def gap_c(self) -> Array:
        """Distance of log c from its fixed point [labelled]."""
        return self.off[2 * self.p.size :]

    @property
    def off_p(self) -> float:
        return _largest(self.off[: 2 * self.p.size])

    @property
    def off_c(self) -> float:
        return _largest(self.gap_c)


def solve(m0: Array, G: Array, evidence: Evidence, behaviour: Behaviour, bound: Bound = "centred") -> Sites:
    """The optimal sites for ``evidence`` about scores N(m0 [k], G [k, k])."""
    if m0.size == 1 and evidence.labels.all() and not evidence.chosen.size:
        label = one_label(float(m0[0]), max(float(G[0, 0]), 0.0), behaviour.w, float(evidence.labels[0]))
        return Sites(np.array([[label.precision]]), np.array([label.shift]), *label[2:])
    rounds = _softer_rounds(G, evidence, behaviour)
    problem = _problem(m0, G, evidence, behaviour.sharper(SOFTEN**-rounds) if rounds else behaviour, bound)
    state, iterations = _solved(problem, _start(problem), ROUGH if rounds else TOLERANCE)
    for left in range(rounds - 1, -1, -1):
        problem = _problem(m0, G, evidence, behaviour.sharper(SOFTEN**-left), bound)
        start = _state(problem, state.log_p, state.c * SOFTEN)
        state, further = _solved(problem, start, ROUGH if left else TOLERANCE)
        iterations += further
    return _sites(problem, _polished(problem, state), iterations)


def _softer_rounds(G: Array, evidence: Evidence, behaviour: Behaviour) -> int:
    """How many softer answers to solve first: the optimum of each is a good start for the next, sharper one."""
    sharpness = max(behaviour.w * evidence.labels.any(), behaviour.K * bool(evidence.chosen.size))
    widest = sharpness * np.sqrt(G.diagonal().max())
    return int(np.ceil(np.log(widest / EASY) / np.log(SOFTEN))) if widest > EASY else 0


def _solved(problem: _Problem, state: _State, tolerance: float) -> tuple[_State, int]:
    """The optimum reached from a start, and the number of steps."""
    for iteration in range(MAX_STEPS):
        if state.residual <= tolerance:
            return state, iteration
        after = _newton(problem, state)
        if after is None and state.residual <= ROUNDING_FLOOR:
            return state, iteration
        state = after or _sweep(problem, state)
    raise NumericalError(
        f"the update did not converge (residual {state.residual:.1e}); check the scale of the embeddings and of w and K"
    )


def _problem(m0: Array, G: Array, evidence: Evidence, behaviour: Behaviour, bound: Bound) -> _Problem:
    item, *layout = _layout(evidence.candidates.tobytes(), (evidence.labels != 0).tobytes())
    choice = layout[1]
    k, n = m0.size, item.size
    E = np.zeros((n, k))
    E[np.arange(n), item] = evidence.ends[choice] * behaviour.K
    chosen = (item == evidence.chosen[choice]).astype(float)
    pull = np.zeros((k, k + 1))
    pull.flat[:: k + 2] = 1.0
    pull[:, k] = behaviour.w / 2 * evidence.labels
    return _Problem(m0, G, behaviour.w, evidence.labels, chosen, E, bound == "centred", pull, *layout)


@lru_cache(maxsize=128)
def _layout(candidates: bytes, labelled: bytes) -> tuple[Any, ...]:
    """The candidates' items [N], and the last parts of a problem. They depend only on the candidates of each choice [J, k] and on
    which items are labelled [k], so they are cached."""
    k = len(labelled)
    choice, item = np.nonzero(np.frombuffer(candidates, dtype=bool).reshape(-1, k))
    index = np.flatnonzero(np.frombuffer(labelled, dtype=bool))
    n, end, n_choices = item.size, item.size + index.size, len(candidates) // k
    member = (choice == np.arange(n_choices)[:, None]).astype(float)
    jacobian = np.eye(end + n_choices)
    jacobian[end:, end:] = 0.0
    jacobian[:n, end:] = member.T
    starts = np.searchsorted(choice, np.arange(n_choices))
    return item, _span(index), choice, starts, member, member.T @ member, np.eye(k), np.full(k, 0.5), jacobian


def _span(index: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """The same positions, as a slice if they are contiguous."""
    if index.size == 0:
        return slice(0, 0)
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first + 1 == index.size else index


def _start(problem: _Problem) -> _State:
    c = np.zeros(problem.m0.size)
    index = problem.labelled
    c[index] = _fixed_point(problem, problem.m0[index], problem.G.diagonal()[index])
    return _state(problem, -np.log(problem.same.sum(axis=0)), c)


def _state(problem: _Problem, log_p: Array, c: Array) -> _State:
    G, A, k = problem.G, problem.E, problem.m0.size
    p = np.exp(log_p)
    beta = (problem.chosen - p) @ A
    if problem.centred:
        A = A - (problem.same * p) @ A
    after_labels = _label_solve(problem, c, beta)
    spread = G @ after_labels
    V1, m = spread[:, :k], problem.m0 + spread[:, k]
    V = V1 @ solved(problem.identity + (A.T * p) @ A @ V1, problem.identity)
    AV = A @ V
    gap_p = A @ m + (AV * A) @ problem.halves - log_p
    gap_p -= (p * gap_p) @ problem.same
    index = problem.labelled
    gap_c = np.log(_fixed_point(problem, m[index], V.diagonal()[index]) / c[index])
    # If p is far too small, p * gap misses the error, so p is also compared with the softmax that the gap leads to.
    wanted = np.exp(_normalised(problem, log_p + gap_p))
    off = np.concatenate((p * gap_p, wanted - p, gap_c))
    return _State(log_p, c, p, A, beta, after_labels[:, k], V1, m, V, AV, gap_p, off, _largest(off))


def _largest(values: Array) -> float:
    return float(np.abs(values).max()) if values.size else 0.0


def _label_solve(problem: _Problem, c: Array, beta: Array) -> Array:
    """(I + diag(c) G)^-1 [k, k], followed by a column: that matrix times the linear term of the labels and beta."""
    right = problem.pull.copy()
    right[:, -1] += beta - c * problem.m0
    return solved(problem.identity + c[:, None] * problem.G, right)


def _dual(problem: _Problem, state: _State) -> float:
    """g(p) at the state's c, up to a constant."""
    p, A, V1, beta = state.p, state.A, state.V1, state.beta
    logdet = log_determinant(problem.identity + (A.T * p) @ A @ V1)
    m1 = problem.m0 + problem.G @ _label_solve(problem, state.c, np.zeros_like(beta))[:, -1]
    return float(logdet / 2 - p @ state.log_p - beta @ m1 - beta @ V1 @ beta / 2)


def _curvature(problem: _Problem, state: _State, AV1: Array) -> Array:
    """The negative Hessian [N, N] of the dual without its entropy term; AV1 = A V1 [N, k]."""
    spread = state.AV @ state.A.T
    half = spread * 0.5
    return np.asarray(AV1 @ state.A.T + spread * (half + problem.same if problem.centred else half))


def _newton_direction(problem: _Problem, state: _State) -> tuple[Array, Array] | None:
    """Newton's step in (log p [N], log c [labelled]), with one multiplier per choice; None if it is not finite."""
    p, index, gap_c = state.p, problem.labelled, state.gap_c
    n, end = p.size, p.size + gap_c.size
    J, right = problem.jacobian.copy(), np.zeros(len(problem.jacobian))
    AV1 = state.A @ state.V1
    J[:n, :n] += _curvature(problem, state, AV1) * p
    J[end:, :n] = problem.member * p
    right[:n], right[n:end] = state.gap_p, gap_c
    if end > n:
        c, m = state.c[index], state.m[index]
        V1, V = state.V1[index][:, index], state.V[index][:, index]
        slope = _log_lambda_slope(problem.w, m * m + V.diagonal())[:, None]
        across = AV1[:, index] * m + state.AV[:, index] ** 2 * 0.5  # [N, labelled]
        J[:n, n:end] = across * c
        J[n:end, :n] = (-2 * slope) * (across.T * p)
        J[n:end, n:end] -= slope * ((2 * m[:, None]) * V1 * m + V * V) * c
    step = solved(J, right)
    if not np.isfinite(step).all():
        return None
    return step[:n], step[n:end].clip(-MAX_LOG_STEP, MAX_LOG_STEP)


def _newton(problem: _Problem, state: _State) -> _State | None:
    """One Newton step in (log p, log c), shortened until the residual falls; None if it does not help."""
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
    """Take further Newton steps if choices are so sharp that a small error of p is many posterior standard deviations."""
    if (problem.E**2).max(initial=0.0) * problem.G.max() > SHARP:
        for _ in range(3):
            state = _newton(problem, state) or state
    return state


def _sweep(problem: _Problem, state: _State) -> _State:
    """Solve the choices for fixed c, then update c: by a Newton step, halved until it beats c's fixed point, or else to it.

    The fixed point alone always raises the bound, but is slow if labels are sharp and contradict the belief.
    """
    state = _solved_choices(problem, state)

    def moved(log_p: Array, log_factor: Array) -> tuple[_State, float]:
        after = _solved_choices(problem, _state(problem, log_p, _scaled(problem, state.c, log_factor)))
        return after, _sites(problem, after, 0).elbo

    fixed, bound = moved(state.log_p, state.gap_c)
    direction = _newton_direction(problem, state)
    u, v = (np.zeros(0), np.zeros(0)) if direction is None else direction
    for length in 0.5 ** np.arange(8) if v.size else ():
        trial, reached = moved(_normalised(problem, _moved(state.log_p, length * u)), length * v)
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
        better = _ascend(problem, state) if state.off_p > ROUNDING_FLOOR else None
        if better is None:
            break
        state = better
    return state


def _ascend(problem: _Problem, state: _State) -> _State | None:
    """A Newton step on the dual, multiplicative in p and halved until the dual rises; None if it cannot rise."""
    p, member = state.p, problem.member
    n, n_choices = p.size, len(member)
    J = np.zeros((n + n_choices,) * 2)
    J[:n, :n] = np.eye(n) + _curvature(problem, state, state.A @ state.V1) * p
    J[:n, n:] = member.T
    J[n:, :n] = member * p
    u = solved(J, np.concatenate([state.gap_p, np.zeros(n_choices)]))[:n]
    dual, step = _dual(problem, state), 1.0
    while step > 1e-9:
        trial = _state(problem, _normalised(problem, _moved(state.log_p, step * u)), state.c)
        if _dual(problem, trial) > dual or trial.residual < 0.9 * state.residual:
            return trial
        step /= 2
    return None


def _moved(log_p: Array, u: Array) -> Array:
    """log p after a relative change u of p, damped to a logarithm if u is large, so that p stays positive.

    If p is negligible before and after, u is added to log p undamped.
    """
    moved = log_p + np.arcsinh(u)
    if u.max(initial=0.0) <= 1:
        return np.asarray(moved)
    return np.where((u > 1) & (log_p + u < NEGLIGIBLE_LOG_P), log_p + u, moved)


def _normalised(problem: _Problem, log_p: Array) -> Array:
    """log p, normalised so that p sums to one in every choice."""
    return np.asarray(log_p - np.logaddexp.reduceat(log_p, problem.starts)[problem.choice])


def _fixed_point(problem: _Problem, m: Array, variance: Array) -> Array:
    """The weights c of labelled items whose scores have mean m and this variance."""
    return jaakkola_jordan_weights(problem.w, m, variance)


def jaakkola_jordan_weights(w: float, m: Array, variance: Array) -> Array:
    """The optimal weights c of labels of sharpness w on scores with mean m and this variance."""
    half = np.sqrt(np.maximum((w * w / 4) * (m * m + variance), 1e-20))
    return np.asarray((w * w / 4) * np.tanh(half) / half)


def _log_lambda_slope(w: float, second: Array) -> Array:
    """-d log c / d E[z^2] of these weights, positive, for scores with these second moments.

    It is w^2 (1 - xi / sinh xi) / (2 xi^2), xi^2 = w^2 E[z^2], which is nearly the same everywhere below LEAST_XI.
    """
    squared = np.maximum(w * w * second, LEAST_XI**2)
    xi = np.minimum(np.sqrt(squared), LARGEST_XI)
    return np.asarray((1 - xi / np.sinh(xi)) * (w * w / 2) / squared)


def _sites(problem: _Problem, state: _State, iterations: int) -> Sites:
    precision = (state.A.T * state.p) @ state.A
    precision.flat[:: len(precision) + 1] += state.c
    return Sites(precision, state.shift, _elbo(problem, state, precision), iterations, state.residual)


def _elbo(problem: _Problem, state: _State, precision: Array) -> float:
    """-KL(q || p) plus the bounds on the log likelihood, in nats."""
    A, m, V, shift = state.A, state.m, state.V, state.shift
    logdet = log_determinant(problem.identity + precision @ problem.G)
    kl = 0.5 * (logdet - precision.ravel() @ V.ravel() + shift @ (m - problem.m0))  # m - m0 = G shift
    Am = A @ m
    exponent = Am + (state.AV * A) @ problem.halves
    choices = problem.chosen @ Am - np.logaddexp.reduceat(exponent, problem.starts).sum()
    index = problem.labelled
    xi = problem.w * np.sqrt(m[index] ** 2 + V.diagonal()[index])
    labels = (log_expit(xi) + (problem.w * problem.labels[index] * m[index] - xi) / 2).sum()
    return float(choices + labels - kl)
