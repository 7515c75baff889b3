"""Deleting a participant of a study at their request."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from tellmore.errors import InputError
from tellmore.store.repository import Event, Repository
from tellmore.study.flow import EVENT_KINDS


@dataclass(frozen=True)
class Forgotten:
    """Who was deleted, and how many entries of the log were emptied."""

    participant: str
    entries: int


KEPT = (
    "The log keeps, without their content, that there were these entries and when, the pseudonym, and a note of the deletion. "
    "Reports and data files written before, and backups, still contain the data: write them again, or delete them."
)


def forget_participant(database_url: str, who: str) -> Forgotten:
    """Delete everything that a participant gave; ``who``: a pseudonym, or the external id with which the person came.

    Raises StateError if a server uses the log, because it would continue from memory.
    """
    with closing(Repository(database_url)) as repository:
        repository.claim()
        own = [event for event in repository.since(0, kinds=EVENT_KINDS) if event.participant and not event.erased]
        names = {event.participant for event in own if who in (event.participant, event.payload.get("external"))}
        if not names:
            raise InputError(f"nobody took part as {who!r}; give the external id, or the pseudonym in participants.csv")
        name = str(names.pop())
        repository.erase(name, Event("delete", None, None, {"participant": name}))
        return Forgotten(name, sum(event.participant == name for event in own))
