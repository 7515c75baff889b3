"""What the paper asks, at which sizes, and what it prints of it.

The paper has three families of question. This is the one place of the laboratory that names them: exhibits ask here, and
whatever else there is to know of a kind they ask of the registry.
"""

from __future__ import annotations

from tellmore import kinds

LABEL, SELECT, RANK = "label", "select", "rank"
FAMILIES = (LABEL, SELECT, RANK)
SETS = (SELECT, RANK)
"""Those that show several items."""
MEMBERS = tuple(kind.name for family in FAMILIES for kind in kinds.family(family))
SIZE = 4
"""Items of the selections and rankings for which the paper prints counts."""
TARGET = 0.75
DIMENSIONS = 301
"""Of its word embeddings, with the constant."""


def titled(name: str, size: int | None = None, *, random: bool = False) -> str:
    """A setting as in legends.

    >>> titled("rank", 4, random=True), titled("label", 1)
    ('rank-4, random', 'label')
    """
    shown = kinds.family(name)[0].most > 1 and size is not None
    return f"{name}{f'-{size}' if shown else ''}{', random' if random else ''}"


def size_of(family: str) -> int | None:
    """The paper's size for a family; None for labels."""
    return SIZE if kinds.family(family)[0].most > 1 else None


LABELS, SELECTIONS, RANKINGS = CHOSEN = tuple(titled(family, size_of(family)) for family in FAMILIES)
"""The settings of Table I: items chosen actively."""
RANDOM = tuple(titled(family, size_of(family), random=True) for family in FAMILIES)
SETTINGS = tuple(name for pair in zip(RANDOM, CHOSEN, strict=True) for name in pair)

COUNTS: dict[str, float] = dict(zip(SETTINGS, (2000, 1310, 700, 468, 315, 191), strict=True))
"""Interactions to 75 % in Table I and the text; random labels need "more than 2000", random selections "roughly 700"."""
TEXT_COUNTS = dict(zip(CHOSEN, (1300, 500, 196), strict=True))
"""The same in the text of Section III-B, where they are "about 1300", "about 500" and 196."""
COUNT_WORDS = {**{name: str(count) for name, count in COUNTS.items()}, RANDOM[0]: "> 2000", RANDOM[1]: "about 700"}
BITS = dict(zip(CHOSEN, (1.0, 3.0, 4.3), strict=True))
"""Bits at most, as Table I prints them."""
