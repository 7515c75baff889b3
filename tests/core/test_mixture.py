"""Several beliefs, weighed by their evidence: against sampling, exact integration and each belief on its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from tellmore.core.evidence import Behaviour, choice_evidence, label_evidence
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.mixture import Mixture
from tellmore.core.scan import refreshed, scans_of
from tellmore.core.update import learn_moments, with_constant
from tests.oracles.plain import scan_of


def random_belief(D: int, rng: np.random.Generator) -> Gaussian:
    root = rng.normal(size=(D, D))
    return Gaussian.from_moments(rng.normal(size=D), root @ root.T / D + 0.1 * np.eye(D))


def random_mixture(D: int, m: int, rng: np.random.Generator, started: int = 0) -> Mixture:
    beliefs = (random_belief(D, rng) for _ in range(m))
    return Mixture.of(*beliefs, odds=tuple(rng.uniform(0.1, 3, size=m)), started=started)


def draws(mixture: Mixture, n: int, rng: np.random.Generator) -> np.ndarray:
    """Classifiers drawn from a mixture, the slow and obvious way."""
    which = rng.choice(len(mixture.beliefs), size=n, p=mixture.weights)
    return np.vstack([belief.sample(int(np.sum(which == i)), rng) for i, belief in enumerate(mixture.beliefs)])


@settings(max_examples=10, deadline=None)
@given(d=st.integers(1, 4), m=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_moments_scores_and_probabilities_are_those_of_draws(d: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mixture, X = random_mixture(d + 1, m, rng), rng.normal(size=(5, d))
    theta = draws(mixture, 200_000, rng)
    size = np.sqrt(np.diag(np.cov(theta.T)).max())
    np.testing.assert_allclose(mixture.moments.mean, theta.mean(axis=0), atol=0.02 * size)
    np.testing.assert_allclose(mixture.moments.cov, np.cov(theta.T), atol=0.04 * size**2)
    z = theta[:, :1] + theta[:, 1:] @ X.T
    mean, variance = mixture.scores(X)
    spread = z.std(axis=0).max()
    np.testing.assert_allclose(mean, z.mean(axis=0), atol=0.02 * spread)
    np.testing.assert_allclose(variance, z.var(axis=0), atol=0.04 * spread**2)
    np.testing.assert_allclose(mixture.probability(X, 2.0), expit(2 * z).mean(axis=0), atol=0.01)
    np.testing.assert_allclose(mixture.scores(X), mixture.moments.scores(X), atol=1e-10)


def test_weights_are_those_of_bayes() -> None:
    """Two beliefs over one score, told labels: the exact odds, by integrating over the score."""
    wide, right = (Gaussian.from_moments(np.array([0.0, m]), np.diag([1e-9, v])) for m, v in ((0.0, 4.0), (2.0, 0.3)))
    mixture, behaviour = Mixture.of(wide, right, odds=(0.25, 1.0)), Behaviour(1.5, 1.0)
    labels = [1.0, 1.0, -1.0, 1.0]
    for label in labels:
        found = [
            learn_moments(one, np.ones((1, 1)), label_evidence(np.array([label])), behaviour) for one in mixture.beliefs
        ]
        mixture = mixture.told(tuple(one for one, _ in found), np.array([info.elbo_nats for _, info in found]))

    def evidence(m: float, v: float) -> float:
        def joint(z: float) -> float:
            return float(norm.pdf(z, m, np.sqrt(v)) * np.prod([expit(1.5 * label * z) for label in labels]))

        return quad(joint, -20, 20, points=[m])[0]

    exact = np.array([0.25 * evidence(0.0, 4.0), evidence(2.0, 0.3)])
    # Each label is learnt exactly, but from the Gaussian that the last ones left.
    np.testing.assert_allclose(mixture.weights, exact / exact.sum(), atol=0.02)


def test_several_scans_in_one_pass_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(3)
    X, mixture = rng.normal(size=(500, 6)), random_mixture(7, 3, rng)
    before = scans_of(scan_of(X, mixture.beliefs[0]).rows, mixture.beliefs)
    for scan, belief in zip(before, mixture.beliefs, strict=True):
        np.testing.assert_array_equal(scan.variance, scan_of(X, belief).variance)
    steps = [
        tuple(Step(rng.normal(size=(7, k)), rng.normal(size=k), rng.uniform(0, 0.01, size=k)) for k in ks)
        for ks in ((2,), (1, 3), (4,))
    ]
    together = refreshed(before, steps, mixture.beliefs)
    for scan, taken, belief, after in zip(before, steps, mixture.beliefs, together, strict=True):
        alone = scan.refreshed(taken, belief)
        np.testing.assert_allclose(after.mean, alone.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(after.variance, alone.variance, rtol=1e-12, atol=1e-12)
        assert after.refreshes == scan.refreshes + 1


@pytest.mark.parametrize("started", [1, 2])
def test_how_much_a_start_still_counts(started: int) -> None:
    """After Gaussian evidence about a row, a start that scored it one higher would now score it higher by what is left."""
    rng = np.random.default_rng(1)
    before, x = random_mixture(4, 3, rng, started), rng.normal(size=(1, 3))
    np.testing.assert_allclose(before.start_left(before, x), 1.0)

    def told(belief: Gaussian) -> Gaussian:
        mean, gram, reach = belief.project(with_constant(x))
        return belief.conditioned(reach, gram, np.array([[0.7]]), (0.2 - 0.7 * mean) / (1 + 0.7 * gram[0]))[0]

    after = before.mapped(told)
    raised = [told(belief.with_mean(belief.mean + np.eye(4)[0])).scores(x)[0] for belief in before.beliefs]
    left = [high - belief.scores(x)[0] for high, belief in zip(raised, after.beliefs, strict=True)]
    weights = after.weights[-started:] / after.weights[-started:].sum()
    np.testing.assert_allclose(after.start_left(before, x), weights @ np.array(left[-started:]), rtol=1e-9)
    alone = Mixture.of(after.beliefs[1]).start_left(Mixture.of(before.beliefs[1]), x)
    np.testing.assert_allclose(alone, left[1], rtol=1e-9)
    without = replace(after, log_weights=np.log([1 - 2e-9, 1e-9, 1e-9]))
    assert without.start_left(before, x) < 1e-6


def test_arrays_and_back() -> None:
    mixture = random_mixture(4, 3, np.random.default_rng(0), started=1)
    mixture = replace(mixture, sharpness=(1.0, 0.5, 0.25)[: len(mixture.beliefs)])
    arrays = mixture.arrays("kept_")
    again = Mixture.from_arrays(arrays, "kept_")
    assert (again.sharpness, again.started) == (mixture.sharpness, 1)
    absent = ("kept_sharpness", "kept_started")
    earlier = Mixture.from_arrays({name: value for name, value in arrays.items() if name not in absent}, "kept_")
    assert (set(earlier.sharpness), earlier.started) == ({1.0}, 2)
    assert again.log_weights.tolist() == mixture.log_weights.tolist()
    assert [one.logdet for one in again.beliefs] == [one.logdet for one in mixture.beliefs]
    np.testing.assert_array_equal(again.moments.cov, mixture.moments.cov)


ASKED = {
    (3.0, 1.0, 1.0): 0,
    (1.0, 3.0, 1.0): 2,
    (0.9, 0.5, 0.5): 2,
    (1.0, 3.0): 1,
    (0.1, 6.0, 1.0, 0.5): 2,
    (0.1, 6.0, 0.5, 1.0): 3,
    (3.0, 1.0, 0.5, 1.0): 0,
}


@pytest.mark.parametrize(("odds", "asked"), ASKED.items())
def test_the_most_probable_free_belief_asks_unless_the_start_is_improbable(odds: tuple[float, ...], asked: int) -> None:
    rng = np.random.default_rng(1)
    beliefs = tuple(random_belief(3, rng) for _ in odds)
    assert Mixture.of(*beliefs, odds=odds, started=len(odds) - 1).asking == asked
    # With one more belief that has no start, the numbers of those that have one grow by one.
    halves = (odds[0] / 2, odds[0] / 2, *odds[1:])
    paired = Mixture.of(beliefs[0], *beliefs, odds=halves, started=len(odds) - 1)
    assert paired.asking == (asked and asked + 1)


def test_without_a_start_the_first_belief_asks() -> None:
    rng = np.random.default_rng(1)
    assert random_mixture(3, 1, rng).asking == 0
    assert Mixture.of(*(random_belief(3, rng) for _ in range(3)), odds=(1.0, 9.0, 20.0)).asking == 0


def test_beliefs_without_a_start_pass_no_weight_on() -> None:
    rng = np.random.default_rng(4)
    mixture = random_mixture(3, 3, rng)
    np.testing.assert_allclose(mixture.told(mixture.beliefs, np.zeros(3)).weights, mixture.weights)


def test_beliefs_that_hardly_count_are_left_out_where_items_are_many() -> None:
    rng = np.random.default_rng(5)
    beliefs = random_mixture(4, 3, rng).beliefs
    scores = [(rng.normal(size=50), rng.gamma(1.0, size=50)) for _ in beliefs]
    mixture = Mixture.of(*beliefs, odds=(1.0, 1e-9, 2.0))
    np.testing.assert_allclose(
        mixture.probability_of(scores, 2.0, of=10**6), mixture.probability_of(scores, 2.0), atol=1e-5
    )
    wrong = [scores[0], (np.full(50, np.nan), np.ones(50)), scores[2]]
    assert np.isfinite(mixture.probability_of(wrong, 2.0, of=10**6)).all()
    assert np.isnan(mixture.probability_of(wrong, 2.0)).all()


def test_a_belief_close_to_the_start_passes_weight_on_to_freer_ones() -> None:
    rng = np.random.default_rng(6)
    mixture = Mixture.of(*(random_belief(3, rng) for _ in range(4)), odds=(1.0, 6.0, 2.0, 1.0), started=3)
    once = mixture.told(mixture.beliefs, np.zeros(4))
    np.testing.assert_allclose(once.weights, np.array([1.0, 6 * 0.96, 2 * 0.96 + 6 * 0.04, 1 + 2 * 0.04]) / 10)
    for _ in range(400):
        mixture = mixture.told(mixture.beliefs, np.zeros(4))
    np.testing.assert_allclose(mixture.weights, [0.1, 0.0, 0.0, 0.9], atol=1e-5)


def test_beliefs_of_another_sharpness_keep_to_themselves() -> None:
    """Weight is passed on from closer to freer beliefs of the same sharpness, and the closest of each asks nothing."""
    rng = np.random.default_rng(8)
    sharpness = (1.0, 1.0, 1.0, 0.25, 0.25)
    mixture = Mixture.of(
        *(random_belief(3, rng) for _ in sharpness), odds=(1.0, 4.0, 1.0, 3.0, 1.0), sharpness=sharpness, started=4
    )
    once = mixture.told(mixture.beliefs, np.zeros(5))
    expected = np.array([1.0, 4 * 0.96, 1 + 4 * 0.04, 3 * 0.96, 1 + 3 * 0.04]) / 10
    np.testing.assert_allclose(once.weights, expected)
    assert once.sharpness == sharpness
    assert once.asking == 2
    assert mixture.told(mixture.beliefs, np.array([0.0, 0.0, -1.0, 2.0, 0.5])).asking == 4


def test_each_belief_learns_as_sharply_as_it_expects_answers_to_be() -> None:
    rng = np.random.default_rng(9)
    one, X = random_belief(3, rng), rng.normal(size=(2, 2))
    evidence = choice_evidence(np.array([1.0, 0.0]), np.array([0]), np.ones((1, 2), dtype=bool))
    mixture, behaviour = Mixture.of(one, one, one, sharpness=(1.0, 0.25, 2.0)), Behaviour(4.0, 2.0)
    beliefs, infos = mixture.updated(behaviour, lambda belief, own: learn_moments(belief, X, evidence, own))
    for w, K, belief, info in zip((4.0, 1.0, 8.0), (2.0, 0.5, 2.0), beliefs, infos, strict=True):
        alone, expected = learn_moments(one, X, evidence, Behaviour(w, K))
        np.testing.assert_array_equal(belief.mean, alone.mean)
        assert info.elbo_nats == expected.elbo_nats


def test_what_predicted_the_first_answers_best_gives_way_to_what_predicts_the_later_ones_best() -> None:
    rng = np.random.default_rng(7)
    mixture = Mixture.of(*(random_belief(3, rng) for _ in range(3)), started=2)
    for _ in range(40):
        mixture = mixture.told(mixture.beliefs, np.array([-2.0, 0.0, -1.0]))
    assert mixture.weights[1] > 0.9
    for _ in range(10):
        mixture = mixture.told(mixture.beliefs, np.array([-2.0, -1.0, 0.0]))
    assert mixture.weights[2] > 0.9  # by their whole evidence, the close belief would be ahead by 30 nats
