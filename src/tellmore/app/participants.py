"""Studies over HTTP: entering, the steps before and after, questions and completion codes. All paths are /api/study/…

A participant enters with an external id (PROLIFIC_PID or a generic one) and gets a token with the role "participant" in
an HttpOnly cookie. Study participants never see model output.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import Field, StrictInt, StringConstraints

from tellmore.app.access import STUDY
from tellmore.app.api import cookie_name, study_page
from tellmore.app.dashboard import image_address
from tellmore.app.present import kinds_out
from tellmore.app.server import open_session, serve
from tellmore.app.tokens import PARTICIPANT_DAYS, Tokens, Visitor, days_from_now
from tellmore.app.wire import AnswerIn, KindOut, Milliseconds, ShownOut, Timing, Wire
from tellmore.data.project import Project
from tellmore.kinds import Words
from tellmore.store.beforehand import beforehand_of
from tellmore.store.repository import STUDY_KEY
from tellmore.study.bank import BANK_FILE, read_bank
from tellmore.study.design import check_bank
from tellmore.study.entry import Arrival, EntryError, checked_signature, read_list
from tellmore.study.session import StudySession
from tellmore.study.settings import Study

OutsideId: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.@-]+$")]
StepName = Literal["eligibility", "consent", "demographics", "instructions", "comprehension", "debrief"]
PersonValue: TypeAlias = Annotated[str, StringConstraints(max_length=200)] | int | float | None


class EnterIn(Wire):
    """Body of ``POST /api/study/enter``: who enters, from the link: Prolific's three parameters, or ``participant``.

    ``signature`` is that of a link made by ``tellmore study link``.
    """

    participant: OutsideId | None = None
    prolific_pid: OutsideId | None = None
    study_id: OutsideId | None = None
    session_id: OutsideId | None = None
    signature: Annotated[str, StringConstraints(max_length=128, pattern=r"^[A-Za-z0-9_-]+$")] | None = None


class StepIn(Wire):
    """Body of ``POST /api/study/step``: the step that is completed, and what was entered.

    ``value``: true or false for eligibility and consent, option numbers for comprehension, answers by name for
    demographics, a comment for debrief. ``elapsed_ms`` is the participant's own clock since the start, if it is kept.
    """

    step: StepName
    value: (
        bool | list[StrictInt] | dict[str, PersonValue] | Annotated[str, StringConstraints(max_length=5000)] | None
    ) = None
    elapsed_ms: Milliseconds | None = None


class StudyAnswerIn(AnswerIn):
    """Body of ``POST /api/study/answers``."""

    timing: Timing


class WordsOut(Wire):
    """The study's own words."""

    name: str
    attribute: str
    positive: str
    negative: str
    instruction: str = ""
    kinds: list[KindOut]


class ChoiceOut(Wire):
    """A question of the comprehension check, without its answer."""

    question: str
    options: list[str]


class FieldOut(Wire):
    """A voluntary question about the person."""

    name: str
    question: str
    type: Literal["number", "text", "choice"]
    options: list[str]


class DoneShare(Wire):
    """How many questions are answered, of how many."""

    done: int
    total: int


class StudyOut(Wire):
    """What a participant sees now. Fields that a step does not need are null."""

    step: StepName | Literal["practice", "question", "done"]
    words: WordsOut
    progress: DoneShare
    text: str | None = None
    fields: list[FieldOut] | None = None
    choices: list[ChoiceOut] | None = None
    attempts_left: int | None = None
    failed_before: bool = False
    question: ShownOut | None = None
    block: int | None = None
    first_of_block: bool = False
    outcome: Literal["complete", "no_consent", "failed_comprehension"] | None = None
    code: str | None = Field(None, description="the completion code; every answer is on disk when it is given")
    url: str | None = Field(None, description="where the participant is sent back with the code")


class StudySaved(Wire):
    """The answer is on disk; ``next`` is what to show now."""

    saved: Literal[True] = True
    next: StudyOut


def _participant(request: Request) -> str:
    visitor: Visitor | None = request.scope.get("state", {}).get("visitor")
    if visitor is None or visitor.role != "participant":
        raise HTTPException(401, "open the study's link again")
    return visitor.participant


