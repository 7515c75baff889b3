"""Invitations from the command line, even while a server runs."""

from __future__ import annotations

from contextlib import closing
from secrets import token_hex

from tellmore.app.tokens import Tokens, days_from_now
from tellmore.app.wire import Role
from tellmore.errors import SettingError, StateError
from tellmore.store.events import audit_event, participant_event
from tellmore.store.repository import ADDRESS, Repository


def invitation_link(
    database_url: str, name: str, role: Role, *, days: int, people: int = 1, public_url: str = ""
) -> str:
    """A new link for one person or for several; it is shown only once."""
    if people > 1 and role != "annotator":
        raise SettingError("--people: a link for several people can only be for annotators")
    with closing(Repository(database_url)) as repository:
        base = public_url.rstrip("/") or repository.get(ADDRESS)
        if base is None:
            raise StateError("the project has never been served; serve it first, or give its address with --public-url")
        participant = f"p-{token_hex(4)}"
        several = people if people > 1 else None
        token, row = Tokens(repository).issue(role, participant, name, expires_utc=days_from_now(days), people=several)
        noted = [audit_event("owner", f"invited {name} as {role}: {row.id}", "command line")]
        if several is None:
            noted.append(participant_event(participant, name, role))
        repository.append(noted)
    return f"{base}/{'metrics' if role == 'monitor' else ''}?token={token}"
