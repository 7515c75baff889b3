"""The Learner for scikit-learn: a classifier fitted on labels, and a ranker fitted on comparisons. Both can learn further answers
through their ``learner_``.

`fit` learns everything at once, so the order of rows, pairs and rankings does not matter; `partial_fit` learns each part at
once, starting from the belief after the parts before it. Rows may have any mean and any scale, as for the Learner itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore.core.choice_fit import learn_choices
from tellmore.core.coordinates import Moments
from tellmore.core.frame import Frame, frame_of, paper_frame
from tellmore.core.label_fit import learn_labels
from tellmore.core.mixture import Mixture
from tellmore.errors import MissingExtraError, SettingError
from tellmore.kinds.label import LabelAnswer
from tellmore.learner import Learner
from tellmore.options import one_of, several
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.types import Array

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as missing:
    raise MissingExtraError("scikit-learn", "sklearn") from missing


__all__ = ["TellmoreClassifier", "TellmoreRanker"]


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: their parameters, and their prior.

    X: rows [n, d].
    """

    def __init__(
        self,
        *,
        prior: Literal["pool", "isotropic"] = "pool",
        bound: Literal["moments", "centred", "paper"] | None = None,
        w: float | None = None,
        K: float | None = None,
        seed: int = 0,
    ) -> None:
        self.prior = prior
        self.bound = bound
        self.w = w
        self.K = K
        self.seed = seed

    def _start(self, rows: Array, times: Array | None = None) -> Frame:
        """How to begin on rows that count this many ``times``; if the rows do not vary, as the paper does."""
        one_of("prior", self.prior, ("pool", "isotropic"))
        if not np.ptp(rows, axis=0).any():
            return paper_frame(rows.shape[1])
        times = np.ones(len(rows)) if times is None else times
        centre = np.average(rows, axis=0, weights=times)
        cov = np.cov(rows.T, aweights=times, ddof=0).reshape(rows.shape[1], rows.shape[1])
        frame = frame_of(Moments(centre, cov, int(np.ceil(times.sum()))), self.prior)
        return replace(frame, paired=False)  # the belief is fitted to all labels at once

    def _learner(self, rows: Array, frame: Frame) -> Learner:
        """A learner on the rows, before it learns anything. A pool needs at least two items, so a single row is in it twice."""
        pool = Pool(rows if len(rows) > 1 else np.repeat(rows, 2, axis=0), name="fit")
        return Learner(pool, "label", seed=self.seed, prior=frame, bound=self.bound, w=self.w, K=self.K)


class TellmoreClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Binary linear classifier with a Gaussian belief over its weights.

    prior: ``"pool"`` (directions in which the rows of the first fit vary) or ``"isotropic"``.
    bound: how ``learner_`` learns later answers: ``"moments"``, ``"centred"``, ``"paper"``, or None for Learner's
        default.
    w: sharpness of labels; None for Learner's default.
    K: sharpness of choices; None for Learner's default.
    seed: the seed of the questions that ``learner_`` asks.

    classes_ [2]: the two classes.
    coef_ [1, d]: the mean weights after the last fit.
    intercept_ [1]: the mean bias after the last fit.
    n_features_in_: the number of columns.
    learner_: the Learner, over the rows of the last fit.

    >>> TellmoreClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]).predict([[5.0]])
    array(['yes'], dtype='<U3')
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> TellmoreClassifier:
        """Learn from labelled rows, and forget everything learnt before.

        X: rows [n, d].
        y: their labels [n], of exactly two classes.
        sample_weight: how often each row counts [n], also in the prior; fractions are allowed.
        """
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        return self._learn(rows, labels, sample_weight, self._two_classes(labels), None)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> TellmoreClassifier:
        """Learn from more rows.

        X: rows [n, d].
        y: their labels [n].
        classes: both classes; the first call needs them unless both are in y, and later calls may repeat them.
        sample_weight: how often each row counts [n].
        """
        first = not hasattr(self, "learner_")
        rows, labels = validate_data(self, X, y, reset=first, dtype=np.float64, ensure_min_samples=2 if first else 1)
        if first:
            known = self._two_classes(labels if classes is None else classes)
            return self._learn(rows, labels, sample_weight, known, None)
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"classes must be {self.classes_.tolist()} as in the first call, not {np.unique(np.asarray(classes)).tolist()}"
            )
        now = self.learner_
        frame = Frame(now.coordinates, now.belief, now.behaviour, now.w)
        return self._learn(rows, labels, sample_weight, self.classes_, frame)

    def _two_classes(self, labels: ArrayLike) -> NDArray[Any]:
        check_classification_targets(labels)
        classes = np.unique(np.asarray(labels))
        if classes.size == 1:
            raise ValueError("Classifier can't train when only one class is present; give labels of two classes")
        if classes.size != 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: {classes}"
            )
        return classes

    def _learn(
        self,
        rows: Array,
        labels: NDArray[Any],
        sample_weight: ArrayLike | None,
        classes: NDArray[Any],
        frame: Frame | None,
    ) -> TellmoreClassifier:
        foreign = np.setdiff1d(labels, classes)
        if foreign.size:
            raise ValueError(f"y holds {foreign.tolist()}, which is not among the classes {classes.tolist()}")
        times = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        counted = times > 0
        rows, labels, times = rows[counted], labels[counted], times[counted]
        if frame is None and np.unique(labels).size < 2 and sample_weight is not None:
            raise ValueError(
                "Classifier can't train when only one class has a weight; give weights to rows of two classes"
            )
        positive = labels == classes[1]
        frame = self._start(rows, times) if frame is None else frame
        learner = self._learner(rows, frame)
        Z, sides = frame.coordinates.into(rows), np.where(positive, 1.0, -1.0)
        learnt = learn_labels(frame.prior, Z, sides, times, learner.behaviour.w)
        history = [
            (Question("label", [item], id=item), LabelAnswer(bool(label)))
            for item, label in zip(learner.pool.ids, positive, strict=False)
        ]
        self.classes_, self.learner_ = classes, learner.at(Mixture.of(learnt), history)
        self.coef_, self.intercept_ = self.learner_.coef_, self.learner_.intercept_
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Log odds [n] of the averaged probability for rows X [n, d]; above 0 for the second class.

        This is not the mean score: uncertainty moves probabilities towards one half, and scikit-learn expects this function and
        the probabilities to sort items alike.
        """
        negative, positive = self.predict_proba(X).T
        return np.asarray(np.log(np.maximum(positive, 1e-300)) - np.log(np.maximum(negative, 1e-300)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities [n, 2] of the classes for rows X [n, d], averaged over the belief."""
        check_is_fitted(self, "learner_")
        return self.learner_.predict_proba(validate_data(self, X, reset=False, dtype=np.float64))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The more probable class [n] of rows X [n, d]."""
        check_is_fitted(self, "learner_")
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])


class TellmoreRanker(_Estimator):
    """Linear scores with a Gaussian belief over their weights, learnt from pairs or rankings: higher is better.

    prior: ``"pool"`` (directions in which the rows vary) or ``"isotropic"``.
    bound: how ``learner_`` learns later answers: ``"moments"``, ``"centred"``, ``"paper"``, or None for Learner's
        default.
    w: sharpness of labels; None for Learner's default.
    K: sharpness of choices; None for Learner's default.
    seed: the seed of the questions that ``learner_`` asks.

    coef_ [d]: the mean weights after the last fit.
    n_features_in_: the number of columns.
    learner_: the Learner, over the rows of the last fit. Comparisons do not say where the boundary between positive and
        negative is; labels given to it do.

    >>> TellmoreRanker().fit_pairs([[0.0], [1.0], [2.0]], [(2, 0), (1, 0)]).predict([[5.0], [4.0]]).argmax()
    np.int64(0)
    """

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> TellmoreRanker:
        """Learn from rows that are ordered by y, and forget everything learnt before.

        X: the rows [n, d].
        y: [n] numbers, higher is better; equal ones are tied.
        groups: [n] rows are compared only within their group; by default all rows are one group.
        """
        rows, order = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, y_numeric=True)
        return self._learn(rows, [_levels(order, part) for part in _parts(groups, len(rows))])

    def fit_pairs(self, X: ArrayLike, pairs: ArrayLike) -> TellmoreRanker:
        """Learn from pairs of rows.

        X: the rows [n, d].
        pairs: [m, 2] row numbers, the better row first; a pair may occur more than once.
        """
        found = np.asarray(pairs)
        if found.ndim != 2 or found.shape[1] != 2:
            raise SettingError(f"pairs must have the shape (m, 2), the better row first, not {found.shape}")
        return self.fit_rankings(X, list(found))

    def fit_rankings(self, X: ArrayLike, rankings: Sequence[ArrayLike]) -> TellmoreRanker:
        """Learn from rankings, each of some rows.

        X: the rows [n, d].
        rankings: lists of two or more row numbers, the best row first.
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        return self._learn(
            rows, [[[row] for row in _checked_ranking(one, len(rows))] for one in several("rankings", rankings)]
        )

    def _learn(self, rows: Array, rankings: Sequence[Sequence[Sequence[int]]]) -> TellmoreRanker:
        frame = self._start(rows)
        learner = self._learner(rows, frame)
        chosen, candidates = _choices(rankings, len(rows))
        learnt = learn_choices(frame.prior, frame.coordinates.into(rows), chosen, candidates, learner.behaviour.K)
        self.learner_ = learner.at(Mixture.of(learnt), ())
        self.coef_ = self.learner_.coef_[0]
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Scores [n] of rows X [n, d]; higher is better."""
        check_is_fitted(self, "learner_")
        return self.learner_.decision_function(validate_data(self, X, reset=False, dtype=np.float64))

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """The share of pairs with different y that the scores of X put in the same order; equal scores count half.

        X, y, groups: as for `fit`.
        """
        scores, order = self.predict(X), np.asarray(y, dtype=np.float64)
        agree = ordered = 0.0
        for part in _parts(groups, len(scores)):
            above = order[part][:, None] > order[part]
            gap = scores[part][:, None] - scores[part]
            agree += float(np.sum(above & (gap > 0)) + np.sum(above & (gap == 0)) / 2)
            ordered += float(above.sum())
        if not ordered:
            raise SettingError("y orders no two rows, so there is nothing to compare")
        return agree / ordered


def _parts(groups: ArrayLike | None, n: int) -> list[NDArray[np.intp]]:
    """The rows of each group."""
    if groups is None:
        return [np.arange(n)]
    known = np.asarray(groups)
    if known.shape != (n,):
        raise SettingError(f"groups must hold {n} values, one per row, not have the shape {known.shape}")
    return [np.flatnonzero(known == group) for group in np.unique(known)]


def _levels(order: Array, part: NDArray[np.intp]) -> list[list[int]]:
    """The rows of a group, highest first, with rows of the same value together."""
    return [part[order[part] == value].tolist() for value in np.unique(order[part])[::-1]]


def _checked_ranking(ranking: ArrayLike, n: int) -> list[int]:
    rows = np.asarray(ranking)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) < 2 or len(np.unique(rows)) != len(rows):
        raise SettingError(f"a ranking is a list of two or more different numbers of rows, not {ranking!r}")
    if rows.min() < 0 or rows.max() >= n:
        raise SettingError(
            f"a ranking names the rows 0 to {n - 1}, not {int(rows.max() if rows.min() >= 0 else rows.min())}"
        )
    return [int(row) for row in rows]


def _choices(rankings: Sequence[Sequence[Sequence[int]]], n: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows chosen [J] and their candidates [J, n]: each row is a choice over all rows below its level."""
    chosen: list[int] = []
    candidates: list[NDArray[np.bool_]] = []
    for levels in rankings:
        below = np.zeros(n, dtype=bool)
        for level in reversed(levels):
            for row in level if below.any() else ():
                chosen.append(row)
                candidates.append(below.copy())
                candidates[-1][row] = True
            below[level] = True
    if not chosen:
        raise SettingError("no row is above another, so there is nothing to learn")
    return np.array(chosen), np.array(candidates)
