"""A judge against random checks: counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from tellmore.core.ppi import powered_share
from tellmore.data.scores import JudgeScores, Meaning, scores_of
from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.kinds.tick import TickAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, items_event, question_event, undo_event
from tellmore.store.judge import Check, random_checks, skipped_checks, verdict
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event
from tellmore.types import Answer, Skip


def scores(**values: object) -> JudgeScores:
    return scores_of({item: str(value) for item, value in values.items()}, Meaning(), where="here")


def asked(question: Question, answer: Answer, *, check: bool = True) -> list[Event]:
    return [question_event(question, "p", check=check), answer_event(question.id, "p", answer)]


def ledger_of(*events: list[Event]) -> Ledger:
    flat = [event for few in events for event in few]
    numbered = [
        Event(each.kind, each.question_id, each.participant, each.payload, seq=seq) for seq, each in enumerate(flat, 1)
    ]
    return Ledger(Settings(), numbered)


def test_only_labels_of_random_questions_count() -> None:
    label, taken_back, skipped = (Question("label", [item]) for item in "abc")
    grid, chosen, other = Question("tick", ["d", "e"]), Question("select_high", ["f", "g"]), Question("label", ["h"])
    ledger = ledger_of(
        asked(label, LabelAnswer(True)),
        asked(taken_back, LabelAnswer(True)),
        [undo_event(taken_back.id, "p", 4)],
        asked(skipped, Skip()),
        asked(grid, TickAnswer(["e"])),
        asked(chosen, SelectAnswer("f", True)),
        asked(other, LabelAnswer(True), check=False),
    )
    assert random_checks(ledger) == [Check("a", True), Check("d", False), Check("e", True)]
    assert skipped_checks(ledger) == 1


def test_answers_drawn_before_items_were_added_are_counted() -> None:
    first, open_then, last = (Question("label", [item]) for item in "abc")
    asked_before, answered_after = asked(open_then, LabelAnswer(True))
    ledger = ledger_of(
        asked(first, LabelAnswer(True)),
        [asked_before, items_event("owner", 1, "new.csv"), answered_after],
        asked(last, LabelAnswer(False)),
    )
    found = verdict(random_checks(ledger), scores(a=0.9, b=0.8, c=0.1))
    assert found is not None
    assert (found.checks, found.earlier) == (3, 2)


def test_a_verdict_counts_as_a_person_would() -> None:
    judge = scores(a=0.9, b=0.8, c=0.6, d=0.3, e=0.1, f=0.95)
    checks = [Check("a", True), Check("b", False), Check("c", False), Check("d", True), Check("e", False)]
    checks += [Check("b", False), Check("unscored", True)]
    found = verdict(checks, judge, skipped=2)
    assert found is not None
    assert (found.both_positive, found.judge_only, found.people_only, found.both_negative) == (1, 3, 1, 1)
    assert (found.checks, found.without_score, found.skipped, found.scored, found.enough) == (6, 1, 2, 6, False)
    assert (found.agreement.correct, found.agreement.n) == (2, 6)
    wilson = binomtest(2, 6).proportion_ci(method="wilson")
    assert (found.agreement.low, found.agreement.high) == pytest.approx((wilson.low, wilson.high))
    assert found.commoner == pytest.approx(4 / 6)
    assert found.precision is not None
    assert found.recall is not None
    assert (found.precision.estimate, found.recall.estimate) == (1 / 4, 1 / 2)
    assert [each.item for each in found.wrong_most] == ["b", "d", "c"]
    assert (found.wrong_most[0].wrong, found.wrong_most[0].answers) == (2, 2)
    assert [(each.scores, each.n, each.positive.correct) for each in found.calibration] == [
        ("0 to 0.2", 1, 0),
        ("0.2 to 0.4", 1, 1),
        ("0.6 to 0.8", 1, 0),
        ("0.8 to 1", 3, 1),
    ]
    assert found.calibration[-1].mean_score == pytest.approx((0.9 + 0.8 + 0.8) / 3)


def test_the_share_uses_the_scores_of_all_items() -> None:
    judge = scores(a=0.9, b=0.8, c=0.6, d=0.3, e=0.1, f=0.95)
    found = verdict([Check("a", True), Check("c", False), Check("e", False)], judge)
    assert found is not None
    expected = powered_share([1, 0, 0], [0.9, 0.6, 0.1], [0.9, 0.8, 0.6, 0.3, 0.1, 0.95])  # type: ignore[arg-type]
    assert (found.share.estimate, found.share.weight) == pytest.approx((expected.value, expected.weight))
    assert (found.share.low, found.share.high) == pytest.approx(expected.interval)
    assert found.share.judge == pytest.approx(4 / 6)
    assert found.share.people.correct == 1


def test_other_numbers_are_binned_by_fifths_of_all_items() -> None:
    judge = scores(**{f"i{n}": n - 50 for n in range(101)})
    found = verdict([Check(f"i{n}", n > 50) for n in range(0, 101, 10)], judge)
    assert found is not None
    assert [each.n for each in found.calibration] == [2, 2, 2, 2, 3]
    assert [each.positive.correct for each in found.calibration] == [0, 0, 0, 2, 3]


def test_words_are_binned_by_word() -> None:
    judge = scores(a="Yes", b="yes", c="no", d="no")
    found = verdict([Check("a", True), Check("b", False), Check("c", False)], judge)
    assert found is not None
    assert [(each.scores, each.n, each.positive.correct) for each in found.calibration] == [("Yes", 2, 1), ("no", 1, 0)]
    assert found.calibration[0].mean_score is None
    assert found.wrong_most[0].distance is None


def test_one_score_for_all_is_no_reason_to_fail() -> None:
    judge = scores_of({"a": "3", "b": "3"}, Meaning(threshold=2), where="here")
    found = verdict([Check("a", True), Check("b", False)], judge)
    assert found is not None
    assert [each.n for each in found.calibration] == [2]
    assert found.share.weight == 0


def test_nothing_to_compare_is_no_verdict() -> None:
    assert verdict([], scores(a=1, b=0)) is None
    assert verdict([Check("c", True)], scores(a=1, b=0)) is None


def test_many_checks_are_enough() -> None:
    judge = scores(**{f"i{n}": n % 2 for n in range(40)})
    found = verdict([Check(f"i{n}", bool(n % 2)) for n in range(30)], judge)
    assert found is not None
    assert found.enough
    assert found.recall is not None
    assert np.isclose(found.recall.estimate, 1)
