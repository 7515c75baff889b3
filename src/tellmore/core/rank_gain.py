"""Information gain of rankings with too many outcomes to enumerate, with its error (Section II-C2 for 6 to 10 items).

The gain is the mean of log p(o | z) - log p(o) over scores z and outcomes o drawn together. p(o), an integral over k scores, is
estimated for each outcome by importance sampling around the posterior of z given o: log p(o | z) is concave, so Newton's method
finds the modes of all outcomes at once, and the curvature there gives a Gaussian close to the posterior.

With weights u = p(o | z) p(z) / q(z) of M draws from that Gaussian q, the mean of log p(o | z) - log mean u is an upper bound
on the gain in expectation; if the weight of the z that produced o is included, it is a lower bound (Foster et al. 2020). Both
hold for every q that depends only on o, so a poor Gaussian widens the gap between the bounds, and the error includes that gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellmore.core.evidence import Behaviour
from tellmore.core.plackett_luce import EXPONENT_FLOOR, sample_outcomes
from tellmore.types import Array

INNER_DRAWS = 32
SWEEPS = 10
MAX_STEP = 3.0  # prior standard deviations
WIDER = 1.1  # factor on the width of q, so that no importance weight is huge


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """N outcomes, each with its own coordinates: scores y = mean + root e in ranked order, with e standard normal."""

    mean: Array  # [N, k]
    root: Array  # [N, k, k]
    positive: NDArray[np.int64]  # [N] how many are above the threshold
    behaviour: Behaviour

    def scores(self, e: Array) -> Array:
        """Scores in ranked order at e [N, M, k]."""
        return np.asarray(self.mean[:, None] + e @ self.root.transpose(0, 2, 1))


def ranking_gain_nats(
    mean: Array, root: Array, e: Array, behaviour: Behaviour, rng: np.random.Generator, *, inner: int = INNER_DRAWS
) -> tuple[float, float]:
    """Gain in nats and its standard error for scores mean [k] + root [k, k] e, from standard normal draws e [N, k]."""
    orders, positive = sample_outcomes(mean + e @ root.T, behaviour, rng)
    outcomes = _Outcomes(mean[orders], root[orders], positive, behaviour)
    lower, upper, noise = _bounds(outcomes, e, rng.standard_normal((*e.shape[:1], inner, e.shape[1])))
    middle = _without(noise, (lower + upper) / 2)
    error = np.hypot(middle.std() / np.sqrt(len(e)), (upper.mean() - lower.mean()) / 2)
    return float(middle.mean()), float(error)


def _bounds(outcomes: _Outcomes, e: Array, units: Array) -> tuple[Array, Array, Array]:
    """Terms [N] of the lower and of the upper bound, and control variates [N, 2] with mean zero."""
    mode, precision = _posteriors(outcomes)
    factor = np.linalg.cholesky(precision)
    scale = WIDER * np.linalg.inv(factor).transpose(0, 2, 1)  # q: mode + scale u, u standard normal
    log_scale = e.shape[1] * np.log(WIDER) - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    own_unit = np.einsum("nji,nj->ni", factor, e - mode) / WIDER
    draws = np.concatenate([e[:, None], mode[:, None] + units @ scale.transpose(0, 2, 1)], axis=1)
    units = np.concatenate([own_unit[:, None], units], axis=1)
    log_p = _log_likelihood(outcomes, draws)  # [N, 1 + M], first the draw that produced the outcome
    log_u = log_p + ((units**2).sum(axis=2) - (draws**2).sum(axis=2)) / 2 + log_scale[:, None]
    m = log_u.shape[1]
    with_own = np.logaddexp.reduce(log_u, axis=1) - np.log(m)
    without = np.logaddexp.reduce(log_u[:, 1:], axis=1) - np.log(m - 1)
    return log_p[:, 0] - with_own, log_p[:, 0] - without, _zero_mean(outcomes, e, log_p[:, 0])


def _zero_mean(outcomes: _Outcomes, e: Array, log_p: Array) -> Array:
    """Two quantities with mean zero given e: log p plus entropy, choice by choice, and e times the score function."""
    y = outcomes.scores(e[:, None])[:, 0]
    choices, log_choices, thresholds = _probabilities(outcomes, y, np.ones((len(y), y.shape[1] + 1)))
    entropy = -(choices * log_choices).sum(axis=(1, 2))
    entropy -= (thresholds * np.log(np.maximum(thresholds, 1e-300))).sum(axis=1)
    slope = _gradient(outcomes, choices, thresholds)
    return np.column_stack([log_p + entropy, np.einsum("nk,nkj,nj->n", slope, outcomes.root, e)])


def _without(noise: Array, values: Array) -> Array:
    """``values`` [N] without the part explained by the control variates ``noise`` [N, 2], which have mean zero."""
    spread = noise - noise.mean(axis=0)
    weights = np.linalg.lstsq(spread, values - values.mean(), rcond=None)[0]
    return np.asarray(values - noise @ weights)


def _posteriors(outcomes: _Outcomes) -> tuple[Array, Array]:
    """Gaussian approximations of e given each outcome: means [N, k] and precisions [N, k, k].

    Newton steps are taken on choices softened by the remaining uncertainty (MacKay's factor): a sharp answer truncates the
    Gaussian of the scores, and the curvature at the mode then says nothing about its width. Means and softening depend on each
    other, so both take half steps: with full steps, the sharpest answers oscillate.
    """
    n, k = outcomes.mean.shape
    e, soft = np.zeros((n, k)), _softening(outcomes, np.broadcast_to(np.eye(k), (n, k, k)))
    for _ in range(SWEEPS):
        slope, precision = _derivatives(outcomes, e, soft)
        step = np.linalg.solve(precision, slope[:, :, None])[:, :, 0]
        e = e + np.clip(step, -MAX_STEP, MAX_STEP) / 2
        soft = np.sqrt(soft * _softening(outcomes, precision))
    return e, _derivatives(outcomes, e, soft)[1]


def _softening(outcomes: _Outcomes, precision: Array) -> Array:
    """The factor by which uncertainty softens each choice and, last, the threshold [N, k + 1]: 1 / sqrt(1 + pi/8 var(logit))."""
    cov = outcomes.root @ np.linalg.solve(precision, outcomes.root.transpose(0, 2, 1))
    own = np.diagonal(cov, axis1=1, axis2=2)
    to_next = own[:, :-1] + own[:, 1:] - 2 * np.diagonal(cov, offset=1, axis1=1, axis2=2)  # the main rival in a choice
    w, K = outcomes.behaviour.w, outcomes.behaviour.K
    last = np.zeros((len(own), 1))  # the last choice has no rival
    variance = np.column_stack([K**2 * np.maximum(to_next, 0.0), last, w**2 * own.mean(axis=1)])
    return np.asarray(1 / np.sqrt(1 + np.pi / 8 * variance))


def _log_likelihood(outcomes: _Outcomes, e: Array) -> Array:
    """log p(outcome | e) [N, M] at e [N, M, k]."""
    y = outcomes.scores(e)
    x = np.maximum(outcomes.behaviour.K * (y - y.max(axis=2, keepdims=True)), EXPONENT_FLOOR)
    tails = np.cumsum(np.exp(x)[:, :, ::-1], axis=2)
    levels = outcomes.behaviour.w * _from_zero(y)
    chosen = np.take_along_axis(levels, outcomes.positive[:, None, None], axis=2)[:, :, 0]
    top = levels.max(axis=2)
    thresholds = chosen - top - np.log(np.exp(levels - top[:, :, None]).sum(axis=2))
    return np.asarray((x - np.log(tails)[:, :, ::-1]).sum(axis=2) + thresholds)


def _from_zero(y: Array) -> Array:
    """Cumulative sums along the last axis, from 0: [..., k] -> [..., k + 1]."""
    out = np.zeros((*y.shape[:-1], y.shape[-1] + 1))
    np.cumsum(y, axis=-1, out=out[..., 1:])
    return out


def _probabilities(outcomes: _Outcomes, y: Array, soft: Array) -> tuple[Array, Array, Array]:
    """At ranked scores y [N, k]: P [N, k, k] of each choice among the items left, log P (0 where P is 0), and P [N, k + 1] of
    each threshold."""
    left = np.triu(np.ones((y.shape[1],) * 2, dtype=bool))
    x = outcomes.behaviour.K * soft[:, :-1, None] * (y[:, None, :] - y[:, :, None])
    log_choices = np.where(left, _log_softmax(np.where(left, x, -np.inf)), 0.0)
    thresholds = np.exp(_log_softmax(outcomes.behaviour.w * soft[:, -1:] * _from_zero(y)))
    return np.where(left, np.exp(log_choices), 0.0), log_choices, thresholds


def _log_softmax(x: Array) -> Array:
    """The log softmax over the last axis."""
    x = x - x.max(axis=-1, keepdims=True)
    return np.asarray(x - np.log(np.exp(x).sum(axis=-1, keepdims=True)))


def _gradient(outcomes: _Outcomes, choices: Array, thresholds: Array) -> Array:
    """The gradient [N, k] of log p(outcome | y) in y."""
    marked = np.arange(choices.shape[1]) < outcomes.positive[:, None]
    behaviour = outcomes.behaviour
    return np.asarray(behaviour.K * (1 - choices.sum(axis=1)) + behaviour.w * (marked - _chance_positive(thresholds)))


def _chance_positive(thresholds: Array) -> Array:
    """Probability [N, k] that the item at each place is above the threshold."""
    return np.asarray(np.cumsum(thresholds[:, :0:-1], axis=1)[:, ::-1])


def _derivatives(outcomes: _Outcomes, e: Array, soft: Array) -> tuple[Array, Array]:
    """Gradient [N, k] and negative Hessian [N, k, k] of the log posterior at e [N, k]."""
    w, K = outcomes.behaviour.w, outcomes.behaviour.K
    choices, _, thresholds = _probabilities(outcomes, outcomes.scores(e[:, None])[:, 0], soft)
    above = _chance_positive(thresholds)
    places = np.arange(e.shape[1])
    together = above[:, np.maximum(places[:, None], places)]  # both are above the threshold if the lower one is
    H = w**2 * soft[:, -1, None, None] * (together - above[:, :, None] * above[:, None, :])
    weighed = soft[:, :-1, None] * choices
    H -= K**2 * (choices.transpose(0, 2, 1) @ weighed)
    H[:, places, places] += K**2 * weighed.sum(axis=1)
    root_t = outcomes.root.transpose(0, 2, 1)
    slope = (root_t @ _gradient(outcomes, choices, thresholds)[:, :, None])[:, :, 0] - e
    return slope, np.eye(len(places)) + root_t @ H @ outcomes.root
