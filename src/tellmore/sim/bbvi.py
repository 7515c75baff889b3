"""Black-box variational inference (Ranganath, Gerrish and Blei 2014), the baseline that the paper names.

It needs only values of the log likelihood, but thousands of sampled classifiers per answer; the closed-form updates need only
a few Newton steps in k dimensions.

The family is a Gaussian with full covariance, because an answer about k items correlates coordinates that were independent
before, so that a diagonal family could never agree with the closed form. It is written as a chain of conditionals in
coordinates u whitened by the prior, theta = mean + F u with F F' = cov:

    q(u) = prod_i N(u_i; a_i + sum_{j<i} C_ij u_j, s_i^2)

Each factor then has its own parameters, as Rao-Blackwellisation requires. For the parameters of factor i, the objective of one
sample keeps only what u_i can influence (their eq. 8): the likelihood, the prior and q of u_i, and the prior of the later
coordinates, whose conditional expectation given u_<j is computed exactly. The terms of earlier coordinates and the constant
conditional entropies of later ones have expectation zero when multiplied by the score function, and are dropped. The score
function itself is the control variate, with the coefficient that minimises the variance (their eq. 9). Step sizes are those of
AdaGrad, damped further over time by a Robbins-Monro sequence; the second half of the iterates is averaged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from tellmore.core.gaussian import Gaussian
from tellmore.errors import NumericalError, SettingError
from tellmore.types import Array

LogLikelihood = Callable[[Array], Array]
"""Maps scores [samples, k] to log likelihoods [samples], in nats."""


@dataclass(frozen=True)
class _Chain:
    """Parameters of q(u): intercepts a [D], strictly lower triangular C [D, D], log scales [D]."""

    a: Array
    C: Array
    log_s: Array

    def sample(self, noise: Array) -> Array:
        """u [n, D] from noise [n, D]: the solution of (I - C) u = a + s noise."""
        identity = np.eye(len(self.a))
        shifted = self.a + noise * np.exp(self.log_s)
        return np.asarray(solve_triangular(identity - self.C, shifted.T, lower=True, unit_diagonal=True).T)

    def moments(self) -> tuple[Array, Array]:
        """Mean [D] and a factor [D, D] of the covariance of u."""
        inverse = solve_triangular(np.eye(len(self.a)) - self.C, np.eye(len(self.a)), lower=True, unit_diagonal=True)
        return np.asarray(inverse @ self.a), np.asarray(inverse * np.exp(self.log_s))


def _chain(vector: Array, d: int) -> _Chain:
    """The chain of a flat parameter vector [D * (D + 2)]: a, log scales, C; entries on or above C's diagonal are ignored."""
    return _Chain(vector[:d], np.tril(vector[2 * d :].reshape(d, d), -1), vector[d : 2 * d])


def _instantaneous_objective(chain: _Chain, noise: Array, u: Array, log_lik: Array) -> Array:
    """The Rao-Blackwellised objective f_i of every factor [n, D]; the constants 2 pi cancel."""
    conditional_mean = chain.a + u @ chain.C.T
    own = -0.5 * u**2 + 0.5 * noise**2 + chain.log_s
    later = -0.5 * conditional_mean**2
    from_here_on = np.cumsum(later[:, ::-1], axis=1)[:, ::-1] - later
    return np.asarray(log_lik[:, None] + own + from_here_on)


def _controlled_mean(f_score: Array, score: Array, f_square: Array, square: Array) -> Array:
    """mean(f h) - a mean(h) with a = Cov(f h, h) / Var(h), from the four sample means."""
    variance = np.maximum(square - score**2, 1e-300)
    coefficient = (f_square - f_score * score) / variance
    return np.asarray(f_score - coefficient * score)


def _gradient(chain: _Chain, noise: Array, u: Array, f: Array) -> Array:
    """The score-function gradient of the ELBO, as one flat vector (see `_chain`)."""
    n = len(noise)
    e = noise * np.exp(-chain.log_s)
    for_a = _controlled_mean((f * e).mean(0), e.mean(0), (f * e**2).mean(0), (e**2).mean(0))
    h = noise**2 - 1
    for_s = _controlled_mean((f * h).mean(0), h.mean(0), (f * h**2).mean(0), (h**2).mean(0))
    u2, e2 = u**2, e**2
    for_C = _controlled_mean((f * e).T @ u / n, e.T @ u / n, (f * e2).T @ u2 / n, e2.T @ u2 / n)
    return np.concatenate([for_a, for_s, np.tril(for_C, -1).ravel()])


def black_box_posterior(
    prior: Gaussian,
    X: Array,
    log_likelihood: LogLikelihood,
    *,
    rng: np.random.Generator,
    samples: int = 256,
    iterations: int = 3000,
    rate: float = 0.3,
) -> Gaussian:
    """The Gaussian posterior of theta after one answer whose log likelihood is a black box of the k scores.

    X [k, d] has no constant column. Raises NumericalError if the iterates become infinite.
    """
    if samples < 8 or iterations < 20 or rate <= 0:
        raise SettingError("black-box inference needs samples >= 8, iterations >= 20 and a positive rate; raise them")
    d = prior.dim
    factor = np.linalg.cholesky(prior.cov)
    items = np.column_stack([np.ones(len(X)), X])
    centre, directions = items @ prior.mean, items @ factor
    vector, squares, average = np.zeros(2 * d + d * d), np.zeros(2 * d + d * d), np.zeros(2 * d + d * d)
    half = iterations // 2
    for step in range(iterations):
        chain = _chain(vector, d)
        noise = rng.standard_normal((samples, d))
        u = chain.sample(noise)
        f = _instantaneous_objective(chain, noise, u, log_likelihood(centre + u @ directions.T))
        gradient = _gradient(chain, noise, u, f)
        squares += gradient**2
        damping = (1 + step / half) ** -0.5
        vector = vector + rate * damping * gradient / np.sqrt(squares + 1e-12)
        if not np.isfinite(vector).all():
            raise NumericalError("black-box inference diverged; lower `rate` or raise `samples`")
        if step >= half:
            average += vector / (iterations - half)
    return _to_gaussian(prior, factor, _chain(average, d))


def _to_gaussian(prior: Gaussian, factor: Array, chain: _Chain) -> Gaussian:
    mean, root = chain.moments()
    full = factor @ root
    logdet = 2 * float(np.log(np.diag(factor)).sum() + chain.log_s.sum())
    return Gaussian(mean=prior.mean + factor @ mean, cov=full @ full.T, logdet=logdet)
