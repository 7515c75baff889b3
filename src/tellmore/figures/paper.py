"""The paper's questions, their sizes, and the numbers that it prints for them.

The paper has three families of question. Only this module of the laboratory names them: exhibits use these names, and look up
everything else about a kind in the registry.
"""

from __future__ import annotations

from tellmore import kinds

LABEL, SELECT, RANK = "label", "select", "rank"
FAMILIES = (LABEL, SELECT, RANK)
SETS = (SELECT, RANK)
"""The families that show several items."""
MEMBERS = tuple(kind.name for family in FAMILIES for kind in kinds.family(family))
SIZE = 4
"""Items of the selections and rankings for which the paper prints counts."""
TARGET = 0.75
DIMENSIONS = 301
"""The dimensions of the paper's word embeddings, including the constant."""


def titled(name: str, size: int | None = None, *, random: bool = False) -> str:
    """The name of a setting in legends.

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
"""The same in the text of Section III-B, which says "about 1300", "about 500" and 196."""
COUNT_WORDS = {**{name: str(count) for name, count in COUNTS.items()}, RANDOM[0]: "> 2000", RANDOM[1]: "about 700"}
BITS = dict(zip(CHOSEN, (1.0, 3.0, 4.3), strict=True))
"""The largest numbers of bits, as printed in Table I."""
