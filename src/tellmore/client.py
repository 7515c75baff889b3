"""A client of a running server: an address with its token, one connection, and patience while the server is away."""

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
    """Where a server is and who is asking: the parts of an address with a token."""

    host: str
    port: int
    token: str
    secure: bool = False

    @classmethod
    def parse(cls, url: str) -> Link:
        """Read the printed or mailed address.

        >>> Link.parse("http://127.0.0.1:8000/?token=tm_x").port
        8000
        """
        parts = urlsplit(url)
        token = parse_qs(parts.query).get("token", [""])[0]
        if parts.scheme not in ("http", "https") or not parts.hostname or not token:
            raise InputError(f"{url!r} is not a printed address; it looks like http://127.0.0.1:8000/?token=…")
        secure = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if secure else 80), token, secure)


class Client:
    """One person's connection. ``call`` returns (status, JSON)."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One request; connection errors come out as OSError or HTTPException."""
        text = self.read(method, path, body)
        return text[0], json.loads(text[1]) if text[1] else None

    def read(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """One request, its body as bytes."""
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._link.secure else http.client.HTTPConnection
            self._connection = kind(self._link.host, self._link.port, timeout=30)
        headers = {"authorization": f"Bearer {self._link.token}", "content-type": "application/json"}
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def patiently(self, method: str, path: str, body: Any = None, give_up_s: float = GIVE_UP_S) -> tuple[int, Any]:
        """Like ``call``, again and again with the same body while the server is away or asks to wait."""
        deadline = time.monotonic() + give_up_s
        wait_s = 0.0  # a connection that was idle for long may just have been closed
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
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
