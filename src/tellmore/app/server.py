"""Starting and stopping the server: the port, the printed address, the browser, Ctrl-C."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import APIRouter

from tellmore.app.access import LOOPBACK, RateLimit, Tokens
from tellmore.app.api import create_app
from tellmore.app.notices import STATIC
from tellmore.app.session import Session
from tellmore.data.project import Project
from tellmore.data.settings import Settings
from tellmore.errors import StateError
from tellmore.pool import Pool
from tellmore.store.beforehand import NOTHING_KNOWN, Beforehand, beforehand_of
from tellmore.store.repository import Repository

STOP_WITHIN_S = 2
KEEP_ALIVE_S = 75  # people think longer than the usual five seconds; a new connection each time would be felt
SWITCH_S = 0.0005
TAKEN = (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE))


def open_session(
    database_url: str, pool: Pool, settings: Settings, *, beforehand: Beforehand = NOTHING_KNOWN
) -> Session:
    """The session of a project, not started yet; ``beforehand``: what it knows beside its settings.

    Two sessions on one log would hand out the same questions: StateError where another server has it.
    """
    repository = Repository(database_url)
    try:
        repository.claim()
        return Session(repository, pool, settings, beforehand=beforehand)
    except BaseException:
        repository.close()
        raise


def serve_project(project: Project, *, embed: str | None = None, **options: Any) -> None:
    """Serve ``project`` until it is stopped; ``embed`` names its embedder, for words to start from."""
    beforehand = beforehand_of(project, embed)
    session = open_session(project.database_url, project.pool, project.settings, beforehand=beforehand)
    serve(session, project=project, **options)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; one line with the way out where the port is taken or not allowed."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except socket.gaierror:
        raise StateError(f"{host} is not an address of this computer; use --host 127.0.0.1 or --host 0.0.0.0") from None
    # asyncio sends small replies at once (TCP_NODELAY) only on sockets whose protocol is named; others wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except PermissionError:
        listener.close()
        raise StateError(f"port {port} needs special rights; choose one above 1023 with --port {port + 8000}") from None
    except OSError as problem:
        listener.close()
        if problem.errno in TAKEN:
            raise StateError(
                f"port {port} is taken, perhaps by another tellmore; choose another with --port {port + 1}"
            ) from None
        raise StateError(f"cannot listen on {host}: {problem.strerror}; use --host 127.0.0.1") from None
    return listener


def address_of(host: str, port: int) -> str:
    """The address to type.

    >>> address_of("0.0.0.0", 8000)
    'http://127.0.0.1:8000'
    """
    shown = (
        "127.0.0.1" if host in ("0.0.0.0", "") else "[::1]" if host == "::" else f"[{host}]" if ":" in host else host
    )
    return f"http://{shown}:{port}"


def has_display() -> bool:
    """Whether a browser window could open here."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    browser: bool = True,
    say: Callable[[str], None],
    allow_hosts: Collection[str] = (),
    limit: RateLimit | None = None,
    project: Project | None = None,
    make_routers: Callable[[Tokens], Collection[APIRouter]] = lambda _: (),
    page: str = "/",
) -> None:
    """Serve ``session`` until Ctrl-C or SIGTERM; ``say`` prints a line for the person at the terminal."""
    listener = bind(host, port)
    tokens = Tokens(session.repository)
    app = create_app(
        session,
        tokens=tokens,
        bind=host,
        allow_hosts=allow_hosts,
        limit=limit,
        project=project,
        routers=make_routers(tokens),
    )
    base = address_of(host, listener.getsockname()[1])
    session.repository.say_address(base)
    link = f"{base}{page}?token={tokens.issue_owner_link()}"
    _announce(say, link, host)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=STOP_WITHIN_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        server_header=False,
        ws="none",
    )
    server = _Server(config, on_stop=lambda: setattr(session, "closing", True))
    if browser and has_display():
        threading.Timer(0.5, webbrowser.open, [link]).start()
    # Requests take turns with the learner's thread; the default of 5 ms a turn would be felt.
    sys.setswitchinterval(SWITCH_S)
    # uvicorn raises the signal again after a clean stop; as an exception it lets us finish.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    session.start()
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        session.close()
        listener.close()
        say("Stopped; every answer is saved.")


class _Server(uvicorn.Server):
    """Tells the streams of events to end as soon as a signal arrives, so that stopping does not wait for them."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: object) -> None:
        self._on_stop()
        super().handle_exit(sig, frame)  # type: ignore[arg-type]


def _announce(say: Callable[[str], None], link: str, host: str) -> None:
    if not (STATIC / "index.html").is_file():
        say("The browser client is not built yet; build it with: scripts/build-client.sh")
    say(f"Open {link}")
    if host not in LOOPBACK:
        say("Reachable from other computers; without HTTPS, others on the network can see this traffic.")
    say("Press Ctrl-C to stop.")
