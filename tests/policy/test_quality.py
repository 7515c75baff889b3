"""Quality on random checks, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics

from tellmore.policy.calibration import NEWEST
from tellmore.policy.quality import average_precision, quality_of
from tellmore.policy.shares import share_of
from tellmore.policy.tally import Check, Tally


def some_checks(n: int, seed: int = 0) -> list[Check]:
    rng = np.random.default_rng(seed)
    return [Check(float(p), bool(rng.random() < p), at) for at, p in enumerate(rng.random(n))]


@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_shares_are_those_of_scikit_learn(threshold: float) -> None:
    checks = some_checks(80)
    told = [one.told for one in checks]
    called = [one.probability >= threshold for one in checks]
    found = quality_of(checks, threshold)
    assert found is not None
    assert found.precision is not None
    assert found.recall is not None
    assert found.accuracy.estimate == pytest.approx(metrics.accuracy_score(told, called))
    assert found.precision.estimate == pytest.approx(metrics.precision_score(told, called))
    assert found.recall.estimate == pytest.approx(metrics.recall_score(told, called))
    assert found.f1 is not None
    assert found.average_precision is not None
    assert found.f1.estimate == pytest.approx(metrics.f1_score(told, called))
    assert found.average_precision.estimate == pytest.approx(
        metrics.average_precision_score(told, [one.probability for one in checks])
    )
    assert found.prevalence.estimate == pytest.approx(np.mean(told))


def test_one_half_but_for_rounding_is_one_half() -> None:
    found = quality_of([Check(0.5 - 1e-16, True, 0), Check(0.5 - 1e-6, True, 1)])
    assert found is not None
    assert found.accuracy.estimate == 0.5


def test_ties_count_together() -> None:
    p, told = np.array([0.7, 0.7, 0.2, 0.2]), np.array([True, False, True, False])
    assert average_precision(p, told) == pytest.approx(metrics.average_precision_score(told, p))


def test_only_the_newest_count_and_nothing_is_made_up() -> None:
    assert quality_of([]) is None
    old = [Check(0.9, False, at) for at in range(50)]
    new = [Check(0.9, True, at) for at in range(NEWEST)]
    found = quality_of([*old, *new])
    assert found is not None
    assert (found.checks, found.accuracy.estimate) == (NEWEST, 1.0)
    none = quality_of([Check(0.1, False, 0)])
    assert none is not None
    assert (none.precision, none.recall, none.f1, none.average_precision) == (None, None, None, None)


def test_intervals_are_wilsons_and_contain_the_share() -> None:
    for count in range(11):
        found = share_of(count, 10)
        expected = binomtest(count, 10).proportion_ci(method="wilson")
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_intervals_of_f1_and_average_precision_hold_the_truth_about_as_often_as_they_say() -> None:
    def drawn(n: int, rng: np.random.Generator) -> list[Check]:
        told = rng.random(n) < 0.15
        odds = 2 * (rng.normal(size=n) + 2 * told) - 2 + np.log(0.15 / 0.85)
        return [Check(float(p), bool(t), 0) for p, t in zip(1 / (1 + np.exp(-odds)), told, strict=True)]

    rng = np.random.default_rng(0)
    many = drawn(4000, rng)
    p, told = np.array([one.probability for one in many]), np.array([one.told for one in many])
    truth = {"f1": metrics.f1_score(told, p >= 0.5), "average_precision": metrics.average_precision_score(told, p)}
    samples = [quality_of(drawn(100, rng)) for _ in range(200)]
    for name, value in truth.items():
        shares = [getattr(found, name) for found in samples]
        assert np.mean([share.low <= value <= share.high for share in shares]) > 0.9
        assert np.mean([share.high - share.low for share in shares]) < 0.5


def test_measures_that_are_not_known_are_left_out() -> None:
    found = quality_of([Check(0.1, False, 0)])
    assert found is not None
    assert list(found.named()) == ["accuracy", "share of positives"]


def test_a_tally_counts_labels_and_checks() -> None:
    tally = Tally().later(4.0).told([True, False], 0.25, [0.9, 0.2]).told([True], 0.5)
    assert (tally.answers, tally.seconds, tally.positive, tally.negative) == (2, 4.0, 2, 1)
    assert tally.changed == (0.5, 0.25)
    assert tally.checks == (Check(0.9, True, 0, 0.9), Check(0.2, False, 0, 0.2))
