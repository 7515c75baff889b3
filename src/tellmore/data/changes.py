"""Which defaults have changed since an earlier version made a project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tellmore.data.settings import Settings


@dataclass(frozen=True)
class Change:
    """A default that changed in ``version``: the ``sentence`` to print, and which settings depend on that default."""

    version: str
    sentence: str
    applies: Callable[[Settings], bool]


CHANGES = (
    Change(
        "0.2.0",
        "new projects learn from embeddings of any scale and from rare classes; this one learns as before; to retrain it on "
        'its answers, set version = "0.2.0" under [data] in tellmore.toml',
        lambda settings: settings.classic,
    ),
    Change(
        "0.2.0",
        "auto may ask grids of 12 items; to choose, name kinds in tellmore.toml",
        lambda settings: "kinds" not in settings.learning.model_fields_set,
    ),
)


def changes_since(settings: Settings, changes: Sequence[Change] = CHANGES) -> str | None:
    """One line about what has changed for the project with these settings, as read from its file; None if nothing has."""
    made_by = settings.data.version
    new = [each.sentence for each in changes if _order(made_by) < _order(each.version) and each.applies(settings)]
    return f"This project was made by tellmore {made_by}; since then: {'; '.join(new)}." if new else None


def _order(version: str) -> list[int]:
    """Major, minor and patch; a development version has the changes of the release that it leads to."""
    return [int(part) for part in version.split(".")[:3]]
