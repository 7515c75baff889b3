"""Files the owner takes away, of the log and the belief as they are now."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import Response

from tellmore.app.session import Session
from tellmore.export import FORMATS, render
from tellmore.store.ledger import Ledger
from tellmore.store.state import State

__all__ = ["FORMATS", "download"]


def download(session: Session, format: str, table: str, images_folder: Path | None = None) -> Response:
    """One export as a response that the browser saves."""
    suffix, media_type = FORMATS[format]
    content = render(state_of(session, images_folder), format, table=table)
    name = f"tellmore-{table if format in ('csv', 'parquet') else format}{suffix}"
    return Response(content, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})


def state_of(session: Session, images_folder: Path | None) -> State:
    """What exports are made of, once every answer so far is learnt."""
    view = session.settled_view()
    events = list(session.repository.since())
    return State(
        session.toml,
        session.pool,
        view.learner,
        Ledger(session.toml, events),
        view.told,
        events,
        images_folder=images_folder,
    )
