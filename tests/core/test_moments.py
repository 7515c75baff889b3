"""Moment matching against the exact posterior: dense quadrature, brute-force sampling, and the variational update."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core import moments, update
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.moments import tilted_moments
from tellmore.core.prior import paper_prior
from tellmore.core.update import UpdateInfo, learn_likelihood
from tellmore.errors import NumericalError
from tellmore.kinds import Kind, named
from tests.kinds.alike import ALIKE
from tests.oracles import cases, grid, information, likelihoods, weighing
from tests.oracles.plain import scan_of

LIKELIHOOD_ONLY = ["alike", "least_sure", "most_sure"]


def kind_of(name: str) -> Kind:
    return ALIKE if name == "alike" else named(name)


def column(name: str, outcome: Any, w: float, K: float) -> Any:
    """log P(outcome | z) for scores [n, k], by definition."""

    def by_definition(z: np.ndarray) -> np.ndarray:
        if name == "alike":
            p, q = 1 / (1 + np.exp(-w * z)).T, 1 / (1 + np.exp(w * z)).T
            same, other = p[0] * p[1] + q[0] * q[1], p[0] * q[1] + q[0] * p[1]
            return np.log(same if outcome else other)
        place = likelihoods.outcomes(name, z.shape[1]).index(outcome)
        return information.log_probabilities(name, z, w, K)[:, place]

    return by_definition


def some_case(name: str, k: int, d: int, seed: int, sharpness: float = 3.0) -> cases.Case:
    """A belief with mean and correlations, items, and one of the answers."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d + 1, d + 1))
    outcomes = list(kind_of(name).outcomes(k))
    outcome = outcomes[int(rng.integers(len(outcomes)))]
    cov = A @ A.T / (d + 1) * 0.5 + 0.05 * np.eye(d + 1)
    return cases.Case(
        rng.normal(size=d + 1) * 0.4, cov, rng.normal(size=(k, d)), name, outcome, 1.5 * sharpness, sharpness
    )


def learnt(case: cases.Case, kind: Kind | None = None) -> tuple[Gaussian, UpdateInfo]:
    prior = Gaussian.from_moments(case.mean, case.cov)
    return (kind or kind_of(case.kind)).update(prior, case.X, case.outcome, Behaviour(case.w, case.K))


def misses(belief: Gaussian, mean: np.ndarray, cov: np.ndarray) -> tuple[float, float]:
    """How far the mean is off in exact standard deviations, and the covariance in exact variances."""
    factor = np.linalg.cholesky(cov)
    off = np.linalg.solve(factor, belief.mean - mean)
    spread = np.linalg.solve(factor, np.linalg.solve(factor, belief.cov).T) - np.eye(len(mean))
    return float(np.abs(off).max()), float(np.abs(spread).max())


@pytest.mark.parametrize("sharpness", [1.0, 3.0, 10.0])
@pytest.mark.parametrize(("d", "points"), [(1, 801), (2, 101)])
@pytest.mark.parametrize("name", LIKELIHOOD_ONLY)
def test_equals_the_posterior_by_quadrature(name: str, d: int, points: int, sharpness: float) -> None:
    for seed in range(4):
        case = some_case(name, 2, d, seed, sharpness)
        exact = grid.tilted(
            case.mean, case.cov, case.items, column(name, case.outcome, case.w, case.K), points, reach=7.0
        )
        after, info = learnt(case)
        mean_off, cov_off = misses(after, *exact[:2])
        assert mean_off < 0.005
        assert cov_off < 0.02
        assert info.elbo_nats == pytest.approx(exact[2], abs=0.003)
        assert after.logdet == pytest.approx(np.linalg.slogdet(after.cov)[1], abs=1e-8)
        assert info.logdet_drop_nats == pytest.approx(
            np.linalg.slogdet(case.cov)[1] - np.linalg.slogdet(after.cov)[1], abs=1e-8
        )


@pytest.mark.parametrize(("name", "k"), [("alike", 2), ("least_sure", 3), ("most_sure", 4), ("least_sure", 6)])
def test_equals_the_posterior_by_brute_force_in_four_dimensions(name: str, k: int) -> None:
    """d = 3: a million classifiers drawn from the belief and weighed; the error is that of the weighing."""
    for seed in range(2):
        case = some_case(name, k, 3, seed)
        draws = np.random.default_rng(seed).multivariate_normal(case.mean, case.cov, size=1_000_000, method="cholesky")
        log_weight = column(name, case.outcome, case.w, case.K)(draws @ case.items.T)
        mean, cov = grid.moments(draws, log_weight)
        weight = np.exp(log_weight - log_weight.max())
        effective = weight.sum() ** 2 / (weight**2).sum()
        mean_off, cov_off = misses(learnt(case)[0], mean, cov)
        assert effective > 20_000
        assert mean_off < 0.01 + 4 / np.sqrt(effective)
        assert cov_off < 0.02 + 8 / np.sqrt(effective)


