"""What every request must satisfy before it reaches a route.

``Guard`` is an ASGI wrapper around the whole application. It checks host, origin, content type, size, rate and headers, and
finds out who makes the request. A token in an address is exchanged for an HttpOnly same-site cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellmore.app.limits import RateLimit
from tellmore.app.notices import error_page, join_page, switch_page, wants_page
from tellmore.app.tokens import USED_UP, Tokens, Visitor

MAX_BODY_BYTES = 64 * 1024
FILES = {"/api/items": 16 * 1024 * 1024}
"""How large the body may be on routes to which owners send files."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
COOKIE_S = 30 * 86_400
"""How long a browser keeps a cookie at most, in seconds; opening the link again renews it."""
PICTURE_COST = 1 / 20
"""As how many requests a picture counts."""
STUDY = "_study"
"""Suffix of a study participant's cookie name, so that an owner who tries a study stays signed in as the owner."""
_OWN_PAGE = re.compile(r"(/[A-Za-z0-9_.~-]+)*/?")

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
OPENER_POLICY = ("cross-origin-opener-policy", "same-origin")
"""Sent over https and on this computer only: elsewhere browsers ignore it and report an error in their console."""


def allowed_hosts(bind: str, extra: Collection[str] = ()) -> Callable[[str], bool]:
    """A check of Host headers for a server bound to ``bind``. Unknown names are refused, to prevent DNS rebinding.

    >>> allowed_hosts("127.0.0.1")("evil.example")
    False
    """
    names = {*LOOPBACK, bind.lower(), *(name.lower() for name in extra)}
    loopback_only = bind in LOOPBACK
    if not loopback_only:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def allowed(host: str) -> bool:
        name = without_port(host)
        # Only names can be rebound, not addresses; on loopback there is no reason to use another address.
        return name in names or (not loopback_only and _is_address(name))

    return allowed


def without_port(host: str) -> str:
    """The name or address in a Host header."""
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
    """A reply made without the application: an error, a page, or a redirect."""

    status: int
    error: str
    headers: tuple[tuple[str, str], ...] = ()
    page: str = ""


def _cost(scope: Scope, visitor: Visitor | None) -> float:
    """As how many requests one counts: a page of answers may show hundreds of pictures, all asked for at once."""
    path = scope["path"]
    picture = scope["method"] == "GET" and path.startswith("/api/items/") and path.endswith("/image")
    return PICTURE_COST if visitor and picture else 1.0


