"""A pool: the items to ask about, their embeddings, and people's scores if they are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore import tabular
from tellmore.core.coordinates import Coordinates, Moments, Rows
from tellmore.core.index import Index, checked_index
from tellmore.core.scan import PoolRows
from tellmore.display import table
from tellmore.encoding import encoded, text_list
from tellmore.errors import PoolError, QuestionError
from tellmore.options import one_name
from tellmore.ratings import Scores
from tellmore.stored import StoredColumn, hash_of_pair
from tellmore.types import Id, kept_id

CHUNK_ROWS = 16_384
"""Rows examined at a time, so that a memory-mapped matrix is never read into memory as a whole."""

SMALLEST_SCALE = float(1 / np.finfo(np.float32).max)
"""Embeddings cannot be divided by a smaller number in float32."""

SHOWN_ITEMS = 10
"""How many items of a pool a notebook shows."""


@dataclass(frozen=True, eq=False)
class Item:
    """One item of a pool.

    id: a string or a whole number.
    vector: its embedding [d].
    text, image: what people see of it, if anything.

    >>> Pool([[1.0, 0.0], [0.0, 1.0]], text=["calm", "grim"])[1].text
    'grim'
    """

    id: Id
    vector: NDArray[np.float32]
    text: str | None = None
    image: str | None = None


@dataclass(frozen=True)
class RowNumbers(Mapping[str, int]):
    """Rows by id if the ids are the row numbers; a dictionary of a million would take a tenth of the pool's memory."""

    n: int

    def __getitem__(self, name: str) -> int:
        row = int(name) if name.isdecimal() and name.isascii() else -1
        if not 0 <= row < self.n or str(row) != name:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.n))

    def __len__(self) -> int:
        return self.n