def test_an_answer_with_two_peaks_may_leave_scores_less_certain() -> None:
    """One item is not the least sure: it is far from the border, above or below. Both peaks are covered."""
    prior, X = Gaussian.from_moments(np.zeros(2), np.diag([1e-4, 1.0])), np.array([[1.0], [0.1]])
    after, info = named("least_sure").update(prior, X, 1, Behaviour(K=5.0))
    assert after.mean[1] == pytest.approx(0, abs=0.01)
    assert after.cov[1, 1] > 1.1
    assert info.logdet_drop_nats < 0
    assert (info.steps[0].lost < 0).any()


# The furthest that 40 variational updates were from the posterior's own moments, at choice sharpness 1 and 3 (labels 1.5 times
# that): means in standard deviations, and standard deviations relative to the posterior's. With a fifth to spare.
LOST = {
    ("label", 1.0): (0.20, 0.27),
    ("label", 3.0): (0.34, 0.58),
    ("select_high", 1.0): (0.22, 0.20),
    ("select_high", 3.0): (0.44, 0.49),
    ("rank", 1.0): (0.49, 0.25),
    ("rank", 3.0): (0.47, 0.56),
}


@pytest.mark.parametrize("sharpness", [1.0, 3.0])
@pytest.mark.parametrize(("name", "k"), [("label", 1), ("select_high", 4), ("rank", 3)])
def test_the_variational_update_differs_by_what_its_bound_loses(name: str, k: int, sharpness: float) -> None:
    off, spread = apart(name, k, sharpness)
    assert 0.5 * LOST[name, sharpness][0] < off < LOST[name, sharpness][0]
    assert 0.5 * LOST[name, sharpness][1] < spread < LOST[name, sharpness][1]


def apart(name: str, k: int, sharpness: float) -> tuple[float, float]:
    """The largest distances of scores' means (in deviations) and deviations (relative) between the two updates."""
    worst = []
    for seed in range(40):
        case = some_case(name, k, 3, seed, sharpness)
        prior, behaviour = Gaussian.from_moments(case.mean, case.cov), Behaviour(case.w, case.K)
        bound, _ = named(name).update(prior, case.X, case.outcome, behaviour)
        matched, _ = without_evidence(named(name), prior, case.X, case.outcome, behaviour)
        (m1, v1, _), (m2, v2, _) = (belief.project(case.items) for belief in (bound, matched))
        deviation = np.sqrt(np.diag(v2))
        worst.append((np.abs(m1 - m2).max() / deviation.min(), np.abs(np.sqrt(np.diag(v1)) / deviation - 1).max()))
    off, spread = np.max(worst, axis=0)
    return float(off), float(spread)


def without_evidence(
    kind: Kind, prior: Gaussian, X: np.ndarray, outcome: Any, behaviour: Behaviour
) -> tuple[Gaussian, UpdateInfo]:
    """What the kind would learn if it knew its likelihood alone."""
    return learn_likelihood(prior, X, lambda z: kind.log_likelihood(z, outcome, behaviour))


@pytest.mark.parametrize("K", [30.0, 100.0, 300.0])
@pytest.mark.parametrize("name", ["least_sure", "most_sure", "select_high", "rank"])
def test_sharp_answers_are_learnt_also_where_they_contradict_the_belief(name: str, K: float) -> None:
    """Posteriors cut off by the answer, down to one that had a chance of 2 in 100,000 (rank, seed 3), on a fine grid."""
    for seed in range(4):
        case = some_case(name, 2, 1, seed, K)
        place = likelihoods.outcomes(name, 2).index(case.outcome)
        mean, cov, log_evidence = grid.tilted(
            case.mean,
            case.cov,
            case.items,
            lambda z, place=place: information.log_probabilities(name, z, 1.5 * K, K)[:, place],
            1001,
        )
        prior, behaviour = Gaussian.from_moments(case.mean, case.cov), Behaviour(case.w, case.K)
        after, info = without_evidence(named(name), prior, case.X, case.outcome, behaviour)
        mean_off, cov_off = misses(after, mean, cov)
        assert mean_off < 0.03
        assert cov_off < 0.13
        assert info.elbo_nats == pytest.approx(log_evidence, abs=0.01)


