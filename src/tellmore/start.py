"""A start for a learner: words, examples or another model's scores, which the answers then correct."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore import tabular
from tellmore.core.coordinates import Coordinates, Moments, Rows
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.core.start import (
    MANY_SCORES,
    OF_EXAMPLES,
    OF_SCORES,
    direction_of_examples,
    direction_of_scores,
    started,
)
from tellmore.display import table
from tellmore.encoding import encoded, text_list
from tellmore.errors import PoolError, SettingError
from tellmore.options import several
from tellmore.pool import Pool, pool_of
from tellmore.types import Array

SCORING = ("decision_function", "predict_proba", "predict")
"""Methods by which a classifier may score items; the probability of positive is the last column."""
SCORED_ROWS = 16_384
"""Rows that a classifier scores at a time."""
NOTHING_GIVEN = "a start needs at least one example, word or score; leave start out to begin from nothing"


class Start:
    """What is known before the first answer. How much it counts depends on the answers.

    positive: vectors [p, d] of what you are looking for, in the space of the pool's embeddings. The columns of a DataFrame
        are matched by name if the pool was made from one.
    negative: vectors [q, d] of its opposite. One of the two may be empty: the pool's mean is then used instead.

    >>> Start(positive=[[1.0, 0.0]], negative=[[0.0, 1.0]])
    Start(1 positive, 1 negative)
    """

    def __init__(self, positive: ArrayLike = (), negative: ArrayLike = ()) -> None:
        self.positive, self.negative = _vectors("positive", positive), _vectors("negative", negative)
        self.scores: Array | None = None
        self.classifier: Any = None
        self._index: Any = None
        self._columns = [list(getattr(side, "columns", ())) for side in (positive, negative)]
        if not len(self.positive) and not len(self.negative):
            raise SettingError(NOTHING_GIVEN)
        if len(self.positive) and len(self.negative) and self.positive.shape[1] != self.negative.shape[1]:
            raise SettingError(
                f"the positive vectors have {self.positive.shape[1]} dimensions and the negative {self.negative.shape[1]}; "
                "embed both in the same way"
            )

    @classmethod
    def of_items(cls, pool: Pool | Any, positive: Collection[Any] = (), negative: Collection[Any] = ()) -> Start:
        """A start from items of the pool.

        pool: the pool, or anything that a learner accepts as one.
        positive, negative: ids of positive and of negative items; one of the two may be empty.
        """
        pool = pool_of(pool)
        sides = [pool.rows(several(name, ids)) for name, ids in (("positive", positive), ("negative", negative))]
        both = [pool.ids[row] for row in sides[0] if row in sides[1]]
        if both:
            raise SettingError(f"{both[0]!r} is both positive and negative; name it on one side")
        return cls(*(pool.X[side] for side in sides))

    @classmethod
    def of_texts(
        cls,
        embedder: Callable[[list[str]], ArrayLike] | Any,
        positive: Sequence[str] = (),
        negative: Sequence[str] = (),
    ) -> Start:
        """A start from words or texts. Texts without a vector (all zeros or NaN) are left out if others remain.

        embedder: the embedder of the items: a function of a list of texts, or an object with such a method named
            ``encode``, such as models of sentence-transformers and model2vec.
        positive, negative: words or texts for what is looked for, and for its opposite; one of the two may be empty.
        """
        sides = [
            _embedded(embedder, text_list(name, side))
            for name, side in (("positive", positive), ("negative", negative))
        ]
        for side, texts in zip(sides, (positive, negative), strict=True):
            if len(texts) and not len(side):
                raise SettingError(f"none of these has a vector: {', '.join(map(repr, texts))}; use other words")
        return cls(*sides)

    @classmethod
    def of_scores(cls, scores: ArrayLike) -> Start:
        """A start from another model's scores of the pool's items. Scores above 1/2 are positive if all are between 0 and
        1, above 0 if they have both signs, and above their mean otherwise.

        scores: [n], larger is more positive; NaN for items without one. They are in the order of the pool's items, or a
            Series of pandas whose index has the ids.
        """
        try:
            values = np.array(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise SettingError("scores must be numbers, one per item, NaN if there is none") from None
        if values.ndim != 1:
            advice = "; of probabilities of two classes, give the second column" if values.shape[1:] == (2,) else ""
            raise SettingError(f"scores must be a list of numbers, one per item, not of shape {values.shape}{advice}")
        if np.isinf(values).any():
            raise SettingError("scores must be finite numbers, one per item, NaN if there is none")
        known = values[np.isfinite(values)]
        if known.size < 2:
            raise SettingError(f"a start from scores needs at least 2 of them, not {known.size}")
        if known.min() == known.max():
            raise SettingError(
                f"all scores are {known[0]:g}, which says nothing; leave start out, or give other scores"
            )
        start = cls._empty()
        start.scores, start._index = values, index_of(scores, "scores")
        return start

    @classmethod
    def of_classifier(cls, classifier: Any) -> Start:
        """A start from the scores that another classifier on the same embeddings gives to the pool's items.

        classifier: any object with ``decision_function``, ``predict_proba`` or ``predict`` (the first of these is
            used): a scikit-learn classifier, a `Learner`, an earlier project's ``classifier``, or a `Classifier` loaded
            from a file. If it was taught on a DataFrame and the pool was made from one, columns are matched by name.
        """
        if not any(callable(getattr(classifier, name, None)) for name in SCORING):
            raise SettingError(
                f"a classifier has one of {', '.join(SCORING)}, and {type(classifier).__name__} has none; for ready scores use "
                "Start.of_scores"
            )
        start = cls._empty()
        start.classifier = classifier
        return start

    @classmethod
    def _empty(cls) -> Start:
        start = cls.__new__(cls)
        start.positive = start.negative = np.empty((0, 0))
        start.scores = start.classifier = start._index = None
        start._columns = [[], []]
        return start

    def __repr__(self) -> str:
        if self.classifier is not None:
            return f"Start({type(self.classifier).__name__})"
        if self.scores is not None:
            return f"Start(scores of {int(np.isfinite(self.scores).sum())} items)"
        return f"Start({len(self.positive)} positive, {len(self.negative)} negative)"

    def _repr_html_(self) -> str:
        return table("Start", [(repr(self)[len("Start(") : -1],)])

    def beliefs(self, pool: Pool, coordinates: Coordinates, known: Mixture) -> Mixture:
        """The beliefs over (1, z) with which a learner begins: those without a start, and those that begin from this one.

        pool: the learner's pool.
        coordinates: how the learner centres and scales the items.
        known: the learner's beliefs without a start.
        """
        aligned, columns = self._aligned(pool), pool.columns if len(pool.columns or ()) == pool.d else None
        theta = aligned.direction(pool.X, pool.moments, coordinates, known.beliefs[0], columns)
        return started(known, theta, OF_SCORES if self._scored_items(len(pool)) >= MANY_SCORES else OF_EXAMPLES)

    def _aligned(self, pool: Pool) -> Start:
        """This start with its scores in the order of the pool's items, if they have an index, and its vectors in the order of
        the pool's columns, if both have names."""
        columns = pool.columns or ()
        if any(self._columns) and len(columns) == pool.d:
            return Start(*map(partial(_in_order, columns=columns), (self.positive, self.negative), self._columns))
        rows = None if self.scores is None else rows_of_index(pool, self._index, "scores")
        if rows is None:
            return self
        aligned = np.full(len(pool), np.nan)
        aligned[rows] = self.scores
        return Start.of_scores(aligned)

    def _scored_items(self, n: int) -> int:
        """Of how many of n items this start has scores."""
        if self.classifier is not None:
            return n
        return 0 if self.scores is None else int(np.isfinite(self.scores).sum())

    def direction(
        self,
        X: Array,
        moments: Moments,
        coordinates: Coordinates,
        prior: Gaussian,
        columns: Sequence[Any] | None = None,
    ) -> Array:
        """The classifier [D] over (1, z) that this start points to.

        X: the items [n, d].
        moments: their mean and covariance.
        coordinates: how they are centred and scaled.
        prior: the belief without a start, over (1, z).
        columns: the names of the dimensions [d], if they have any.
        """
        C = coordinates.covariance(moments)
        if self.classifier is not None:
            found = Start.of_scores(_scored(self.classifier, X, columns)).scores
            assert found is not None
            # The boundary of a decision function is at 0, even if all items are on one side of it.
            border = 0.0 if callable(getattr(self.classifier, "decision_function", None)) else None
            return direction_of_scores(Rows(X, coordinates), _of_usual_size(found), prior, C, border)
        if self.scores is not None:
            if len(self.scores) != len(X):
                raise SettingError(
                    f"there are {len(self.scores)} scores and {len(X)} items; give one per item, NaN for none"
                )
            return direction_of_scores(Rows(X, coordinates), _of_usual_size(self.scores), prior, C)
        sides = [one for one in (self.positive, self.negative) if len(one)]
        if sides[0].shape[1] != X.shape[1]:
            raise SettingError(
                f"the start has {sides[0].shape[1]} dimensions and the pool {X.shape[1]}; embed both in the same way"
            )
        signs = np.repeat([1.0, -1.0], [len(self.positive), len(self.negative)])
        return direction_of_examples(coordinates.into(np.vstack(sides)), signs, prior, C)