Participant = Annotated[str, Depends(_participant)]


def study_router(
    study_session: StudySession, tokens: Tokens, cookie: str, page: Callable[[], Response], key: str
) -> APIRouter:
    """The routes of a study; ``page`` serves the participants' screen at /study, to anybody; ``key`` signs links to it."""
    router = APIRouter(tags=["study"])
    router.add_api_route("/study", page, methods=["GET"], include_in_schema=False, response_model=None)

    def shown(state: dict[str, Any]) -> StudyOut:
        study = study_session.study
        own = Words(study.attribute, study.positive, study.negative)
        words = WordsOut(
            name=study.title,
            attribute=own.attribute,
            positive=own.positive,
            negative=own.negative,
            kinds=kinds_out(own),
        )
        return StudyOut(words=words, **_with_image_addresses(state))

    @router.post("/api/study/enter")
    def enter(body: EnterIn, request: Request, response: Response) -> StudyOut:
        """Enter with an external id; only the person who began with it can return to the same assignment."""
        outside = body.prolific_pid or body.participant
        if outside is None:
            raise HTTPException(400, "the link lacks a participant id: PROLIFIC_PID or participant")
        details = {name: value for name, value in body.model_dump(exclude={"signature"}).items() if value is not None}
        known = study_session.participant_of(outside)
        if known is not None and all(row.participant != known for row in tokens.rows()):
            study_session.forget(known)  # deleting a participant deletes their tokens: whoever enters now is new
        visitor: Visitor | None = request.scope.get("state", {}).get("visitor")
        cookie_of = visitor.participant if visitor is not None and visitor.role == "participant" else None
        try:
            signed = checked_signature(key, outside, body.signature)
            participant = study_session.enter(Arrival(outside, body.session_id, cookie_of, signed), details)
        except EntryError as refusal:
            raise HTTPException(403, str(refusal)) from None
        if cookie_of != participant:
            token, _ = tokens.issue(
                "participant", participant, participant, expires_utc=days_from_now(PARTICIPANT_DAYS)
            )
            response.set_cookie(
                cookie + STUDY,
                token,
                max_age=PARTICIPANT_DAYS * 86_400,
                httponly=True,
                samesite="strict",
                secure=request.url.scheme == "https",
            )
        return shown(study_session.state(participant))

    @router.get("/api/study")
    def state(participant: Participant) -> StudyOut:
        """What to show now: the same question again after a refresh."""
        return shown(study_session.state(participant))

    @router.post("/api/study/step")
    def step(body: StepIn, participant: Participant) -> StudyOut:
        """Complete a step with what was entered."""
        return shown(study_session.leave(participant, body.step, body.value, body.elapsed_ms))

    @router.post("/api/study/answers")
    def answer(body: StudyAnswerIn, participant: Participant) -> StudySaved:
        """Store an answer with raw times. Idempotent by question id."""
        given = body.answer.as_json()
        timing = body.timing.model_dump(mode="json")
        return StudySaved(next=shown(study_session.answer(participant, body.question_id, given, timing)))

    return router


def _with_image_addresses(state: dict[str, Any]) -> dict[str, Any]:
    """The state with images given by their addresses on this server instead of file names."""
    question = state.get("question")
    if question is None:
        return state
    items = [{**item, "image": image_address(item["id"]) if item["image"] else None} for item in question["items"]]
    return {**state, "question": {**question, "items": items}}


def serve_study(project: Project, study: Study, **options: Any) -> None:
    """Serve the study of a project until it is stopped; the question file is read and checked first."""
    bank = read_bank(project.folder / BANK_FILE, project.pool.ids)
    check_bank(study, bank)
    session = open_session(project, beforehand=beforehand_of(project))
    listed = partial(read_list, project.folder)
    if study.entry.by == "list":
        listed()
    study_session = StudySession(session.repository, study, bank, project.pool, listed=listed)
    key = session.repository.secret(STUDY_KEY)

    def routers(tokens: Tokens) -> list[APIRouter]:
        return [study_router(study_session, tokens, cookie_name(session), study_page, key)]

    serve(session, project=project, make_routers=routers, browser=False, **options)
