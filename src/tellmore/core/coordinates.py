"""The learner's own coordinates: z = (x - centre) / scale, in which the items have mean 0 and mean square length 1.

What is learnt then does not depend on where the embeddings lie or how long they are. One scale for all columns leaves the
directions of an embedding unchanged. Columns in different units (millimetres and counts) get a scale each: this is the case if
one column varies over 8 times as much as the lower quartile of columns, and columns are correlated at least as much as by
chance. Principal components, whose variances differ as much by design, are not correlated at all, and keep one scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from tellmore.core.gaussian import Gaussian
from tellmore.types import Array

MAX_ROWS = 50_000  # enough rows of a pool to estimate its moments
MOMENT_ROWS, LENGTH_ROWS = 2_048, 256
CHUNK_ROWS = 4_096
THIN_PRODUCT = 1_000_000  # multiplications of a product with few columns that fill the processor's cache
THIN_ROWS = 32
LEAST_LENGTH = 1e-300
UNITS_DIFFER = 8.0
CORRELATED = 0.4  # half the mean |correlation| of n independent draws, in units of 1 / sqrt(n)
BY_CHANCE, SPREAD_BY_CHANCE = 0.8, 1.4
LEAST_CORRELATED = 0.01
"""In the same units: the mean |correlation| of independent columns, and how far below that the mean over m pairs of columns falls
in one case in a hundred, times sqrt(m)."""
FAR, MOST_FAR = 2.5, 0.2
"""An item is far from the others if its distance from the centre is more than this many times that of the median item, but at
most this share of the items is."""
NEAR = 4.0  # a centre this many lengths away costs float32 two of its 24 bits; farther ones are subtracted row by row


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean [d] and covariance [d, d] of the n rows of a matrix."""

    mean: Array
    cov: Array
    n: int

    @classmethod
    def of(cls, X: Array) -> Moments:
        """The moments of X [n, d], chunk by chunk so that it is not copied, and of evenly spaced rows if there are many."""
        return cls._of(X, lambda rows, _: rows)

    @classmethod
    def typical(cls, X: Array) -> Moments:
        """The same, but an item far from the others counts as if it were only as far as one may be: otherwise a few such items
        decide in which directions the pool seems to vary, and how much."""
        plain = cls.of(X)
        if plain.constant:
            return plain
        coordinates, few = Coordinates.of(plain), _spaced(X)
        length = np.concatenate([_length(coordinates.into(few[part])) for part in _slices(len(few), LENGTH_ROWS)])
        nearer = np.minimum(1.0, far_from(length) / np.maximum(length, LEAST_LENGTH))
        if nearer.min() == 1.0:
            return plain
        drawn_in = partial(_drawn_in, centre=plain.mean, nearer=nearer)
        return cls._of(X, drawn_in, at_once=MOMENT_ROWS // 2)

    @classmethod
    def _of(cls, X: Array, seen: Callable[[Array, slice], Array], at_once: int = MOMENT_ROWS) -> Moments:
        """The moments of the rows of X as ``seen``, a function of some of them and of where they are among those used."""
        n, X = len(X), _spaced(X)
        parts = list(_slices(len(X), at_once))
        rows = (seen(np.asarray(X[part], dtype=np.float64), part) for part in parts)
        mean = np.sum([each.sum(axis=0) for each in rows], axis=0) / len(X)
        cov = np.zeros((mean.size, mean.size))
        for part in parts:
            spread = seen(np.asarray(X[part], dtype=np.float64), part) - mean
            cov += spread.T @ spread
        cov /= len(X)
        # Columns that vary only by rounding are constant.
        rounding = max(1e-9, 8 * np.finfo(X.dtype).eps) if X.dtype.kind == "f" else 1e-9
        constant = np.sqrt(np.diag(cov)) <= rounding * np.abs(mean)
        cov[constant] = cov[:, constant] = 0.0
        return cls(mean, cov, n)

    @property
    def sd(self) -> Array:
        """Standard deviation [d] of each column."""
        return np.sqrt(np.diag(self.cov))

    @property
    def constant(self) -> bool:
        """Whether all rows are the same."""
        return not self.sd.any()


@dataclass(frozen=True, eq=False)
class Coordinates:
    """z = (x - centre) / scale, both [d]; ``standardised``: whether each column has a scale of its own."""

    centre: Array
    scale: Array
    standardised: bool = False

    @classmethod
    def of(cls, moments: Moments) -> Coordinates:
        """The coordinates in which rows with these moments have mean 0 and mean square length 1."""
        if moments.constant:
            return cls(moments.mean, np.ones_like(moments.mean))
        standardised = units_differ(moments)
        sd = np.where(moments.sd > 0, moments.sd, 1.0) if standardised else np.ones_like(moments.mean)
        length = np.sqrt(float(np.sum((moments.sd / sd) ** 2)))
        return cls(moments.mean, sd * length, standardised)

    @classmethod
    def plain(cls, d: int) -> Coordinates:
        """The coordinates in which z is x itself."""
        return cls(np.zeros(d), np.ones(d))

    def covariance(self, moments: Moments) -> Array:
        """The covariance [d, d] of z, given that of x."""
        return moments.cov / np.outer(self.scale, self.scale)

    def into(self, X: Array) -> Array:
        """Rows x -> rows z, in float64."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) / self.scale)

    def outward(self, belief: Gaussian) -> Gaussian:
        """A belief over (1, z) as one over (1, x), with the same scores."""
        return self._mapped(belief, 1.0 / self.scale, -self.centre / self.scale)

    def inward(self, belief: Gaussian) -> Gaussian:
        """A belief over (1, x) as one over (1, z), with the same scores."""
        return self._mapped(belief, self.scale, self.centre)

    def _mapped(self, belief: Gaussian, factor: Array, lever: Array) -> Gaussian:
        """The belief with weights times ``factor``, and the bias plus ``lever`` times the old weights."""
        mean, cov = belief.mean.copy(), belief.cov.copy()
        mean[0] += lever @ mean[1:]
        mean[1:] *= factor
        cov[0] += lever @ cov[1:]
        cov[:, 0] += cov[:, 1:] @ lever
        cov[1:] *= factor[:, None]
        cov[:, 1:] *= factor
        return Gaussian(mean, (cov + cov.T) / 2, belief.logdet + 2.0 * float(np.log(factor).sum()))

    def __str__(self) -> str:
        if self.standardised:
            return "centred, and each column divided by its standard deviation, because their units differ"
        return f"centred and divided by {float(self.scale[0]):.3g}, their typical distance from the mean"


def far_from(length: Array) -> float:
    """The length beyond which items are far from the others, given those of all items, or of a sample."""
    return float(max(FAR * np.median(length), np.quantile(length, 1 - MOST_FAR)))


def _drawn_in(rows: Array, part: slice, *, centre: Array, nearer: Array) -> Array:
    """Rows moved towards the centre, by the factors ``nearer`` [n] of which these are a ``part``."""
    spread = rows - centre
    spread *= nearer[part, None]
    spread += centre
    return spread


def _length(Z: Array) -> Array:
    return np.asarray(np.linalg.norm(Z, axis=-1))


def _spaced(X: Array) -> Array:
    """Evenly spaced rows, enough to estimate moments; all of them if they are few."""
    return X if len(X) <= MAX_ROWS else X[:: -(-len(X) // MAX_ROWS)]


def units_differ(moments: Moments) -> bool:
    """Whether columns seem to be in different units, so that each needs a scale of its own."""
    sd = moments.sd[moments.sd > 0]
    if sd.size < 2 or sd.max() <= UNITS_DIFFER * np.percentile(sd, 25, method="lower"):
        return False
    kept = moments.sd > 0
    correlation = np.abs(moments.cov[np.ix_(kept, kept)] / np.outer(sd, sd))
    pairs = sd.size * (sd.size - 1) / 2
    typical = (correlation.sum() - np.trace(correlation)) / (2 * pairs)
    least = np.clip(BY_CHANCE - SPREAD_BY_CHANCE / np.sqrt(pairs), LEAST_CORRELATED, CORRELATED)
    return bool(typical > least / np.sqrt(moments.n))


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of X [n, d] in ``coordinates``, computed when needed, so that the whole matrix is never copied.

    ``whole``: how many rows there are in all, if these are a part of them. ``index``: the user's, see `core.index`.
    """

    X: Array
    coordinates: Coordinates
    whole: int = 0
    index: Any = None

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> Array:
        """Some rows z [..., d], in float64."""
        return self.coordinates.into(self.X[rows])

    def take(self, rows: Any) -> Rows:
        """Some rows, copied into memory."""
        return Rows(np.asarray(self.X[rows]), self.coordinates)

    def part(self, rows: slice) -> Rows:
        """Some consecutive rows, without a copy; products with them give the same numbers as products with all rows."""
        return Rows(self.X[rows], self.coordinates, max(self.whole, len(self)))

    def chunks(self) -> Iterator[tuple[slice, Array]]:
        """All rows z, some at a time, in the precision of the matrix, at least float32."""
        centre, inverse = (self._rounded(each) for each in (self.coordinates.centre, 1 / self.coordinates.scale))
        # A centre far from 0 is rounded by as much as rows differ.
        lost = self._rounded(self.coordinates.centre - centre)
        for part in self._parts():
            yield part, (self._rounded(self.X[part]) - centre - lost) * inverse

    def times(self, V: Array) -> Iterator[tuple[slice, Array]]:
        """(1, z) V for all rows, some at a time: V [d + 1, c] -> [., c]."""
        raw = V[1:] / self.coordinates.scale[:, None]
        centre, top, factor = self._rounded(self.coordinates.centre), V[0], self._rounded(raw)
        top = top - (self.coordinates.centre if self._near else self.coordinates.centre - centre) @ raw
        # A pool of one chunk is one product, so that its scores equal those of earlier versions to the bit.
        many = max(len(self), self.whole) > CHUNK_ROWS
        thin = max(THIN_PRODUCT // factor.size // THIN_ROWS * THIN_ROWS, THIN_ROWS) if many else CHUNK_ROWS
        for part in self._parts():
            x = self.X[part]
            product = np.empty((len(x), factor.shape[1]), dtype=factor.dtype)
            for few in _slices(len(x), thin):
                rows = x[few].astype(factor.dtype, copy=False)
                np.matmul(rows if self._near else rows - centre, factor, out=product[few])
            if many:  # added in the precision of the product, so that the chunk stays in the processor's cache
                product += top.astype(product.dtype)
            yield part, product if many else product + top

    @cached_property
    def _near(self) -> bool:
        """Whether the centre can be subtracted after a product without loss of precision."""
        return float(np.sum((self.coordinates.centre / self.coordinates.scale) ** 2)) <= NEAR**2

    def _rounded(self, values: Array) -> Array:
        return np.asarray(values, dtype=np.result_type(self.X.dtype, np.float32))

    def _parts(self) -> Iterator[slice]:
        return _slices(len(self), CHUNK_ROWS)


def _slices(n: int, rows: int) -> Iterator[slice]:
    return (slice(start, start + rows) for start in range(0, n, rows))
