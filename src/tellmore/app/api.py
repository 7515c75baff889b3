"""The HTTP routes. Each one checks the role, calls the session and presents the result; the logic is elsewhere."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from math import ceil
from secrets import token_hex
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from tellmore import __version__, kinds
from tellmore.app import present, starting, wire, wire_board, wire_start
from tellmore.app.access import Guard, allowed_hosts, without_port
from tellmore.app.address import link_base
from tellmore.app.judging import judge_out
from tellmore.app.limits import RateLimit, TooOftenError
from tellmore.app.log import LogFilter, log_entries, log_row
from tellmore.app.looking import looking
from tellmore.app.notices import STATIC, error_page, guidelines_page, wants_page
from tellmore.app.operations import Meter, operations
from tellmore.app.session import ConflictError, Session, UnknownQuestionError
from tellmore.app.shared import REFUSALS, Anybody, App, Owner, Shared, Teacher
from tellmore.app.team import team
from tellmore.app.tokens import Tokens, days_from_now
from tellmore.data.checked import complaint
from tellmore.data.project import Project
from tellmore.errors import InputError, MissingExtraError, QuestionError, StateError, StoreError, TellmoreError
from tellmore.store.events import participant_event
from tellmore.store.repository import TokenRow, utc_now

log = logging.getLogger(__name__)

NOT_BUILT = "the browser client is not built; build it with: scripts/build-client.sh"
EVENTS_EVERY_S = 0.25
ALIVE_EVERY_S = 15.0
people = APIRouter(prefix="/api", tags=["people"], responses=REFUSALS)
owner = APIRouter(prefix="/api", tags=["owner"], responses=REFUSALS)
pages = APIRouter(include_in_schema=False)
ROUTERS = (people, owner, looking, team, operations)


@people.get("/me")
def me(shared: Shared, visitor: Anybody) -> wire.MeOut:
    """Who I am, and the project's words."""
    settings, pool = shared.session.settings, shared.session.pool
    told = present.introduction(settings, len(pool), owner=visitor.role == "owner")
    return wire.MeOut(
        role=visitor.role,
        participant=visitor.participant,
        name=visitor.name,
        project=present.project_out(settings, images=pool.images is not None),
        introduction=[line for line in told if line],
    )


@people.get("/question")
def question(shared: Shared, visitor: Teacher) -> wire.QuestionReply:
    """My open question; it stays the same until it is answered."""
    asked = shared.session.question(visitor.participant)
    return present.question_reply(shared.session, visitor, asked)


@people.post("/answers")
def answer(body: wire.AnswerIn, shared: Shared, visitor: Teacher) -> wire.AnswerReply:
    """Save an answer and get the next question. Sending the same answer again is harmless."""
    timing = None if body.timing is None else body.timing.model_dump()
    asked = shared.session.answer(visitor.participant, body.question_id, body.answer, timing)
    return wire.AnswerReply(next=present.question_reply(shared.session, visitor, asked))


@people.post("/undo")
def undo(body: wire.UndoIn, shared: Shared, visitor: Teacher) -> wire.UndoReply:
    """Take back my last answer, or the one named; owners may name anybody's."""
    shared.before_undo(visitor.participant, body.question_id)
    undone, previous = shared.session.undo(visitor.participant, body.question_id, anybody=visitor.role == "owner")
    asked = shared.session.question(visitor.participant)
    following = present.question_reply(shared.session, visitor, asked)
    return wire.UndoReply.model_validate({"undone": undone, "previous": previous.as_json(), "next": following})


