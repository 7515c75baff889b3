"""Simulated annotators: each kind of answer from one score per item, ties at random, time from the cost model."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.policy.cost import PAPER_COST
from tellmore.questions import Question, check_answer
from tellmore.sim.annotators import (
    Annotator,
    DriftingScores,
    GaussianScores,
    HistogramScores,
    LapsingRespondent,
    ModelRespondent,
    Moment,
    ScoreRespondent,
    TiredScores,
)

ROWS = np.array([2, 0, 3])
QUESTIONS = [
    Question("label", items=["c"]),
    Question("select_high", items=["c", "a", "d"]),
    Question("select_low", items=["c", "a", "d"]),
    Question("rank", items=["c", "a", "d"]),
]


def now(seed: int = 0, n_answered: int = 0) -> Moment:
    return Moment(np.random.default_rng(seed), n_answered)


def test_certain_scores_give_the_only_possible_answers() -> None:
    person = ScoreRespondent(GaussianScores(np.array([1.0, 9.0, -2.0, 3.0])), threshold=2.0)
    label, high, low, rank = (person.respond(q, ROWS[: q.size], now=now()) for q in QUESTIONS)
    assert label == LabelAnswer(False)
    assert high == SelectAnswer("d", True)
    assert low == SelectAnswer("c", False)
    assert rank == RankAnswer(["d", "a", "c"], 1)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.kind)
def test_every_annotator_gives_possible_answers(question: Question) -> None:
    mean, sd = np.array([0.5, 0.0, -1.0, 0.0]), np.full(4, 1.0)
    histogram = np.array([[1, 2, 1], [0, 3, 0], [4, 0, 0], [1, 1, 1]])
    sources = [
        GaussianScores(mean, sd),
        HistogramScores(histogram, np.array([-1.0, 0.0, 1.0])),
        DriftingScores(GaussianScores(mean, sd), 0.1),
        TiredScores(GaussianScores(mean, sd), 0.1),
    ]
    people = [ScoreRespondent(source, 0.0) for source in sources]
    for person in [*people, ModelRespondent(mean, 2.0, 3.0), LapsingRespondent(people[0], 0.5)]:
        for seed in range(50):
            check_answer(question, person.respond(question, ROWS[: question.size], now=now(seed, seed)))


def test_gaussian_scores_have_the_items_moments() -> None:
    source = GaussianScores(np.array([3.0, -1.0]), np.array([0.5, 2.0]))
    rng = np.random.default_rng(0)
    draws = np.array([source.sample(np.array([1, 0]), now=Moment(rng)) for _ in range(20_000)])
    assert draws.mean(axis=0) == pytest.approx([-1.0, 3.0], abs=0.05)
    assert draws.std(axis=0) == pytest.approx([2.0, 0.5], rel=0.03)


def test_histogram_scores_follow_the_ratings() -> None:
    source = HistogramScores(np.array([[1, 0, 3], [0, 5, 0]]), np.array([1.0, 2.0, 4.0]))
    rng = np.random.default_rng(0)
    draws = np.array([source.sample(np.array([0, 1]), now=Moment(rng)) for _ in range(8_000)])
    assert set(draws[:, 0]) == {1.0, 4.0}
    assert set(draws[:, 1]) == {2.0}
    assert np.mean(draws[:, 0] == 4.0) == pytest.approx(0.75, abs=0.02)


def test_ties_are_broken_at_random_and_labels_follow_the_order() -> None:
    person = ScoreRespondent(GaussianScores(np.zeros(4)), threshold=0.0)
    rng = np.random.default_rng(1)
    answers = [person.respond(QUESTIONS[3], ROWS, now=Moment(rng)) for _ in range(6000)]
    orders = Counter(answer.order for answer in answers)
    assert len(orders) == 6
    assert min(orders.values()) > 850
    positives = Counter(answer.n_positive for answer in answers)
    # Three fair coins: 1, 3, 3, 1 eighths.
    assert [positives[n] / 6000 for n in range(4)] == pytest.approx([1 / 8, 3 / 8, 3 / 8, 1 / 8], abs=0.02)


@pytest.mark.parametrize("kind", ["select_high", "select_low", "rank", "label"])
def test_the_model_annotator_answers_with_the_models_probabilities(kind: str) -> None:
    z, w, K, n = np.array([0.3, -0.2, 0.1]), 4.0, 3.0, 12_000
    person = ModelRespondent(z, w, K)
    items = ["a", "b", "c"]
    rng = np.random.default_rng(2)
    question = Question(kind, items=items[:1] if kind == "label" else items)
    answers = [person.respond(question, np.arange(question.size), now=Moment(rng)) for _ in range(n)]

    def sigmoid(t: float) -> float:
        return 1 / (1 + np.exp(-t))

    if kind == "label":
        assert np.mean([a.positive for a in answers]) == pytest.approx(sigmoid(w * z[0]), abs=0.025)
    elif kind == "rank":
        order = ("a", "c", "b")
        e = np.exp(K * z)
        expected = e[0] / e.sum() * e[2] / (e[2] + e[1])
        assert np.mean([a.order == order for a in answers]) == pytest.approx(expected, abs=0.02)
        zs = z[[0, 2, 1]]
        weights = np.array(
            [np.prod([sigmoid(w * v if j < n_pos else -w * v) for j, v in enumerate(zs)]) for n_pos in range(4)]
        )
        seen = Counter(a.n_positive for a in answers if a.order == order)
        shares = [seen[n_pos] / seen.total() for n_pos in range(4)]
        assert shares == pytest.approx(list(weights / weights.sum()), abs=0.025)
    else:
        e = np.exp((1 if kind == "select_high" else -1) * K * z)
        chosen = Counter(a.chosen for a in answers)
        assert [chosen[i] / n for i in items] == pytest.approx(list(e / e.sum()), abs=0.02)
        first = [a.positive for a in answers if a.chosen == "a"]
        assert np.mean(first) == pytest.approx(sigmoid(w * z[0]), abs=0.025)


def test_lapses_happen_at_their_rate() -> None:
    person = LapsingRespondent(ScoreRespondent(GaussianScores(np.ones(4)), 0.0), lapse=0.3)
    rng = np.random.default_rng(3)
    answers = [person.respond(QUESTIONS[0], ROWS[:1], now=Moment(rng)) for _ in range(20_000)]
    assert np.mean([not answer.positive for answer in answers]) == pytest.approx(0.15, abs=0.01)


def test_drift_moves_and_fatigue_blurs_with_the_answers_given() -> None:
    still = GaussianScores(np.zeros(2))
    rows = np.array([0, 1])
    assert DriftingScores(still, 0.5).sample(rows, now=now(n_answered=10)).tolist() == [5.0, 5.0]
    rng = np.random.default_rng(4)
    fresh = [TiredScores(still, 0.1).sample(rows, now=Moment(rng, 0)) for _ in range(10)]
    tired = np.array([TiredScores(still, 0.1).sample(rows, now=Moment(rng, 20)) for _ in range(5000)])
    assert not np.any(fresh)
    assert tired.std() == pytest.approx(2.0, rel=0.05)


def test_time_has_the_cost_models_mean_and_slows_down() -> None:
    person = ScoreRespondent(GaussianScores(np.zeros(4)), 0.0)
    clock = np.random.default_rng(5)

    def mean_seconds(slowing: float, n_answered: int) -> float:
        annotator = Annotator(person, PAPER_COST, slowing=slowing)
        moments = (now(n_answered=n_answered) for _ in range(6000))
        return float(np.mean([annotator.reply(QUESTIONS[3], ROWS, now=m, clock=clock)[1] for m in moments]))

    expected = PAPER_COST.seconds("rank", 3)
    assert mean_seconds(0.0, 50) == pytest.approx(expected, rel=0.04)
    assert mean_seconds(0.01, 50) == pytest.approx(1.5 * expected, rel=0.04)


def test_the_clock_never_moves_an_answer() -> None:
    annotator = Annotator(ScoreRespondent(GaussianScores(np.zeros(4), np.ones(4)), 0.0), PAPER_COST)
    replies = [annotator.reply(QUESTIONS[3], ROWS, now=now(6), clock=np.random.default_rng(s)) for s in (1, 2)]
    assert replies[0][0] == replies[1][0]
    assert replies[0][1] != replies[1][1]
