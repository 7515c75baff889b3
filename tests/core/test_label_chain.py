"""Labels predicted one after another: their product is the probability of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from tellmore.core.label_chain import label_log_probabilities


def test_the_product_is_the_probability_of_all() -> None:
    rng = np.random.default_rng(3)
    root = rng.normal(size=(4, 4))
    mean, cov, labels = rng.normal(size=4), root @ root.T, np.array([1.0, -1.0, -1.0, 1.0])
    z = rng.multivariate_normal(mean, cov, size=400_000)
    together = float(np.log(expit(1.5 * labels * z).prod(axis=1).mean()))
    found = label_log_probabilities(mean, cov, labels, np.full(4, 1.5))
    assert found.sum() == pytest.approx(together, abs=0.05)
    assert found[0] == pytest.approx(float(np.log(expit(1.5 * z[:, 0]).mean())), abs=0.01)
    apart = [float(np.log(expit(1.5 * y * one).mean())) for y, one in zip(labels, z.T, strict=True)]
    assert abs(sum(apart) - together) > 0.2  # labels of related items are not independent


def test_no_label_says_nothing_and_a_known_score_is_no_error() -> None:
    found = label_log_probabilities(np.array([2.0, 0.0]), np.zeros((2, 2)), np.array([1.0, 0.0]), np.ones(2))
    np.testing.assert_allclose(found, [np.log(expit(2.0)), 0.0])
