"""People's habits: an answer can be left out again, predictions against quadrature, types found among made-up people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from tellmore.core.evidence import Behaviour, choice_evidence, label_evidence
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import (
    ALONE,
    FEWEST,
    Compared,
    Habits,
    Site,
    Team,
    agreement,
    by_sharpness,
    predicted,
    team_of,
)
from tellmore.core.update import learn, learn_moments, with_constant

USUAL = Behaviour(w=1.5, K=0.8, threshold=0.5, lapse=0.01)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize("learning", ["centred", "moments"])
def test_an_answer_can_be_left_out_again(learning: str, rng: np.random.Generator) -> None:
    prior = Gaussian.from_moments(rng.normal(size=5), np.eye(5) + 0.3)
    X = rng.normal(size=(3, 4))
    ranked = choice_evidence(
        np.array([1.0, -1.0, -1.0]), np.array([0, 2]), np.array([[1, 1, 1], [0, 1, 1]], dtype=bool)
    )
    label = label_evidence(np.array([1.0]))

    def told(belief: Gaussian, rows: np.ndarray, evidence: object) -> tuple[Gaussian, Site]:
        after, info = (
            learn_moments(belief, rows, evidence, USUAL)  # type: ignore[arg-type]
            if learning == "moments"
            else learn(belief, rows, [evidence], USUAL)  # type: ignore[list-item]
        )
        assert info.site is not None
        return after, info.site

    once, site = told(prior, X, ranked)
    mean, cov, _ = once.project(with_constant(X))
    for found, expected in zip(site.left_out(mean, cov), prior.project(with_constant(X)), strict=False):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    # Whatever came after it: as if the other answer's site stood alone.
    twice, second = told(once, rng.normal(size=(1, 4)), label)
    without = site.left_out(*twice.project(with_constant(X))[:2])
    assert not np.allclose(without[0], prior.project(with_constant(X))[0])
    assert second.precision.shape == (1, 1)


def test_what_cannot_be_left_out_stays() -> None:
    mean, cov = np.array([1.0]), np.array([[2.0]])
    for precision in (0.5, 2.0):  # all of the certainty, and more than there is
        found = Site(np.array([[precision]]), np.array([0.3])).left_out(mean, cov)
        assert (found[0] == mean).all()
        assert (found[1] == cov).all()


@pytest.mark.parametrize(("mean", "variance", "label"), [(0.7, 0.5, 1.0), (-1.2, 2.0, 1.0), (0.3, 0.01, -1.0)])
def test_predictions_are_those_of_quadrature(mean: float, variance: float, label: float) -> None:
    evidence = label_evidence(np.array([label]))
    scores = np.array([mean]), np.array([[variance]])

    def probability(w: float) -> float:
        sd = np.sqrt(variance)
        return float(quad(lambda z: expit(label * w * z) * norm.pdf(z, mean, sd), mean - 9 * sd, mean + 9 * sd)[0])

    found = predicted(*scores, evidence.log_likelihood, [USUAL])
    assert np.exp(found[0]) == pytest.approx(probability(USUAL.w), rel=0.01)
    by_label, by_choice = by_sharpness(*scores, evidence.log_likelihood, USUAL)
    sharp = [probability(USUAL.w * factor) for factor in (0.5, 1, 2)]
    np.testing.assert_allclose(np.exp(by_label), sharp, rtol=0.01)
    np.testing.assert_allclose(by_choice, found[0])


def test_labels_are_counted_where_they_agree() -> None:
    counted = agreement(np.array([1.0, -1.0, 0.0, -1.0]), np.array([0.5, 0.2, 3.0, -1.0]))
    assert counted == (3, 2, 1, 2)  # labels, alike, positive, expected to be positive


def test_trust_follows_from_what_was_judged_together(rng: np.random.Generator) -> None:
    told = {name: drawn(rng, 0.85, 0.05, n) for name, n in (("ann", 20), ("bob", 20), ("cat", 20), ("new", 3))}
    manners = {"ann": [0.8, 0.2, 0], "bob": [0.4, 0.6, 0], "cat": [0.0, 0.04, 0.96], "new": [0.1, 0.9, 0]}
    found = team_of(told, USUAL.lapse, {name: np.array(one) for name, one in manners.items()}).people
    assert found["ann"].learnt_lapse == pytest.approx(USUAL.lapse)  # relative to the most careful person
    assert found["bob"].learnt_lapse == pytest.approx(1 - 0.5 * (1 - USUAL.lapse))
    assert (found["bob"].careless, found["cat"].verdict) == (0.6, "reversed")
    assert found["cat"].learnt_lapse == pytest.approx(0.97)
    assert found["new"].learnt_lapse < 0.1  # too few answers


def test_taking_the_first_is_an_answer_of_its_own() -> None:
    three = np.ones((1, 3), dtype=bool)
    first, other = (choice_evidence(np.zeros(3), np.array([at]), three) for at in (0, 2))
    assert first.log_first() == 0.0
    assert other.log_first() == -np.inf
    behaviour = replace(USUAL, first=0.9)
    assert np.exp(first.log_chance(behaviour)) == pytest.approx(0.1 / 3 + 0.9)
    assert np.exp(other.log_chance(behaviour)) == pytest.approx(0.1 / 3)
    assert np.exp(other.log_chance(USUAL)) == pytest.approx(1 / 3)
    assert label_evidence(np.array([1.0])).log_chance(behaviour) == pytest.approx(np.log(0.5))


def made_up(said: str = "predicted", *, first: bool = False) -> Compared:
    """An answer to a question with four answers: what was ``predicted`` (85 %), its ``opposite``, or one of the others."""
    right, wrong = np.log(0.85), np.log(0.05)
    own, other = right if said == "predicted" else wrong, right if said == "opposite" else wrong
    sharpness, alike = np.full(3, own), int(said == "predicted")
    return Compared(own, other, np.log(0.25), 0.0 if first else -np.inf, sharpness, sharpness, 1, alike, 1, alike)


def drawn(
    rng: np.random.Generator, right: float, opposite: float, n: int = 40, *, first: float = 0.25
) -> list[Compared]:
    shares = [right, opposite, 1 - right - opposite]
    said = rng.choice(["predicted", "opposite", "other"], size=n, p=shares)
    return [made_up(str(one), first=bool(rng.random() < first)) for one in said]


MANNERS = {"ann": (0.85, 0.05), "bob": (0.85, 0.05), "cat": (0.25, 0.25), "dan": (0.05, 0.85), "eve": (0.85, 0.05, 3)}


def test_people_are_told_apart(rng: np.random.Generator) -> None:
    told = {name: drawn(rng, *how) for name, how in MANNERS.items()}
    team = team_of(told, USUAL.lapse)
    found = team.people
    assert [found[name].verdict for name in told] == [None, None, "careless", "reversed", None]
    assert max(found["ann"].learnt_lapse, found["bob"].learnt_lapse) < 0.1
    assert min(found["cat"].learnt_lapse, found["dan"].learnt_lapse) > 0.8
    assert not found["eve"].own
    assert found["eve"].learnt_lapse == team.usual.learnt_lapse  # type: ignore[union-attr]
    assert (found["cat"].answers, found["cat"].labels) == (40, 40)
    assert found["ann"].alike > 28 > 18 > found["cat"].alike
    assert min(found[name].learnt_lapse for name in told) == pytest.approx(USUAL.lapse)  # the best counts as one alone


def test_nobody_is_mistrusted_before_anybody_has_answered_enough(rng: np.random.Generator) -> None:
    few = {name: drawn(rng, 0.25, 0.25, FEWEST - 1) for name in ("ann", "bob")}
    assert [one.learnt_lapse for one in team_of(few, USUAL.lapse).people.values()] == [pytest.approx(USUAL.lapse)] * 2


def test_who_takes_the_first_is_found(rng: np.random.Generator) -> None:
    lazy = [made_up("other", first=True) for _ in range(36)] + drawn(rng, 0.85, 0.05, 24)
    found = team_of({"ann": drawn(rng, 0.85, 0.05, 60), "bob": lazy}, USUAL.lapse).people
    assert found["bob"].first > 0.8 > 0.3 > found["ann"].first
    assert found["bob"].lapse > 0.3
    assert found["bob"].of(USUAL).first == found["bob"].first


def test_sharpness_is_beside_the_team() -> None:
    def answers(log_ratio: float) -> list[Compared]:
        shape = log_ratio * np.array([-1.0, 0.0, 1.0])
        return [replace(made_up(), by_label=shape) for _ in range(30)]

    found = team_of({"sharp": answers(0.1), "blunt": answers(-0.1)}, USUAL.lapse).people
    assert found["sharp"].label_sharpness > 1.1 > 0.9 > found["blunt"].label_sharpness
    assert found["sharp"].label_sharpness * found["blunt"].label_sharpness == pytest.approx(1)
    assert found["sharp"].choice_sharpness == pytest.approx(1)
    assert found["sharp"].of(USUAL, sharpness=True).w > USUAL.w == found["sharp"].of(USUAL).w


def test_a_team_as_plain_values_and_its_changes() -> None:
    team = team_of({"ann": [made_up()] * FEWEST, "bob": [made_up("other")] * 20}, USUAL.lapse)
    assert Team.from_json(team.as_json()) == team
    assert Team.from_json(ALONE.as_json()) is ALONE
    assert ALONE.behaviour("ann", USUAL) is USUAL
    assert team.behaviour("bob", USUAL).lapse > 0.5 > team.behaviour("ann", USUAL).lapse
    assert team.behaviour("new", USUAL).lapse == pytest.approx(team.usual.learnt_lapse)  # type: ignore[union-attr]
    assert team.near(team)
    calm = Team({}, Habits(0.01, 0.01))
    assert not team.near(calm)
    kept = calm.described_as(team)
    assert kept.people["bob"].learnt_lapse == 0.01
    assert kept.people["bob"].lapse == team.people["bob"].lapse
