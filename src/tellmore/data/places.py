"""Which files a project may use: only those in its own folder, because somebody else may have made it.

The person who runs tellmore can allow more folders with the environment variable TELLMORE_FOLDERS; a project cannot.
"""

from __future__ import annotations

import os
from pathlib import Path

ALLOWED_VARIABLE = "TELLMORE_FOLDERS"


def may_be_named(path: Path, folder: Path) -> bool:
    """Whether ``path``, with all links followed, is in ``folder`` or in a folder that the user allows."""
    allowed = [Path(name) for name in os.environ.get(ALLOWED_VARIABLE, "").split(os.pathsep) if name]
    real = path.resolve()
    return any(real.is_relative_to(root.resolve()) for root in (folder, *allowed))
