"""What the routes share: the session behind them, and who may call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from tellmore.app import wire
from tellmore.app.adding import Adding
from tellmore.app.items import ItemFinder
from tellmore.app.limits import CHEAP_UNDO, Relearning
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens, Visitor
from tellmore.app.view import FullView
from tellmore.data.project import Project


class App:
    """What the routes share; ``base_of`` gives the beginning of links to this server, ``embed`` names the items' embedder."""

    def __init__(
        self,
        session: Session,
        tokens: Tokens,
        project: Project | None,
        base_of: Callable[[Request], str],
        embed: str | None = None,
    ) -> None:
        self.session, self.tokens, self.base_of = session, tokens, base_of
        self.adding = Adding(session, project, embed)
        self.relearning = Relearning()
        self._items = ItemFinder(session.pool)

    @property
    def project(self) -> Project | None:
        """The current project, with its files."""
        return self.adding.project

    def items(self, view: FullView) -> ItemFinder:
        """The item finder for the pool of ``view``."""
        if self._items.pool is not view.learner.pool:
            self._items = ItemFinder(view.learner.pool)
        return self._items

    def before_undo(self, participant: str, question_id: str | None) -> None:
        """Count an undo if many answers came after the undone one; raises TooOftenError if it is one too many."""
        desk = self.session.desk
        with self.session.lock:
            given = desk.last_answer(participant) if question_id is None else desk.given.get(question_id)
            deep = given is not None and not given.void and desk.changes_after(given.seq) > CHEAP_UNDO
        if deep:
            self.relearning.spend(participant)


def _shared(request: Request) -> App:
    shared: App = request.app.state.tellmore
    return shared


def visitor_of(request: Request) -> Visitor:
    """Who makes the request; 401 without a valid token."""
    visitor: Visitor | None = request.state.visitor
    if visitor is None:
        refused = getattr(request.state, "refused", None)
        raise HTTPException(401, refused or "open the link that was printed or sent to you")
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


def _anybody(request: Request) -> Visitor:
    visitor = visitor_of(request)
    if visitor.role == "monitor":
        raise HTTPException(403, "a monitor may only read /metrics")
    return visitor


Shared = Annotated[App, Depends(_shared)]
Anybody = Annotated[Visitor, Depends(_anybody)]
Teacher = Annotated[Visitor, Depends(_teacher)]
Owner = Annotated[Visitor, Depends(_owner)]

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": wire.ErrorOut, "description": meaning}
    for status, meaning in {
        401: "no valid token",
        403: "not allowed for this role, or from another site",
        404: "unknown",
        409: "in conflict with the log",
        413: "body too large",
        415: "not JSON",
        421: "unknown Host",
        422: "malformed",
        429: "too many requests",
        501: "needs a package that is not installed",
        503: "the database does not respond",
    }.items()
}
