"""The routes of the start: what the owner is looking for, tried out before it is saved."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from tellmore.app import starting, wire, wire_start
from tellmore.app.roles import Owner, Shared

routes = APIRouter()


@routes.get("/start")
def read_start(shared: Shared, _visitor: Owner) -> wire_start.StartOut:
    """Whether a start is still to be asked for, and whether it can be in words."""
    return starting.start_out(shared.session)


@routes.post("/start/preview")
def preview_start(body: wire_start.StartIn, shared: Shared, _visitor: Owner) -> wire_start.StartPreviewOut:
    """The items that this start alone, before any answer, would call most and least so; nothing is saved."""
    return starting.preview(shared.session, body)


@routes.get("/items/sample")
def sample_items(
    shared: Shared, _visitor: Owner, search: Annotated[str, Query(max_length=200)] = ""
) -> list[wire.ItemOut]:
    """Some items to choose examples from: random ones, or those whose text or id holds ``search``."""
    return starting.offered(shared.session.pool, search)