def _in_order(side: Array, names: Sequence[Any], columns: Sequence[Any]) -> Array:
    """Vectors [p, d] with dimensions of these ``names``, if they have any, in the order of the pool's ``columns``."""
    try:
        return side[:, tabular.places(columns, names)] if names and len(side) else side
    except PoolError as problem:
        raise SettingError(f"the vectors of the start have other columns than the pool: {problem}") from None


def index_of(values: Any, name: str) -> Any:
    """The index of a Series that is called ``name`` in messages, each label once; None if there is none."""
    labels = tabular.index_of(values)
    if labels is None:
        return None
    if len(set(map(str, labels))) != len(labels):
        raise SettingError(f"the index of the {name} has a label more than once; give each item one of the {name}")
    return values.index


def rows_of_index(pool: Pool, index: Any, name: str) -> NDArray[np.intp] | None:
    """The rows of the pool's items that the ``index`` of a Series names; None if its values are in the pool's order.

    pool: the pool.
    index: of a Series; None if there is none.
    name: what the Series is called in messages.
    """
    if index is None or list(map(str, index)) == list(pool.names):
        return None
    absent = next((item for item in index if item not in pool), None)
    if _counts_rows(index):
        if absent is None and len(index) == len(pool):
            raise SettingError(
                f"the index of the {name} counts rows, and the pool's ids are the same numbers in another order; give "
                f"{name}.to_numpy() if the {name} are in the pool's order, else {name}[pool.ids]"
            )
        return None
    if absent is not None:
        raise SettingError(
            f"the index of the {name} has {absent!r}, which is not an item of the pool; its ids look like {pool.ids[0]!r}. "
            f"Give {name} with these as index, or {name}.to_numpy() if they are in the pool's order"
        )
    return pool.rows(index)


