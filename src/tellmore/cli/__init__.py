"""The command line: parses, calls, prints; no logic.

Each module below registers its own commands; what a command needs is imported inside it, so that ``--help`` stays quick.
"""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from tellmore.cli.output import print_error
from tellmore.errors import FaultyRowsError, TellmoreError

MODULES = ("serve", "project", "operate", "repair", "tools", "judge", "lab", "race", "rates", "study")
"""Modules of this package, in the order in which --help shows their commands. Each has ``register(app)``."""
INTERRUPTED = 128 + signal.SIGINT
"""The exit code with which typer ends after Ctrl-C, without a message."""

app = typer.Typer(
    name="tellmore",
    help="Teach a yes/no classifier with labels, selections, rankings and grids.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from tellmore import __version__

        typer.echo(f"tellmore {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback when something fails.")] = False,
) -> None:
    """Options before any command; main() accepts --debug anywhere on the line."""


for _name in MODULES:
    import_module(f"tellmore.cli.{_name}").register(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. The exit code is 0 for success, 1 for failure, 2 for wrong usage. A failure prints one line; a traceback
    needs --debug."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    if threading.current_thread() is threading.main_thread():
        # SIGTERM raises SystemExit, so that cleanup runs and nothing incomplete is left behind.
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        app([argument for argument in given if argument != "--debug"])
    except Exception as problem:
        if debug:
            traceback.print_exc()
        else:
            print_error(*_lines(problem))
        sys.exit(1)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            print_error("interrupted by Ctrl-C")
        raise


def _lines(problem: Exception) -> tuple[str, ...]:
    """The lines to print: one, or one per row if several rows of a file are wrong."""
    return problem.lines if isinstance(problem, FaultyRowsError) else (_one_line(problem),)


def _one_line(problem: Exception) -> str:
    """The message for the user: tellmore's own errors unchanged, system errors with the file, anything else as a bug."""
    if isinstance(problem, TellmoreError):
        return " ".join(str(problem).split())
    if isinstance(problem, OSError):
        where = f": {problem.filename}" if problem.filename else ""
        return f"{problem.strerror or problem}{where}"
    if isinstance(problem, MemoryError):
        return "not enough memory; try a smaller pool or fewer processes"
    what = " ".join(str(problem).split()) or type(problem).__name__
    return (
        f"unexpected {type(problem).__name__}: {what}; this is a bug in tellmore: run again with --debug and report it"
    )
