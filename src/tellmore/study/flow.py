"""A participant's way through a study, as a fold over the log: which step is next, and whether it is over. No side effects.

    eligibility -> consent -> demographics -> instructions -> comprehension -> practice -> question ... -> debrief -> done

Events of one participant, by kind (their payloads are what `app.participants` stores)::

    study_entered   {number, external, order, fingerprint, assignment}   first visit; later visits lack the assignment
    study_step      {step, value}            a step was left, with the person's input
    study_shown     {question, part}         a question was shown, with texts, in the order shown
    study_answer    {answer, timing, part}   the answer to it, with raw times
    study_flag      {reason, ...}            a gold question was missed: recorded, with no other effect
    study_ended     {outcome, code}          the completion code was given
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from tellmore import kinds
from tellmore.errors import AnswerError, StateError
from tellmore.kinds import Perception
from tellmore.study.design import Planned
from tellmore.study.settings import Choice, Gold, PersonQuestion, Study
from tellmore.types import Answer

Step = Literal[
    "eligibility", "consent", "demographics", "instructions", "comprehension", "practice", "question", "debrief", "done"
]
Outcome = Literal["complete", "no_consent", "failed_comprehension"]
EVENT_KINDS = (
    "study_opened", "study_entered", "study_step", "study_shown", "study_answer", "study_flag", "study_ended",
)  # fmt: skip
TEXT_STEPS = ("eligibility", "consent", "instructions", "debrief")


@dataclass(frozen=True)
class Progress:
    """What one participant has done so far."""

    number: int = -1
    assignment: tuple[Planned, ...] = ()
    steps: Mapping[str, Any] = field(default_factory=dict)
    attempts: tuple[bool, ...] = ()
    practised: int = 0
    answered: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    ended: str | None = None

    def after(self, kind: str, question_id: str | None, payload: Mapping[str, Any]) -> Progress:
        """The progress after one more event of this participant."""
        if kind == "study_entered" and "assignment" in payload:
            planned = tuple(Planned.of(row) for row in payload["assignment"])
            return replace(self, number=payload["number"], assignment=planned)
        if kind == "study_step":
            if payload["step"] == "comprehension":
                return replace(self, attempts=(*self.attempts, bool(payload["passed"])))
            return replace(self, steps={**self.steps, payload["step"]: payload.get("value")})
        if kind == "study_shown" and question_id is not None:
            return replace(self, shown=self.shown | {question_id})
        if kind == "study_answer" and question_id is not None:
            if payload.get("part") == "practice":
                return replace(self, practised=self.practised + 1)
            return replace(self, answered=self.answered | {question_id})
        if kind == "study_ended":
            return replace(self, ended=payload["outcome"])
        return self


def passed_comprehension(study: Study, progress: Progress) -> bool | None:
    """Whether the participant passed the comprehension check; None while attempts are left."""
    if not study.comprehension or any(progress.attempts):
        return True
    return False if len(progress.attempts) >= study.comprehension_attempts else None


def outcome(study: Study, progress: Progress) -> Outcome | None:
    """How the study ended for this participant; None while it continues."""
    if progress.steps.get("eligibility") is False or progress.steps.get("consent") is False:
        return "no_consent"
    if "instructions" in progress.steps and passed_comprehension(study, progress) is False:
        return "failed_comprehension"
    return "complete" if "debrief" in progress.steps else None


def current_step(study: Study, progress: Progress) -> Step:
    """The step to show now."""
    if outcome(study, progress) is not None:
        return "done"
    if "eligibility" not in progress.steps:
        return "eligibility"
    if "consent" not in progress.steps:
        return "consent"
    if study.demographics and "demographics" not in progress.steps:
        return "demographics"
    if "instructions" not in progress.steps:
        return "instructions"
    if passed_comprehension(study, progress) is None:
        return "comprehension"
    if progress.practised < len(study.practice):
        return "practice"
    return "question" if open_question(progress) is not None else "debrief"


def open_question(progress: Progress) -> Planned | None:
    """The first planned question without an answer."""
    return next((planned for planned in progress.assignment if planned.id not in progress.answered), None)


def practice_question(study: Study, progress: Progress) -> Planned:
    """The next practice question."""
    practice = study.practice[progress.practised]
    identifier = f"practice-{progress.number:05d}-{progress.practised + 1}"
    return Planned(identifier, practice.kind, practice.items, 0, progress.practised + 1)


def right_answer(gold: Gold, kind: str, answer: Answer) -> bool:
    """Whether a gold question was answered exactly as expected, including order, choice and labels."""
    asked = kinds.named(kind)
    if not isinstance(answer, asked.answer_type):
        return False
    return bool(asked.outcome(gold.order, answer) == asked.respond(seen_as(gold)))


def seen_as(gold: Gold) -> Perception:
    """How a person who answers a gold question correctly sees its items, in the question's own order."""
    places = np.arange(len(gold.order))
    z = gold.n_positive - 0.5 - places
    return Perception(z, places, z > 0)


def check_step_value(study: Study, step: str, value: Any) -> Any:
    """The checked value with which a step is left; AnswerError says what is wrong."""
    if step in ("eligibility", "consent"):
        if not isinstance(value, bool):
            raise AnswerError(f"{step} is answered by true or false")
        return value
    if step == "instructions":
        return True
    if step == "debrief":
        comment = "" if value is None else value
        if not isinstance(comment, str) or len(comment) > 5000:
            raise AnswerError("a comment is text of at most 5000 characters")
        return comment
    if step == "demographics":
        return _check_person(study.demographics, value)
    if step == "comprehension":
        return _check_choices(study.comprehension, value)
    raise StateError(f"{step} is not a step that can be left")


def _check_person(fields: tuple[PersonQuestion, ...], value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not set(value) <= {field.name for field in fields}:
        raise AnswerError(f"demographics hold only {', '.join(field.name for field in fields)}; each may be left out")
    checked: dict[str, Any] = {}
    for question in fields:
        given = value.get(question.name)
        if given is None or given == "":
            continue
        if question.type == "number":
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 150:
                raise AnswerError(f"{question.name} must be a number from 0 to 150")
        elif not isinstance(given, str) or len(given) > 200:
            raise AnswerError(f"{question.name} must be text of at most 200 characters")
        elif question.type == "choice" and given not in question.options:
            raise AnswerError(f"{question.name} must be one of {', '.join(question.options)}")
        checked[question.name] = given
    return checked


def _check_choices(choices: tuple[Choice, ...], value: Any) -> list[int]:
    if (
        not isinstance(value, list)
        or len(value) != len(choices)
        or not all(isinstance(v, int) and not isinstance(v, bool) for v in value)
        or not all(0 <= v < len(choice.options) for v, choice in zip(value, choices, strict=True))
    ):
        raise AnswerError(f"the check has {len(choices)} questions; give the number of one option for each")
    return value


def right_choices(study: Study, given: list[int]) -> bool:
    """Whether all comprehension questions were answered correctly."""
    return all(v == choice.correct for v, choice in zip(given, study.comprehension, strict=True))
