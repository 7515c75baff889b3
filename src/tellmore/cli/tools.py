"""Working with other tools."""

from __future__ import annotations

from typing import Annotated

import typer

from tellmore.cli.project import ProjectArgument


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("label-studio")(label_studio)


def label_studio(
    folder: ProjectArgument,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; for other computers, a password is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to listen on.", min=0, max=65535)] = 9090,
    password: Annotated[
        str | None,
        typer.Option(
            envvar="TELLMORE_LABEL_STUDIO_PASSWORD", help="The password Label Studio must send (basic authentication)."
        ),
    ] = None,
) -> None:
    """Predict and choose the next tasks for Label Studio."""
    from tellmore.app.label_studio import serve_backend
    from tellmore.data.project import open_project

    serve_backend(open_project(folder), host, port, password=password, say=typer.echo)