class Pool:
    """Items with ids and embeddings; immutable. It works like a dictionary: ``pool[id]`` is an item, and iterating over a
    pool gives its ids.

    X: embeddings [n, d], one row per item and no constant column; rows are never normalised or reordered. Or a
        DataFrame of pandas or polars. An array in float32 is not copied, so do not change it afterwards. A matrix mapped
        from a file (``numpy.load(..., mmap_mode="r")``) in float32 or float16 is not copied into memory, and may be
        larger than it.
    ids: one per item, or the name of a column. Strings and whole numbers are kept; dates and the like become text;
        fractions and bytes are refused. By default, the index of a DataFrame, or the row numbers 0, 1, ….
    text, images: what people see, one per item, or the name of a column; images are paths of files.
    scores: people's ratings of the items, if known.
    name: the name of the pool.
    vectors: for a DataFrame, the columns of the embeddings: several of numbers, or one of vectors. By default all
        columns that are not ids, text or images.
    index: finds items near some points, so that questions are searched among those: an object with a method
        ``near(points, count)``, see docs/scale.md.

    >>> pool = Pool([[1.0, 0.0], [0.0, 1.0]], ids=["calm", "grim"])
    >>> len(pool), pool.d, pool.rows(["grim"]).tolist(), "calm" in pool
    (2, 2, [1], True)
    """

    ids: Sequence[Any]
    X: NDArray[np.float32]
    text: Sequence[str] | None
    images: Sequence[str] | None
    scores: Scores | None
    name: str
    index: Index | None = None
    columns: tuple[Any, ...] | None = None
    _numbered = False

    def __init__(
        self,
        X: Any,
        ids: Iterable[Any] | str | None = None,
        text: Sequence[str] | str | None = None,
        *,
        scores: Scores | None = None,
        name: str = "pool",
        images: Sequence[str] | str | None = None,
        vectors: str | Sequence[str] | None = None,
        index: Index | None = None,
    ) -> None:
        if tabular.is_table(X):
            named = {
                what: of for what, of in {"ids": ids, "text": text, "images": images}.items() if isinstance(of, str)
            }
            values = {what: tabular.column(X, of, what) for what, of in named.items()}
            ids = values.get("ids", tabular.index_of(X) if ids is None else ids)
            text, images = values.get("text", text), values.get("images", images)
            taken = [vectors] if isinstance(vectors, str) else vectors
            rest = [column for column in X.columns if column not in named.values()]
            self.columns = tuple(rest if taken is None else taken)
            X = tabular.vectors(X, self.columns)
        elif vectors is not None:
            raise PoolError(f"vectors names columns of a DataFrame, and these items are of type {type(X).__name__}")
        self.X = self._matrix(X)
        n = len(self.X)
        self.ids, self._numbered = _checked_ids(ids, n), ids is None
        self.text = _one_each("text", text, n)
        self.images = _one_each("images", images, n)
        if scores is not None and len(scores.mean) != n:
            raise PoolError(
                f"the pool has {n} items but {len(scores.mean)} scores; give one per item, in the same order"
            )
        self.scores = scores
        self.name, self.index = one_name("name", name), checked_index(index)

    def _matrix(self, X: Any) -> NDArray[np.float32]:
        return _checked_matrix(X)

    @classmethod
    def of_texts(cls, texts: Sequence[str], embedder: Any, ids: Iterable[Any] | None = None, **more: Any) -> Pool:
        """A pool of texts.

        texts: a list, or a column of a DataFrame, whose index gives the ids.
        embedder: a function of a list of texts, or an object with such a method named ``encode``, such as models of
            sentence-transformers and model2vec, or the result of `tellmore.embedder`.
        ids: one per text.
        more: other options of Pool.
        """
        read = text_list("texts", texts)
        return cls(encoded(embedder, read), tabular.index_of(texts) if ids is None else ids, read, **more)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ids)

    def __contains__(self, item: Any) -> bool:
        return str(item) in self._row_of

    def __getitem__(self, item: Any) -> Item:
        row = int(self.rows([item])[0])
        text, image = (None if each is None else each[row] for each in (self.text, self.images))
        return Item(self.ids[row], self.X[row], text, image)

    def __repr__(self) -> str:
        return f"Pool({self.name!r}, {len(self)} items x {self.d} dimensions{', scored' if self.scores else ''})"

    def _repr_html_(self) -> str:
        seen = [each for each in (self.text, self.images) if each is not None]
        rows = list(islice(zip(self.ids, *seen, strict=True), SHOWN_ITEMS))
        more = [(f"and {len(self) - len(rows)} more",)] if len(self) > len(rows) else []
        return table(repr(self), [*rows, *more])

    @property
    def d(self) -> int:
        """The number of dimensions of an embedding."""
        return int(self.X.shape[1])

    @cached_property
    def moments(self) -> Moments:
        """Mean and covariance of the embeddings; items far from the others count as if they were nearer."""
        return Moments.typical(self.X)

    @property
    def plain_moments(self) -> Moments:
        """Mean and covariance of the embeddings as they are, from which version 0.1 began; computed at each call."""
        return Moments.of(self.X)

    @cached_property
    def coordinates(self) -> Coordinates:
        """How a learner centres and scales the embeddings: by one scale, or by one for each column if their units differ."""
        return Coordinates.of(self.moments)

    def placed(self, coordinates: Coordinates) -> PoolRows:
        """The items in other coordinates, wherever their embeddings are stored; PoolError if they vary too little for float32.

        coordinates: how they are centred and scaled.
        """
        narrowest = int(coordinates.scale.argmin())
        if coordinates.scale[narrowest] < SMALLEST_SCALE:
            raise PoolError(
                f"the embeddings vary by less than {SMALLEST_SCALE:.0e} in dimension {narrowest}, too little for float32; "
                "multiply them by a large number first, such as X * 1e30"
            )
        return Rows(self.X, coordinates, index=self.index)

    @cached_property
    def names(self) -> Sequence[str]:
        """The ids as strings, as in files and logs."""
        if isinstance(self.ids, StoredColumn):
            return self.ids
        return self.ids if all(isinstance(item, str) for item in self.ids) else tuple(map(str, self.ids))

    @cached_property
    def _row_of(self) -> Mapping[str, int]:
        if isinstance(self.ids, StoredColumn):
            return self.ids.items.rows
        return RowNumbers(len(self)) if self._numbered else {item: row for row, item in enumerate(self.names)}

    @cached_property
    def _rows_of_text(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, text in enumerate(self.text or ()):
            if text.strip():
                found.setdefault(text.strip().casefold(), []).append(row)
        return found

    def _with_text(self, wanted: str) -> list[int]:
        if isinstance(self.text, StoredColumn):  # these are too many for a table
            return [row for row, text in enumerate(self.text) if wanted and text.strip().casefold() == wanted]
        return self._rows_of_text.get(wanted, [])

    def find(self, name: Any, *, first: bool = False) -> int | None:
        """The row of an item; None if there is no such item.

        name: its id, or else its full text, in upper or lower case.
        first: whether to take the first of several items with this text; otherwise they are an error.
        """
        if str(name) in self._row_of:
            return self._row_of[str(name)]
        rows = self._with_text(str(name).strip().casefold())
        if len(rows) > 1 and not first:
            listed = ", ".join(repr(self.ids[row]) for row in rows[:3])
            raise QuestionError(f"{len(rows)} items have the text {name!r}: {listed}; name one by its id")
        return rows[0] if rows else None

    def rows(self, ids: Iterable[Any]) -> NDArray[np.intp]:
        """Row numbers of some items, in their order; QuestionError names the first that is not in the pool.

        ids: the ids of the items.
        """
        try:
            return np.array([self._row_of[str(item)] for item in ids], dtype=np.intp)
        except KeyError as missing:
            raise QuestionError(
                f"{missing.args[0]!r} is not an item of the pool {self.name!r}; ids look like {self.ids[0]!r}"
            ) from None

    def checked(self, X: ArrayLike) -> NDArray[np.float64]:
        """Embeddings of other items, as float64; PoolError if they do not fit the pool.

        X: [n, d]; if the pool was made from a DataFrame, X may be another one with the same columns.
        """
        return tabular.embeddings(X, self.d, "the pool's", self.columns)

    def subset(self, rows: ArrayLike, *, name: str | None = None) -> Pool:
        """A pool of some of the items.

        rows: their numbers, in the order wanted, or a mask.
        name: the name of the new pool; by default that of this pool.
        """
        try:
            kept = np.arange(len(self), dtype=np.intp)[np.asarray(rows)]
        except IndexError:
            raise PoolError(
                f"rows must be row numbers from 0 to {len(self) - 1}, or a mask with one value for each item"
            ) from None
        some = Pool(
            self.X[kept],
            [self.ids[row] for row in kept],
            None if self.text is None else [self.text[row] for row in kept],
            images=None if self.images is None else [self.images[row] for row in kept],
            scores=None if self.scores is None else self.scores.take(kept),
            name=self.name if name is None else name,
        )
        some.columns = self.columns
        return some

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of ids and embeddings: pools with the same fingerprint give the same questions."""
        digest = hash_of_pair(self.names, self.X.shape)
        for start in range(0, len(self), CHUNK_ROWS):
            digest.update(np.ascontiguousarray(self.X[start : start + CHUNK_ROWS], dtype="<f4").tobytes())
        return digest.hexdigest()


def pool_of(items: Any, embedder: Any = None) -> Pool:
    """A pool from anything that holds items: a pool, embeddings as an array or a DataFrame, or texts with an embedder."""
    if isinstance(items, Pool) and embedder is None:
        return items
    if embedder is not None:
        if isinstance(items, Pool) or tabular.is_table(items):
            raise PoolError(
                "an embedder goes with a list or a column of texts, such as Learner(df['text'], embedder=model)"
            )
        return Pool.of_texts(items, embedder)
    if not tabular.is_table(items) and _are_texts(items):
        raise PoolError("texts need an embedder: write Learner(texts, embedder=model)")
    return Pool(items)


def _are_texts(items: Any) -> bool:
    try:
        found = np.asarray(items)
    except ValueError:  # rows of different lengths
        return False
    column = found.dtype == object and found.ndim == 1 and found.size > 0  # a Series holds texts as objects
    return found.dtype.kind in "US" or (column and all(isinstance(each, str) for each in found))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _checked_matrix(X: ArrayLike) -> NDArray[np.float32]:
    """``X`` as a read-only float32 matrix, not copied if it already is one. A memory map stays one, even in float16."""
    try:
        matrix = tabular.numbers(X)
        mapped = isinstance(matrix, np.memmap) and matrix.dtype == np.float16
        if matrix.dtype != np.float32 and not mapped:
            with np.errstate(over="ignore"):  # numbers beyond float32 become infinite and are reported below
                matrix = matrix.astype(np.float32)
    except (TypeError, ValueError) as problem:
        raise PoolError(f"{tabular.NO_MATRIX}: {problem}") from None
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        advice = "; if each item has one number, write X.reshape(-1, 1) or df[['column']]" if matrix.ndim == 1 else ""
        raise PoolError(f"embeddings must be a matrix [items, dimensions], not of shape {matrix.shape}{advice}")
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


def _checked_ids(ids: Iterable[Any] | None, n: int) -> Sequence[Any]:
    if isinstance(ids, StoredColumn) and len(ids) == n:
        return ids  # they were checked when their index was made
    if isinstance(ids, str):
        raise PoolError(f"ids must be a list, one per item, not the single string {ids!r}")
    if ids is None:
        return tuple(range(n))
    if not isinstance(ids, Iterable):
        raise PoolError(f"ids must be a list, one per item, not {ids!r}")
    try:
        known = tuple(kept_id(item) for item in ids)
    except QuestionError as problem:
        raise PoolError(str(problem)) from None
    if len(known) != n:
        raise PoolError(f"there are {n} rows of embeddings but {len(known)} ids; give one id per row")
    names = [str(item) for item in known]
    broken = next((name for name in names if "\0" in name), None)
    if broken is not None:
        raise PoolError(f"the id {broken!r} contains a NUL character, which files cannot store; remove it")
    if "" in names:
        raise PoolError(f"the id of row {names.index('')} is an empty text; give every item its own")
    if len(set(names)) != n:
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise PoolError(f"the id {twice!r} occurs more than once; ids must be unique")
    return known


def _one_each(what: str, values: Sequence[str] | None, n: int) -> Sequence[str] | None:
    if values is None or (isinstance(values, StoredColumn) and len(values) == n):
        return values
    if isinstance(values, str) or len(values) != n:
        raise PoolError(f"{what} must hold {n} strings, one per item, not {len(values)}")
    missing = next((row for row, value in enumerate(values) if value is None or value != value), None)
    if missing is not None:
        raise PoolError(f"row {missing} has no {what}; fill it in, with an empty string if there is none")
    return tuple(str(value) for value in values)
