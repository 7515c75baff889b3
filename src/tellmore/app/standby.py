"""A server that waits for another one to end: it answers every request with 503, and takes the project over when it is
free. Proxies that try the next server on 503 find the active one. See docs/deploy.md.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tellmore.app.address import bind
from tellmore.errors import StateError, StoreError
from tellmore.store.repository import Repository

log = logging.getLogger(__name__)
METHODS = "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
TRY_EVERY_S = 0.2
REQUEST_S = 5.0
"""How long somebody may take to ask."""


def claim_when_free(repository: Repository, host: str, port: int, say: Callable[[str], None]) -> None:
    """Claim the project's log for this server; if another has it, wait at ``host`` and ``port`` until that one has ended."""
    if _claimed(repository):
        return
    say("Standing by: another server has the project, and this one takes over when that ends.")
    with _standing_by(host, port):
        while not _claimed(repository):
            time.sleep(TRY_EVERY_S)


def _claimed(repository: Repository) -> bool:
    try:
        repository.claim()
    except StateError:
        return False
    except StoreError as problem:  # a database that is away decides nothing
        log.warning("standing by: %s", problem)
        return False
    return True


@contextmanager
def _standing_by(host: str, port: int) -> Iterator[None]:
    listener = bind(host, port)
    server = ThreadingHTTPServer(("", 0), _Elsewhere, bind_and_activate=False)
    server.socket.close()
    server.socket, server.daemon_threads = listener, True
    listener.listen()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Elsewhere(BaseHTTPRequestHandler):
    """Every request is answered with 503: nothing was changed, and it is safe to send it to the other server."""

    timeout = REQUEST_S
    server_version, sys_version = "tellmore", ""

    def answer(self) -> None:
        """Where the answers are."""
        told = {"error": "another server answers for this project now; try again in a moment", "status": "standing by"}
        body = json.dumps(told).encode()
        self.send_response(503)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "1")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """A proxy asks every second: that is not worth a line."""


for method in METHODS:
    setattr(_Elsewhere, f"do_{method}", _Elsewhere.answer)
