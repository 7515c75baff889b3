"""Commands that serve: ``serve``, ``demo``, and ``annotate``, which simulates people on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tellmore.cli.output import JsonOption, TeamOption, print_changes, print_json, print_table, progress
from tellmore.cli.project import DaskOption

if TYPE_CHECKING:
    from tellmore.data.project import Project

Host = Annotated[str, typer.Option("--host", help="Address to listen on; 0.0.0.0 lets other computers connect.")]
Port = Annotated[int, typer.Option("--port", help="Port to listen on; 0 takes a free one.", min=0, max=65535)]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser window.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="Another host name of the server, for example behind a proxy."),
]
PublicUrl = Annotated[
    str,
    typer.Option("--public-url", help="The address that others use to reach the server; printed links begin with it."),
]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option("--trusted-proxy", help="The address of a proxy whose X-Forwarded-For is trusted."),
]
LogFormatOption = Annotated[
    Literal["text", "json"], typer.Option("--log-format", help="How to log; json also has a line for every request.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command("demo")(demo)
    app.command("serve")(serve)
    app.command("annotate")(annotate)


def serve(
    project: Annotated[
        Path,
        typer.Argument(
            readable=False,
            help="The project's folder, made by tellmore init, or a folder of several.",
            show_default=False,
        ),
    ],
    host: Host = "127.0.0.1",
    port: Port = 8000,
    no_browser: NoBrowser = False,
    allow_host: AllowHost = None,
    public_url: PublicUrl = "",
    trusted_proxy: TrustedProxy = None,
    log_format: LogFormatOption = "text",
    embed: Annotated[
        str | None,
        typer.Option(
            "--embed",
            help="The embedder of the project, for starting from words and adding texts; not needed for tfidf.",
        ),
    ] = None,
    dask: DaskOption = None,
    standby: Annotated[
        bool,
        typer.Option(
            "--standby", help="If another server has the project, pass people on to it and take over when it ends."
        ),
    ] = False,
) -> None:
    """Teach a project in the browser, alone or as a team.

    If it is a folder of projects, all of them are served, each at its own address.
    """
    _one_thread()
    from tellmore.data.project import open_project, projects_in

    chosen: dict[str, Any] = {
        "host": host,
        "port": port,
        "browser": not no_browser,
        "allow_hosts": allow_host or (),
        "public_url": public_url,
        "trusted_proxies": trusted_proxy or (),
        "log_format": log_format,
    }
    if projects_in(project):
        _serve_folder(project, {"--embed": embed, "--dask": dask, "--standby": standby or None}, **chosen)
    else:
        _serve(open_project(project, dask), embed=embed, standby=standby, **chosen)


def demo(
    port: Port = 8000,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where the answers are stored; default: your user data folder.")
    ] = None,
    no_browser: NoBrowser = False,
) -> None:
    """Teach a classifier of words in your browser."""
    _one_thread()
    from tellmore.app.demo import open_demo

    _serve(open_demo(folder), host="127.0.0.1", port=port, browser=not no_browser)


def _serve_folder(folder: Path, of_one: dict[str, object], **options: Any) -> None:
    """Serve all projects in a folder. Options for a single project, such as its embedder, are refused."""
    for name, value in of_one.items():
        if value is not None:
            raise typer.BadParameter(f"{name} is for one project; serve that one alone", param_hint=name)
    from tellmore.app.several import serve_folder

    serve_folder(folder, say=typer.echo, **options)


def _one_thread() -> None:
    """Use one thread for linear algebra, which is quickest for questions. Libraries read this only when they are loaded."""
    import os

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _serve(project: Project, **options: Any) -> None:
    from tellmore.app.server import serve_project

    print_changes(project)
    serve_project(project, say=typer.echo, **options)


def annotate(
    url: Annotated[
        str, typer.Argument(help="The address with the token, as tellmore serve prints it.", show_default=False)
    ],
    simulated: Annotated[bool, typer.Option("--simulated", help="Kept for old scripts; changes nothing.")] = False,  # noqa: ARG001
    answers: Annotated[int, typer.Option("--answers", help="Answers per annotator.", min=1)] = 20,
    annotators: Annotated[
        int, typer.Option("--annotators", help="How many people answer at the same time.", min=1, max=1000)
    ] = 1,
    team: TeamOption = "",
    no_think: Annotated[bool, typer.Option("--no-think", help="Answer at once, without thinking times.")] = False,
    speed: Annotated[float, typer.Option("--speed", help="Divide the thinking times by this.", min=0.01)] = 1.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of opinions and thinking times.", min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """Let simulated people answer on a running server."""
    from tellmore.app.demo import known_scores
    from tellmore.client import Link
    from tellmore.sim.drive import compare_with_log, drive, invite
    from tellmore.sim.people import team_of

    people = team_of(team) if team else ()
    annotators = len(people) or annotators
    owner = Link.parse(url)
    links = invite(owner, annotators)
    chosen: dict[str, Any] = {"answers": answers, "think": not no_think, "speed": speed, "seed": seed, "team": people}
    with progress("answers", answers * annotators) as advance:
        report = drive(links, scores=known_scores(), on_answer=advance, **chosen)
    summary = compare_with_log(report, owner).summary()
    if json:
        print_json({**summary, "problems": sorted(set(report.faults))})
        return
    print_table(["figure", "value"], list(summary.items()), title=f"{annotators} annotators")
    for problem in sorted(set(report.faults)):
        typer.echo(f"problem: {problem}", err=True)
