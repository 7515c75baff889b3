"""Commands for the person who runs a project: ``backup``, ``invite``, ``expire`` and others. They also work while a server
is running."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer

from tellmore.cli.serve import PublicUrl

ProjectArgument = Annotated[Path, typer.Argument(help="The project's folder.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command("backup")(backup)
    app.command("restore")(restore)
    app.command("invite")(invite)
    app.command("leave-out")(leave_out)
    app.command("expire")(expire)


def backup(
    project: ProjectArgument,
    file: Annotated[Path, typer.Argument(help="The file to write.", show_default=False)],
) -> None:
    """Write a whole project to one file, even while it is served."""
    from tellmore.data.project import open_project
    from tellmore.store.backup import backup as write

    events = write(open_project(project), file)
    again = f"tellmore restore {quote(str(file))} FOLDER"
    typer.echo(f"{file}: the project with {events} events of its log. Restore it with: {again}")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that tellmore backup wrote.", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="The folder to create.", show_default=False)],
) -> None:
    """Create a project from a backup."""
    from tellmore.store.backup import restore as read

    read(file, folder)
    typer.echo(f"Restored. Next: tellmore serve {quote(str(folder))}")


def invite(
    project: ProjectArgument,
    name: Annotated[str, typer.Argument(help="Who is invited.", show_default=False)],
    role: Annotated[
        Literal["annotator", "owner", "monitor"],
        typer.Option("--role", help="What they may do; a monitor may only read /metrics."),
    ] = "annotator",
    days: Annotated[int, typer.Option("--days", help="How long the link works.", min=1, max=3650)] = 90,
    people: Annotated[
        int, typer.Option("--people", help="How many it is for; each becomes a separate annotator.", min=1, max=1000)
    ] = 1,
    public_url: PublicUrl = "",
) -> None:
    """Print an invitation link.

    If a server is running, the link works within seconds.
    """
    from tellmore.app.inviting import invitation_link
    from tellmore.data.project import open_project

    url = open_project(project).database_url
    typer.echo(invitation_link(url, name, role, days=days, people=people, public_url=public_url))


def leave_out(
    project: ProjectArgument,
    name: Annotated[str, typer.Argument(help="Whose answers: a name or an id.", show_default=False)],
    back: Annotated[bool, typer.Option("--back", help="Count them again.")] = False,
) -> None:
    """Leave out one person's answers, or count them again.

    The answers stay in the log. A running server applies the change within seconds.
    """
    from tellmore.data.project import open_project
    from tellmore.store.people import leave_out as change

    whose = change(open_project(project), name, not back)
    again = f"tellmore leave-out {project} {name} --back"
    typer.echo(
        f"{whose}: answers count again." if back else f"{whose}: left out. Count the answers again with: {again}"
    )


def expire(
    project: ProjectArgument,
    days: Annotated[int, typer.Option("--days", help="How many days to keep people's data.", min=1, max=36_500)],
    yes: Annotated[bool, typer.Option("--yes", help="Delete; otherwise only list what would be deleted.")] = False,
) -> None:
    """Delete people last seen long ago, with their answers.

    This deletes everybody except owners who has not been seen for this many days, with all their data, and old links. Labels
    of the items file, and imported answers and those from Python for which no person is named, are kept. The classifier is
    learnt again without the deleted answers; a running server applies this within seconds.
    """
    from tellmore.data.project import open_project
    from tellmore.store.repository import Repository
    from tellmore.store.retention import expire as delete
    from tellmore.store.retention import expired, told

    store = Repository(open_project(project).database_url)
    try:
        found = expired(store, days)
        if yes:
            delete(store, found, days)
    finally:
        store.close()
    if yes:
        typer.echo(f"Deleted: {told(found)}.")
        return
    typer.echo(f"Older than {days} days: {told(found)}. Delete them with --yes.")
    for line in found.lines:
        typer.echo(line)
