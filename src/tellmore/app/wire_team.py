"""What is sent over HTTP about the team: notes on items, agreement, conflicts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool, StringConstraints

from tellmore.app.wire import Id, ItemOut, Wire
from tellmore.store.agreement import Agreement

NoteText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]


class NoteIn(Wire):
    """Body of ``POST /api/notes``: a comment on an item that the person was shown, a flag, or both."""

    item: Id
    text: NoteText = ""
    flag: StrictBool = Field(False, description="something is wrong with this item")


class NoteOut(Wire):
    """A comment or flag; ``name`` is its author."""

    name: str
    t_utc: str
    text: str
    flag: bool


class LeaveOutIn(Wire):
    """Body of ``POST /api/leave-out``: whose answers, and whether to leave them ``out`` or to count them again."""

    participant: Id
    out: StrictBool


class VoteOut(Wire):
    """One person's label of an item."""

    name: str
    positive: bool


class ConflictOut(ItemOut):
    """An item that people label differently; ``settled`` is the owner's label, null before that."""

    probability: float
    votes: list[VoteOut]
    settled: bool | None


class AgreementOut(Wire):
    """How far people agree, and on which items they do not; ``total`` counts all conflicts, ``open`` those to settle."""

    agreement: Agreement | None = Field(description="null if no item was labelled by two people")
    conflicts: list[ConflictOut] = Field(description="those to settle first, the newest first")
    total: int
    open: int


class ViewOut(Wire):
    """One person's view of an item: the probability that they would call it positive."""

    name: str
    probability: float


class DisputedOut(ItemOut):
    """An item whose probability differs between people; ``gap`` is the largest difference."""

    views: list[ViewOut]
    gap: float


class CampsOut(Wire):
    """Two groups who mean different things, and the items that each finds more positive than the other does."""

    first: list[str]
    second: list[str]
    gain_nats: float = Field(description="how much better each camp's own view predicts an answer than one shared view")
    gain_se: float
    answers: int = Field(description="answers that were predicted, none of which was used to find the camps")
    first_more: list[ItemOut]
    second_more: list[ItemOut]


class OpinionsOut(Wire):
    """Whether people mean the same thing."""

    people: list[str] = Field(description="who answered enough to be compared")
    few: list[str] = Field(description="who did not; the shared view is used for them")
    enough: int = Field(description="answers that are enough")
    own: float = Field(
        description="the share of a view that is a person's own; 0 if people do not differ beyond chance"
    )
    camps: CampsOut | None
    disputed: list[DisputedOut] = Field(description="the items that divide people most")
