"""A pool: the items one may ask about, their embeddings, and human scores where they are known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from tellmore.core.coordinates import Coordinates, Moments
from tellmore.errors import PoolError, QuestionError
from tellmore.types import Array

CHUNK_ROWS = 16_384
"""Rows examined at a time, so that a memory-mapped matrix is never held whole."""

NEUTRAL_MARGIN = 0.1
"""An item counts as neutral when people are this close to evenly split on it: |P - 0.5| below this."""


@dataclass(frozen=True)
class Scores:
    """What people said of each item, on any scale; above ``threshold`` is positive.

    ``mean`` [n]; spread as ``sd`` [n] and/or as ``histogram`` [n, b], counts of the scores ``histogram_values`` [b].
    Without a spread the mean is taken as certain.
    """

    mean: Array
    sd: Array | None = None
    histogram: Array | None = None
    histogram_values: Array | None = None
    threshold: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean", "sd", "histogram", "histogram_values"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _frozen(np.asarray(given, dtype=np.float64)))
        object.__setattr__(self, "threshold", float(self.threshold))
        self._check()

    def _check(self) -> None:
        n = len(self.mean) if self.mean.ndim == 1 else -1
        if n < 0 or not np.isfinite(self.mean).all() or not np.isfinite(self.threshold):
            raise PoolError(
                "scores need one finite mean per item and a finite threshold; remove or fill the items without"
            )
        if self.sd is not None and (self.sd.shape != (n,) or not np.isfinite(self.sd).all() or (self.sd < 0).any()):
            raise PoolError(f"sd must hold {n} finite numbers that are not negative, one per item")
        if self.histogram is None:
            return
        if self.histogram_values is None or self.histogram.shape != (n, len(self.histogram_values)):
            raise PoolError(f"histogram needs histogram_values [b] and the shape ({n}, b), not {self.histogram.shape}")
        if (
            not np.isfinite(self.histogram).all()
            or (self.histogram < 0).any()
            or (self.histogram.sum(axis=1) <= 0).any()
        ):
            raise PoolError("every row of histogram needs counts that are not negative and at least one above zero")

    @property
    def has_spread(self) -> bool:
        """Whether people's disagreement is known."""
        return self.sd is not None or self.histogram is not None

    def spread(self) -> Array:
        """Standard deviation [n] of people's scores: ``sd``, else the histogram's, else zero."""
        if self.sd is not None:
            return self.sd
        if self.histogram is None or self.histogram_values is None:
            return np.zeros_like(self.mean)
        weights = self.histogram / self.histogram.sum(axis=1, keepdims=True)
        centre = weights @ self.histogram_values
        return np.asarray(np.sqrt(np.maximum(weights @ self.histogram_values**2 - centre**2, 0.0)))

    def probability_positive(self) -> Array:
        """P(score > threshold) [n] under a normal with each item's mean and standard deviation."""
        above = self.mean - self.threshold
        sd = self.spread()
        certain = np.where(above > 0, 1.0, np.where(above < 0, 0.0, 0.5))
        return np.asarray(np.where(sd > 0, ndtr(above / np.where(sd > 0, sd, 1.0)), certain))

    def labels(self) -> NDArray[np.bool_]:
        """Whether each item's mean lies above the threshold [n]."""
        return np.asarray(self.mean > self.threshold)

    def non_neutral(self) -> NDArray[np.bool_]:
        """The items [n] that accuracy is counted on: |P - 0.5| >= 0.1; all of them where no spread is known."""
        if not self.has_spread:
            return np.ones(len(self.mean), dtype=bool)
        return np.asarray(np.abs(self.probability_positive() - 0.5) >= NEUTRAL_MARGIN)

    def take(self, rows: NDArray[np.intp]) -> Scores:
        """The scores of some items, in the order of ``rows``."""
        return Scores(
            self.mean[rows],
            None if self.sd is None else self.sd[rows],
            None if self.histogram is None else self.histogram[rows],
            self.histogram_values,
            self.threshold,
        )


