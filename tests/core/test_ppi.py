"""Prediction-powered shares: against the reference implementation, and against known truths."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core.ppi import MADE_UP_LABELS, MADE_UP_PREDICTIONS, Z, more_to_halve, powered_mean, powered_share
from tellmore.types import Array


def table(both: int, missed: int, alarm: int, neither: int) -> tuple[Array, Array]:
    """Labels and predictions of so many answers of each kind."""
    counts = [both, missed, alarm, neither]
    return np.repeat([1.0, 1.0, 0.0, 0.0], counts), np.repeat([1.0, 0.0, 1.0, 0.0], counts)


# ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) of these answers and the pool's predictions, repeated
# 8000 times (40,000 in the last case), which makes the share of the variance that a finite sample of predictions adds vanish.
POOL = np.repeat([1.0, 0.0], [170, 330])
GRADED = (np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 0.0]), np.array([0.1, 0.8, 0.6, 0.4, 0.9, 0.2, 0.55, 0.7, 0.3, 0.05]))
PUBLISHED = [
    (table(31, 4, 3, 42), POOL, (0.3611523, 0.29872369, 0.42358091)),
    (table(10, 12, 11, 9), POOL, (0.52380952, 0.37276656, 0.67485249)),
    (table(2, 18, 20, 3), POOL, (0.46511628, 0.31603458, 0.61419797)),
    (GRADED, np.linspace(0, 1, 101) ** 2, (0.375, 0.15247699, 0.59752301)),
]


@pytest.mark.parametrize(("answers", "pool", "published"), PUBLISHED)
def test_the_mean_is_that_of_ppi_python(
    answers: tuple[Array, Array], pool: Array, published: tuple[float, float, float]
) -> None:
    found = powered_mean(*answers, pool)
    low, high = found.value - Z * found.se, found.value + Z * found.se
    assert (found.value, low, high) == pytest.approx(published, abs=1e-5)


def test_the_weight_makes_the_variance_least() -> None:
    rng = np.random.default_rng(1)
    predicted = rng.random(400)
    labels = (rng.random(400) < predicted).astype(float)
    found = powered_mean(labels, predicted, predicted)
    tried = [np.std(labels - weight * predicted) / 20 for weight in np.linspace(0, 1, 101)]
    assert found.se == pytest.approx(min(tried), rel=1e-3)


def test_a_useless_or_reversed_judge_leaves_the_answers_alone() -> None:
    labels, predicted = table(2, 18, 20, 3)
    assert powered_mean(labels, predicted, POOL).weight == 0
    assert powered_mean(labels, np.ones_like(labels), np.ones(50)) == powered_mean(labels, predicted, POOL)


@pytest.mark.parametrize("constant", [0.0, 0.1, 0.7, 0.9])
def test_equal_predictions_of_all_items_have_no_weight(constant: float) -> None:
    for labels in ([1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0]):
        found = powered_share(labels, np.full(len(labels), constant), np.full(2000, constant))
        assert (found.weight, found.value) == (0.0, pytest.approx((sum(labels) + 2) / (len(labels) + 4)))


def test_four_made_up_answers_keep_a_faultless_judge_from_certainty() -> None:
    labels, predicted = table(6, 0, 0, 6)
    bare, found = powered_mean(labels, predicted, labels), powered_share(labels, predicted, labels)
    assert bare.se == pytest.approx(0, abs=1e-12)
    assert found.se > 0.05
    assert found == powered_mean(np.append(labels, MADE_UP_LABELS), np.append(predicted, MADE_UP_PREDICTIONS), labels)


@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
@pytest.mark.parametrize("right", [0.5, 0.8, 1.0])
def test_the_interval_holds_the_truth_as_often_as_it_says(share: float, right: float) -> None:
    rng = np.random.default_rng([round(share * 100), round(right * 10)])
    labels = (rng.random(2000) < share).astype(float)
    predicted = np.where(rng.random(2000) < right, labels, 1 - labels)
    held, trials = 0, 1000
    for _ in range(trials):
        drawn = rng.integers(2000, size=30)
        low, high = powered_share(labels[drawn], predicted[drawn], predicted).interval
        held += bool(low <= labels.mean() <= high)
    assert held / trials > 0.93  # 0.95 less three standard errors of so many trials


def test_so_many_more_answers_halve_the_interval() -> None:
    labels, predicted = table(30, 10, 5, 55)
    more = more_to_halve(len(labels))
    # As many answers of each kind, the made-up ones included, as the larger sample has in all.
    grown = [
        np.concatenate([np.tile(np.append(kept, made), 4)[:-4]])
        for kept, made in ((labels, MADE_UP_LABELS), (predicted, MADE_UP_PREDICTIONS))
    ]
    assert len(grown[0]) == len(labels) + more
    before, after = powered_share(labels, predicted, POOL), powered_share(*grown, POOL)
    assert after.se == pytest.approx(before.se / 2)
