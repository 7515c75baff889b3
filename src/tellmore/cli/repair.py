"""``tellmore repair``: shows what is wrong with a damaged project, and repairs it."""

from __future__ import annotations

from typing import Annotated

import typer

from tellmore.cli.output import JsonOption, print_json, print_table
from tellmore.cli.project import ProjectArgument


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("repair")(repair)


def repair(
    folder: ProjectArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Repair it; a backup is made first, inside the folder.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what is wrong with a damaged project, and repair it."""
    from tellmore.store.repair import as_json, diagnose, mend

    found = diagnose(folder)
    backup = mend(folder, found) if yes and found.damages else None
    if json:
        print_json({**as_json(found), "mended": backup is not None, "backup": backup and str(backup)})
    elif not found.damages:
        typer.echo("nothing is wrong: settings, items, vectors, log and snapshots fit together")
    else:
        print_table(
            ("what is wrong", "what repairs it"), [(each.what, each.mend or "nothing here") for each in found.damages]
        )
        if backup is not None:
            typer.echo(f"Repaired. The project as it was before: {backup}")
        elif found.mendable:
            typer.echo(f"Nothing was changed. To repair it, after a backup: tellmore repair {folder} --yes")
        else:
            typer.echo(
                "Not everything can be repaired. Restore a backup, or create the project again with: tellmore init"
            )
    if found.damages and backup is None:
        raise typer.Exit(1)
