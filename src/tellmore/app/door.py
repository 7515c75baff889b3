"""Limits on connections: how many at once, how many from one address, and how long without a complete request. If all
are taken, the connection that has been idle longest is closed, so many idle ones cannot keep others out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 2000
MOST_PER_ADDRESS = 500
REQUEST_S = 20.0
"""A request must be complete, header and body, this many seconds after its first byte or after the connection was made."""
MAX_HEADER_BYTES = 16 * 1024
SPARE_FILES = 100
"""Files that the server needs in addition to its connections."""


class Door:
    """Counts the connections of one server. ``proxies`` serve many people, so there is no limit per address for them."""

    def __init__(
        self, most: int = MOST_CONNECTIONS, per_address: int = MOST_PER_ADDRESS, proxies: Collection[str] = ()
    ) -> None:
        self._most, self._per_address, self._proxies = most, per_address, frozenset(proxies)
        self._inside: dict[Connection, str] = {}  # the one idle longest first
        self._by_address: Counter[str] = Counter()

    def protocol(self, **options: Any) -> Connection:
        """Make the protocol for a new connection; called by uvicorn."""
        return Connection(self, **options)

    def admit(self, connection: Connection) -> bool:
        """Accept the connection, closing an idle one if necessary; False if there is no room."""
        address = connection.client[0] if connection.client else ""
        crowded = self._by_address[address] >= self._per_address and address not in self._proxies
        if (crowded and not self._make_room(address)) or (len(self._inside) >= self._most and not self._make_room()):
            return False
        self._inside[connection] = address
        self._by_address[address] += 1
        return True

    def heard_from(self, connection: Connection) -> None:
        """Move the connection to the end of the order of idleness."""
        if connection in self._inside:
            self._inside[connection] = self._inside.pop(connection)

    def left(self, connection: Connection) -> None:
        """It is closed."""
        address = self._inside.pop(connection, None)
        if address is not None:
            self._by_address -= Counter({address: 1})

    def _make_room(self, address: str | None = None) -> bool:
        for connection, of in self._inside.items():
            if connection.idle and address in (None, of):
                self.left(connection)
                connection.transport.abort()
                return True
        return False


class Connection(H11Protocol):
    """One connection, closed if its request does not arrive completely in time."""

    def __init__(self, door: Door, **options: Any) -> None:
        super().__init__(**options)
        self._door = door
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether no request is being processed."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close at once if there is no room."""
        super().connection_made(transport)
        if self._door.admit(self):
            self._expect_request()
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Limit the time until the request is complete."""
        self._door.heard_from(self)
        self._expect_request()
        super().data_received(data)
        if not self.idle and not self.cycle.more_body:
            self._expect_nothing()

    def on_response_complete(self) -> None:
        """Limit the time of the next request, if its beginning has already arrived."""
        super().on_response_complete()
        if self.idle and self.conn.trailing_data[0]:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection."""
        self._expect_nothing()
        self._door.left(self)
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_S, self._give_up)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


def open_door(proxies: Collection[str] = ()) -> Door:
    """A door for as many connections as the system allows this process, within the limit."""
    return Door(most_connections(), proxies=proxies)


def most_connections() -> int:
    """How many connections this process may have, after asking the system for as many as are needed."""
    return min(MOST_CONNECTIONS, _most_files() - SPARE_FILES)


def _most_files() -> int:
    """How many files this process may have open, after asking for as many as are needed."""
    wanted = MOST_CONNECTIONS + SPARE_FILES
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit; a container may refuse
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return int(soft)
    return wanted
