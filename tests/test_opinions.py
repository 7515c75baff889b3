"""People's views: alike, each their own, and two camps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.errors import StateError
from tellmore.learner import Learner
from tellmore.opinions import Opinions
from tellmore.pool import Pool
from tellmore.questions import Question

X = np.random.default_rng(0).normal(size=(200, 6))
POOL = Pool(X, [f"i{row}" for row in range(len(X))])
SAME = np.array([1.0, 1, 0, 0, 0, 0])
OTHER = np.array([0, 0, 1.0, -1, 0, 0])
NAMES = ("ann", "bob", "cy", "dee")


def taught(*views: np.ndarray, answers: int = 25) -> Learner:
    """People who rank three random items by turns, each by their own view."""
    rng, learner = np.random.default_rng(1), Learner(POOL, "rank", bound="centred", seed=1)
    learner.judges = False
    exchanges, people = [], []
    for number in range(answers * len(views)):
        who = number % len(views)
        rows = rng.choice(len(X), 3, replace=False)
        scores = X[rows] @ views[who]
        order = [POOL.ids[row] for row in rows[np.argsort(-scores)]]
        question = Question("rank", [POOL.ids[row] for row in rows], f"q{number}")
        exchanges.append((question, (order, int((scores > 0).sum()))))
        people.append(NAMES[who])
    for (question, answer), name in zip(exchanges, people, strict=True):
        learner.tell(question, answer, person=name)
    return learner


@pytest.fixture(scope="module")
def divided() -> Learner:
    return taught(SAME, OTHER, SAME, OTHER)


@pytest.fixture(scope="module")
def views(divided: Learner) -> Opinions:
    return divided.opinions()


def right(learner: Learner, view: np.ndarray) -> float:
    return float(np.mean(learner.predict() == (X @ view > 0)))


def test_people_of_one_mind_have_one_classifier() -> None:
    learner = taught(SAME, SAME, SAME, SAME)
    found = learner.opinions()
    assert (found.own, found.camps, found.disputed()) == (0, None, [])
    np.testing.assert_allclose(learner.person("bob").probabilities(), learner.probabilities(), atol=1e-5)


def test_two_camps_are_found_with_what_they_are_worth(views: Opinions) -> None:
    camps = views.camps
    assert camps is not None
    assert {camps.first, camps.second} == {("ann", "cy"), ("bob", "dee")}
    assert camps.gain_nats > 2.5 * camps.gain_se > 0
    assert camps.answers == 48


def test_each_person_gets_what_they_mean(divided: Learner) -> None:
    for name, view in (("ann", SAME), ("dee", OTHER)):
        assert right(divided.person(name), view) > max(0.9, right(divided, view) + 0.05)


def test_items_that_divide_people_are_named(views: Opinions) -> None:
    assert views.camps is not None
    difference = X @ (SAME - OTHER)
    far = np.abs(difference) > 1.5
    for each in views.disputed(5):
        row = POOL.rows([each.item])[0]
        assert (X[row] @ SAME > 0) != (X[row] @ OTHER > 0)
        assert each.gap == pytest.approx(max(each.by_person.values()) - min(each.by_person.values()))
    more, less = views.apart(("ann", "cy"), ("bob", "dee"), 5)
    assert (difference[POOL.rows(more)] > 0).all()
    assert (difference[POOL.rows(less)] < 0).all()
    assert far[POOL.rows([*more, *less])].all()


def test_three_people_are_no_camps_but_differ() -> None:
    found = taught(SAME, OTHER, SAME).opinions()
    assert found.camps is None
    assert found.own > 0


def test_few_answers_leave_the_shared_view(divided: Learner) -> None:
    learner = divided.copy()
    learner.tell(Question("label", ["i1"], "late"), True, person="eve")
    found = learner.opinions()
    assert found.few == {"eve": 1}
    np.testing.assert_allclose(learner.person("eve").probabilities(), learner.probabilities(), atol=1e-5)
    with pytest.raises(StateError, match="'fay' has given no answer; those who have: ann, bob"):
        learner.person("fay")


def test_views_are_saved_with_the_answers(divided: Learner, tmp_path: Path) -> None:
    divided.save(tmp_path / "team.npz")
    assert right(Learner.load(tmp_path / "team.npz").person("bob"), OTHER) == right(divided.person("bob"), OTHER)


def test_nobody_has_no_views() -> None:
    found = Learner(POOL, "label").opinions()
    assert (found.people, found.own, found.camps, found.disputed()) == ((), 0, None, [])
