"""The scikit-learn estimator: scikit-learn's own checks, and agreement with the Learner it wraps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import estimator_checks_generator

import tellmore as tm
from tellmore.sklearn import TellmoreClassifier


def own_checks() -> list[object]:
    """All of scikit-learn's checks but that of array API input, which it skips unless SciPy is switched to it."""
    pairs = estimator_checks_generator(TellmoreClassifier())
    named = [(estimator, check, check.func.__name__) for estimator, check in pairs]
    assert len(named) > 40
    return [pytest.param(*pair, id=f"{i}-{name}") for i, (*pair, name) in enumerate(named) if "array_api" not in name]


@pytest.mark.parametrize(("estimator", "check"), own_checks())
def test_scikit_learns_own_checks(estimator: TellmoreClassifier, check: Callable[[TellmoreClassifier], None]) -> None:
    check(estimator)


def words(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, n_features=12, n_informative=6, class_sep=1.5, flip_y=0.02, random_state=0)
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.where(y, "warm", "cold")


def test_accuracy_is_that_of_logistic_regression() -> None:
    X, y = words()
    ours = cross_val_score(make_pipeline(Normalizer(), TellmoreClassifier()), X, y, cv=4).mean()
    theirs = cross_val_score(LogisticRegression(), X, y, cv=4).mean()
    assert ours > theirs - 0.03


def test_is_the_learner_told_the_same_labels() -> None:
    X, y = words(40)
    model = TellmoreClassifier(w=7.0).fit(X, y)
    learner = tm.Learner(tm.Pool(X), "label", w=7.0)
    for item, label in zip(learner.pool.ids, y, strict=True):
        learner.tell(tm.Question("label", [item]), tm.LabelAnswer(bool(label == "warm")))
    np.testing.assert_allclose(model.coef_, learner.coef_)
    np.testing.assert_allclose(model.intercept_, learner.intercept_)
    np.testing.assert_allclose(model.predict_proba(X), learner.predict_proba(X))
    assert model.classes_.tolist() == ["cold", "warm"]


def test_partial_fit_on_parts_equals_telling_all() -> None:
    X, y = words(60)
    parts = TellmoreClassifier(prior="isotropic").partial_fit(X[:20], y[:20], classes=["cold", "warm"])
    parts.partial_fit(X[20:21], y[20:21]).partial_fit(X[21:], y[21:])
    whole = TellmoreClassifier(prior="isotropic").fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-9)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=1e-9)


def test_the_first_part_may_hold_one_class_if_both_are_named() -> None:
    X, y = words(60)
    cold = X[y == "cold"]
    model = TellmoreClassifier().partial_fit(cold, ["cold"] * len(cold), classes=["cold", "warm"])
    assert model.predict(cold[:3]).tolist() == ["cold"] * 3
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], ["cold", "tepid"])


def test_probabilities_follow_the_decision() -> None:
    X, y = words(80)
    model = TellmoreClassifier().fit(X, y)
    score, probability = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(probability[:, 1] > 0.5, score > 0)
    np.testing.assert_array_equal(model.predict(X) == "warm", score > 0)
    np.testing.assert_allclose(score, np.log(probability[:, 1] / probability[:, 0]), atol=1e-9)
    np.testing.assert_array_equal(score > 0, X @ model.coef_[0] + model.intercept_[0] > 0)


def test_its_learner_can_go_on_asking() -> None:
    X, y = words(50)
    model = TellmoreClassifier().fit(X, y)
    question = model.learner_.ask(kind="rank", size=3)
    model.learner_.tell(question, tm.RankAnswer(question.items, 1))
    assert len(model.learner_.history) == 51
