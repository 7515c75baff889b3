"""The progress of a project, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tellmore.data.settings import Settings
from tellmore.kinds.label import LabelAnswer
from tellmore.questions import Question
from tellmore.store.events import answer_event, end_event, question_event
from tellmore.store.fold import AnswerEffect
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event
from tellmore.store.standing import end_words, standing, target_words
from tellmore.store.statistics import accuracy_of

MANY = 10_000


def effect(error: float, correct: int = 0, scored: int = 0) -> AnswerEffect:
    return AnswerEffect(1, "q", "label", 1, bool(scored), 6.0, 0.1, -1.0, 1 - error, correct, scored)


def improving(answers: int = 40, wrong: int = 8) -> list[AnswerEffect]:
    """The error falls with the square root of the time; every answer is a random check."""
    return [effect(0.5 * (n / 10) ** -0.5, int(n > wrong), 1) for n in range(1, answers + 1)]


def ledger(*events: Event, **learning: object) -> Ledger:
    numbered = [Event(**{**vars(event), "seq": seq}) for seq, event in enumerate(events, start=1)]
    return Ledger(Settings().changed(learning=dict(learning)), numbered)


def test_a_few_checks_are_too_early_to_tell() -> None:
    assert standing(ledger(), [], MANY).accuracy == "accuracy: too early to tell"
    few = standing(ledger(), [effect(0.3, 0, 1)] * 3, MANY)
    assert few.accuracy == "accuracy: too early to tell (3 of 20 random checks)"
    assert few.target == "the target of 90 %: too early to tell"
    assert few.left is None


def test_without_random_checks_nothing_is_promised() -> None:
    assert "no random checks are asked" in standing(ledger(check_share=0.0), [effect(0.3)] * 50, MANY).accuracy


def test_enough_checks_give_a_range() -> None:
    now = standing(ledger(), improving(), MANY)
    assert now.accuracy == "accuracy 65 to 90 %, on 40 random checks"
    assert now.target == "about 10 points to the target of 90 %"
    assert now.left is not None
    assert now.left.endswith("left to 90 %")


def test_the_target_is_reached_by_the_whole_interval_only() -> None:
    assert target_words(accuracy_of(38, 40), 0.9).endswith("probably reached; a few more checks will confirm")
    assert target_words(accuracy_of(100, 100), 0.9) == "the target of 90 % is reached"


def checked(labels: list[bool], right: int) -> tuple[Ledger, list[AnswerEffect]]:
    """A log of one random check for each label, of which the first ``right`` were predicted."""
    events, effects = [], []
    for number, label in enumerate(labels):
        question = Question("label", [f"i{number}"], id=f"q{number}")
        events += [question_event(question, "ann", check=True), answer_event(question.id, "ann", LabelAnswer(label))]
        effects.append(replace(effect(0.1, int(number < right), 1), question_id=question.id))
    return ledger(*events), effects


@pytest.mark.parametrize(
    ("positives", "right", "said"),
    [
        (
            4,
            97,
            'the target of 90 % says little here: always saying "negative" would be right on 96 % of the random checks',
        ),
        (
            92,
            94,
            'the target of 90 % says little here: always saying "positive" would be right on 92 % of the random checks',
        ),
        (8, 100, "the target of 90 % is reached"),
        (50, 100, "the target of 90 % is reached"),
        (4, 80, "about 10 points to the target of 90 %"),
    ],
)
def test_a_target_that_one_answer_reaches_is_not_called_reached(positives: int, right: int, said: str) -> None:
    now = standing(*checked([n < positives for n in range(100)], right), MANY)
    assert now.target == said


def test_only_the_checks_that_are_measured_tell_the_more_common_answer() -> None:
    older, newer = [False] * 200, [n % 2 == 0 for n in range(100)]
    assert standing(*checked(older + newer, 300), MANY).target == "the target of 90 % is reached"


def test_the_end_says_what_was_reached() -> None:
    done = ledger(end_event(None, "settled", "why"))
    now = standing(done, improving(wrong=4), MANY)
    assert now.end == (
        "You can stop",
        "90 % right on 40 random checks (95 % interval: 77 to 96 %). More answers would change little.",
    )
    assert now.left is None, "who can stop has no time left"
    few = standing(done, [effect(0.3, 0, 1)] * 3, MANY)
    assert few.end is not None
    assert few.end[1].startswith("0 of 3 random checks were right, too few to say how often it is right.")
    assert few.accuracy == "accuracy: 0 of 3 random checks were right", "who can stop is not told that it is too early"
    assert few.target == "the target of 90 % is not confirmed, which takes at least 20 random checks"
    assert standing(ledger(end_event(None, "labelled", "")), [], 12).end == (
        "Every item has a label",
        "There is nothing left to ask.",
    )


@pytest.mark.parametrize(("positives", "told"), [(0, True), (1, False)])
def test_the_end_says_if_no_check_was_of_one_side(positives: int, told: bool) -> None:
    known, effects = checked([n < positives for n in range(30)], 30)
    done = ledger(end_event(None, "settled", "why"))
    done.asked.update(known.asked)
    done.given.update(known.given)
    found = end_words(done, effects)
    assert found is not None
    assert ("None of them is positive, so it is not known how many such items it misses." in found[1]) is told
