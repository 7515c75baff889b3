"""A project folder as a running server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tellmore.app.server import open_session, serve
from tellmore.data.images import thumbnail
from tellmore.data.project import Project
from tellmore.errors import QuestionError


def image_finder(project: Project) -> Callable[[str], Path] | None:
    """From an item's id to the file of its thumbnail; None where the project has no pictures."""
    images = project.pool.images
    if images is None:
        return None

    def find(item: str) -> Path:
        row = int(project.pool.rows([item])[0])
        if not images[row]:
            raise QuestionError(f"the item {item!r} has no picture")
        return thumbnail(project.images_folder, item, Path(images[row]))

    return find


def serve_project(project: Project, **options: Any) -> None:
    """Serve ``project`` until it is stopped."""
    session = open_session(project.database_url, project.pool, project.settings, prior=project.prior)
    serve(session, images=image_finder(project), images_folder=project.images_folder, **options)
