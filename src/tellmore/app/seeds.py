"""Seed examples: items that the owner knows to be positive or negative before anybody is asked."""

from __future__ import annotations

from collections.abc import Sequence

from tellmore.errors import SettingError
from tellmore.pool import Pool

SEEDS = ("seeds_positive", "seeds_negative")


def seed_ids(pool: Pool, named: Sequence[str]) -> list[str]:
    """Ids of the items that ``named`` means, each by its id or by its whole text; each once, in order."""
    known = set(pool.ids)
    return list(dict.fromkeys(name if name in known else _id_of_text(pool, name) for name in named))


def _id_of_text(pool: Pool, name: str) -> str:
    wanted = name.strip().casefold()
    found = [
        item
        for item, text in zip(pool.ids, pool.text or (), strict=False)
        if text and text.strip().casefold() == wanted
    ]
    if not found:
        raise SettingError(f"no item has the id or the text {name!r}; copy one from the list of items or an export")
    if len(found) > 1:
        raise SettingError(f"{len(found)} items have the text {name!r}: {', '.join(found[:3])}…; name one by its id")
    return found[0]