def _counts_rows(index: Any) -> bool:
    """Whether it is the index 0, 1, … that pandas gives to rows without labels."""
    return (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)


def _of_usual_size(scores: Array) -> Array:
    """The scores in other units, so that squares neither overflow nor vanish: they then vary by 2 to 4. A power of 2 changes
    no digit. Scores between 0 and 1 are kept, because this range tells that 1/2 is their border."""
    low, high = np.nanmin(scores), np.nanmax(scores)
    if low >= 0 and high <= 1:
        return scores
    halves = np.frexp(high / 2 - low / 2)[1]  # half of the spread, which may itself be too large a number
    return np.asarray(np.ldexp(scores, 1 - halves))


def _scored(classifier: Any, X: Array, columns: Sequence[Any] | None) -> Array:
    """The classifier's scores [n] of embeddings X [n, d], which may be a memory map, with dimensions of these names."""
    name = next(name for name in SCORING if callable(getattr(classifier, name, None)))
    wanted, parts = _columns_of(classifier), []
    try:
        places = slice(None) if columns is None or not wanted else tabular.places(wanted, columns)
    except PoolError as problem:
        raise SettingError(
            f"the classifier of the start was taught on other columns: {problem}. If they are the same, give the pool as an array"
        ) from None
    for first in range(0, len(X), SCORED_ROWS):
        try:
            part = np.asarray(X[first : first + SCORED_ROWS], dtype=np.float64)[:, places]
            with warnings.catch_warnings():
                if columns is not None:  # scikit-learn warns of columns without names; these were matched above
                    warnings.filterwarnings("ignore", "X does not have valid feature names")
                found = np.asarray(getattr(classifier, name)(part))
            parts.append(_one_each(found, name).astype(np.float64))
        except (TypeError, ValueError, IndexError) as problem:
            raise SettingError(f"the classifier of the start cannot score the items: {problem}") from None
    return np.concatenate(parts)


def _columns_of(classifier: Any) -> Sequence[Any]:
    """The names of the dimensions that a classifier was taught on, in its order; none if they are not known."""
    for owner, names, number in (
        (classifier, "feature_names_in_", "n_features_in_"),  # scikit-learn
        (classifier, "columns", "d"),  # a Classifier
        (getattr(classifier, "pool", None), "columns", "d"),  # a Learner
    ):
        known = getattr(owner, names, None)
        if known is not None and len(known) == getattr(owner, number, None):
            return list(known)
    return ()


def _one_each(found: Array, name: str) -> Array:
    """One score per item [n], of what the classifier's method of this ``name`` returned."""
    if name == "predict_proba" and found.ndim == 2 and found.shape[1] <= 2:
        return found[:, -1]
    if found.ndim != 1:
        raise ValueError(
            f"its {name} gives {list(found.shape[1:])} numbers for each, and 1 is needed; use a classifier of two classes, or "
            "give the scores of one class to Start.of_scores"
        )
    return found


def check_start(start: Any) -> None:
    """Raise SettingError unless ``start`` is a Start or None."""
    if start is not None and not isinstance(start, Start):
        raise SettingError(f"start must be a Start, such as Start.of_items(pool, positive=[...]), not {start!r}")


def _vectors(name: str, values: ArrayLike) -> Array:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"{name} must be vectors of numbers [p, d]; for words use Start.of_texts") from None
    if not found.size:
        return np.empty((0, 0))
    if found.ndim != 2:
        raise SettingError(f"{name} must be a list of vectors [p, d], not of shape {list(found.shape)}")
    if not (np.abs(found) <= tabular.LARGEST).all():  # NaN is not either
        raise SettingError(
            f"{name} must be finite vectors; leave out those with NaN or infinity (or a number beyond float32)"
        )
    return found


def _embedded(embedder: Any, texts: list[str]) -> Array:
    """The vectors of those texts that have one."""
    if not texts:
        return np.empty((0, 0))
    found = np.asarray(encoded(embedder, texts), dtype=np.float64)
    return found[np.isfinite(found).all(axis=1) & found.any(axis=1)]
