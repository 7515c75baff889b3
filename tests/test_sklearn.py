"""The scikit-learn estimator: scikit-learn's own checks, and agreement with the Learner it wraps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import estimator_checks_generator

import tellmore as tm
from tellmore.core.choice_fit import learn_choices
from tellmore.core.label_fit import learn_labels
from tellmore.core.prior import paper_prior
from tellmore.sklearn import TellmoreClassifier, TellmoreRanker


def own_checks() -> list[object]:
    """All of scikit-learn's checks but that of array API input, which it skips unless SciPy is switched to it."""
    pairs = [
        pair for estimator in (TellmoreClassifier(), TellmoreRanker()) for pair in estimator_checks_generator(estimator)
    ]
    named = [(estimator, check, check.func.__name__) for estimator, check in pairs]
    assert len(named) > 80
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


def test_is_close_to_the_learner_told_the_same_labels() -> None:
    """One after another they lead nearly to the same place."""
    X, y = words(40)
    model = TellmoreClassifier(w=7.0).fit(X, y)
    learner = tm.Learner(tm.Pool(X), "label", w=7.0, bound="centred")
    for item, label in zip(learner.pool.ids, y, strict=True):
        learner.tell(tm.Question("label", [item]), tm.LabelAnswer(bool(label == "warm")))
    assert cosine(model.coef_, learner.coef_) > 0.95
    assert model.classes_.tolist() == ["cold", "warm"]


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    return float(np.sum(one * two) / np.linalg.norm(one) / np.linalg.norm(two))


def test_the_order_of_rows_does_not_matter() -> None:
    X, y = words(120)
    order = np.random.default_rng(1).permutation(120)
    one, two = TellmoreClassifier().fit(X, y), TellmoreClassifier().fit(X[order], y[order])
    assert cosine(one.coef_, two.coef_) > 1 - 1e-6
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


def test_whole_weights_are_copies_of_rows() -> None:
    X, y = words(60)
    times = np.random.default_rng(2).integers(0, 4, size=60)
    weighted = TellmoreClassifier().fit(X, y, sample_weight=times)
    copied = TellmoreClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-6)
    halves = TellmoreClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), sample_weight=np.full(120, 0.5))
    np.testing.assert_allclose(halves.predict_proba(X), TellmoreClassifier().fit(X, y).predict_proba(X), atol=1e-6)


def test_reaches_the_joint_optimum() -> None:
    """A generic optimiser over the labels' weights finds no better bound, and the same belief."""
    rng = np.random.default_rng(3)
    X, w, times = rng.normal(size=(12, 2)), 3.0, rng.uniform(0.5, 2, size=12)
    y = np.where(rng.random(12) < 0.5, 1.0, -1.0)
    prior = paper_prior(2)
    A, P = np.column_stack([np.ones(12), X]), np.linalg.inv(prior.cov)

    def moments(log_xi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        xi = np.exp(log_xi)
        c = w**2 * np.tanh(xi / 2) / (2 * xi)
        cov = np.linalg.inv(P + (A.T * (times * c)) @ A)
        return xi, cov @ (A.T @ (times * w * y / 2)), cov

    def loss(log_xi: np.ndarray) -> float:
        """Minus log of the integral of the prior times the bounds at xi, up to a constant."""
        xi, mean, cov = moments(log_xi)
        slope = np.tanh(xi / 2) / (4 * xi)
        heights = -np.log1p(np.exp(-xi)) - xi / 2 + slope * xi**2
        return -float(times @ heights + np.linalg.slogdet(cov)[1] / 2 + mean @ np.linalg.solve(cov, mean) / 2)

    best = minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-9})
    _, mean, cov = moments(best.x)
    belief = learn_labels(prior, X, y, times, w)
    np.testing.assert_allclose(belief.mean, mean, atol=1e-5)
    np.testing.assert_allclose(belief.cov, cov, atol=1e-5)
    assert belief.logdet == pytest.approx(np.linalg.slogdet(belief.cov)[1])


def test_partial_fit_on_parts_is_close_to_fit_on_the_whole() -> None:
    X, y = words(60)
    parts = TellmoreClassifier(prior="isotropic").partial_fit(X[:20], y[:20], classes=["cold", "warm"])
    parts.partial_fit(X[20:21], y[20:21]).partial_fit(X[21:], y[21:])
    whole = TellmoreClassifier(prior="isotropic").fit(X, y)
    assert cosine(parts.coef_, whole.coef_) > 0.95