class Pool:
    """Items with ids and embeddings; immutable.

    ``X`` [n, d] float32, one row per item and no constant column, taken as it is: rows are never normalised or reordered.
    ``ids`` default to the row numbers "0", "1", ….

    >>> pool = Pool([[1.0, 0.0], [0.0, 1.0]], ids=["calm", "grim"])
    >>> len(pool), pool.d, pool.rows(["grim"]).tolist()
    (2, 2, [1])
    """

    ids: tuple[str, ...]
    X: NDArray[np.float32]
    text: tuple[str, ...] | None
    images: tuple[str, ...] | None
    scores: Scores | None
    name: str

    def __init__(
        self,
        X: ArrayLike,
        ids: Iterable[Any] | None = None,
        text: Sequence[str] | None = None,
        *,
        scores: Scores | None = None,
        name: str = "pool",
        images: Sequence[str] | None = None,
    ) -> None:
        self.X = _checked_matrix(X)
        n = len(self.X)
        self.ids = _checked_ids(ids, n)
        self.text = _one_each("text", text, n)
        self.images = _one_each("images", images, n)
        if scores is not None and len(scores.mean) != n:
            raise PoolError(
                f"the pool has {n} items but {len(scores.mean)} scores; give one per item, in the same order"
            )
        self.scores = scores
        self.name = name

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Pool({self.name!r}, {len(self)} items x {self.d} dimensions{', scored' if self.scores else ''})"

    @property
    def d(self) -> int:
        """Dimensions of an embedding."""
        return int(self.X.shape[1])

    @cached_property
    def moments(self) -> Moments:
        """Mean and covariance of the embeddings."""
        return Moments.of(self.X)

    @cached_property
    def coordinates(self) -> Coordinates:
        """How a learner centres and scales the embeddings: by one length, or by one for each column where units differ."""
        return Coordinates.of(self.moments)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {item: row for row, item in enumerate(self.ids)}

    @cached_property
    def _rows_of_text(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, text in enumerate(self.text or ()):
            if text.strip():
                found.setdefault(text.strip().casefold(), []).append(row)
        return found

    def find(self, name: str) -> int | None:
        """The row of the item with this id, or else with this whole text, whatever its case; None where there is none."""
        if name in self._row_of:
            return self._row_of[name]
        rows = self._rows_of_text.get(name.strip().casefold(), [])
        if len(rows) > 1:
            listed = ", ".join(repr(self.ids[row]) for row in rows[:3])
            raise QuestionError(f"{len(rows)} items have the text {name!r}: {listed}; name one by its id")
        return rows[0] if rows else None

    def rows(self, ids: Iterable[str]) -> NDArray[np.intp]:
        """Row numbers of ``ids``, in their order; QuestionError names the first that is not in the pool."""
        try:
            return np.array([self._row_of[item] for item in ids], dtype=np.intp)
        except KeyError as missing:
            raise QuestionError(
                f"{missing.args[0]!r} is not an item of the pool {self.name!r}; ids look like {self.ids[0]!r}"
            ) from None

    def checked(self, X: ArrayLike) -> NDArray[np.float64]:
        """Embeddings X [n, d] of other items, as float64; PoolError where they cannot be scored like the pool's."""
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise PoolError(f"embeddings must be a matrix of numbers, one row per item: {problem}") from None
        if X.ndim != 2 or X.shape[1] != self.d:
            raise PoolError(f"embeddings must have the shape (n, {self.d}), as the pool's, not {X.shape}")
        if not np.isfinite(X).all():
            raise PoolError("embeddings must be finite; remove the rows with NaN or infinity")
        return X

    def subset(self, rows: ArrayLike, *, name: str | None = None) -> Pool:
        """A pool of some rows (numbers or a mask), in the order given."""
        kept = np.arange(len(self), dtype=np.intp)[np.asarray(rows)]
        return Pool(
            self.X[kept],
            [self.ids[row] for row in kept],
            None if self.text is None else [self.text[row] for row in kept],
            images=None if self.images is None else [self.images[row] for row in kept],
            scores=None if self.scores is None else self.scores.take(kept),
            name=self.name if name is None else name,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of ids and embeddings: two pools with the same one give the same questions."""
        digest = hashlib.sha256(repr((self.ids, self.X.shape)).encode())
        for start in range(0, len(self), CHUNK_ROWS):
            digest.update(np.ascontiguousarray(self.X[start : start + CHUNK_ROWS], dtype="<f4").tobytes())
        return digest.hexdigest()


def check_pool(pool: Any) -> None:
    """Refuse a matrix in place of a pool."""
    if not isinstance(pool, Pool):
        raise PoolError(f"a learner needs a Pool, not {type(pool).__name__}; write Learner(Pool(X))")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _checked_matrix(X: ArrayLike) -> NDArray[np.float32]:
    """``X`` as a read-only float32 matrix without a copy where it already is one (a memory map stays one)."""
    try:
        matrix = X if isinstance(X, np.memmap) else np.asarray(X)
        if matrix.dtype != np.float32:
            with np.errstate(over="ignore"):  # numbers beyond float32 become infinite and are named below
                matrix = matrix.astype(np.float32)
    except (TypeError, ValueError) as problem:
        raise PoolError(f"embeddings must be a matrix of numbers, one row per item: {problem}") from None
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        raise PoolError(f"embeddings must be a matrix [items, dimensions], not of shape {matrix.shape}")
    if len(matrix) < 2:
        raise PoolError(f"a pool needs at least 2 items to compare, not {len(matrix)}")
    for start in range(0, len(matrix), CHUNK_ROWS):
        finite = np.isfinite(matrix[start : start + CHUNK_ROWS]).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise PoolError(
                f"row {row} of the embeddings holds NaN or infinity (or a number beyond float32); remove it"
            )
    return _frozen(matrix)


def _checked_ids(ids: Iterable[Any] | None, n: int) -> tuple[str, ...]:
    if isinstance(ids, str):
        raise PoolError(f"ids must be a list, one per item, not the single string {ids!r}")
    known = tuple(str(row) for row in range(n)) if ids is None else tuple(str(item) for item in ids)
    if len(known) != n:
        raise PoolError(f"there are {n} rows of embeddings but {len(known)} ids; give one id per row")
    broken = next((item for item in known if "\0" in item), None)
    if broken is not None:
        raise PoolError(f"the id {broken!r} holds a NUL character, which no file keeps; remove it")
    if len(set(known)) != n:
        seen: set[str] = set()
        twice = next(item for item in known if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise PoolError(f"the id {twice!r} occurs more than once; ids must be unique")
    return known


def _one_each(what: str, values: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    if values is None:
        return None
    if isinstance(values, str) or len(values) != n:
        raise PoolError(f"{what} must hold {n} strings, one per item, not {len(values)}")
    return tuple(str(value) for value in values)