@pytest.mark.parametrize("name", ["rank", "tick"])
def test_a_sharp_unlikely_answer_on_many_items(name: str) -> None:
    """Six items, K = 100; the ranking had a chance of 1 in 80,000, so that no draw from the belief may fit it."""
    case = some_case(name, 6, 8, 1, 100.0)
    prior, behaviour = Gaussian.from_moments(case.mean, case.cov), Behaviour(case.w, case.K)
    after, _ = without_evidence(named(name), prior, case.X, case.outcome, behaviour)
    mean, cov, _ = after.project(case.items)
    exact, exact_cov, effective = weighing.weighed_moments(
        prior.project(case.items)[:2],
        lambda z: named(name).log_likelihood(z, case.outcome, behaviour),
        (mean, 2 * cov),
        np.random.default_rng(0),
    )
    spread = np.sqrt(np.diag(exact_cov))
    assert effective > 20_000
    np.testing.assert_allclose((mean - exact) / spread, 0, atol=0.1)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)) / spread, 1, atol=0.1)


@pytest.mark.parametrize("name", LIKELIHOOD_ONLY)
def test_copies_of_an_item_are_one_item(name: str) -> None:
    """Their scores have a singular covariance, and what is learnt is what the posterior on a grid is."""
    case = some_case(name, 2, 1, 3)
    twice = cases.Case(case.mean, case.cov, case.X[[0, 0]], name, case.outcome, case.w, case.K)
    after, info = learnt(twice)
    exact = grid.tilted(case.mean, case.cov, twice.items, column(name, case.outcome, case.w, case.K), 801)
    mean_off, cov_off = misses(after, *exact[:2])
    assert mean_off < 0.005
    assert cov_off < 0.02
    assert info.steps[0].lost.size == 1


def test_the_same_answer_teaches_the_same_in_another_process() -> None:
    """The points are kept while a process lives, so they are forgotten in between here."""
    case = some_case("least_sure", 4, 5, 0)
    one, _ = learnt(case)
    moments.fixed_points.cache_clear()
    two, _ = learnt(case)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.cov, two.cov)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(LIKELIHOOD_ONLY), sharpness=st.floats(0.3, 30))
def test_refreshing_a_scan_by_the_step_equals_an_exact_rescan(seed: int, name: str, sharpness: float) -> None:
    """Also where variances grew, which the step says by its signs."""
    case = some_case(name, 2, 4, seed, sharpness)
    prior, X = Gaussian.from_moments(case.mean, case.cov), np.random.default_rng(seed).normal(size=(30, 4))
    after, info = learnt(case)
    refreshed = scan_of(X, prior).refreshed(info.steps, after)
    exact = scan_of(X, after)
    np.testing.assert_allclose(refreshed.mean, exact.mean, atol=1e-10)
    np.testing.assert_allclose(refreshed.variance, exact.variance, atol=1e-9)
    step = info.steps[0]
    np.testing.assert_allclose(prior.cov - step.loss, after.cov, atol=1e-12)
    assert np.linalg.eigvalsh(after.cov).min() > 0
    assert after.logdet == pytest.approx(np.linalg.slogdet(after.cov)[1], abs=1e-7)


def test_says_what_it_cannot_learn_from() -> None:
    m0, G = np.zeros(2), np.eye(2)
    with pytest.raises(NumericalError, match="known already"):
        tilted_moments(m0, np.zeros((2, 2)), lambda z: np.zeros(len(z)))
    for value in (np.nan, -np.inf):
        with pytest.raises(NumericalError, match="zero or not a number"):
            tilted_moments(m0, G, lambda z, value=value: np.full(len(z), value))


def test_a_likelihood_of_zero_somewhere_is_learnt_from() -> None:
    """z > 0 for sure: the half-normal distribution."""
    with np.errstate(divide="ignore"):
        found = tilted_moments(np.zeros(1), np.eye(1), lambda z: np.log((z[:, 0] > 0).astype(float)))
    assert abs(found.mean[0]) == pytest.approx(np.sqrt(2 / np.pi), abs=0.005)
    assert found.cov[0, 0] == pytest.approx(1 - 2 / np.pi, abs=0.005)
    assert found.log_evidence == pytest.approx(np.log(0.5), abs=0.002)


