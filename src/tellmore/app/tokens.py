"""Who holds which token.

A token is ``tm_<id>_<secret>``; the store has the id and the SHA-256 of the 256-bit secret. Tokens are looked up at every
request, so revoking one works at once, and most expire. An invitation may be for several people: each who opens it
becomes a separate participant.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tellmore.app.wire import Role
from tellmore.store.events import participant_event
from tellmore.store.repository import Repository, TokenRow, iso, utc_now

KEPT_OWNER_LINKS = 5
OWNER_DAYS = 30
PARTICIPANT_DAYS = 30
_TOKEN = re.compile(r"^tm_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$")

REVOKED = "your link was revoked; ask the project's owner for a new one"
EXPIRED = "your link has expired; ask the project's owner for a new one"
USED_UP = "this link has been used by as many people as it allows; ask the project's owner for another"


@dataclass(frozen=True)
class Visitor:
    """The holder of a valid token; ``invited_by`` is the id of the shared invitation that they used, if any."""

    token_id: str
    role: Role
    participant: str
    name: str
    expires_utc: str | None = None
    uses_left: int | None = None
    invited_by: str | None = None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def days_from_now(days: float | None) -> str | None:
    """The time ``days`` from now, when something expires."""
    return None if days is None else iso(datetime.now(UTC) + timedelta(days=days))


class Tokens:
    """The tokens, held in memory and written through to the store."""

    def __init__(self, repository: Repository, now: Callable[[], str] = utc_now) -> None:
        self._repository, self._now = repository, now
        self._lock = threading.Lock()
        self._rows: dict[str, TokenRow] = {}
        self.reload()

    def reload(self) -> None:
        """Read the store again, after somebody else has changed it."""
        # Only one thread at a time may read or change them: rows read before a change must not replace those read after it.
        with self._lock:
            self._rows = {row.id: row for row in self._repository.tokens()}

    def issue(
        self,
        role: Role,
        participant: str,
        name: str,
        *,
        expires_utc: str | None = None,
        people: int | None = None,
        invited_by: str | None = None,
    ) -> tuple[str, TokenRow]:
        """A new token (shown once) and its stored row; ``people`` is the number of people if it is for several."""
        token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        kept = TokenRow(
            token_id,
            _digest(secret),
            role,
            participant,
            name,
            expires_utc=expires_utc,
            uses_left=people,
            invited_by=invited_by,
        )
        self._repository.add_token(kept)
        self.reload()
        return f"tm_{token_id}_{secret}", self._rows[token_id]

    def issue_owner_link(self) -> str:
        """The token printed at the start. The last few stay valid, so that an open browser still works after a restart."""
        token, new = self.issue("owner", "owner", "owner", expires_utc=days_from_now(OWNER_DAYS))
        links = [row.id for row in self.rows() if row.participant == "owner" and row.revoked_utc is None]
        links.remove(new.id)  # it is the newest, even if the clock was set back
        self.revoke(links[: 1 - KEPT_OWNER_LINKS])
        return token

    def join(self, invitation: Visitor) -> str | None:
        """A token for a new person with a shared invitation; None if it is used up."""
        left = self._repository.use_token(invitation.token_id)
        if left is None:
            return None
        came = sum(row.invited_by == invitation.token_id for row in self.rows())
        participant, name = f"p-{secrets.token_hex(4)}", f"{invitation.name} {came + 1}"
        token, _ = self.issue(
            invitation.role, participant, name, expires_utc=invitation.expires_utc, invited_by=invitation.token_id
        )
        self._repository.append([participant_event(participant, name, invitation.role)])
        return token

    def rows(self) -> list[TokenRow]:
        """All tokens, oldest first."""
        return list(self._rows.values())

    def revoke(self, token_ids: Collection[str]) -> int:
        """Revoke tokens at once; returns how many were valid."""
        count = self._repository.revoke(token_ids) if token_ids else 0
        self.reload()
        return count

    def visitor(self, token: str | None) -> Visitor | None:
        """Who holds ``token``; None if it is unknown, malformed, revoked or expired."""
        row = self._row(token)
        if row is None or self._why_not(row) is not None:
            return None
        return Visitor(row.id, row.role, row.participant, row.name, row.expires_utc, row.uses_left, row.invited_by)  # type: ignore[arg-type]

    def refusal(self, token: str | None) -> str | None:
        """Why ``token``, which was valid once, no longer is."""
        row = self._row(token)
        return None if row is None else self._why_not(row)

    def _why_not(self, row: TokenRow) -> str | None:
        if row.revoked_utc is not None:
            return REVOKED
        return EXPIRED if row.expires_utc is not None and row.expires_utc <= self._now() else None

    def _row(self, token: str | None) -> TokenRow | None:
        """The stored row of ``token``; None if it is unknown or malformed. Secrets are compared in constant time."""
        match = _TOKEN.match(token or "")
        if match is None:
            return None
        row = self._rows.get(match[1])
        expected = row.hash if row else _digest("")
        right = hmac.compare_digest(_digest(match[2]), expected)
        return row if right else None
