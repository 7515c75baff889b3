"""Shared and personal views: against one joint Gaussian over all of them, updated by the step that learns every answer."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tellmore import kinds
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.offsets import OWN_SHARES, Views, best_share, best_split
from tests.oracles.joint_views import joint_prior, seen_by, view_of

D, PEOPLE, NOISE = 4, 3, 0.5


def some_prior(rng: np.random.Generator, dim: int = D) -> Gaussian:
    root = rng.normal(size=(dim, dim))
    return Gaussian.from_moments(rng.normal(size=dim), root @ root.T + 0.1 * np.eye(dim))


def observed(belief: Gaussian, A: np.ndarray, y: np.ndarray) -> Gaussian:
    """A belief after y = A theta + noise: the low-rank step with the sites of a linear regression."""
    mean, gram, reach = belief.project(A)
    precision = np.eye(len(y)) / NOISE**2
    gain = np.linalg.solve(gram + NOISE**2 * np.eye(len(y)), y - mean)
    return belief.conditioned(reach, gram, precision, gain)[0]


def numbers(rng: np.random.Generator, people: int = PEOPLE) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(rng.normal(size=(2 + who, D)), rng.normal(size=2 + who)) for who in range(people)]


@pytest.mark.parametrize("own", [0.05, 0.4, 0.9])
def test_views_are_those_of_the_joint_belief(own: float) -> None:
    rng = np.random.default_rng(0)
    prior, data = some_prior(rng), numbers(rng)
    joint = joint_prior(prior, own, PEOPLE)
    for who, (A, y) in enumerate(data):
        joint = observed(joint, seen_by(A, who, PEOPLE), y)
    views = Views.of(prior, [observed(prior, A, y) for A, y in data])
    np.testing.assert_allclose(views.shared(own).mean, joint.mean[:D], atol=1e-8)
    np.testing.assert_allclose(views.shared(own).cov, joint.cov[:D, :D], atol=1e-8)
    for who in range(PEOPLE):
        expected, found = view_of(joint, who, PEOPLE), views.person(own, who)
        np.testing.assert_allclose(found.mean, expected.mean, atol=1e-8)
        np.testing.assert_allclose(found.cov, expected.cov, atol=1e-8)


def test_evidence_is_that_of_the_joint_belief() -> None:
    rng = np.random.default_rng(1)
    prior, data = some_prior(rng), numbers(rng)
    views = Views.of(prior, [observed(prior, A, y) for A, y in data])

    def marginal(own: float) -> float:
        A = np.vstack([seen_by(A, who, PEOPLE) for who, (A, _) in enumerate(data)])
        y = np.concatenate([y for _, y in data])
        mean, gram, _ = joint_prior(prior, max(own, 1e-12), PEOPLE).project(A)
        return float(multivariate_normal(mean, gram + NOISE**2 * np.eye(len(y))).logpdf(y))

    for own in OWN_SHARES[1:]:
        difference = views.evidence_nats(own) - views.evidence_nats(0.0)
        assert difference == pytest.approx(marginal(own) - marginal(0.0), abs=1e-6)


def test_nothing_own_is_one_view_and_nothing_shared_is_ones_own() -> None:
    rng = np.random.default_rng(2)
    prior, data = some_prior(rng), numbers(rng)
    views = Views.of(prior, [observed(prior, A, y) for A, y in data])
    together = prior
    for A, y in data:
        together = observed(together, A, y)
    np.testing.assert_allclose(views.person(0.0, 1).mean, together.mean, atol=1e-8)
    np.testing.assert_allclose(views.shared(0.0).cov, together.cov, atol=1e-8)
    np.testing.assert_allclose(views.person(1.0, 1).mean, observed(prior, *data[1]).mean, atol=1e-8)


def test_labels_and_rankings_lead_near_the_joint_belief() -> None:
    """Bounds depend on where the belief is when an answer comes, so these agree, but not to the last digit."""
    rng = np.random.default_rng(3)
    own, d, behaviour = 0.3, D - 1, Behaviour(1.5, 1.0)
    prior = Gaussian.from_moments(np.zeros(D), np.eye(D))
    joint, alone = joint_prior(prior, own, PEOPLE), [prior] * PEOPLE
    meant = rng.normal(size=(PEOPLE, D)) * 0.5 + rng.normal(size=D)
    for number in range(45):
        kind, who = kinds.named(("label", "rank")[number % 2]), number % PEOPLE
        Z = rng.normal(size=(1 if kind.name == "label" else 3, d))
        outcome = kind.sample(meant[who, 0] + Z @ meant[who, 1:], behaviour, rng)
        alone[who], _ = kind.update(alone[who], Z, outcome, behaviour)
        rows = seen_by(np.hstack([np.ones((len(Z), 1)), Z]), who, PEOPLE)
        joint, _ = kind.update(joint, rows[:, 1:], outcome, behaviour)
    views = Views.of(prior, alone)
    for who in range(PEOPLE):
        expected, found = view_of(joint, who, PEOPLE), views.person(own, who)
        spread = np.sqrt(np.diag(expected.cov))
        assert (np.abs(found.mean - expected.mean) < 0.4 * spread).all()
        np.testing.assert_allclose(np.sqrt(np.diag(found.cov)), spread, rtol=0.12)


def test_a_share_of_ones_own_is_found_where_people_differ_and_only_there() -> None:
    rng = np.random.default_rng(4)
    prior = Gaussian.from_moments(np.zeros(D), np.eye(D))

    def share(own: float) -> float:
        shared, found = np.sqrt(1 - own) * rng.normal(size=D), []
        for _ in range(6):
            A = rng.normal(size=(30, D))
            theta = shared + np.sqrt(own) * rng.normal(size=D)
            found.append(observed(prior, A, A @ theta + NOISE * rng.normal(size=30)))
        return best_share(Views.of(prior, found))

    assert [share(0.0) for _ in range(5)] == [0.0] * 5
    assert min(share(0.5) for _ in range(5)) >= 0.1


def test_the_split_is_the_best_of_all() -> None:
    rng = np.random.default_rng(5)
    prior = Gaussian.from_moments(np.zeros(D), np.eye(D))
    camps, own = (rng.normal(size=D), rng.normal(size=D)), 0.05
    for people in (2, 5):
        found = []
        for who in range(people):
            A = rng.normal(size=(8, D))
            found.append(observed(prior, A, A @ camps[who % 2] + NOISE * rng.normal(size=8)))
        views = Views.of(prior, found)

        def evidence(some: tuple[int, ...], views: Views = views, people: int = people) -> float:
            others = [who for who in range(people) if who not in some]
            return views.among(some).evidence_nats(own) + views.among(others).evidence_nats(own)

        splits = [some for size in range(1, people) for some in combinations(range(people), size)]
        best = max(splits, key=evidence)
        assert set(best) in [set(camp) for camp in best_split(views, own)]
