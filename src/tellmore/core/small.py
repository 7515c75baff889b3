"""Linear algebra for small matrices, by LAPACK without SciPy's wrappers, whose checks take longer than the work itself."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgesv, dgetrf, dpotrf, dsyev

from tellmore.errors import NumericalError
from tellmore.types import Array


def solved(matrix: Array, right: Array) -> Array:
    """The solution of matrix x = right; NaN if the matrix is singular."""
    solution, failed = dgesv(matrix, right)[2:]
    return np.full(right.shape, np.nan) if failed else np.asarray(solution).reshape(right.shape)


def cholesky(matrix: Array) -> Array:
    """The lower triangle L with L L' = matrix, which must be positive definite."""
    factor, failed = dpotrf(matrix, lower=1)
    if failed:
        raise NumericalError("the update lost all precision; check the scale of the embeddings and of w and K")
    return np.asarray(factor)


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, the smallest first, and eigenvectors, as columns, of a symmetric matrix."""
    eigenvalues, vectors, failed = dsyev(matrix)
    if failed:
        raise NumericalError("the update lost all precision; check the scale of the embeddings and of w and K")
    return eigenvalues, vectors


def log_determinant(matrix: Array) -> float:
    """log |det matrix|."""
    diagonal = dgetrf(matrix)[0].diagonal()
    return float(np.log(np.abs(diagonal)).sum())


def plus_identity(matrix: Array) -> Array:
    """matrix + I, in place."""
    matrix.flat[:: len(matrix) + 1] += 1.0
    return matrix
