"""Several projects on one server: each at /p/NAME with its own people, and a start page that lists them.

The start page has its own tokens, stored next to the projects; whoever has one may open every project as its owner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from tellmore.app.access import Guard, presented_token
from tellmore.app.api import cookie_name, create_app, guard_rules, on_http_error
from tellmore.app.limits import RateLimit
from tellmore.app.notices import STATIC, projects_page
from tellmore.app.server import open_session, serve
from tellmore.app.session import Session
from tellmore.app.shared import visitor_of
from tellmore.app.tokens import Tokens
from tellmore.data.project import Project, open_project, projects_in
from tellmore.errors import StateError, TellmoreError
from tellmore.store.beforehand import beforehand_of
from tellmore.store.repository import Repository

HOME_FILE = "tellmore-server.sqlite"
HOME_COOKIE = "tellmore_projects"
_PLACE = re.compile(r"^/p/([^/]+)(/.*)?$")


class Home:
    """All projects of a folder, and the tokens of the start page; they are started and stopped together, like one session.
    ``refused`` has the projects that cannot be served, with the reason."""

    def __init__(self, folder: Path, paths: Collection[Path]) -> None:
        self.repository = Repository(f"sqlite:///{folder / HOME_FILE}")
        self.projects, self.sessions, self.refused = dict[str, Project](), dict[str, Session](), dict[str, str]()
        self._closing = False
        try:
            self.repository.claim()
            for path in paths:
                self._open(path)
        except BaseException:
            self.close()
            raise
        self.tokens = {name: Tokens(session.repository) for name, session in self.sessions.items()}

    def _open(self, path: Path) -> None:
        try:
            project = open_project(path)
            self.sessions[path.name] = open_session(project, beforehand=beforehand_of(project))
            self.projects[path.name] = project
        except TellmoreError as problem:
            self.refused[path.name] = str(problem)

    @property
    def closing(self) -> bool:
        """Whether streams of events should end."""
        return self._closing

    @closing.setter
    def closing(self, closing: bool) -> None:
        self._closing = closing
        for session in self.sessions.values():
            session.closing = closing

    def start(self) -> Home:
        """Start to learn in all projects."""
        for session in self.sessions.values():
            session.start()
        return self

    def close(self) -> None:
        """Stop all background work and release the databases."""
        for session in self.sessions.values():
            session.close()
        self.repository.close()

    def look_around(self) -> None:
        """Read what others wrote to the projects; raises ClaimLostError if another server has taken one over."""
        self.repository.keep_claim()
        for name, session in self.sessions.items():
            session.look_around()
            self.tokens[name].reload()

    def app(
        self,
        _home: object,
        *,
        tokens: Tokens,
        bind: str,
        allow_hosts: Collection[str] = (),
        public_url: str = "",
        limit: RateLimit | None = None,
        base_of: Callable[[Request], str] | None = None,
        **_of_one_project: object,
    ) -> ASGIApp:
        """The whole server."""
        parts = {
            name: create_app(
                session,
                tokens=self.tokens[name],
                bind=bind,
                allow_hosts=allow_hosts,
                public_url=public_url,
                base_of=base_of,
                limit=limit,
                project=self.projects[name],
            )
            for name, session in self.sessions.items()
        }
        rules = guard_rules(bind, allow_hosts, public_url, limit)
        return Several(Guard(self._start_page(), tokens=tokens, cookie=HOME_COOKIE, **rules), parts)

    def _start_page(self) -> FastAPI:
        page, own = FastAPI(openapi_url=None, docs_url=None, redoc_url=None), self.tokens
        page.mount("/assets", StaticFiles(directory=STATIC / "assets", check_dir=False))
        page.add_exception_handler(HTTPException, on_http_error)

        @page.get("/", response_class=HTMLResponse)
        def projects(request: Request) -> str:
            visitor_of(request)
            return projects_page([self._row(name) for name in self.sessions], self._refusals())

        @page.get("/open/{name}")
        def open_one(name: str, request: Request) -> RedirectResponse:
            visitor_of(request)
            if name not in own:
                raise HTTPException(404, "there is no such project")
            held = own[name].visitor(presented_token(request.headers, cookie_name(self.sessions[name])))
            query = "" if held and held.role == "owner" else f"?token={own[name].issue_owner_link()}"
            return RedirectResponse(f"/p/{name}/{query}", status_code=303)

        return page

    def _refusals(self) -> list[tuple[str, str]]:
        """Names of the projects that are not served, and why not, without the folders of this computer."""
        return [(name, _without_folders(why, name)) for name, why in self.refused.items()]

    def _row(self, name: str) -> dict[str, str]:
        """The row of a project on the start page."""
        session = self.sessions[name]
        with session.lock:
            answers, over = len(session.desk.counting()), session.desk.over
        told = (
            f"{len(session.pool):,} items, {answers:,} answer{'' if answers == 1 else 's'}{', ended' if over else ''}"
        )
        return {"place": name, "name": session.settings.project.name, "about": told}


class Several:
    """ASGI application: /p/NAME/… goes to that project, without the prefix, and everything else to the start page."""

    def __init__(self, page: ASGIApp, projects: Mapping[str, ASGIApp]) -> None:
        self._page, self._projects = page, projects

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _PLACE.match(scope["path"]) if scope["type"] == "http" else None
        if found is None or found[1] not in self._projects:
            await self._page(scope, receive, send)
            return
        path = found[2] or "/"
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": f"/p/{found[1]}"}
        await self._projects[found[1]](inner, receive, send)


def serve_folder(folder: Path, **options: Any) -> None:
    """Serve every project of ``folder`` until it is stopped."""
    paths = projects_in(folder)
    odd = [path.name for path in paths if not re.fullmatch(r"[\w.-]+", path.name)]
    if odd:
        raise StateError(f"the folder {odd[0]!r} cannot be part of an address; rename it with letters, digits, - and _")
    home = Home(folder, paths)
    if not home.sessions:
        home.close()
        raise StateError(f"no project of {folder} can be served; {paths[0].name}: {home.refused[paths[0].name]}")
    for name, why in home.refused.items():
        options["say"](f"Not served: {name}: {why}")
    serve(home, make_app=home.app, **options)


def _without_folders(text: str, name: str) -> str:
    """``text`` with paths in the project ``name`` beginning there."""
    return re.sub(rf"(?<![\w/])(?:[A-Za-z]:)?[^\s'\":]*[/\\]{re.escape(name)}(?=[/\\\s:;,'\"]|$)", name, text)
