"""Who may do what: tokens, roles, and what every request must look like before a route sees it.

A token is ``tm_<id>_<secret>``; the store keeps the id and the SHA-256 of the 256-bit secret. It arrives once in a printed
or mailed address, is exchanged for an HttpOnly same-site cookie, and is looked up on every request, so that revoking it
works at once. ``Guard`` is plain ASGI around the whole application: host, origin, content type, size, rate, headers.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellmore.app.notices import error_page, switch_page, wants_page
from tellmore.app.wire import Role
from tellmore.store.repository import Repository, TokenRow

MAX_BODY_BYTES = 64 * 1024
LOOPBACK = ("localhost", "127.0.0.1", "::1")
KEPT_OWNER_LINKS = 5
_TOKEN = re.compile(r"^tm_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$")

REVOKED = "your link was revoked; ask the project's owner for a new one"

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Visitor:
    """Whoever holds a valid token."""

    token_id: str
    role: Role
    participant: str
    name: str


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """The valid tokens, held in memory and written through to the store."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lock = threading.Lock()
        self._rows: dict[str, TokenRow] = {}
        self.reload()

    def reload(self) -> None:
        """Read the store again, after somebody else changed it."""
        rows = {row.id: row for row in self._repository.tokens()}
        with self._lock:
            self._rows = rows

    def issue(self, role: Role, participant: str, name: str) -> tuple[str, TokenRow]:
        """A new token (shown once) and what is kept of it."""
        token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        self._repository.add_token(TokenRow(token_id, _digest(secret), role, participant, name))
        self.reload()
        return f"tm_{token_id}_{secret}", self._rows[token_id]

    def issue_owner_link(self) -> str:
        """The token printed on start. The last few stay valid, so that an open browser survives a restart."""
        token, _ = self.issue("owner", "owner", "owner")
        links = [row.id for row in self.rows() if row.participant == "owner" and row.revoked_utc is None]
        self.revoke(links[:-KEPT_OWNER_LINKS])
        return token

    def rows(self) -> list[TokenRow]:
        """All tokens, oldest first."""
        with self._lock:
            return list(self._rows.values())

    def revoke(self, token_ids: Collection[str]) -> int:
        """Make tokens useless at once; returns how many were valid."""
        count = self._repository.revoke(token_ids) if token_ids else 0
        self.reload()
        return count

    def visitor(self, token: str | None) -> Visitor | None:
        """Who holds ``token``; None where it is unknown, malformed or revoked."""
        row = self._row(token)
        if row is None or row.revoked_utc is not None:
            return None
        return Visitor(row.id, row.role, row.participant, row.name)  # type: ignore[arg-type]

    def revoked(self, token: str | None) -> bool:
        """Whether ``token`` was valid once."""
        row = self._row(token)
        return row is not None and row.revoked_utc is not None

    def _row(self, token: str | None) -> TokenRow | None:
        """What is known of ``token``; None where it is unknown or malformed. Secrets are compared in constant time."""
        match = _TOKEN.match(token or "")
        if match is None:
            return None
        with self._lock:
            row = self._rows.get(match[1])
        expected = row.hash if row else _digest("")
        right = hmac.compare_digest(_digest(match[2]), expected)
        return row if right else None


