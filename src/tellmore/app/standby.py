"""A server that waits for another one to end, and then takes over the project.

Meanwhile it passes every connection on, byte by byte, to the server that has the project, so people may use either. If that
server cannot be reached but is not yet known to have ended, the response is 503. See docs/deploy.md.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tellmore.app.address import address_of, bind
from tellmore.app.door import MAX_HEADER_BYTES, most_connections
from tellmore.errors import StateError, StoreError
from tellmore.store.repository import LISTENS, Repository

log = logging.getLogger(__name__)
TRY_EVERY_S = 0.2
REACH_S = 2.0
"""How long the other server may take to accept a connection."""
REQUEST_S = 5.0
"""How long a request may take to arrive if there is no server to pass it on to."""
PIECE_BYTES = 64 * 1024
STARTED_S = 30.0

TOLD = json.dumps(
    {"error": "another server answers for this project now; try again in a moment", "status": "standing by"}
).encode()
AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(TOLD), TOLD)
)


def claim_when_free(repository: Repository, host: str, port: int, say: Callable[[str], None]) -> None:
    """Claim the project's log for this server. While another has it, listen at ``host`` and ``port`` and pass connections on."""
    if _claimed(repository):
        return
    say("Standing by: another server has the project, and this one takes over when that ends.")
    with _relaying(host, port) as relay:
        while not _claimed(repository):
            with suppress(StoreError):
                relay.pass_on_to(repository.get(LISTENS))
            time.sleep(TRY_EVERY_S)


def _claimed(repository: Repository) -> bool:
    try:
        repository.claim()
    except StateError:
        return False
    except StoreError as problem:  # a database that cannot be reached decides nothing
        log.warning("standing by: %s", problem)
        return False
    return True


@contextmanager
def _relaying(host: str, port: int) -> Iterator[Relay]:
    """Pass connections on, in a separate thread."""
    listener = bind(host, port)
    relay = Relay(address_of(host, listener.getsockname()[1]))
    thread = threading.Thread(target=asyncio.run, args=(relay.run(listener),), name="relay", daemon=True)
    thread.start()
    relay.started.wait(STARTED_S)
    try:
        yield relay
    finally:
        relay.stop()
        thread.join()


class Relay:
    """Passes connections on to another server; ``own`` is the address of this one, to which it must not pass them."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._other: tuple[str, int] | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._most = most_connections() // 2  # each has two ends
        self.started = threading.Event()

    def pass_on_to(self, address: str | None) -> None:
        """Set where connections go from now on: nowhere if there is no address, or it is this server's own."""
        parts = urlsplit(address or "")
        known = parts.hostname is not None and parts.port is not None and address != self._own
        self._other = (parts.hostname or "", parts.port or 0) if known else None

    async def run(self, listener: socket.socket) -> None:
        """Pass connections on until ``stop``; then close them all."""
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._come_in, sock=listener, limit=PIECE_BYTES)
        self.started.set()
        await self._stopping.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def stop(self) -> None:
        """Stop; called from another thread."""
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def _come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._most:
            writer.transport.abort()
            return
        self._open.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await self._serve(reader, writer)
                await _closed(writer)
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._other is None:
                raise OSError("no server is known to have the project")
            there = await asyncio.wait_for(asyncio.open_connection(*self._other, limit=PIECE_BYTES), REACH_S)
        except (OSError, TimeoutError):
            await _say_away(reader, writer)
            return
        try:
            ways = {asyncio.ensure_future(_pump(*way)) for way in ((reader, there[1]), (there[0], writer))}
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
            await _closed(there[1])
        finally:
            there[1].transport.abort()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Copy everything from ``source`` to ``target``, until one of them ends."""
    with suppress(OSError):
        while piece := await source.read(PIECE_BYTES):
            target.write(piece)
            await target.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close once everything is sent, or if the other side does not take it."""
    writer.close()
    with suppress(OSError, TimeoutError):
        await asyncio.wait_for(writer.wait_closed(), REQUEST_S)


async def _say_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reply that no server is available: nothing was changed, and the request can be repeated in a moment."""
    with suppress(TimeoutError, asyncio.LimitOverrunError, asyncio.IncompleteReadError):
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_S)
        if len(head) <= MAX_HEADER_BYTES:
            writer.write(AWAY)
            await asyncio.wait_for(writer.drain(), REQUEST_S)
            writer.write_eof()
            await asyncio.wait_for(reader.read(), REQUEST_S)  # closing with unread data would discard the reply