@people.get(
    "/items/{item_id:path}/image", response_class=FileResponse, responses={200: {"content": {"image/jpeg": {}}}}
)
def image(item_id: str, shared: Shared, _visitor: Anybody) -> FileResponse:
    """The picture of one item, by its id."""
    try:
        if shared.project is None:
            raise QuestionError("this project has no pictures")
        path = shared.project.picture(item_id)
    except InputError as problem:
        log.warning("a picture cannot be shown: %s", problem)
        raise HTTPException(404, "this item has no picture that can be shown; the server's log says why") from None
    return FileResponse(path, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


@people.get("/kinds/{kind}/card.js", response_class=FileResponse, responses={200: {"content": {"text/javascript": {}}}})
def card(kind: str, _visitor: Anybody) -> FileResponse:
    """The browser module for a kind of question that another package adds."""
    known = {one.name: one.script for one in kinds.all_kinds()}
    script = known.get(kind)
    if script is None or not script.is_file():
        raise HTTPException(404, f"there is no module that shows {kind!r} questions")
    return FileResponse(script, media_type="text/javascript", headers={"cache-control": "no-cache"})


@owner.get("/dashboard")
def read_dashboard(shared: Shared, _visitor: Owner) -> wire_board.DashboardOut:
    """Everything the dashboard plots and lists."""
    return present.dashboard_out(shared.session)


@owner.get("/judge")
def judge(
    shared: Shared,
    _visitor: Owner,
    column: Annotated[str | None, Query(description="one that the project keeps; the first by default")] = None,
    threshold: Annotated[float | None, Query(description="scores from this number on mean positive")] = None,
    positive_value: Annotated[str | None, Query(description="the score that means positive")] = None,
    negative_value: Annotated[str | None, Query(description="the score that means negative")] = None,
) -> wire_board.JudgeOut:
    """How another model's scores compare with people's answers to random questions."""
    meaning = {"threshold": threshold, "positive_value": positive_value, "negative_value": negative_value}
    return judge_out(shared.session, shared.project, column, **meaning)


@owner.get("/answers")
def answers(
    shared: Shared,
    _visitor: Owner,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    participant: Annotated[str | None, Query(max_length=200, description="only answers of this person")] = None,
    kind: Annotated[str | None, Query(max_length=200, description="only this kind of question")] = None,
    only: Annotated[LogFilter | None, Query(description="only these answers")] = None,
) -> wire_board.LogOut:
    """The answer log, newest first."""
    session = shared.session
    with session.lock:
        found = log_entries(session.desk, participant=participant, kind=kind, only=only)
        rows = [log_row(given, session.desk, session.pool) for given in found[offset : offset + limit]]
        return wire_board.LogOut(rows=rows, total=len(found))


@owner.get("/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
async def events(shared: Shared, _visitor: Owner) -> StreamingResponse:
    """Server-sent events: ``changed`` with the number of the last event, whenever there is something new."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_changes(shared.session), media_type="text/event-stream", headers=headers)


async def _changes(session: Session) -> AsyncIterator[str]:
    seen: tuple[int, ...] = ()
    silent_s = 0.0
    while not session.closing:
        now = (session.desk.seq, session.planner.view.seq, session.rates.answers)
        if now != seen:
            yield f'event: changed\ndata: {{"seq": {now[0]}}}\n\n'
            seen, silent_s = now, 0.0
        elif silent_s >= ALIVE_EVERY_S:
            yield ": alive\n\n"
            silent_s = 0.0
        await asyncio.sleep(EVENTS_EVERY_S)
        silent_s += EVENTS_EVERY_S


@owner.get("/settings")
def read_settings(shared: Shared, _visitor: Owner) -> wire.SettingsOut:
    """The current settings, with secrets hidden."""
    return present.settings_out(shared.session.settings)


@owner.put("/settings")
def change_settings(body: wire.SettingsChange, shared: Shared, visitor: Owner) -> wire.SettingsOut:
    """Change wording, kinds, sizes or target from now on; if the start changes, everything is learnt again."""
    changes = present.changes_of(body, shared.session.pool)
    if not changes:
        return present.settings_out(shared.session.settings)
    if "start" in changes:
        shared.relearning.spend(visitor.participant)
    return present.settings_out(shared.session.change_settings(visitor.participant, changes))


@owner.post("/settings/preview")
def preview_settings(body: wire.SettingsChange, shared: Shared, _visitor: Owner) -> wire.PreviewOut:
    """How people would see the project after the change; nothing is saved."""
    session = shared.session
    changed = session.settings.changed(**present.changes_of(body, session.pool))
    changed.check_change(len(session.pool))
    session.check_start(changed)
    sample = present.question_out(session, present.sample_question(session, changed), stale=False)
    return wire.PreviewOut(
        project=present.project_out(changed, images=session.pool.images is not None), question=sample
    )


@owner.get("/start")
def read_start(shared: Shared, _visitor: Owner) -> wire_start.StartOut:
    """Whether to ask for a start, and whether words can be used."""
    return starting.start_out(shared.session)


@owner.post("/start/preview")
def preview_start(body: wire_start.StartIn, shared: Shared, _visitor: Owner) -> wire_start.StartPreviewOut:
    """The items that fit this start most and least, before any answer; nothing is saved."""
    return starting.preview(shared.session, body)


@owner.get("/invitations")
def invitations(shared: Shared, _visitor: Owner) -> list[wire.InvitationOut]:
    """The people invited, oldest first. Their links cannot be shown again."""
    return [
        _invitation(row) for row in shared.tokens.rows() if row.participant != "owner" and row.role != "participant"
    ]


@owner.post("/invitations", status_code=201)
def invite(body: wire.InvitationIn, request: Request, shared: Shared, _visitor: Owner) -> wire.InvitationOut:
    """A link for one person, or for several; it is shown only once."""
    participant = f"p-{token_hex(4)}"
    until, place = days_from_now(body.expires_days), request.scope.get("root_path", "")
    token, row = shared.tokens.issue(body.role, participant, body.name, expires_utc=until, people=body.people)
    if body.people is None:
        shared.session.append([participant_event(participant, body.name, body.role)])
    return _invitation(row, url=f"{shared.base_of(request)}{place}/?token={token}")


def _invitation(row: TokenRow, url: str | None = None) -> wire.InvitationOut:
    known = {key: getattr(row, key) for key in ("id", "name", "role", "participant", "created_utc", "expires_utc")}
    expired = row.expires_utc is not None and row.expires_utc <= utc_now()
    revoked = row.revoked_utc is not None
    return wire.InvitationOut(**known, revoked=revoked, expired=expired, people_left=row.uses_left, url=url)


@owner.delete("/invitations/{token_id}")
def revoke(token_id: str, shared: Shared, _visitor: Owner) -> wire.DoneOut:
    """Revoke a link at once; the answers given with it stay."""
    if token_id not in {row.id for row in shared.tokens.rows()}:
        raise HTTPException(404, "there is no such invitation")
    shared.tokens.revoke([token_id])
    return wire.DoneOut()


@owner.delete("/participants/{participant}")
def delete_participant(participant: str, shared: Shared, visitor: Owner) -> wire.DoneOut:
    """Delete one person's answers, name and link; the classifier is learnt again without them."""
    session = shared.session
    known = {row.participant for row in shared.tokens.rows()} | set(session.desk.names) | session.desk.contributors()
    if participant not in known:
        raise HTTPException(404, "there is no such participant")
    shared.relearning.spend(visitor.participant)
    session.forget(participant, by=visitor.participant)
    shared.tokens.reload()
    return wire.DoneOut()


@owner.post("/reset")
def reset(body: wire.ResetIn, shared: Shared, visitor: Owner) -> wire.DoneOut:
    """Start again without answers. They stay in the log; the settings are kept."""
    if body.confirm != shared.session.settings.project.name:
        raise HTTPException(422, "type the project's name to reset it")
    shared.session.reset(visitor.participant)
    return wire.DoneOut()


def _page(name: str) -> Response:
    path = STATIC / name
    if not path.is_file():
        return PlainTextResponse(NOT_BUILT + "\n", status_code=503)
    return FileResponse(path, headers={"cache-control": "no-cache"})


@pages.get("/")
def annotate_page() -> Response:
    """The question screens."""
    return _page("index.html")


@pages.get("/dashboard")
def dashboard_page() -> Response:
    """The owner's dashboard."""
    return _page("dashboard.html")


@pages.get("/guidelines", response_class=HTMLResponse)
def guidelines(shared: Shared, _visitor: Anybody) -> str:
    """The project's guidelines, for everybody who answers."""
    text = shared.session.settings.project.guidelines
    if not text:
        raise HTTPException(404, "this project has no guidelines")
    return guidelines_page(text)


def _refusal(status: int, error: str) -> JSONResponse:
    return JSONResponse({"error": " ".join(error.split())}, status_code=status)


async def on_http_error(request: Request, problem: Exception) -> Response:
    """Reply to a refused request: a page for people, JSON for programs."""
    assert isinstance(problem, HTTPException)
    if wants_page(request.method, request.headers):
        detail = f"there is nothing at {request.url.path}" if problem.status_code == 404 else str(problem.detail)
        page = error_page(problem.status_code, detail, request.scope.get("root_path", ""))
        return HTMLResponse(page, status_code=problem.status_code)
    return _refusal(problem.status_code, str(problem.detail))


async def _on_malformed(_request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, RequestValidationError)
    fault = problem.errors()[0]
    named = [] if fault["type"] == "json_invalid" else [str(part) for part in fault["loc"] if part != "body"]
    return _refusal(422, f"{'.'.join(named) or 'body'}: {complaint(fault)}")


async def _on_our_error(_request: Request, problem: Exception) -> JSONResponse:
    statuses: dict[type[Exception], int] = {
        TooOftenError: 429,
        UnknownQuestionError: 404,
        ConflictError: 409,
        StateError: 409,
        InputError: 422,
        StoreError: 503,
        MissingExtraError: 501,
    }
    status = next((code for kind, code in statuses.items() if isinstance(problem, kind)), 500)
    reply = _refusal(status, str(problem))
    if isinstance(problem, TooOftenError):
        reply.headers["retry-after"] = str(ceil(problem.wait_s))
    return reply


def create_app(
    session: Session,
    *,
    tokens: Tokens | None = None,
    bind: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    public_url: str = "",
    base_of: Callable[[Request], str] | None = None,
    limit: RateLimit | None = None,
    project: Project | None = None,
    embed: str | None = None,
    routers: Collection[APIRouter] = (),
) -> FastAPI:
    """The application around a started ``session``; ``project`` has its pictures and the other files of its folder.

    ``embed`` names the embedder of its items, for texts that are added. ``routers`` adds further routes, for example a study's.
    """
    app = FastAPI(
        title="tellmore",
        version=__version__,
        summary="Teach a yes/no classifier with labels, selections, rankings and grids.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    own = base_of or link_base(public_url, bind, 0)
    app.state.tellmore = App(session, tokens or Tokens(session.repository), project, own, embed)
    for router in (*ROUTERS, *routers, pages):
        app.include_router(router)
    app.mount("/assets", StaticFiles(directory=STATIC / "assets", check_dir=False))
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(RequestValidationError, _on_malformed)
    app.add_exception_handler(TellmoreError, _on_our_error)
    rules = guard_rules(bind, allow_hosts, public_url, limit)
    app.add_middleware(Guard, tokens=app.state.tellmore.tokens, cookie=cookie_name(session), **rules)
    app.add_middleware(Meter, session=session)
    return app


def guard_rules(bind: str, allow_hosts: Collection[str], public_url: str, limit: RateLimit | None) -> dict[str, Any]:
    """Options of the guard for a server at these addresses."""
    names = [*allow_hosts, without_port(public_url.partition("://")[2])] if public_url else allow_hosts
    return {
        "host_allowed": allowed_hosts(bind, names),
        "secure": public_url.startswith("https:"),
        "limit": limit or RateLimit(),
    }


def cookie_name(session: Session) -> str:
    """The project's cookie name. Cookies ignore the port, so each project has its own name: two servers may share a machine."""
    return f"tellmore_{session.repository.project_id[:8]}"


def study_page() -> Response:
    """The participants' page, for a study's router to serve."""
    return _page("study.html")