def told(d: int, kind: str, k: int, answers: int, seed: int) -> tuple[Gaussian, np.ndarray, list[Any]]:
    """A prior, a pool of unit-norm items, and answers of somebody who answers as the model says; questions at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    prior = paper_prior(d)
    theta = prior.sample(1, rng)[0]
    pool = np.column_stack([np.ones(len(X)), X])
    given = []
    for _ in range(answers):
        items = pool[rng.choice(len(pool), k, replace=False)]
        given.append((items, kind, named(kind).sample(items @ theta, Behaviour(), rng)))
    return prior, pool, given


def spread_ratios(prior: Gaussian, pool: np.ndarray, given: list[Any], rng: np.random.Generator) -> np.ndarray:
    """Reported standard deviations over exact ones, by moments and by the centred bound (rows).

    Columns: of the weights by determinant, and of an item's score on average.
    """
    beliefs = []
    for bound in ("moments", "centred"):
        belief = prior
        for items, kind, outcome in given:
            belief, _ = named(kind).update(belief, items[:, 1:], outcome, Behaviour(), bound=bound)  # type: ignore[arg-type]
        beliefs.append(belief)

    def log_likelihood(thetas: np.ndarray) -> np.ndarray:
        return sum(
            likelihoods.update_log_likelihoods(kind, thetas @ items.T, outcome, Behaviour().w, Behaviour().K)
            for items, kind, outcome in given
        )

    proposal = beliefs[0].mean, 1.3 * beliefs[0].cov
    _, cov, counted = weighing.weighed_moments((prior.mean, prior.cov), log_likelihood, proposal, rng, 60_000)
    assert counted > 3_000
    exact = [np.sqrt(x @ cov @ x) for x in pool]
    return np.array(
        [
            [
                np.exp((belief.logdet - np.linalg.slogdet(cov)[1]) / 2 / len(cov)),
                np.mean([np.sqrt(x @ belief.cov @ x) / sd for x, sd in zip(pool, exact, strict=True)]),
            ]
            for belief in beliefs
        ]
    )


@pytest.mark.parametrize(
    ("kind", "k", "answers"), [("label", 1, 30), ("select_high", 4, 20), ("rank", 4, 12), ("tick", 6, 8)]
)
def test_the_spread_after_many_answers_is_within_five_percent(kind: str, k: int, answers: int) -> None:
    """Ten dimensions, by importance sampling from all answers at once; a variational bound is too sure of itself."""
    rng = np.random.default_rng(7)
    moments_ratio, centred_ratio = np.mean(
        [spread_ratios(*told(10, kind, k, answers, seed), rng) for seed in range(4)], axis=0
    )
    np.testing.assert_allclose(moments_ratio, 1, atol=0.05)
    assert (centred_ratio < 0.95).all()


@pytest.mark.parametrize(("kind", "k"), [("label", 1), ("select_high", 3), ("rank", 3)])
def test_moments_around_the_variational_belief_are_those_of_the_posterior(kind: str, k: int) -> None:
    case = some_case(kind, k, 1, 3, 2.0)
    prior = Gaussian.from_moments(case.mean, case.cov)
    belief, info = named(kind).update(prior, case.X, case.outcome, Behaviour(case.w, case.K), bound="moments")
    arguments = (case.mean, case.cov, case.items, kind, case.outcome, case.w, case.K, 121)
    mean, cov = grid.posterior_moments(*arguments)
    deviations = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(belief.mean / deviations, mean / deviations, atol=0.01)
    np.testing.assert_allclose(belief.cov, cov, atol=0.03 * np.diag(cov).max())  # 2,048 points
    assert info.elbo_nats == pytest.approx(grid.log_evidence(*arguments), abs=0.01)
    assert belief.logdet == pytest.approx(np.linalg.slogdet(belief.cov)[1])


def test_answers_too_sharp_for_sampling_leave_the_variational_belief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "ENOUGH_POINTS", 2048)
    case = some_case("rank", 4, 4, 5)
    prior = Gaussian.from_moments(case.mean, case.cov)
    both = [
        named("rank").update(prior, case.X, case.outcome, Behaviour(), bound=bound)[0]
        for bound in ("moments", "centred")
    ]
    np.testing.assert_array_equal(both[0].cov, both[1].cov)


def test_hard_answers_leave_a_belief_by_moments() -> None:
    rng = np.random.default_rng(12)
    for _ in range(100):
        case = cases.hard_case(rng)
        prior = Gaussian.from_moments(case.mean, case.cov)
        belief, _ = named(case.kind).update(prior, case.X, case.outcome, Behaviour(case.w, case.K), bound="moments")
        assert np.isfinite(belief.mean).all()
        assert np.linalg.eigvalsh(belief.cov).min() > -1e-12 * belief.cov.max()


@pytest.mark.parametrize(("kind", "k"), [("label", 1), ("select_high", 3), ("select_low", 3), ("rank", 4), ("tick", 3)])
def test_the_likelihood_of_evidence_is_what_an_update_conditions_on(kind: str, k: int) -> None:
    rng = np.random.default_rng(k)
    z, outcome = rng.normal(size=(5, k)), cases.random_outcome(kind, k, rng)
    expected = [likelihoods.update_log_likelihood(kind, one.tolist(), outcome, 4.0, 3.0) for one in z]
    evidence = named(kind).evidence(outcome, k)
    assert evidence is not None
    np.testing.assert_allclose(evidence.log_likelihood(z, Behaviour(4.0, 3.0)), expected, atol=1e-12)
    np.testing.assert_allclose(likelihoods.update_log_likelihoods(kind, z, outcome, 4.0, 3.0), expected, atol=1e-12)
