"""A client of a running server: its address, a token or a cookie, and one connection that can wait while the server is down."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tellmore.errors import InputError, StateError

RETRY_S = 0.2
GIVE_UP_S = 60.0


@dataclass(frozen=True)
class Link:
    """The parts of a server's address, with the token of the person who uses it. Participants of a study have no token."""

    host: str
    port: int
    token: str = ""
    secure: bool = False

    @classmethod
    def parse(cls, url: str) -> Link:
        """The parts of an address that was printed or sent by mail.

        >>> Link.parse("http://127.0.0.1:8000/?token=tm_x").port
        8000
        """
        wrong = InputError(f"{url!r} is not a printed address; it looks like http://127.0.0.1:8000/?token=…")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:  # a port that is no number up to 65535, or half a bracket
            raise wrong from None
        token = parse_qs(parts.query).get("token", [""])[0]
        if parts.scheme not in ("http", "https") or not parts.hostname or not token:
            raise wrong
        secure = parts.scheme == "https"
        return cls(parts.hostname, port or (443 if secure else 80), token, secure)


class Client:
    """One person's connection, with the cookie that the server last set. ``call`` returns (status, JSON)."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._cookie = ""
        self._connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request; connection errors are raised as OSError or HTTPException."""
        status, text = self.read(method, path, body)
        return status, json.loads(text) if text else None

    def request(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The JSON object of the reply; StateError if the server refuses."""
        reply: dict[str, Any]
        status, reply = self.call(method, path, body)
        if status >= 400:
            raise StateError(f"{method} {path} was refused with {status}: {error_of(reply)}")
        return reply

    def read(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Send one request and return the status and the body as bytes."""
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._link.secure else http.client.HTTPConnection
            self._connection = kind(self._link.host, self._link.port, timeout=30)
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), self._headers())
            response = self._connection.getresponse()
            if cookie := response.getheader("set-cookie"):
                self._cookie = cookie.split(";", 1)[0]
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json"}
        if self._link.token:
            headers["authorization"] = f"Bearer {self._link.token}"
        if self._cookie:
            headers["cookie"] = self._cookie
        return headers

    def patiently(self, method: str, path: str, body: Any = None, give_up_s: float = GIVE_UP_S) -> tuple[int, Any]:
        """Like ``call``, repeated with the same body while the server is down or asks to wait."""
        deadline = time.monotonic() + give_up_s
        wait_s = 0.0  # at first: a connection that was idle for long may just have been closed
        while True:
            try:
                status, reply = self.call(method, path, body)
                if status not in (429, 503):
                    return status, reply
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass
            if time.monotonic() > deadline:
                raise StateError(f"the server has not answered for {give_up_s:g} s; is it running?")
            time.sleep(wait_s)
            wait_s = RETRY_S

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def error_of(reply: Any) -> str:
    """The error message in a server's reply."""
    return str(reply.get("error", reply)) if isinstance(reply, dict) else str(reply)
