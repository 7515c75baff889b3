"""What has changed for a project that an earlier version made, if it leaves a choice to tellmore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tellmore.data.settings import Settings


@dataclass(frozen=True)
class Change:
    """A default of ``version`` and later: the ``sentence`` to tell, and which settings leave the choice to it."""

    version: str
    sentence: str
    applies: Callable[[Settings], bool]


CHANGES = (
    Change(
        "0.2.0",
        "new projects learn from embeddings of any scale and from rare classes; this one learns as before, and is "
        'retrained on its answers where [data] in tellmore.toml says version = "0.2.0"',
        lambda settings: settings.classic,
    ),
    Change(
        "0.2.0",
        "auto may ask grids of 12 items; to choose, name kinds in tellmore.toml",
        lambda settings: "kinds" not in settings.learning.model_fields_set,
    ),
)


def changes_since(settings: Settings, changes: Sequence[Change] = CHANGES) -> str | None:
    """One line on what has changed for the project of these settings, as they were read from its file; None: nothing."""
    made_by = settings.data.version
    new = [each.sentence for each in changes if _order(made_by) < _order(each.version) and each.applies(settings)]
    return f"This project was made by tellmore {made_by}; since then: {'; '.join(new)}." if new else None


def _order(version: str) -> list[int]:
    """Major, minor and patch; a version under development has the changes of the one that it leads to."""
    return [int(part) for part in version.split(".")[:3]]
