"""Starting and stopping the server: the printed address, the browser, the claim on the log, Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import webbrowser
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import uvicorn
from fastapi import APIRouter
from starlette.types import ASGIApp

from tellmore.app.access import LOOPBACK
from tellmore.app.address import address_of, bind, checked_url, link_base
from tellmore.app.api import create_app
from tellmore.app.door import MAX_HEADER_BYTES, open_door
from tellmore.app.limits import RateLimit
from tellmore.app.logs import LogFormat, set_up
from tellmore.app.notices import STATIC
from tellmore.app.session import Session
from tellmore.app.standby import claim_when_free
from tellmore.app.tokens import Tokens
from tellmore.data.project import Project
from tellmore.errors import StateError, StoreError
from tellmore.store.beforehand import NOTHING_KNOWN, Beforehand, beforehand_of
from tellmore.store.repository import ClaimLostError, Repository
from tellmore.store.state import check_log, fitting_log

STOP_WITHIN_S = 2
KEEP_ALIVE_S = 75  # people think longer than the usual five seconds, and a new connection each time would be noticeable
SWITCH_S = 0.0005
LOOK_EVERY_S = 2.0
"""How often to check whether another server has taken over the project, or the command line has made a link."""


def open_session(
    project: Project,
    *,
    beforehand: Beforehand = NOTHING_KNOWN,
    claim: Callable[[Repository], None] = Repository.claim,
) -> Session:
    """The session of a project, not started yet; ``beforehand`` is what is known in addition to its settings. Raises
    StoreError if its log is damaged.

    Two sessions on one log would issue the same questions. If another server has the log, ``claim`` therefore raises
    StateError or waits.
    """
    repository = Repository(project.database_url)
    try:
        claim(repository)
        with fitting_log(project):
            session = Session(repository, project.pool, project.settings, beforehand=beforehand, folder=project.folder)
            check_log(session.desk, project.pool)
        return session
    except BaseException:
        repository.close()
        raise


def serve_project(project: Project, *, embed: str | None = None, standby: bool = False, **options: Any) -> None:
    """Serve ``project`` until it is stopped; ``embed`` names its embedder, for words and for texts that are added. With
    ``standby``, wait until another server of the project ends, instead of giving up."""
    beforehand, claim = beforehand_of(project, embed), Repository.claim
    if standby:
        claim = partial(claim_when_free, **{name: options[name] for name in ("host", "port", "say")})
    session = open_session(project, beforehand=beforehand, claim=claim)
    serve(session, project=project, embed=embed, **options)


def has_display() -> bool:
    """Whether a browser window could open here."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class Served(Protocol):
    """What is served: one project's session, or several together."""

    closing: bool

    @property
    def repository(self) -> Repository:
        """Where the tokens are stored."""
        ...

    def start(self) -> object:
        """Start to learn in the background."""
        ...

    def close(self) -> None:
        """Stop, and release everything."""
        ...

    def look_around(self) -> None:
        """Read what others wrote; raises ClaimLostError if another server has taken over a project."""
        ...


def serve(
    session: Served,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    browser: bool = True,
    say: Callable[[str], None],
    allow_hosts: Collection[str] = (),
    public_url: str = "",
    trusted_proxies: Collection[str] = (),
    log_format: LogFormat = "text",
    limit: RateLimit | None = None,
    project: Project | None = None,
    embed: str | None = None,
    make_routers: Callable[[Tokens], Collection[APIRouter]] = lambda _: (),
    page: str = "/",
    make_app: Callable[..., ASGIApp] = create_app,
) -> None:
    """Serve ``session`` until Ctrl-C or SIGTERM, or until another server has taken over the project.

    ``say`` prints a line for the person at the terminal. ``public_url`` is the beginning of links for people. Only
    ``trusted_proxies`` are trusted to name the client's address.
    """
    public_url = checked_url(public_url)
    listener = bind(host, port)
    port = listener.getsockname()[1]
    tokens = Tokens(session.repository)
    app = make_app(
        session,
        tokens=tokens,
        bind=host,
        allow_hosts=allow_hosts,
        public_url=public_url,
        base_of=link_base(public_url, host, port),
        limit=limit,
        project=project,
        embed=embed,
        routers=make_routers(tokens),
    )
    base = public_url or address_of(host, port)
    session.repository.say_address(base, address_of(host, port))
    link = f"{base}{page}?token={tokens.issue_owner_link()}"
    _announce(say, link, host, session.repository)
    set_up(log_format)
    config = uvicorn.Config(
        app,
        http=open_door(trusted_proxies).protocol,  # type: ignore[arg-type]
        log_config=None,
        log_level="warning",
        access_log=False,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        timeout_graceful_shutdown=STOP_WITHIN_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        server_header=False,
        ws="none",
    )
    server = _Server(config, on_stop=lambda: setattr(session, "closing", True))
    if browser and has_display():
        threading.Timer(0.5, webbrowser.open, [link]).start()
    # Requests take turns with the learner's thread; the default of 5 ms per turn would be noticeable.
    sys.setswitchinterval(SWITCH_S)
    # uvicorn raises the signal again after a clean stop; as an exception, it lets us finish.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    session.start()
    watch = _Watch(session, tokens, server.stop)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        watch.end()
        session.close()
        listener.close()
        say("Stopped; every answer is saved.")
    if watch.lost is not None:
        raise StateError(f"{watch.lost}; this server has stopped")


class _Watch:
    """A thread that regularly checks what others changed: another server the project, or the command line the tokens."""

    def __init__(self, served: Served, tokens: Tokens, on_lost: Callable[[], None]) -> None:
        self._served, self._tokens, self._on_lost = served, tokens, on_lost
        self.lost: ClaimLostError | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="claim", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(LOOK_EVERY_S):
            try:
                self._served.look_around()
                self._tokens.reload()
            except ClaimLostError as lost:
                self.lost = lost
                self._on_lost()
                return
            except StoreError:
                continue  # a database that cannot be reached decides nothing


class _Server(uvicorn.Server):
    """Ends the streams of events as soon as a signal arrives, so that stopping does not wait for them."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def stop(self) -> None:
        """Stop, as after a signal."""
        self._on_stop()
        self.should_exit = True

    def handle_exit(self, sig: int, frame: object) -> None:
        self._on_stop()
        super().handle_exit(sig, frame)  # type: ignore[arg-type]


def _announce(say: Callable[[str], None], link: str, host: str, repository: Repository) -> None:
    if not (STATIC / "index.html").is_file():
        say("The browser client is not built yet; build it with: scripts/build-client.sh")
    say(f"Open {link}")
    if unsafe := repository.unsafe():
        say(f"A power cut could lose answers: the database is set to {', '.join(unsafe)}.")
    if host not in LOOPBACK:
        say("Reachable from other computers; without HTTPS, others on the network can see this traffic.")
    say("Press Ctrl-C to stop.")
