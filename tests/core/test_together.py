"""Everybody's answers are judged together: who means them, guesses, or swaps positive and negative."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.core import together
from tellmore.core.evidence import Behaviour, choice_evidence, label_evidence
from tellmore.core.label_chain import label_log_probabilities
from tellmore.core.together import CHANCE, MEANT, REVERSED, Facts, _Readings, facts_of, joined, judged

D, W = 20, 4.0


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def told(rng: np.random.Generator, theta: np.ndarray, how: str, n: int = 40, noise: float = 0.0) -> Facts:
    A = rng.normal(size=(n, D))
    z = A @ theta + noise * rng.normal(size=n)
    seen = {"good": z, "reversed": -z, "random": rng.normal(size=n)}[how]
    return Facts(np.sign(seen)[:, None] * A, np.full(n, W))


def manners(rng: np.random.Generator, how: list[str], **options: float) -> np.ndarray:
    theta = rng.normal(size=D) / np.sqrt(D)
    people = {str(at): told(rng, theta, one, **options) for at, one in enumerate(how)}  # type: ignore[arg-type]
    return np.array(list(judged(np.zeros(D), np.eye(D) / D, people).manners.values()))


def test_two_who_guess_of_five_are_found_and_one_who_is_reversed(rng: np.random.Generator) -> None:
    found = manners(rng, ["random", "good", "good", "random", "good"])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.argmax(axis=1).tolist() == [CHANCE, MEANT, MEANT, CHANCE, MEANT]
    assert found.max(axis=1).min() > 0.9
    found = manners(rng, ["good", "reversed", "good", "good", "good"])
    assert found.argmax(axis=1).tolist() == [MEANT, REVERSED, MEANT, MEANT, MEANT]


def test_nobody_is_doubted_because_all_answers_vary(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    state = rng.bit_generator.state
    assert manners(rng, ["good"] * 5, noise=1.5)[:, MEANT].min() > 0.5
    monkeypatch.setattr(together, "SHARPNESS", (2.0,))
    rng.bit_generator.state = state
    assert manners(rng, ["good"] * 5, noise=1.5)[:, MEANT].min() < 0.5


def test_with_few_answers_the_prior_remains(rng: np.random.Generator) -> None:
    found = manners(rng, ["good", "random"], n=1)
    np.testing.assert_allclose(found, np.tile(together.PRIOR, (2, 1)), atol=0.05)


def test_the_probability_of_all_answers_is_that_of_one_after_another(rng: np.random.Generator) -> None:
    A, labels = rng.normal(size=(30, D)), rng.choice([-1.0, 1.0], size=30)
    mean, cov = rng.normal(size=D) / 5, np.diag(rng.uniform(0.01, 0.1, size=D))
    signs, w = np.repeat([1.0, -1.0, 1.0], 10), np.full(30, W / 4)
    rows = labels[:, None] * A
    readings = _Readings.begun(rows @ mean, rows @ cov @ rows.T)
    for kind in (MEANT, REVERSED, MEANT):
        readings = readings._with(kind, w[:10])
    expected = label_log_probabilities(A @ mean, A @ cov @ A.T, labels * signs, w).sum()
    assert readings.log_p[0] == pytest.approx(expected + np.log(together.PRIOR[[0, 2, 0]]).sum(), abs=1e-3)


def test_the_facts_in_an_answer(rng: np.random.Generator) -> None:
    A, behaviour = rng.normal(size=(3, D)), Behaviour(w=2.0, K=3.0)
    ranked = choice_evidence(
        np.array([1.0, 0.0, -1.0]), np.array([1, 0, 2]), np.array([[1, 1, 1], [1, 0, 1], [0, 0, 1]], dtype=bool)
    )
    rows, w = facts_of(ranked, A, behaviour)
    np.testing.assert_array_equal(rows, [A[0], -A[2], A[1] - A[0], A[0] - A[2]])
    np.testing.assert_array_equal(w, [2, 2, 3, 3])
    lowest = choice_evidence(np.zeros(3), np.array([0]), np.ones((1, 3), dtype=bool), end=-1)
    np.testing.assert_array_equal(facts_of(lowest, A, behaviour).rows, [A[1] - A[0]])
    selected = choice_evidence(np.array([0.0, 1.0, 0.0]), np.array([1]), np.ones((1, 3), dtype=bool))
    np.testing.assert_array_equal(facts_of(selected, A, behaviour).rows, [A[1] - A[0]])
    both = joined([facts_of(ranked, A, behaviour), facts_of(label_evidence(np.array([1.0, 0, 0])), A, behaviour)])
    np.testing.assert_array_equal(both.newest(2).rows, [A[0] - A[2], A[0]])


def test_only_the_newest_facts_of_many_are_judged(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "MOST_FACTS", 80)
    theta = rng.normal(size=D) / np.sqrt(D)
    good, late = told(rng, theta, "good", 60), [told(rng, theta, "random", 200), told(rng, theta, "good", 40)]
    people = {"ann": good, "bob": joined(late)}
    assert judged(np.zeros(D), np.eye(D) / D, people).manners["bob"][MEANT] > 0.9


def test_many_people_are_not_judged_together(rng: np.random.Generator) -> None:
    facts = told(rng, rng.normal(size=D), "good", 2)
    for count in (together.MOST_PEOPLE, together.MOST_PEOPLE + 1):
        people = {str(at): facts for at in range(count)}
        assert len(judged(np.zeros(D), np.eye(D) / D, people).manners) == (count if count <= 20 else 0)
