"""Connections: how many, from where, for how long; headers; who is trusted to say where a request comes from."""

from __future__ import annotations

import logging
import resource
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress

import pytest
import uvicorn

from tellmore.app import door as module
from tellmore.app.door import MAX_HEADER_BYTES, Door, open_door
from tellmore.app.logs import Seldom

PATIENCE_S = 60
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Serve = Callable[..., int]


async def echo(scope: dict, receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
    """Returns where the request comes from, once its body is complete."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["client"][0].encode()})


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server behind a door; returns its port."""
    with ExitStack() as stack:

        def start(door: Door, proxies: Collection[str] = ()) -> int:
            listener = socket.create_server(("127.0.0.1", 0))
            config = uvicorn.Config(
                echo,
                http=door.protocol,  # type: ignore[arg-type]
                log_config=None,
                lifespan="off",
                timeout_keep_alive=60,
                h11_max_incomplete_event_size=MAX_HEADER_BYTES,
                proxy_headers=bool(proxies),
                forwarded_allow_ips=list(proxies),
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
            thread.start()
            stack.callback(thread.join, 10)
            stack.callback(setattr, server, "should_exit", True)
            return int(listener.getsockname()[1])

        yield start


def dial(port: int, stack: ExitStack, source: str = "127.0.0.1") -> socket.socket:
    return stack.enter_context(
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S, source_address=(source, 0))
    )


def says(line: socket.socket, sent: bytes = REQUEST) -> bytes:
    """The reply; empty if the connection is closed."""
    received = b""
    with suppress(ConnectionError):
        line.sendall(sent)
        while not received.endswith(b"0\r\n\r\n") and (part := line.recv(65536)):
            received += part
    return received


def test_idle_connections_keep_nobody_out(serve: Serve) -> None:
    port = serve(Door(most=8))
    with ExitStack() as stack:
        idle = [dial(port, stack) for _ in range(30)]
        assert b"200 OK" in says(dial(port, stack))
        gone = [line for line in idle if _closed(line)]
        assert len(gone) >= 30 - 8
        assert gone == idle[: len(gone)], "those that waited longest made room"


def _closed(line: socket.socket) -> bool:
    line.settimeout(0.05)
    try:
        return line.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_one_address_has_its_share_and_a_proxy_has_them_all(serve: Serve) -> None:
    for proxies, closed in (((), 3), (("127.0.0.1",), 0)):
        port = serve(Door(most=50, per_address=5, proxies=proxies))
        with ExitStack() as stack:
            lines = [dial(port, stack) for _ in range(8)]
            assert all(says(line) for line in lines[-5:])
            assert sum(_closed(line) for line in lines) == closed


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="dials from other loopback addresses")
def test_a_thousand_and_more_are_let_in_at_once_and_five_hundred_of_one_address(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REQUEST_S", 10 * PATIENCE_S)
    most = module.MOST_CONNECTIONS + module.SPARE_FILES
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 2 * most:
        pytest.skip("this system lets no process have so many files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))  # what many systems start with
    try:
        door = open_door()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= most
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * most, before[1]))  # both ends are in this process
        port = serve(door)
        with ExitStack() as stack:
            lines = {
                address: [dial(port, stack, address) for _ in range(many)]
                for address, many in (("127.0.0.1", 500), ("127.0.0.2", 500), ("127.0.0.3", 100))
            }
            for address, own in lines.items():
                assert all(says(line).count(address.encode()) == 1 for line in own)
            assert says(dial(port, stack, "127.0.0.1"))  # one more of an address with its share: an idle one makes room
            assert says(lines["127.0.0.1"][0]) == b""
            assert says(lines["127.0.0.2"][0])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
        REQUEST + b"GET / HTTP/1.1\r\nHos",
    ],
    ids=["nothing", "header", "body", "second"],
)
def test_a_request_that_does_not_come_is_not_waited_for(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, half: bytes
) -> None:
    monkeypatch.setattr(module, "REQUEST_S", 0.3)
    port = serve(Door())
    with ExitStack() as stack:
        line = dial(port, stack)
        line.sendall(half)
        received = b""
        with suppress(ConnectionError):
            while part := line.recv(65536):
                received += part
        assert (b"200 OK" in received) == half.startswith(REQUEST)


def test_a_header_that_never_ends_is_refused(serve: Serve) -> None:
    port = serve(Door())
    with ExitStack() as stack:
        line = dial(port, stack)
        with suppress(ConnectionError):
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * (MAX_HEADER_BYTES * 4))
        received = b""
        with suppress(ConnectionError):
            while part := line.recv(65536):
                received += part
        assert b"200 OK" not in received


def test_only_a_named_proxy_is_believed_about_who_asks(serve: Serve) -> None:
    forwarded = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n"
    with ExitStack() as stack:
        assert says(dial(serve(open_door()), stack), forwarded).count(b"127.0.0.1") == 1
        proxies = ("127.0.0.1",)
        assert says(dial(serve(open_door(proxies), proxies), stack), forwarded).count(b"203.0.113.9") == 1


def test_the_same_line_is_logged_once_a_minute() -> None:
    now = [0.0]
    seldom = Seldom(clock=lambda: now[0])

    def passes(text: str) -> str | None:
        record = logging.makeLogRecord({"msg": text, "levelno": logging.WARNING})
        return record.getMessage() if seldom.filter(record) else None

    assert [passes("out of files"), passes("out of files"), passes("other")] == ["out of files", None, "other"]
    now[0] = 61.0
    assert passes("out of files") == "out of files (and 1 times before)"
