"""What the routes share: the session behind them, and who may call them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from tellmore.app import wire
from tellmore.app.access import REVOKED, Tokens, Visitor
from tellmore.app.items import ItemFinder
from tellmore.app.session import Session
from tellmore.data.project import Project


class App:
    """What the routes share."""

    def __init__(self, session: Session, tokens: Tokens, project: Project | None) -> None:
        self.session, self.tokens, self.project = session, tokens, project
        self.items = ItemFinder(session.pool)


def _shared(request: Request) -> App:
    shared: App = request.app.state.tellmore
    return shared


def visitor_of(request: Request) -> Visitor:
    """Whoever makes the request; 401 without a valid token."""
    visitor: Visitor | None = request.state.visitor
    if visitor is None:
        revoked = getattr(request.state, "revoked", False)
        raise HTTPException(401, REVOKED if revoked else "open the link that was printed or sent to you")
    return visitor


def _teacher(request: Request) -> Visitor:
    visitor = visitor_of(request)
    if visitor.role not in ("owner", "annotator"):
        raise HTTPException(403, "this is for the project's owner and annotators")
    return visitor


def _owner(request: Request) -> Visitor:
    visitor = visitor_of(request)
    if visitor.role != "owner":
        raise HTTPException(403, "this is for the project's owner only")
    return visitor


Shared = Annotated[App, Depends(_shared)]
Anybody = Annotated[Visitor, Depends(visitor_of)]
Teacher = Annotated[Visitor, Depends(_teacher)]
Owner = Annotated[Visitor, Depends(_owner)]

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": wire.ErrorOut, "description": meaning}
    for status, meaning in {
        401: "no valid token",
        403: "not this role, or from another site",
        404: "unknown",
        409: "in conflict with the log",
        413: "body too large",
        415: "not JSON",
        421: "foreign Host",
        422: "malformed",
        429: "too many requests",
        501: "needs a package that is not installed",
    }.items()
}
