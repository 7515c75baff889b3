"""Deletes old data: people who were last seen long ago, with all their answers, and old links."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from tellmore.store.formats.contract import FROM_PYTHON, IMPORTED, LABELLED
from tellmore.store.repository import Event, Repository, iso

NOBODY = (IMPORTED, LABELLED, FROM_PYTHON)
"""Participants who are no people: those of answers for which no person is named. They were never seen, and are kept."""


@dataclass(frozen=True)
class Expired:
    """Participants last seen too long ago, with the time and the names of those who have one, and links that expired before
    then."""

    participants: dict[str, str]
    links: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """A line for each person."""
        return [
            f"{self.names.get(who) or who} ({who}), last seen {when[:10]}"
            for who, when in sorted(self.participants.items(), key=itemgetter(1))
        ]


def expired(repository: Repository, days: int, now: datetime | None = None) -> Expired:
    """What is older than ``days``. Owners stay, and so does everybody who did anything since, and what is by nobody."""
    before = iso((now or datetime.now(UTC)) - timedelta(days=days))
    seen: dict[str, str] = {}
    stay, names = set(NOBODY), {}
    for event in repository.since():
        if event.kind == "delete":
            stay.add(event.payload["participant"])
        elif event.participant:
            seen[event.participant] = event.t_utc
            if event.kind == "participant":
                names[event.participant] = str(event.payload.get("name") or "")
                if event.payload.get("role") == "owner":
                    stay.add(event.participant)
    tokens = repository.tokens()
    stay |= {token.participant for token in tokens if token.role == "owner"} | {"owner"}
    old = {who: when for who, when in seen.items() if when < before and who not in stay}
    ended = ((token.id, token.revoked_utc or token.expires_utc) for token in tokens)
    links = tuple(token_id for token_id, end in ended if end is not None and end < before)
    return Expired(old, links, {who: name for who, name in names.items() if who in old})


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
