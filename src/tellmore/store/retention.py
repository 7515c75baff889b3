"""Deletes old data: people who were last seen long ago, with all their answers, and old links."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tellmore.store.repository import Event, Repository, iso


@dataclass(frozen=True)
class Expired:
    """Participants last seen too long ago, with the time, and links that expired before then."""

    participants: dict[str, str]
    links: tuple[str, ...]


def expired(repository: Repository, days: int, now: datetime | None = None) -> Expired:
    """What is older than ``days``. Owners stay, and so does everybody who did anything since."""
    before = iso((now or datetime.now(UTC)) - timedelta(days=days))
    seen: dict[str, str] = {}
    stay: set[str] = set()
    for event in repository.since():
        if event.kind == "delete":
            stay.add(event.payload["participant"])
        elif event.participant:
            seen[event.participant] = event.t_utc
            if event.kind == "participant" and event.payload.get("role") == "owner":
                stay.add(event.participant)
    tokens = repository.tokens()
    stay |= {token.participant for token in tokens if token.role == "owner"} | {"owner"}
    old = {who: when for who, when in seen.items() if when < before and who not in stay}
    ended = ((token.id, token.revoked_utc or token.expires_utc) for token in tokens)
    return Expired(old, tuple(token_id for token_id, end in ended if end is not None and end < before))


def expire(repository: Repository, found: Expired, days: int) -> None:
    """Delete it. The log records that this was done, for which ids, and why, but none of their data."""
    for participant, when in found.participants.items():
        why = {"participant": participant, "reason": f"last seen {when}, and kept for {days} days"}
        repository.erase(participant, Event("delete", None, None, why))
    repository.drop_tokens(found.links)


def told(found: Expired) -> str:
    """What was or would be deleted, in words."""
    people, links = len(found.participants), len(found.links)
    return f"{people} {'person' if people == 1 else 'people'}, {links} old {'link' if links == 1 else 'links'}"
