"""Who may enter a study, and who may continue one that they have begun.

An external id is not a secret: other researchers know it too. It is enough to begin, if the study is open or has the id on its
list. To continue, a secret is needed: the cookie of the browser that began, the platform's own session id, or a signed link.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from tellmore.errors import DataFileError, StateError, TellmoreError
from tellmore.store.repository import ADDRESS, STUDY_KEY, Repository
from tellmore.study.settings import Entry

LIST_FILE = "participants.txt"
SECRET_LENGTH = 16
"""A shorter session id could be guessed."""


class EntryError(TellmoreError):
    """This person may not enter, or not with this id."""


@dataclass(frozen=True)
class Arrival:
    """What a person arrives with; ``cookie``: the participant named by their browser; ``signed``: whether the link was signed."""

    external: str
    session_id: str | None = None
    cookie: str | None = None
    signed: bool = False


def signature_of(key: str, external: str) -> str:
    """The signature in a link to the study, so that no one can make a link for another id."""
    digest = hmac.new(key.encode(), f"study {external}".encode(), hashlib.sha256).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def checked_signature(key: str, external: str, signature: str | None) -> bool:
    """Whether there is a signature; EntryError if it is not valid."""
    if signature is None:
        return False
    if not hmac.compare_digest(signature_of(key, external), signature):
        raise EntryError("this link was not made for this id; open the link that you were sent")
    return True


def check_return(arrival: Arrival, known: str, begun_with: str | None) -> None:
    """Raise EntryError if the person has only the id of ``known``, who began with the session id ``begun_with``."""
    same_session = (
        begun_with is not None
        and len(begun_with) >= SECRET_LENGTH
        and hmac.compare_digest(begun_with, arrival.session_id or "")
    )
    if not (arrival.signed or arrival.cookie == known or same_session):
        raise EntryError(
            "this id is already in use in another browser; continue there, or ask the people who run the study for a link"
        )


def check_beginning(arrival: Arrival, entry: Entry, listed: Collection[str], begun: int) -> None:
    """Raise EntryError for people whom the study does not expect, and for everyone once enough have begun."""
    if not arrival.signed and entry.by == "signed":
        raise EntryError("open the link that you were sent; your id alone is not enough")
    if not arrival.signed and entry.by == "list" and arrival.external not in listed:
        raise EntryError("this id is not on the study's list; ask the people who run the study")
    if begun >= entry.most:
        raise EntryError("as many people as the study needs have begun; thank you for coming")


def read_list(folder: Path) -> frozenset[str]:
    """The ids in FOLDER/participants.txt, one per line."""
    path = folder / LIST_FILE
    try:
        return frozenset(line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError):
        raise DataFileError(f'{path}: cannot be read, but entry.by = "list" needs it: one id per line') from None


def key_of(database_url: str) -> str:
    """The key with which the links of a study are signed."""
    with closing(Repository(database_url)) as repository:
        return repository.secret(STUDY_KEY)


def signed_links(database_url: str, ids: Iterable[str], public_url: str = "") -> list[str]:
    """A link for each id, with which its holder can begin, and continue in any browser."""
    with closing(Repository(database_url)) as repository:
        key, base = repository.secret(STUDY_KEY), public_url.rstrip("/") or repository.get(ADDRESS)
    if base is None:
        raise StateError("the study has never been served; serve it first, or give its address with --public-url")
    return [
        f"{base}/study?{urlencode({'participant': external, 'signature': signature_of(key, external)})}"
        for external in ids
    ]
