"""How far people agree, against alpha's definition; conflicts, known items, and who answers at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.agreement import agreement, alpha_of, conflicts, reliability
from tellmore.store.events import answer_event, leave_out_event, question_event
from tellmore.store.ledger import KNOWN, SETTLED, Ledger
from tellmore.store.repository import Event
from tests.oracles.agreement import alpha

Told = tuple[str, str, bool, str]


def ledger_of(*told: Told) -> Ledger:
    """The log of labels (person, item, positive, why)."""
    ledger, events = Ledger(Settings()), []
    for person, item, positive, why in told:
        question = Question("label", [item])
        events += [question_event(question, person, why=why), answer_event(question.id, person, LabelAnswer(positive))]
    for seq, event in enumerate(events, start=1):
        ledger.apply(
            Event(event.kind, event.question_id, event.participant, event.payload, seq, "2030-01-01T00:00:00Z")
        )
    return ledger


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=12))
def test_alpha_is_that_of_its_definition(units: list[list[bool]]) -> None:
    found = alpha_of(np.array([[sum(unit), len(unit) - sum(unit)] for unit in units]))
    shared = [value for unit in units if len(unit) > 1 for value in unit]
    if len(set(shared)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(alpha(units))


def test_the_interval_holds_alpha_and_narrows_with_more_items() -> None:
    rng = np.random.default_rng(0)

    def told(n: int) -> list[Told]:
        truth = rng.random(n) < 0.5
        return [
            (who, f"i{row}", bool(truth[row]) != (rng.random() < 0.15), "best")
            for row in range(n)
            for who in ("ann", "bo")
        ]

    few, many = agreement(ledger_of(*told(20))), agreement(ledger_of(*told(300)), resamples=100)
    assert few is not None
    assert many is not None
    for each in (few, many):
        assert each.low < each.alpha < each.high
        assert each.alike / each.pairs == pytest.approx(0.75, abs=0.2)
    assert many.high - many.low < (few.high - few.low) / 2
    assert (many.items, many.people, many.pairs) == (300, 2, 300)


def test_nothing_is_said_without_shared_items() -> None:
    assert agreement(ledger_of(("ann", "a", True, "best"), ("bo", "b", True, "best"))) is None
    same = agreement(ledger_of(("ann", "a", True, "best"), ("bo", "a", True, "best")))
    assert same is not None
    assert (same.alpha, same.low, same.pairs, same.alike) == (None, None, 1, 1)


def test_a_conflict_is_open_until_it_is_settled_and_the_last_label_of_a_person_counts() -> None:
    told: list[Told] = [
        ("ann", "a", True, "best"),
        ("bo", "a", False, "second"),
        ("ann", "b", True, "best"),
        ("bo", "b", False, "second"),
        ("bo", "b", True, "again"),
        ("ann", "c", True, "best"),
        ("bo", "c", False, "second"),
    ]
    assert [(each.item, each.settled) for each in conflicts(ledger_of(*told))] == [("c", None), ("a", None)]
    settled = ledger_of(*told, ("owner", "c", False, SETTLED))
    assert [(each.item, each.settled) for each in conflicts(settled)] == [("a", None), ("c", False)]
    assert len(settled.counting()) == len(told) + 1, "it is learnt from"


def test_known_items_measure_a_person_and_teach_nothing() -> None:
    own: list[Told] = [("owner", f"i{row}", row % 2 == 0, "direct") for row in range(12)]
    right: list[Told] = [("ann", f"i{row}", row % 2 == 0, KNOWN) for row in range(12)]
    random: list[Told] = [("bo", f"i{row}", row % 4 < 2, KNOWN) for row in range(12)]
    ledger = ledger_of(*own, *right, *random)
    found = reliability(ledger)
    assert (found["ann"].known_right, found["ann"].known, found["ann"].warning) == (12, 12, None)
    assert (found["bo"].known_right, found["bo"].known) == (6, 12)
    assert found["bo"].warning == "no better than guessing on known items"
    assert len(ledger.counting()) == len(own)
    assert agreement(ledger) is None, "nobody else was asked for an opinion"


def test_who_agrees_with_others_by_chance_is_pointed_out() -> None:
    rng = np.random.default_rng(1)
    told: list[Told] = []
    for row in range(40):
        truth = bool(rng.random() < 0.3)
        told += [("ann", f"i{row}", truth, "best"), ("bo", f"i{row}", truth, "second")]
        told.append(("cy", f"i{row}", bool(rng.random() < 0.5), "second"))
    found = reliability(ledger_of(*told))
    assert found["cy"].warning == "agrees with others no more than by chance"
    assert found["ann"].warning is found["bo"].warning is None


def test_who_is_left_out_is_compared_with_others_but_others_not_with_them() -> None:
    told: list[Told] = []
    for row in range(20):
        told += [("ann", f"i{row}", row % 2 == 0, "best"), ("bo", f"i{row}", row % 2 == 1, "second")]
        told += [("cy", f"i{row}", row % 2 == 0, "second")] * (row < 10)
    ledger = ledger_of(*told)
    assert len(conflicts(ledger)) == 20
    out = leave_out_event("owner", "bo", True)
    ledger.apply(Event(out.kind, None, out.participant, out.payload, ledger.seq + 1, "2030-01-01T00:00:00Z"))
    assert conflicts(ledger) == []
    shared = agreement(ledger)
    assert shared is not None
    assert (shared.items, shared.people, shared.alike) == (10, 2, 10)
    found = reliability(ledger)
    assert (found["bo"].alike, found["bo"].shared) == (0, 20)
    assert (found["ann"].alike, found["ann"].shared) == (10, 10)