class Guard:
    """ASGI wrapper that refuses malformed or cross-site requests, finds the visitor, and sets the security headers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens,
        cookie: str,
        host_allowed: Callable[[str], bool],
        limit: RateLimit,
        secure: bool = False,
    ) -> None:
        self._app, self._tokens, self._cookie = app, tokens, cookie
        self._host_allowed, self._limit, self._secure = host_allowed, limit, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        to_person = wants_page(scope["method"], headers)
        trusted = self._secure or scope["scheme"] == "https" or without_port(headers.get("host", "")) in LOOPBACK
        sending = _Sender(send, api=scope["path"].startswith("/api"), to_person=to_person, trusted=trusted)
        presented = self._presented(scope["path"], headers)
        visitor = self._tokens.visitor(presented)
        refusal = self._refusal(scope, headers, visitor)
        if refusal is not None:
            await sending.reply(refusal)
            return
        offered = QueryParams(scope["query_string"]).get("token")
        if offered is not None and scope["method"] == "GET" and not scope["path"].startswith("/api"):
            await self._exchange(scope, offered, presented, sending)
            return
        if self._secure:
            scope["scheme"] = "https"
        scope.setdefault("state", {}).update(visitor=visitor, refused=self._tokens.refusal(presented))
        await self._app(scope, _limited(receive, _most_bytes(scope, visitor)), sending)

    def _refusal(self, scope: Scope, headers: Headers, visitor: Visitor | None) -> _Reply | None:
        host = headers.get("host", "")
        if not self._host_allowed(host):
            return _Reply(
                421, f"this server does not accept the address {without_port(host)!r}; start it with --allow-host"
            )
        client = scope.get("client") or ("unknown", 0)
        wait_s = self._limit.wait_s(visitor.token_id if visitor else f"address {client[0]}", _cost(scope, visitor))
        if wait_s > 0:
            return _Reply(429, "too many requests; wait a moment", (("retry-after", str(math.ceil(wait_s))),))
        if scope["method"] in ("GET", "HEAD"):
            return None
        return _unsafe_refusal(scope["method"], headers, host, _most_bytes(scope, visitor))

    def _presented(self, path: str, headers: Headers) -> str | None:
        """The token of a request. If several cookies have one, a valid one is preferred; on study pages, the study's."""
        names = [self._cookie, self._cookie + STUDY]
        if path.startswith(("/study", "/api/study")):
            names.reverse()
        found = [token for name in names if (token := presented_token(headers, name)) is not None]
        return next((token for token in found if self._tokens.visitor(token)), found[0] if found else None)

    async def _exchange(self, scope: Scope, offered: str, presented: str | None, sending: _Sender) -> None:
        """Turn the token in an address into a cookie, and redirect to the address without it.

        Somebody who is signed in is asked on a page of ours before they become somebody else. The confirmation is a hash of
        both tokens, so no link from elsewhere can contain it.
        """
        before, visitor = self._tokens.visitor(presented), self._tokens.visitor(offered)
        query, place = QueryParams(scope["query_string"]), scope.get("root_path", "")
        here = place + scope["path"]
        if visitor is None:
            told = self._tokens.refusal(offered) or "this link is not valid; ask for a new one"
            await sending.reply(_Reply(401, told))
            return
        if before and visitor.token_id == before.invited_by:
            await sending.reply(_Reply(303, "", (("location", _own_address(here, query)),)))
            return
        several = visitor.uses_left is not None
        sure = hashlib.sha256(f"{presented} {offered}".encode()).hexdigest()[:32]
        if (several or (before and before.participant != visitor.participant)) and not hmac.compare_digest(
            query.get("sure", "").encode(), sure.encode()
        ):
            await sending.reply(_asking(before, visitor, f"{here}?{query}&sure={sure}", place, sending.to_person))
            return
        token = await run_in_threadpool(self._tokens.join, visitor) if several else offered
        if token is None:
            await sending.reply(_Reply(401, USED_UP))
            return
        secure = "; Secure" if self._secure or scope["scheme"] == "https" else ""
        cookie = f"{self._cookie}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_S}{secure}"
        location = _own_address(here, query)
        await sending.reply(_Reply(303, "", (("location", location), ("set-cookie", cookie))))


def _own_address(path: str, query: QueryParams) -> str:
    """The target of a redirect: the requested page without the token, or the first page if it is not one of ours."""
    rest = [(key, value) for key, value in query.multi_items() if key not in ("token", "sure")]
    return (path if _OWN_PAGE.fullmatch(path) else "/") + (f"?{QueryParams(rest)}" if rest else "")


def _asking(before: Visitor | None, visitor: Visitor, address: str, place: str, to_person: bool) -> _Reply:
    """Ask whether to continue as somebody else; a program is refused."""
    if not to_person:
        return _Reply(409, f"already signed in as {before.name}" if before else "open this link in a browser")
    page = switch_page(before.name, visitor.name, address, place) if before else join_page(visitor.name, address)
    return _Reply(200, "", page=page)


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


def _most_bytes(scope: Scope, visitor: Visitor | None) -> int:
    """How large the body of this request may be."""
    is_owner = visitor is not None and visitor.role == "owner"
    return FILES.get(scope["path"], MAX_BODY_BYTES) if is_owner else MAX_BODY_BYTES


def _unsafe_refusal(method: str, headers: Headers, host: str, most_bytes: int) -> _Reply | None:
    """Why a request that changes something is refused: it must come from our own pages, be JSON, and not be too large."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        return _Reply(403, "the request comes from another site")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return _Reply(403, "the request comes from another site")
    declared = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method in ("POST", "PUT", "PATCH") and declared != "application/json":
        return _Reply(415, "send JSON with the header Content-Type: application/json")
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > most_bytes:
        return _too_large(most_bytes)
    return None


def _too_large(most_bytes: int) -> _Reply:
    return _Reply(413, f"the body is larger than {most_bytes} bytes")


def _limited(receive: Receive, most_bytes: int) -> Receive:
    """``receive``, but it fails if a body without a correct length becomes too large."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most_bytes:
            refusal = _too_large(most_bytes)
            raise HTTPException(refusal.status, refusal.error)
        return message

    return counted


class _Sender:
    """``send``, but it adds the security headers to every response; it can also reply without the application.
    ``trusted``: whether browsers trust the connection."""

    def __init__(self, send: Send, *, api: bool, to_person: bool, trusted: bool) -> None:
        self._send, self._api, self.to_person, self._trusted = send, api, to_person, trusted

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            if self._trusted:
                headers[OPENER_POLICY[0]] = OPENER_POLICY[1]
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
