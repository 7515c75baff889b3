"""The belief: a Gaussian over the classifier theta in coordinates (1, x), bias first.

Updates store the covariance, never its inverse, and change it by low-rank downdates: an answer on k items costs O(D^2 k)
and no D x D factorisation. The log determinant, which the stopping rule of Algorithm 1 uses, is updated as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtrs

from tellmore.core.small import cholesky, eigen, log_determinant, plus_identity
from tellmore.errors import NumericalError
from tellmore.types import Array

UNCHANGED = 1e-14  # relative change of a variance below which it is rounding
CHUNK_ROWS = 4_096  # rows scored at a time, so that the pool is not copied


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A belief, N(mean, cov) over theta in R^D, D = d + 1.

    mean: [D], the bias first.
    cov: [D, D].
    logdet: log |cov| in nats.

    Parameters of the methods:

    X: items [n, d], without the constant column.
    A: k rows over (1, x) [k, D]: the scores are A theta.
    n: the number of draws.
    rng: the random number generator.

    >>> Gaussian.from_moments(np.zeros(2), np.eye(2)).scores(np.array([[3.0]]))
    (array([0.]), array([10.]))
    """

    mean: Array  # [D]
    cov: Array  # [D, D]
    logdet: float

    @classmethod
    def from_moments(cls, mean: Array, cov: Array) -> Gaussian:
        """A belief from its mean [D] and cov [D, D]; cov is factorised only here, to check it and compute its determinant."""
        mean = np.asarray(mean, dtype=np.float64)
        cov = np.asarray(cov, dtype=np.float64)
        if cov.shape != (mean.size, mean.size):
            raise NumericalError(
                f"a mean of {mean.size} numbers needs a {mean.size} x {mean.size} covariance, not {cov.shape}"
            )
        try:
            factor = np.linalg.cholesky(cov)
        except np.linalg.LinAlgError:
            raise NumericalError(
                "the covariance is not positive definite; raise the prior's shrinkage so that no direction is certain beforehand"
            ) from None
        return cls(mean, cov, 2.0 * float(np.log(np.diag(factor)).sum()))

    @property
    def dim(self) -> int:
        """D, the number of weights including the bias."""
        return int(self.mean.size)

    def scores(self, X: Array) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of the score z = theta'(1, x) of each row of X [n, d]."""
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for start in range(0, len(X), CHUNK_ROWS):
            part = slice(start, start + CHUNK_ROWS)
            rows = np.asarray(X[part], dtype=np.float64)
            mean[part] = rows @ self.mean[1:] + self.mean[0]
            half = rows @ self.cov[1:] + self.cov[0]
            variance[part] = np.einsum("nd,nd->n", half[:, 1:], rows) + half[:, 0]
        return mean, np.maximum(variance, 0.0)

    def project(self, A: Array) -> tuple[Array, Array, Array]:
        """Mean [k] and covariance G = A cov A' [k, k] of the scores A theta, A [k, D], and cov A' [D, k]."""
        reach = (A @ self.cov).T  # cov is symmetric, and a product with few rows is faster than one with few columns
        gram = A @ reach
        return A @ self.mean, (gram + gram.T) / 2, reach

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """n draws of theta [n, D]."""
        factor = np.linalg.cholesky(self.cov)
        return self.mean + rng.standard_normal((n, self.dim)) @ factor.T

    def conditioned(self, reach: Array, gram: Array, precision: Array, shift: Array) -> tuple[Gaussian, Step]:
        """Add a site on k scores: cov^-1 grows by A' precision A, the mean moves by cov A' shift.

        reach: cov A' [D, k].
        gram: A cov A' [k, k].
        precision: [k, k], positive semidefinite.
        shift: [k].
        """
        eigenvalues, vectors = eigen(precision)
        root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
        inner = plus_identity(root.T @ gram @ root)
        factor = cholesky((inner + inner.T) / 2)
        loss = np.ascontiguousarray(dtrtrs(factor, (reach @ root).T, lower=1)[0].T)
        move = reach @ shift
        cov = _squared(loss)
        np.subtract(self.cov, cov, out=cov)
        logdet = self.logdet - 2.0 * float(np.log(factor.diagonal()).sum())
        moved, lost = np.zeros(loss.shape[1] + 1), np.ones(loss.shape[1] + 1)
        moved[-1], lost[-1] = 1.0, 0.0
        return Gaussian(self.mean + move, cov, logdet), Step(np.column_stack([loss, move]), moved, lost)

    def matched(self, reach: Array, mean: Array, cov: Array) -> tuple[Gaussian, Step]:
        """Give r combinations e of the scores, standard normal before, new moments.

        A variance may grow as well as shrink: an answer can say that a score is extreme without saying in which direction.

        reach: cov(theta, e) [D, r].
        mean: [r].
        cov: [r, r].
        """
        lost, vectors = eigen(plus_identity(-cov))
        directions = reach @ vectors
        loss = directions * np.sqrt(np.abs(lost))
        after = _squared(np.ascontiguousarray(loss[:, lost > UNCHANGED]))
        np.subtract(self.cov, after, out=after)
        if lost[0] < -UNCHANGED:  # the eigenvalues are in order
            after += _squared(np.ascontiguousarray(loss[:, lost < -UNCHANGED]))
        logdet = self.logdet + log_determinant(cov)
        return Gaussian(self.mean + reach @ mean, after, logdet), Step(directions, vectors.T @ mean, lost)

    def with_mean(self, mean: Array) -> Gaussian:
        """The same uncertainty around another mean."""
        return Gaussian(mean, self.cov, self.logdet)


def _squared(B: Array) -> Array:
    """B B' for B [D, r], computed so that it is exactly symmetric, which keeps the covariance symmetric."""
    # Each of the two is several times slower than the other in the other case.
    return np.dot(B, B.T) if B.shape[1] == 1 else B @ B.T


@dataclass(frozen=True, eq=False)
class Step:
    """What one update changed, along a few directions B [D, r] of theta: mean + B moved, cov - B diag(lost) B'.

    This is enough to refresh a pool's scores without cov. ``lost`` [r] is negative in directions whose variance grew.
    """

    directions: Array  # [D, r]
    moved: Array  # [r]
    lost: Array  # [r]

    @classmethod
    def joined(cls, steps: Sequence[Step]) -> Step:
        """Several steps as one."""
        if len(steps) == 1:
            return steps[0]
        moved, lost = (np.concatenate(each) for each in zip(*((one.moved, one.lost) for one in steps), strict=True))
        return cls(np.column_stack([step.directions for step in steps]), moved, lost)

    @classmethod
    def of_mean(cls, move: Array) -> Step:
        """A step that changes only the mean."""
        return cls(move[:, None], np.ones(1), np.zeros(1))

    @property
    def unmoved(self) -> Step:
        """The same change of the covariance, with the mean unchanged."""
        return Step(self.directions, np.zeros_like(self.moved), self.lost)

    @property
    def move(self) -> Array:
        """The change of the mean [D]."""
        return np.asarray(self.directions @ self.moved)

    @property
    def loss(self) -> Array:
        """The decrease of the covariance [D, D]."""
        return np.asarray((self.directions * self.lost) @ self.directions.T)
