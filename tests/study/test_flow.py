"""Gold answers must match exactly; steps follow from what was done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.store.repository import Event
from tellmore.study.flow import Progress, current_step, outcome, right_answer
from tellmore.study.records import has_simulated, without_simulated
from tellmore.study.settings import Gold, Study
from tellmore.types import Answer, Skip

StepEvent = tuple[str, None, dict[str, Any]]
BAD = Gold(order=("bad", "horrible"), n_positive=0)
HAPPY = Gold(order=("happy", "sad"), n_positive=1)


@pytest.mark.parametrize(
    ("gold", "kind", "answer", "right"),
    [
        (HAPPY, "rank", RankAnswer(["happy", "sad"], 1), True),
        (HAPPY, "rank", RankAnswer(["happy", "sad"], 2), False),
        (HAPPY, "rank", RankAnswer(["sad", "happy"], 1), False),
        (BAD, "rank", RankAnswer(["bad", "horrible"], 0), True),
        (BAD, "select_high", SelectAnswer("bad", False), True),
        (BAD, "select_high", SelectAnswer("bad", True), False),
        (BAD, "select_high", SelectAnswer("horrible", False), False),
        (HAPPY, "select_high", SelectAnswer("happy", True), True),
        (HAPPY, "select_low", SelectAnswer("sad", False), True),
        (HAPPY, "select_low", SelectAnswer("happy", True), False),
        (HAPPY, "rank", Skip(), False),
    ],
)
def test_gold_answers_match_exactly(gold: Gold, kind: str, answer: Answer, right: bool) -> None:
    assert right_answer(gold, kind, answer) is right


def after(events: Sequence[StepEvent]) -> Progress:
    progress = Progress()
    for event in events:
        progress = progress.after(*event)
    return progress


def test_one_passed_attempt_is_enough(study: Study) -> None:
    steps: list[StepEvent] = [
        ("study_step", None, {"step": name, "value": True}) for name in ("eligibility", "consent")
    ]
    steps += [("study_step", None, {"step": name, "value": {}}) for name in ("demographics", "instructions")]
    failed = ("study_step", None, {"step": "comprehension", "value": [], "passed": False})
    passed = ("study_step", None, {"step": "comprehension", "value": [], "passed": True})
    assert current_step(study, after(steps)) == "comprehension"
    assert current_step(study, after([*steps, failed])) == "comprehension"
    assert outcome(study, after([*steps, failed, failed])) == "failed_comprehension"
    assert current_step(study, after([*steps, failed, passed])) == "practice"


def test_a_study_without_extras_skips_them(study: Study) -> None:
    bare = study.model_copy(update={"demographics": (), "comprehension": (), "practice": ()})
    progress = Progress(steps={"eligibility": True, "consent": True, "instructions": True})
    assert current_step(bare, progress) == "debrief"


@pytest.mark.parametrize(("external", "simulated"), [("sim0001", True), ("simon", False), ("5f3a", False)])
def test_simulated_people_are_known_by_their_ids(external: str, simulated: bool) -> None:
    assert has_simulated([Event("study_entered", participant="p", payload={"external": external})]) is simulated


def test_simulated_participants_are_not_pooled_with_people() -> None:
    def entered(who: str, external: str) -> list[Event]:
        return [
            Event("study_entered", participant=who, payload={"external": external}),
            Event("study_step", participant=who),
        ]

    people, invented = entered("a", "5f1"), entered("b", "sim0001")
    assert without_simulated([*people, *invented]) == people
    assert without_simulated(invented) == invented
