"""The belief is the fold over the answers that count, however it was reached."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.data.settings import LearningSettings, Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, leave_out_event, question_event, setting_event, undo_event
from tellmore.store.fold import Fold, new_learner
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event
from tellmore.types import Skip

SETTINGS = Settings(learning=LearningSettings(question="rank", set_size=3, sizes=(2, 3)))


def exchanges(pool: Pool, n: int) -> list[tuple[Question, object]]:
    """Questions of all kinds with answers, the same for the same n."""
    rng = np.random.default_rng(5)
    told = []
    for number in range(n):
        items = [pool.ids[row] for row in rng.permutation(len(pool))[:3]]
        kind = ("label", "select_high", "select_low", "rank")[number % 4]
        question = Question(kind, items[:1] if kind == "label" else items, id=f"q{number}")
        answer = {"label": LabelAnswer(number % 8 == 0), "rank": RankAnswer(items, number % 4)}.get(
            kind, SelectAnswer(items[0], kind == "select_high")
        )
        told.append((question, answer))
    return told


def log(pool: Pool, n: int, check: set[int] = frozenset()) -> list[Event]:
    events = []
    for number, (question, answer) in enumerate(exchanges(pool, n)):
        events.append(question_event(question, "p", check=number in check))
        timing = {"onset_ms": 0, "submit_ms": 6000}
        events.append(answer_event(question.id, "p", answer, timing=timing))
    return numbered(events)


def numbered(events: list[Event]) -> list[Event]:
    return [
        Event(e.kind, e.question_id, e.participant, e.payload, seq, "2026-01-01T00:00:00.000Z")
        for seq, e in enumerate(events, 1)
    ]


def same(one, other) -> None:
    np.testing.assert_allclose(one.posterior.mean, other.posterior.mean, atol=1e-12)
    np.testing.assert_allclose(one.posterior.cov, other.posterior.cov, atol=1e-12)
    np.testing.assert_allclose(one.posterior.logdet, other.posterior.logdet, atol=1e-9)


def fold(events: list[Event], pool: Pool, settings: Settings) -> Fold:
    return Fold.of(Ledger(settings, events), pool)


def by_hand(pool: Pool, told) -> object:
    learner = new_learner(pool, SETTINGS)
    for question, answer in told:
        learner.tell(question, answer)
    return learner


def test_folding_is_telling_the_answers_in_order(pool: Pool) -> None:
    state = fold(log(pool, 9), pool, SETTINGS)
    same(state.learner, by_hand(pool, exchanges(pool, 9)))
    assert [each.question_id for each in state.effects] == [f"q{n}" for n in range(9)]


def test_an_undone_answer_leaves_no_trace(pool: Pool) -> None:
    events = [*log(pool, 6), Event("undo", "q3", "p", {"answer_seq": 8}, 13)]
    told = exchanges(pool, 6)
    same(fold(events, pool, SETTINGS).learner, by_hand(pool, told[:3] + told[4:]))


@pytest.mark.parametrize("undone", [0, 3, 18, 19])
def test_going_back_in_steps_equals_folding_anew(pool: Pool, undone: int) -> None:
    events = log(pool, 20)
    state = Fold(pool, SETTINGS)
    ledger = Ledger(SETTINGS, events)
    assert state.catch_up(ledger.counting()[:11]) is True
    assert state.catch_up(ledger.counting(), limit=5) is False
    assert state.catch_up(ledger.counting()) is True
    ledger.apply(undo_event(f"q{undone}", "p", 0))
    state.catch_up(ledger.counting())
    told = exchanges(pool, 20)
    same(state.learner, by_hand(pool, told[:undone] + told[undone + 1 :]))
    assert len(state.effects) == 19


def test_skips_and_setting_changes_do_not_move_the_belief(pool: Pool) -> None:
    extra = [
        question_event(Question("label", [pool.ids[0]], id="s"), "p"),
        answer_event("s", "p", Skip()),
        setting_event("owner", {"learning": {"question": "label", "target_accuracy": 0.7}}),
    ]
    same(fold(numbered([*log(pool, 4), *extra]), pool, SETTINGS).learner, by_hand(pool, exchanges(pool, 4)))


def test_check_questions_are_scored_before_they_are_told(pool: Pool) -> None:
    state = fold(log(pool, 12, check={3, 4, 5}), pool, SETTINGS)
    learner = new_learner(pool, SETTINGS)
    for (question, answer), told in zip(exchanges(pool, 12), state.effects, strict=True):
        p = learner.predict_proba(pool.X)[:, 1]
        labels = {}
        if told.check and isinstance(answer, RankAnswer):
            labels = {item: place < answer.n_positive for place, item in enumerate(answer.order)}
        if told.check and isinstance(answer, LabelAnswer):
            labels = {question.items[0]: answer.positive}
        right = sum((p[pool.rows([item])[0]] >= 0.5) == label for item, label in labels.items())
        assert (told.correct, told.scored) == (right, len(labels))
        learner.tell(question, answer)
    assert [told.scored for told in state.effects][3:6] == [3, 1, 0]


def test_bits_are_the_fall_of_entropy(pool: Pool) -> None:
    state = fold(log(pool, 8), pool, SETTINGS)
    prior = new_learner(pool, SETTINGS).belief
    fallen = np.linalg.slogdet(prior.cov)[1] - np.linalg.slogdet(state.learner.belief.cov)[1]
    assert sum(each.bits for each in state.effects) == pytest.approx(fallen / (2 * np.log(2)))
    assert state.effects[-1].logdet_per_dim == pytest.approx(-fallen / prior.dim)
    assert all(each.seconds == 6 for each in state.effects)


def test_settings_decide_what_is_asked_next(pool: Pool) -> None:
    state = Fold(pool, SETTINGS)
    assert state.learner.ask().kind == "rank"
    state.ask_by(SETTINGS.changed(learning={"question": "label"}))
    assert state.learner.ask().kind == "label"
    state.ask_by(SETTINGS.changed(learning={"question": "select_low", "set_size": 2}))
    assert (state.learner.ask().kind, state.learner.ask().size) == ("select_low", 2)


def test_a_number_of_items_that_cannot_be_shown_keeps_no_project_from_opening(pool: Pool) -> None:
    saved = SETTINGS.changed(learning={"question": "rank", "set_size": 24})
    assert Fold(pool, saved).learner.ask().size == min(10, len(pool))
    state = Fold(pool, SETTINGS)
    state.ask_by(saved)
    assert state.learner.ask().size == min(10, len(pool))
    state.ask_by(SETTINGS.changed(learning={"question": "auto", "set_size": 24}))
    assert state.learner.ask().size in SETTINGS.learning.sizes


def test_a_size_left_in_the_settings_is_not_used_by_auto(pool: Pool) -> None:
    left, none = (SETTINGS.changed(learning={"question": "auto", "set_size": size}) for size in (3, None))
    assert new_learner(pool, left).allowed == new_learner(pool, none).allowed
    state = Fold(pool, SETTINGS)
    state.ask_by(left)
    assert state.learner.allowed == new_learner(pool, none).allowed


def with_start(positive: list[str], negative: list[str]) -> Settings:
    return SETTINGS.changed(start={"like": positive, "unlike": negative})


def test_the_start_named_last_is_that_of_every_answer(pool: Pool) -> None:
    first = setting_event("owner", {"start": {"like": [pool.ids[0]]}})
    last = setting_event("owner", {"start": {"like": [pool.ids[1]], "unlike": [pool.ids[2]]}})
    told = exchanges(pool, 5)
    by_start = new_learner(pool, with_start([pool.ids[1]], [pool.ids[2]]))
    for question, answer in told:
        by_start.tell(question, answer)
    state = fold(numbered([first, *log(pool, 5), last]), pool, SETTINGS)
    same(state.learner, by_start)
    assert np.abs(state.learner.posterior.mean - by_hand(pool, told).posterior.mean).max() > 1e-3
    assert sum(each.bits for each in state.effects) > 0


def test_of_all_changes_only_the_start_belongs_to_what_the_belief_starts_from(pool: Pool) -> None:
    ledger = Ledger(SETTINGS)
    ledger.apply(setting_event("owner", {"learning": {"check_share": 0.5}}))
    assert ledger.settings != SETTINGS
    assert ledger.initial == SETTINGS
    ledger.apply(setting_event("owner", {"start": {"like": [pool.ids[7]]}}))
    assert ledger.initial == with_start([pool.ids[7]], [])


def test_a_fold_can_start_again_from_another_start(pool: Pool) -> None:
    pairs = Ledger(SETTINGS, log(pool, 6)).counting()
    state = Fold(pool, SETTINGS)
    state.ask_by(SETTINGS.changed(learning={"question": "label"}))
    state.catch_up(pairs)
    learner = state.learner
    started = with_start([pool.ids[7]], [])
    state.start_from(started)
    assert state.effects == []
    assert state.learner.ask().kind == "label"
    state.catch_up(pairs)
    same(state.learner, fold(log(pool, 6), pool, started).learner)
    state.start_from(SETTINGS)
    state.catch_up(pairs)
    same(state.learner, learner)


def test_taking_back_the_last_ten_answers_tells_nothing_again(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(SETTINGS, log(pool, 15))
    state = Fold.of(ledger, pool)
    expected = by_hand(pool, exchanges(pool, 15)[:5])
    monkeypatch.setattr(Learner, "_learnt", lambda *_: pytest.fail("an answer was learnt again"))
    for number in range(14, 4, -1):
        ledger.apply(undo_event(f"q{number}", "p", 0))
        assert state.catch_up(ledger.counting())
    same(state.learner, expected)


def test_going_back_further_tells_the_answers_that_are_left_in_steps(pool: Pool) -> None:
    ledger = Ledger(SETTINGS, log(pool, 20))
    state = Fold.of(ledger, pool)
    ledger.apply(undo_event("q5", "p", 0))
    assert not state.catch_up(ledger.counting(), limit=4)
    assert 4 <= len(state.effects) == len(state.learner.history) <= 5 + 4
    assert state.catch_up(ledger.counting())
    told = exchanges(pool, 20)
    same(state.learner, by_hand(pool, told[:5] + told[6:]))
    assert [effect.question_id for effect in state.effects] == [question.id for question, _ in told[:5] + told[6:]]


def test_ties_are_learnt_from(pool: Pool) -> None:
    question = Question("rank", pool.ids[:3], id="q")
    level = RankAnswer(pool.ids[:3], 1, ties=[1])
    events = numbered([question_event(question, "p"), answer_event("q", "p", level)])
    state = fold(events, pool, SETTINGS)
    same(state.learner, by_hand(pool, [(question, level)]))
    assert not np.allclose(
        state.learner.posterior.mean, by_hand(pool, [(question, RankAnswer(pool.ids[:3], 1))]).posterior.mean
    )


BY_PERSON = SETTINGS.changed(learning={"by_person": True})


def of_two(pool: Pool, n: int) -> list[Event]:
    """Two people in turn; the second never looks."""
    events = log(pool, n)
    return [Event(e.kind, e.question_id, "pq"[(at // 2) % 2], e.payload, e.seq, e.t_utc) for at, e in enumerate(events)]


def test_leaving_somebody_out_and_back_is_exact(pool: Pool) -> None:
    events = of_two(pool, 30)
    whole, alone = (
        Fold.of(Ledger(BY_PERSON, each), pool) for each in (events, [e for e in events if e.participant == "p"])
    )
    assert set(whole.learner.people) == {"p", "q"}
    ledger, fold = Ledger(BY_PERSON, events), Fold.of(Ledger(BY_PERSON, events), pool)
    for number, (out, expected) in enumerate(((True, alone), (True, alone), (False, whole)), 1):
        event = leave_out_event("owner", "q", out)
        ledger.apply(Event(event.kind, None, "owner", event.payload, 1000 + number, "2026-01-01T00:00:00.000Z"))
        assert ("q" in ledger.left_out) is out
        assert fold.catch_up(ledger.counting())
        assert [each.seq for each in fold.effects] == [each.seq for each in expected.effects]
        np.testing.assert_array_equal(fold.learner.posterior.mean, expected.learner.posterior.mean)
        assert fold.learner.team == expected.learner.team


def test_one_person_left_out_while_another_comes_back(pool: Pool) -> None:
    """Answers before others that stay may be undone and restored together."""
    events = of_two(pool, 8)
    ledger, fold = Ledger(BY_PERSON, events), Fold(pool, BY_PERSON)
    for out, back in (("p", "q"), ("q", "p")):
        for who, left in ((out, True), (back, False)):
            event = leave_out_event("owner", who, left)
            ledger.apply(Event(event.kind, None, "owner", event.payload, 1000, "2026-01-01T00:00:00.000Z"))
        fold.catch_up(ledger.counting())
        assert {given.participant for _, given in ledger.counting()} == {back}
        assert [each.seq for each in fold.effects] == [given.seq for _, given in ledger.counting()]
