"""Many answers learnt at once, and answers undone: the same result as one by one, with less work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tellmore import LabelAnswer, Learner, Pool, Question, RankAnswer, Skip, Start, telling
from tellmore.core import scan
from tellmore.core.coordinates import Rows
from tellmore.errors import QuestionError
from tellmore.rereading import Reader
from tellmore.state import SAMPLE, State, sample_rows
from tellmore.telling import NEAR, Kept
from tellmore.types import Answer

N = SAMPLE + 500
POOL = Pool(np.random.default_rng(0).standard_normal((N, 40)))


def exchanges(count: int) -> list[tuple[Question, Answer]]:
    rng, direction, told = np.random.default_rng(1), np.random.default_rng(2).standard_normal(40), []
    for number in range(count):
        rows = rng.choice(N, 3, replace=False)
        items, scores = [POOL.ids[row] for row in rows], POOL.X[rows] @ direction
        if number % 3 == 0:
            told.append((Question("label", items[:1], check=number % 6 == 0), LabelAnswer(bool(scores[0] > 0))))
        elif number % 10 == 1:
            told.append((Question("label", items[:1]), Skip()))
        else:
            ranked = [items[at] for at in np.argsort(-scores)]
            told.append((Question("rank", items), RankAnswer(ranked, int((scores > 0).sum()))))
    return told


@pytest.mark.parametrize("start", [None, Start.of_items(POOL, POOL.ids[:2], POOL.ids[2:4])], ids=["plain", "start"])
def test_many_answers_at_once_lead_where_they_lead_one_by_one(start: Start | None) -> None:
    told = exchanges(80)
    one_by_one, at_once = (Learner(POOL, start=start) for _ in range(2))
    one_by_one.tell_all(told[:10])
    at_once.tell_all(told[:10])
    for exchange in told[10:]:
        one_by_one.tell(*exchange)
    heard: list[State] = []
    at_once.tell_all(told[10:], lambda _before, after, _info: heard.append(after))
    assert len(heard) == 70
    assert {len(state.rows) for state in heard} == {SAMPLE}
    for one, other in zip(one_by_one.beliefs.beliefs, at_once.beliefs.beliefs, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.cov, other.cov)
    for one, other in zip(one_by_one.scores(), at_once.scores(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(one_by_one.tally.changed, at_once.tally.changed, atol=1.5 / N)
    assert replace(one_by_one.tally, changed=()) == replace(at_once.tally, changed=())
    assert one_by_one.should_stop().stopped == at_once.should_stop().stopped
    whole = one_by_one._now.expected_accuracy(one_by_one.w)
    assert heard[-1].expected_accuracy(at_once.w) == pytest.approx(whole, abs=1e-5)
    p = one_by_one._now.probabilities(one_by_one.w)
    assert whole == pytest.approx(np.mean(np.maximum(p, 1 - p)[sample_rows(N)]), abs=1e-5)


@pytest.mark.parametrize("start", [None, Start.of_items(POOL, POOL.ids[:2], POOL.ids[2:4])], ids=["plain", "start"])
@pytest.mark.parametrize("count", [2, 5, 9])
def test_a_few_answers_at_once_share_a_pass(count: int, start: Start | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It brings the scores of all items up to date, and counts which predictions each answer changed."""
    told, at_once, one_by_one = exchanges(20 + count), Learner(POOL, start=start), Learner(POOL, start=start)
    for learner in (at_once, one_by_one):
        for exchange in told[:20]:
            learner.tell(*exchange)
    for exchange in told[20:]:
        one_by_one.tell(*exchange)
    times, scores_of, passes, anew = Rows.times, scan.scores_of, [], []
    monkeypatch.setattr(Rows, "times", lambda rows, V: (passes.append(len(rows)), times(rows, V))[1])
    monkeypatch.setattr(scan, "scores_of", lambda rows, beliefs: (anew.append(len(rows)), scores_of(rows, beliefs))[1])
    at_once.tell_all(told[20:])
    found = at_once.scores()
    assert passes.count(N) == 1
    assert N not in anew
    for one, other in zip(one_by_one.scores(), found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(one_by_one.tally.changed, at_once.tally.changed, atol=1.5 / N)


def test_an_answer_that_does_not_fit_ends_it_with_those_before_learnt() -> None:
    told = exchanges(30)
    learner, heard = Learner(POOL), []
    with pytest.raises(QuestionError, match="already answered"):
        learner.tell_all([*told[:20], told[3], *told[20:]], lambda *states: heard.append(states))
    assert len(heard) == 20
    expected = Learner(POOL)
    expected.tell_all(told[:20])
    assert learner.history == expected.history
    np.testing.assert_array_equal(learner.posterior.mean, expected.posterior.mean)
    assert len(learner.scores()[0]) == N


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("together", [1, 5, 32])
def test_scores_of_many_answers_at_once_are_those_of_each(
    by_person: bool, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if people are compared on the way, after which all answers may be learnt again, and after an exact rescan."""
    monkeypatch.setattr(telling, "TOGETHER", together)
    monkeypatch.setattr(scan, "RESCAN_EVERY", 9)
    told, people = exchanges(50), [f"p{number % 3}" for number in range(50)]
    told = [(question, answer if at % 3 else _opposite(question, answer)) for at, (question, answer) in enumerate(told)]
    learner = Learner(POOL, by_person=by_person)
    heard: list[tuple[State, State]] = []
    learner.tell_all(told, lambda before, after, _info: heard.append((before, after)), people)
    assert len(heard) == 50
    assert [one[1] for one in heard[:-1]] == [one[0] for one in heard[1:]]
    for _, after in heard:
        for one, exact in zip(after.scans, scan.scans_of(after.rows, after.mixture.beliefs), strict=True):
            np.testing.assert_allclose(one.mean, exact.mean, atol=1e-4)
            np.testing.assert_allclose(one.variance, exact.variance, rtol=1e-3)
    assert learner.tally.answers == sum(not isinstance(answer, Skip) for _, answer in told)


def test_people_are_compared_once_in_many_answers_and_again_on_the_way_back(monkeypatch: pytest.MonkeyPatch) -> None:
    told, people = exchanges(70), [f"p{number % 3}" for number in range(70)]
    one_by_one, at_once = Learner(POOL, by_person=False), Learner(POOL, by_person=False)
    for exchange, person in zip(told, people, strict=True):
        one_by_one.tell_all([exchange], people=[person])
    compare, compared = Reader.compared, []
    monkeypatch.setattr(Reader, "compared", lambda *given: (compared.append(len(given[3])), compare(*given))[1])
    at_once.tell_all(told[:40], people=people[:40], coming=30)
    assert compared == []
    at_once.tell_all(told[40:], people=people[40:])
    assert compared == [64]
    assert at_once.people == one_by_one.people
    np.testing.assert_array_equal(at_once.posterior.mean, one_by_one.posterior.mean)
    kept = at_once.back_to(40)
    assert compared[1:] == [sum(not isinstance(answer, Skip) for _, answer in told[:kept])]
    assert {name: own.answers > 0 for name, own in at_once.people.items()} == dict.fromkeys(("p0", "p1", "p2"), True)


def _opposite(question: Question, answer: Answer) -> Answer:
    if isinstance(answer, RankAnswer):
        return RankAnswer(answer.order[::-1], question.size - (answer.n_positive or 0))
    return LabelAnswer(not answer.positive) if isinstance(answer, LabelAnswer) else answer


def test_going_back_leads_where_the_answers_left_lead() -> None:
    told = exchanges(60)
    learner, expected = Learner(POOL), Learner(POOL)
    learner.tell_all(told)
    kept = learner.back_to(35)
    assert 10 <= kept <= 35
    learner.tell_all(told[kept:35])
    expected.tell_all(told[:35])
    np.testing.assert_array_equal(learner.posterior.cov, expected.posterior.cov)
    assert learner.history == expected.history
    learner.tell(*told[35])  # it may be told again


def test_going_back_costs_no_more_answers_than_are_taken_back() -> None:
    kept, state = Kept(), Learner(POOL)._now
    for told in range(1, 1_500):
        kept.add(told - 1, state)
        for back in {1, NEAR - 1, NEAR, told // 3, told // 2, told - told // 5, told}:
            if 1 <= back <= told:
                at, _ = kept.copy().back(told - back)
                assert told - back - at <= (0 if back <= NEAR else back), (told, back)


def test_states_of_many_dimensions_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "KEPT_NUMBERS", 2 * 5 * 41**2)
    kept, state = Kept(), Learner(POOL)._now
    for told in range(20):
        kept.add(told, state)
    assert list(kept._states) == [14, 15, 16, 17, 18, 19]
    assert kept.back(13) is None


def test_states_thin_out_with_distance_and_large_pools_keep_few_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "KEPT_SCORES", 2 * 3 * N)
    kept, state = Kept(), replace(Learner(POOL)._now, known=())
    for told in range(1_000):
        kept.add(told, state)
    assert sorted(kept._states)[-NEAR:] == list(range(1_000 - NEAR, 1_000))
    assert len(kept._states) <= NEAR + 2 * 8
    assert [at for at, one in kept._states.items() if one.known is not None] == [997, 998, 999]
    assert kept.copy().back(500)[0] >= 0
    assert kept.back(995)[0] == 995
    assert max(kept._states) == 995
