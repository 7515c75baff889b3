"""The owner's routes for looking at the items, ending the questions and exporting the classifier."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from tellmore.app import wire, wire_board
from tellmore.app.exports import exports
from tellmore.app.items import Show, Sort
from tellmore.app.shared import REFUSALS, Owner, Shared
from tellmore.app.team import notes_out
from tellmore.errors import QuestionError
from tellmore.export import FORMATS, download

looking = APIRouter(prefix="/api", tags=["owner"], responses=REFUSALS)


@looking.get("/items")
def items(
    shared: Shared,
    _visitor: Owner,
    search: Annotated[str, Query(max_length=200)] = "",
    sort: Sort = "likely",
    show: Show = "all",
    low: Annotated[float, Query(ge=0, le=1)] = 0.0,
    high: Annotated[float, Query(ge=0, le=1)] = 1.0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> wire_board.ItemsOut:
    """The items with their predictions, found by text, probability and answers."""
    session = shared.session
    view = session.look()
    with session.lock:
        notes = dict(session.desk.notes)
    return shared.items(view).page(
        view, notes, search=search, sort=sort, show=show, low=low, high=high, limit=limit, offset=offset
    )


@looking.post("/items", status_code=202)
def add_items(body: wire_board.TextsIn, shared: Shared, visitor: Owner) -> wire_board.AddingOut:
    """Add the texts of a CSV file to the pool. They are embedded in the background; `GET /api/items/adding` shows the
    progress. If the encoding has to be guessed, nothing is added until the body names it."""
    shared.adding.begin(body.name, body.content, visitor.participant, body.encoding)
    return shared.adding.out()


@looking.get("/items/adding")
def adding(shared: Shared, _visitor: Owner) -> wire_board.AddingOut:
    """Whether texts can be added, and the progress of the last addition."""
    return shared.adding.out()


@looking.get("/items/{item_id:path}/why")
def why(item_id: wire.Id, shared: Shared, _visitor: Owner) -> wire_board.WhyOut:
    """One item, what people wrote about it, and the answered items most similar to it."""
    session = shared.session
    view = session.look()
    with session.lock:
        notes = notes_out(session.desk.notes.get(item_id, ()), session.desk.names)
    try:
        return shared.items(view).why(view, item_id, notes)
    except QuestionError:
        raise HTTPException(404, "there is no such item") from None


@looking.post("/labels")
def label(body: wire.LabelIn, shared: Shared, visitor: Owner) -> wire.DoneOut:
    """Label an item that you chose yourself; it is learnt from, and never counts as a random check."""
    shared.session.label(visitor.participant, body.item, body.positive)
    return wire.DoneOut()


@looking.post("/end")
def end(shared: Shared, visitor: Owner) -> wire.DoneOut:
    """End the questions; those already open can still be answered."""
    shared.session.end(visitor.participant)
    return wire.DoneOut()


@looking.post("/go-on")
def go_on(shared: Shared, visitor: Owner) -> wire.DoneOut:
    """Continue with questions although it is time to stop."""
    shared.session.go_on(visitor.participant)
    return wire.DoneOut()


@looking.get("/exports")
def list_exports(shared: Shared, _visitor: Owner) -> list[wire_board.ExportOut]:
    """What can be exported, and what each file is for."""
    return exports(with_embedder=shared.project is not None and shared.project.tfidf_path is not None)


@looking.get("/export/{format}", response_class=Response)
def export(
    format: str,
    shared: Shared,
    _visitor: Owner,
    table: Annotated[Literal["answers", "scores"], Query(description="what csv and parquet hold")] = "answers",
) -> Response:
    """The log, the answers, the scores or the classifier as a file."""
    if format not in FORMATS:
        raise HTTPException(404, f"there is no format {format[:40]!r}; the formats are {', '.join(FORMATS)}")
    name, media_type, content = download(shared.session.settled_state(shared.project), format, table=table)
    return Response(content, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
