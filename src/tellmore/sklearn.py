"""A scikit-learn classifier over the Learner: fit on labels, and go on by partial_fit or by telling its ``learner_``.

`fit` learns all labels at once, so the order of the rows does not matter; `partial_fit` learns each part at once, from the
belief that the parts before it left. Rows may lie anywhere and have any scale, as for the Learner itself.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellmore.core.coordinates import Moments
from tellmore.core.frame import Frame, frame_of, paper_frame
from tellmore.core.label_fit import learn_labels
from tellmore.core.mixture import Mixture
from tellmore.errors import MissingExtraError
from tellmore.kinds.label import LabelAnswer
from tellmore.learner import Learner
from tellmore.options import one_of
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.types import Array

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as missing:
    raise MissingExtraError("scikit-learn", "sklearn") from missing


class TellmoreClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Binary linear classifier with a Gaussian belief over its weights.

    Parameters
    ----------
    prior: ``"pool"`` (directions in which the rows of the first fit vary) or ``"isotropic"``.
    bound: how ``learner_`` learns what is told to it later: ``"moments"``, ``"centred"``, ``"paper"``, or None as Learner has it.
    w, K: sharpness of labels and of choices; None as Learner has it.
    seed: of the questions that ``learner_`` asks.

    Attributes
    ----------
    classes_ [2], coef_ [1, d], intercept_ [1], n_features_in_, learner_ (the Learner, over the rows of the last fit).
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> TellmoreClassifier:
        """Learn from labelled rows X [n, d], y [n] with exactly two classes; what was learnt before is forgotten.

        sample_weight [n]: how often each row counts, also in the prior; fractions are allowed.
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
        """Learn from more labelled rows; the first call needs ``classes`` unless both are in y."""
        first = not hasattr(self, "learner_")
        rows, labels = validate_data(self, X, y, reset=first, dtype=np.float64, ensure_min_samples=2 if first else 1)
        if first:
            known = self._two_classes(labels if classes is None else classes)
            return self._learn(rows, labels, sample_weight, known, None)
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
        # A pool holds at least two items: a single further row is shown twice and told once.
        pool = Pool(rows if len(rows) > 1 else np.repeat(rows, 2, axis=0), name="fit")
        frame = self._start(rows, times) if frame is None else frame
        learner = Learner(pool, "label", seed=self.seed, prior=frame, bound=self.bound, w=self.w, K=self.K)
        Z, sides = frame.coordinates.into(rows), np.where(positive, 1.0, -1.0)
        learnt = learn_labels(frame.prior, Z, sides, times, learner.behaviour.w)
        history = [
            (Question("label", [item], id=item), LabelAnswer(bool(label)))
            for item, label in zip(pool.ids, positive, strict=False)
        ]
        self.classes_, self.learner_ = classes, learner.at(Mixture.of(learnt), history)
        self.coef_, self.intercept_ = self.learner_.coef_, self.learner_.intercept_
        return self

    def _start(self, rows: Array, times: Array) -> Frame:
        """Where to begin on the weighted rows; rows that do not vary have no directions of their own."""
        one_of("prior", self.prior, ("pool", "isotropic"))
        if not np.ptp(rows, axis=0).any():
            return paper_frame(rows.shape[1])
        centre = np.average(rows, axis=0, weights=times)
        cov = np.cov(rows.T, aweights=times, ddof=0).reshape(rows.shape[1], rows.shape[1])
        return frame_of(Moments(centre, cov, int(np.ceil(times.sum()))), self.prior)

    def decision_function(self, X: ArrayLike) -> Array:
        """Log-odds [n] of the averaged probability; the second class above 0.

        Not the mean score: uncertainty pulls a probability towards a half, and scikit-learn expects both to sort items alike.
        """
        negative, positive = self.predict_proba(X).T
        return np.asarray(np.log(np.maximum(positive, 1e-300)) - np.log(np.maximum(negative, 1e-300)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities [n, 2] of the classes, averaged over the belief."""
        check_is_fitted(self, "learner_")
        return self.learner_.predict_proba(validate_data(self, X, reset=False, dtype=np.float64))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The more probable class [n]."""
        check_is_fitted(self, "learner_")
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])
