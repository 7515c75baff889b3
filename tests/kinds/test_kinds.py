"""Question kinds: likelihoods by definition, sampling, enumeration, extremes, and ties in rankings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellmore.core import plackett_luce
from tellmore.core.evidence import Behaviour
from tellmore.errors import AnswerError
from tellmore.kinds import named
from tellmore.kinds.rank import RANK, RankAnswer
from tellmore.questions import Question, check_answer
from tests.oracles import cases, information, likelihoods

SIZES = [
    ("label", 1),
    ("select_high", 2),
    ("select_high", 4),
    ("select_low", 3),
    ("rank", 2),
    ("rank", 3),
    ("rank", 4),
    ("tick", 2),
    ("tick", 6),
    ("most_sure", 3),
    ("least_sure", 2),
    ("least_sure", 4),
]


@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_likelihood_is_the_definition(kind: str, k: int) -> None:
    rng = np.random.default_rng(k)
    w, K = 1.7, 2.3
    z = rng.normal(size=(4, k))
    outcomes = list(named(kind).outcomes(k))
    assert sorted(outcomes) == sorted(likelihoods.outcomes(kind, k))
    for outcome in outcomes:
        fast = named(kind).log_likelihood(z, outcome, Behaviour(w, K))
        slow = [likelihoods.answer_log_probability(kind, list(row), outcome, w, K) for row in z]
        np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_probabilities_sum_to_one(kind: str, k: int) -> None:
    z = np.random.default_rng(k).normal(size=(6, k))
    model = named(kind)
    total = sum(np.exp(model.log_likelihood(z, o, Behaviour(4.0, 5.0))) for o in model.outcomes(k))
    np.testing.assert_allclose(total, 1, atol=1e-12)


@pytest.mark.parametrize(("kind", "k"), SIZES)
def test_safe_where_scores_times_sharpness_reach_the_hundreds(kind: str, k: int) -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, size=(20, k))
    behaviour = Behaviour(900.0, 700.0)
    for _ in range(10):
        outcome = cases.random_outcome(kind, k, rng)
        fast = named(kind).log_likelihood(z, outcome, behaviour)
        slow = [likelihoods.answer_log_probability(kind, list(row), outcome, 900.0, 700.0) for row in z]
        assert np.isfinite(fast).all()
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)
    gains, errors = named(kind).gain_nats(rng.uniform(-1, 1, size=(2, 64, k)), behaviour, rng)
    assert np.isfinite(gains).all()
    assert np.isfinite(errors).all()
    assert named(kind).sample(z[0], behaviour, rng) in list(named(kind).outcomes(k))


@pytest.mark.parametrize(("kind", "k"), [(name, 1 if name == "label" else 3) for name in dict(SIZES)])
def test_samples_come_as_often_as_the_model_says(kind: str, k: int) -> None:
    """Gumbel-max (for the highest) and Gumbel-min (for the lowest) noise give eqs. 3 to 5."""
    rng = np.random.default_rng(5)
    z, behaviour, n = np.array([0.2, -0.3, 0.1])[:k], Behaviour(2.0, 3.0), 20_000
    model = named(kind)
    counts = Counter(model.sample(z, behaviour, rng) for _ in range(n))
    for outcome in model.outcomes(k):
        p = float(np.exp(model.log_likelihood(z, outcome, behaviour)))
        assert counts[outcome] / n == pytest.approx(p, abs=4.5 * np.sqrt(p * (1 - p) / n) + 1e-3)


def test_lowest_is_highest_of_the_negated_scores_but_not_the_end_of_a_ranking() -> None:
    z, behaviour = np.array([0.5, -0.2, 0.1]), Behaviour(1.0, 2.0)
    low = named("select_low").log_likelihood(z, (1, 1), behaviour) - likelihoods.log_sigmoid(-0.2)
    high = named("select_high").log_likelihood(-z, (1, 1), behaviour) - likelihoods.log_sigmoid(0.2)
    assert low == pytest.approx(high, abs=1e-12)
    last = sum(np.exp(likelihoods.ranking(list(z), order, 2.0)) for order in ((0, 2, 1), (2, 0, 1)))
    first = sum(np.exp(likelihoods.ranking(list(z), order, 2.0)) for order in ((1, 0, 2), (1, 2, 0)))
    assert first == pytest.approx(np.exp(likelihoods.log_softmax(list(2 * z), 1)))
    assert abs(last - np.exp(low)) > 0.01


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), case=st.sampled_from(SIZES))
def test_gain_of_given_draws_is_enumeration(seed: int, case: tuple[str, int]) -> None:
    kind, k = case
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(2, 40, k)) * rng.uniform(0.1, 3)
    w, K = rng.uniform(0.3, 6, size=2)
    gains, _ = named(kind).gain_nats(z, Behaviour(w, K), rng)
    for gain, draws in zip(gains, z, strict=True):
        assert gain / np.log(2) == pytest.approx(information.gain_of_scores(kind, draws, w, K), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), case=st.sampled_from(SIZES[1:]))
def test_gain_does_not_depend_on_the_order_of_items(seed: int, case: tuple[str, int]) -> None:
    kind, k = case
    rng = np.random.default_rng(seed)
    z, order = rng.normal(size=(1, 64, k)), rng.permutation(k)
    one, _ = named(kind).gain_nats(z, Behaviour(3.0, 4.0), rng)
    other, _ = named(kind).gain_nats(z[..., order], Behaviour(3.0, 4.0), rng)
    np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("sharp", [1.0, 300.0])
@pytest.mark.parametrize(("kind", "k"), SIZES[1:])
def test_gain_with_each_candidate_is_the_gain_of_the_whole_set(kind: str, k: int, sharp: float) -> None:
    rng = np.random.default_rng(k)
    z, behaviour = rng.normal(size=(5, 32, k)), Behaviour(3.0 * sharp, 4.0 * sharp)
    z[..., :-1] = z[0, :, :-1]
    together, _ = named(kind).gain_nats(z, behaviour, rng)
    one_by_one = named(kind).gains_with(z[0, :, :-1].T, z[..., -1], behaviour, rng)
    np.testing.assert_allclose(one_by_one, together, atol=1e-10)


@pytest.mark.parametrize("sharp", [1.0, 20.0, 300.0])
def test_many_rankings_at_once_have_the_likelihood_of_each(sharp: float) -> None:
    rng = np.random.default_rng(1)
    z, behaviour = rng.normal(size=(12, 7)), Behaviour(3.0 * sharp, 4.0 * sharp)
    orders, thresholds = plackett_luce.sample_outcomes(rng.normal(size=(9, 7)), behaviour, rng)
    pairs = plackett_luce.pairwise_log_likelihood(z, orders, thresholds, behaviour)
    for found, order, n in zip(pairs, orders.tolist(), thresholds.tolist(), strict=True):
        exact = RANK.log_likelihood(z, (tuple(order), n), behaviour)
        shown = exact > plackett_luce.EXPONENT_FLOOR  # less likely ones are floored
        np.testing.assert_allclose(found[shown], exact[shown], rtol=1e-9)


def test_level_items_are_chosen_over_those_below_them_only() -> None:
    """Ranking c, then a and d tied, then b: c beats all, a and d each beat b and say nothing about each other."""
    evidence = RANK.evidence(((2, 0, 3, 1), 1, (1,)), 4)
    assert evidence.chosen.tolist() == [2, 0, 3]
    assert [np.flatnonzero(row).tolist() for row in evidence.candidates] == [[0, 1, 2, 3], [0, 1], [1, 3]]
    assert evidence.labels.tolist() == [-1, -1, 1, -1]


def test_a_partial_ranking_ties_the_rest() -> None:
    evidence = RANK.evidence(((3, 1, 0, 2), 1, (1, 2)), 4)
    assert evidence.chosen.tolist() == [3]
    assert evidence.candidates.all()


def test_ties_survive_the_way_from_answer_to_outcome_and_back() -> None:
    items = ("a", "b", "c")
    answer = RankAnswer(["b", "c", "a"], 1, ties=[1])
    assert RANK.answer(items, RANK.outcome(items, answer)) == answer


@pytest.mark.parametrize(
    ("n_positive", "ties", "says"), [(1, [5], "from 0 to 1"), (1, [-1], "at least 0"), (2, [1], "tied")]
)
def test_impossible_ties_are_refused(n_positive: int, ties: list[int], says: str) -> None:
    with pytest.raises(AnswerError, match=says):
        check_answer(Question("rank", ["a", "b", "c"]), RankAnswer(["a", "b", "c"], n_positive, ties))
