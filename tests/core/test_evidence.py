"""Evidence: an answer as labels and choices, and the same one factor at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.kinds import named
from tests.oracles import elbo, likelihoods


@pytest.mark.parametrize(("kind", "k"), [("label", 1), ("select_high", 3), ("select_low", 4), ("rank", 3)])
def test_evidence_is_the_answer_taken_apart(kind: str, k: int) -> None:
    for outcome in likelihoods.outcomes(kind, k):
        evidence = named(kind).evidence(outcome, k)
        parts = elbo.terms(kind, k, outcome, 1.0)
        expected = np.zeros(k)
        for row, y in parts.labels:
            expected[row] = y
        np.testing.assert_array_equal(evidence.labels, expected)
        assert evidence.chosen.tolist() == [chosen for _, chosen, _ in parts.choices]
        for row, end, (sharpness, _, among) in zip(evidence.candidates, evidence.ends, parts.choices, strict=True):
            assert sorted(np.flatnonzero(row).tolist()) == sorted(among)
            assert np.sign(sharpness) == end


@pytest.mark.parametrize(("kind", "k"), [("label", 1), ("select_high", 3), ("select_low", 4), ("rank", 3), ("tick", 3)])
def test_labels_that_follow_from_an_answer(kind: str, k: int) -> None:
    for outcome in likelihoods.outcomes(kind, k):
        said = named(kind).evidence(outcome, k)
        completed, expected = said.completed(), said.labels.copy()
        for item, y in likelihoods.consequences(kind, outcome, k):
            expected[item] = y
        np.testing.assert_array_equal(completed.labels, expected)
        np.testing.assert_array_equal(completed.candidates, said.candidates)
        items = list(map(str, range(k)))
        told = named(kind).labels(items, named(kind).answer(items, outcome))
        assert {item: y > 0 for item, y in zip(items, expected, strict=True) if y} == told


@pytest.mark.parametrize(("kind", "k"), [("label", 1), ("select_high", 3), ("select_low", 2), ("rank", 4), ("tick", 3)])
def test_choices_across_sides_are_those_from_items_of_the_other_side_or_of_none(kind: str, k: int) -> None:
    """Slow and obvious: each choice without the rivals that have the same label, unless none is left."""
    for outcome in likelihoods.outcomes(kind, k):
        said = named(kind).evidence(outcome, k).completed()
        expected = []
        for chosen, candidates in zip(said.chosen.tolist(), said.candidates, strict=True):
            side = said.labels[chosen]
            rivals = [i for i in range(k) if candidates[i] and i != chosen and not (side and said.labels[i] == side)]
            expected += [(chosen, sorted([chosen, *rivals]))] if rivals else []
        across = said.across_sides()
        found = [np.flatnonzero(row).tolist() for row in across.candidates]
        assert list(zip(across.chosen.tolist(), found, strict=True)) == expected
        assert len(across.ends) == len(expected)
        np.testing.assert_array_equal(across.labels, said.labels)


def test_nothing_follows_from_a_choice_without_a_label() -> None:
    said = named("select_high").evidence((1, 0), 3)
    assert said.completed() is said
    assert named("select_high").labels(["a", "b"], named("select_high").answer(["a", "b"], (0, 0))) == {}


def test_factors_of_a_ranking_alternate_labels_and_choices_on_what_remains() -> None:
    """Algorithm 3 put right: the running posterior sees k labels and k - 1 choices, from the top of the list."""
    parts = named("rank").evidence(((2, 0, 1), 1), 3).factors()
    labels = [(int(np.flatnonzero(p.labels)[0]), int(p.labels.sum())) for p in parts if p.labels.any()]
    choices = [(int(p.chosen[0]), np.flatnonzero(p.candidates[0]).tolist()) for p in parts if p.chosen.size]
    assert labels == [(2, 1), (0, -1), (1, -1)]
    assert choices == [(2, [0, 1, 2]), (0, [0, 1])]