class RateLimit:
    """A token bucket per key: ``rate`` requests a second on average, ``burst`` at once."""

    def __init__(self, rate: float = 30.0, burst: float = 120.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._levels: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait_s(self, key: str) -> float:
        """0 where the request may pass, else the seconds after which one would."""
        now = self._clock()
        with self._lock:
            if len(self._levels) > 10_000:
                self._forget_full(now)
            level, then = self._levels.get(key, (self._burst, now))
            level = min(self._burst, level + (now - then) * self._rate)
            allowed = level >= 1.0
            self._levels[key] = (level - 1.0 if allowed else level, now)
            return 0.0 if allowed else (1.0 - level) / self._rate

    def _forget_full(self, now: float) -> None:
        refill_s = self._burst / self._rate
        self._levels = {key: entry for key, entry in self._levels.items() if now - entry[1] < refill_s}


def allowed_hosts(bind: str, extra: Collection[str] = ()) -> Callable[[str], bool]:
    """Which Host names are answered when bound to ``bind``: a name that points here by trickery (rebinding) is not.

    >>> allowed_hosts("127.0.0.1")("evil.example")
    False
    """
    names = {*LOOPBACK, bind.lower(), *(name.lower() for name in extra)}
    loopback_only = bind in LOOPBACK
    if not loopback_only:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def allowed(host: str) -> bool:
        name = _without_port(host)
        # An address cannot be rebound, only a name can; on loopback nobody has reason to use another address.
        return name in names or (not loopback_only and _is_address(name))

    return allowed


def _without_port(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].split("]", 1)[0]
    return host.rsplit(":", 1)[0] if host.count(":") == 1 else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class _Reply:
    """What is answered without asking the application: an error, a page, or a redirect without either."""

    status: int
    error: str
    headers: tuple[tuple[str, str], ...] = ()
    page: str = ""


class Guard:
    """ASGI wrapper: refuses malformed or foreign requests, finds the visitor, sets the security headers."""

    def __init__(
        self, app: ASGIApp, *, tokens: Tokens, cookie: str, host_allowed: Callable[[str], bool], limit: RateLimit
    ) -> None:
        self._app, self._tokens, self._cookie = app, tokens, cookie
        self._host_allowed, self._limit = host_allowed, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        to_person = wants_page(scope["method"], scope["path"], headers)
        sending = _Sender(send, api=scope["path"].startswith("/api"), to_person=to_person)
        presented = presented_token(headers, self._cookie)
        visitor = self._tokens.visitor(presented)
        refusal = self._refusal(scope, headers, visitor)
        if refusal is not None:
            await sending.reply(refusal)
            return
        offered = QueryParams(scope["query_string"]).get("token")
        if offered is not None and scope["method"] == "GET" and not scope["path"].startswith("/api"):
            await self._exchange(scope, offered, visitor, sending)
            return
        scope.setdefault("state", {}).update(visitor=visitor, revoked=self._tokens.revoked(presented))
        await self._app(scope, _limited(receive), sending)

    def _refusal(self, scope: Scope, headers: Headers, visitor: Visitor | None) -> _Reply | None:
        host = headers.get("host", "")
        if not self._host_allowed(host):
            return _Reply(421, f"this server does not answer as {_without_port(host)!r}; start it with --allow-host")
        client = scope.get("client") or ("unknown", 0)
        wait_s = self._limit.wait_s(visitor.token_id if visitor else f"address {client[0]}")
        if wait_s > 0:
            return _Reply(429, "too many requests; wait a moment", (("retry-after", str(math.ceil(wait_s))),))
        if scope["method"] in ("GET", "HEAD"):
            return None
        return _unsafe_refusal(scope["method"], headers, host)

    async def _exchange(self, scope: Scope, token: str, before: Visitor | None, sending: _Sender) -> None:
        """A token in the address becomes a cookie, and the address is cleaned by a redirect.

        Whoever is somebody else already in this browser is asked first.
        """
        visitor, query = self._tokens.visitor(token), QueryParams(scope["query_string"])
        if visitor is None:
            told = REVOKED if self._tokens.revoked(token) else "this link is not valid; ask for a new one"
            await sending.reply(_Reply(401, told))
            return
        if before and before.participant != visitor.participant and "switch" not in query and sending.to_person:
            address = f"{scope['path']}?{query}&switch=yes"
            await sending.reply(_Reply(200, "", page=switch_page(before.name, visitor.name, address)))
            return
        secure = "; Secure" if scope["scheme"] == "https" else ""
        cookie = f"{self._cookie}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}"
        rest = [(key, value) for key, value in query.multi_items() if key not in ("token", "switch")]
        target = scope["path"] + (f"?{QueryParams(rest)}" if rest else "")
        # Two slashes at the start would lead to another host.
        location = "/" + target.lstrip("/\\")
        await sending.reply(_Reply(303, "", (("location", location), ("set-cookie", cookie))))


def presented_token(headers: Headers, cookie: str) -> str | None:
    """The token of a request: from ``Authorization: Bearer``, else from the cookie."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return bearer.strip()
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(headers.get("cookie", ""))
    except CookieError:
        return None
    return jar[cookie].value if cookie in jar else None


def _unsafe_refusal(method: str, headers: Headers, host: str) -> _Reply | None:
    """Requests that change something come from our own pages, as JSON, and small."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        return _Reply(403, "the request comes from another site")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return _Reply(403, "the request comes from another site")
    declared = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method in ("POST", "PUT", "PATCH") and declared != "application/json":
        return _Reply(415, "send JSON with the header Content-Type: application/json")
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > MAX_BODY_BYTES:
        return _too_large()
    return None


def _too_large() -> _Reply:
    return _Reply(413, f"the body is larger than {MAX_BODY_BYTES} bytes")


def _limited(receive: Receive) -> Receive:
    """``receive`` that gives up where a body without an honest length grows too large."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY_BYTES:
            raise HTTPException(_too_large().status, _too_large().error)
        return message

    return counted


class _Sender:
    """``send`` that adds the security headers to every response, and can reply by itself."""

    def __init__(self, send: Send, *, api: bool, to_person: bool) -> None:
        self._send, self._api, self.to_person = send, api, to_person

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            if self._api:
                headers.setdefault("cache-control", "no-store")
        await self._send(message)

    async def reply(self, reply: _Reply) -> None:
        page = reply.page or (error_page(reply.status, reply.error) if reply.error and self.to_person else "")
        body = page.encode() if page else json.dumps({"error": reply.error}).encode() if reply.error else b""
        media = b"text/html; charset=utf-8" if page else b"application/json"
        kind = [(b"content-type", media), (b"cache-control", b"no-store")] if body else []
        extra = [(name.encode(), value.encode()) for name, value in reply.headers]
        start: dict[str, Any] = {"type": "http.response.start", "status": reply.status, "headers": kind + extra}
        await self(start)
        await self._send({"type": "http.response.body", "body": body})
