"""Where the server listens, and the address at which people reach it."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.requests import Request

from tellmore.app.access import LOOPBACK, without_port
from tellmore.errors import SettingError, StateError

EVERYWHERE = ("0.0.0.0", "::", "")
TAKEN = (errno.EADDRINUSE, getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE))


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. If the port is taken or not allowed, the error says in one line what to do."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except socket.gaierror:
        raise StateError(f"{host} is not an address of this computer; use --host 127.0.0.1 or --host 0.0.0.0") from None
    # asyncio sends small replies at once (TCP_NODELAY) only if the socket names its protocol; otherwise they wait 40 ms.
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
    """The address to type into a browser, here or, if they may connect, on other computers.

    >>> address_of("127.0.0.1", 8000)
    'http://127.0.0.1:8000'
    """
    shown = outward_address(host) if host in EVERYWHERE else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"


def outward_address(host: str) -> str:
    """This computer's address as others on the network see it; the loopback address without a network."""
    six = host == "::"
    with suppress(OSError), socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("2001:db8::1" if six else "192.0.2.1", 9))  # sends nothing; only chooses the network interface
        return str(probe.getsockname()[0])
    return "::1" if six else "127.0.0.1"


def checked_url(url: str) -> str:
    """``url`` as the beginning of links: scheme, host and port.

    >>> checked_url("https://teach.example.org/")
    'https://teach.example.org'
    """
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query):
        raise SettingError(f"the public address {url!r} must look like https://teach.example.org, without a path")
    return url.rstrip("/")


def link_base(public_url: str, host: str, port: int) -> Callable[[Request], str]:
    """A function from the request of somebody who makes a link to the beginning of that link.

    Without a public address, links name the host of the request. If the request came over the loopback address to a
    server that is open to others, they name the address that others can reach.
    """

    def base(request: Request) -> str:
        asked = request.headers["host"]
        if public_url:
            return public_url
        if host not in LOOPBACK and without_port(asked) in LOOPBACK:
            return address_of(host, port)
        return f"{request.url.scheme}://{asked}"

    return base
