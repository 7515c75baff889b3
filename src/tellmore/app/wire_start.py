"""What is sent over HTTP about the start: what somebody is looking for, in words or examples, and a preview of it."""

from __future__ import annotations

from pydantic import Field

from tellmore.app.wire import Examples, ItemOut, Wire


class StartOut(Wire):
    """Reply to ``GET /api/start``: whether to ask for a start, for what, and whether words can be used."""

    project: str = Field(description="distinguishes this project from others at the same address")
    fresh: bool = Field(description="nothing was answered yet, there is no start, and the questions have not ended")
    attribute: str = Field(description="what the questions ask about, in the owner's words")
    no_words: str | None = Field(description="why words that are not items cannot be used; null if they can")


class StartIn(Wire):
    """Body of ``POST /api/start/preview``: words, or items by id or full text; a name that is not an item is split at commas."""

    like: Examples = Field(default=[])
    unlike: Examples = Field(default=[])


class NamedOut(Wire):
    """One name, and the item that it stands for; null if it is a word."""

    name: str
    item: ItemOut | None


class LikelyItem(ItemOut):
    """An item with its probability of being what is looked for."""

    probability: float


class StartPreviewOut(Wire):
    """The items that fit the start most and least, before any answer, the most extreme first; nothing is saved."""

    like: list[NamedOut]
    unlike: list[NamedOut]
    most: list[LikelyItem]
    least: list[LikelyItem]