def test_the_first_part_may_hold_one_class_if_both_are_named() -> None:
    X, y = words(60)
    cold = X[y == "cold"]
    model = TellmoreClassifier().partial_fit(cold, ["cold"] * len(cold), classes=["cold", "warm"])
    assert model.predict(cold[:3]).tolist() == ["cold"] * 3
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:2], ["cold", "tepid"])
    with pytest.raises(ValueError, match=r"classes must be .*'warm'.* as in the first call, not .*'hot'"):
        model.partial_fit(X[:2], ["cold", "cold"], classes=["cold", "hot"])


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


def ranked(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    return X, X @ rng.standard_normal(5) + 0.3 * rng.standard_normal(n)


def test_a_ranker_learns_alike_from_values_rankings_and_pairs_in_any_order() -> None:
    X, y = ranked()
    groups = np.arange(len(y)) % 12
    whole = TellmoreRanker().fit(X, y, groups)
    rankings = [sorted(np.flatnonzero(groups == group), key=lambda row: -y[row]) for group in range(12)]
    assert np.allclose(TellmoreRanker().fit_rankings(X, rankings[::-1]).coef_, whole.coef_)
    pairs = [(better, worse) for one in rankings for better, worse in pairwise(one)]
    by_pairs = TellmoreRanker().fit_pairs(X, pairs)
    assert cosine(by_pairs.coef_, whole.coef_) > 0.95
    shuffled = np.random.default_rng(1).permutation(len(y))
    assert np.allclose(TellmoreRanker().fit(X[shuffled], y[shuffled], groups[shuffled]).coef_, whole.coef_)
    assert whole.score(X, y, groups) > 0.85


def test_a_ranker_knows_what_a_learner_told_the_same_rankings_knows() -> None:
    X, y = ranked()
    rankings = [sorted(range(first, first + 4), key=lambda row: -y[row]) for first in range(0, 60, 4)]
    model, learner = TellmoreRanker().fit_rankings(X, rankings), tm.Learner(X, "rank")
    for order in rankings:
        learner.tell(tm.Question("rank", order), order)
    assert cosine(model.coef_, learner.coef_[0]) > 0.97
    sd, theirs = (np.sqrt(each.scan.variance).mean() for each in (model.learner_, learner))
    assert 0.8 < sd / theirs < 1.2


def test_choices_are_learnt_at_the_mode_of_the_posterior_with_its_curvature() -> None:
    rng = np.random.default_rng(2)
    X, prior, K = rng.standard_normal((6, 2)), paper_prior(2, scale=3.0), 4.0
    chosen, candidates = np.array([0, 3, 5]), rng.random((3, 6)) < 0.6
    candidates[np.arange(3), chosen] = True

    def loss(theta: np.ndarray) -> float:
        total = (theta - prior.mean) @ np.linalg.solve(prior.cov, theta - prior.mean) / 2
        for choice, among in zip(chosen, candidates, strict=True):
            z = K * (theta[0] + X @ theta[1:])
            total -= z[choice] - np.log(np.exp(z[among]).sum())
        return float(total)

    found = learn_choices(prior, X, chosen, candidates, K)
    best = minimize(loss, np.zeros(3), tol=1e-10)
    assert np.allclose(found.mean, best.x, atol=1e-4)
    step = 1e-3 * np.eye(3)
    curvature = [
        [
            (loss(best.x + a + b) - loss(best.x + a - b) - loss(best.x - a + b) + loss(best.x - a - b)) / 4e-6
            for b in step
        ]
        for a in step
    ]
    assert np.allclose(np.linalg.inv(found.cov), curvature, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (lambda model, X: model.fit_pairs(X, [0, 1]), r"shape \(m, 2\)"),
        (lambda model, X: model.fit_pairs(X, [(0, 0)]), "different numbers of rows"),
        (lambda model, X: model.fit_pairs(X, [(0, 99)]), "rows 0 to 59, not 99"),
        (lambda model, X: model.fit_rankings(X, [["a", "b"]]), "different numbers of rows"),
        (lambda model, X: model.fit_rankings(X, []), "nothing to learn"),
        (lambda model, X: model.fit_rankings(X, 5), "rankings must be a list"),
        (lambda model, X: model.fit(X, np.ones(60)), "nothing to learn"),
        (lambda model, X: model.fit(X, X[:, 0], groups=[1, 2]), "groups must hold 60"),
        (lambda model, X: model.fit(X, X[:, 0]).score(X, np.ones(60)), "nothing to compare"),
    ],
)
def test_a_ranker_refuses_what_compares_nothing(fit: Callable[..., object], said: str) -> None:
    with pytest.raises(tm.InputError, match=said):
        fit(TellmoreRanker(), ranked()[0])
