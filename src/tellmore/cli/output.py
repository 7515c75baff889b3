"""What the commands share: common options, JSON, tables, progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

    from tellmore.data.progress import Advance
    from tellmore.data.project import Project

PoolOption = Annotated[str, typer.Option("--pool", help="A bundled pool (words), an .npz file or a project folder.")]
MatrixOption = Annotated[str, typer.Option("--matrix", help="Which matrix of an .npz file has the embeddings.")]
TeamOption = Annotated[
    str,
    typer.Option(
        "--team",
        help="Several people in one line, as in '3*good, lapse=0.2+pace=1.5, random'; a person is good, random, reversed, "
        "lapse=, noise=, first=, tiring=, drift=, pace=, slowing=, contrast= or camp=, joined by +.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of text.")]


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at ``stream``; Python's standard streams are None if they were closed, as in some schedulers."""
    return stream is not None and stream.isatty()


def print_error(message: str, *more: str) -> None:
    """Print ``message`` on standard error, and each of ``more`` indented on a line of its own."""
    for line in (f"error: {message}", *(f"  {each}" for each in more)):
        print(line, file=sys.stderr)  # noqa: T201


def print_changes(project: Project) -> None:
    """Print one line on standard error if defaults that ``project`` relies on have changed since it was made."""
    from tellmore.data.changes import changes_since

    line = changes_since(project.settings)
    if line is not None:
        typer.echo(line, err=True)


def print_json(value: Any) -> None:
    """Print ``value`` as JSON; NumPy scalars and arrays become numbers and lists, NaN becomes null."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str | None = None) -> None:
    """Print a table, with numbers aligned right and None as a dash."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for position, column in enumerate(columns):
        numeric = any(isinstance(row[position], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    # A pipe has no width, and wrapped lines would break the rows that a script reads.
    (Console() if is_terminal(sys.stdout) else Console(width=200)).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Advance]:
    """A progress bar with the time left, on standard error if that is a terminal.

    ``with progress("trials", 20) as advance: ... advance()``
    """
    with bar() as shown:
        task = shown.add_task(what, total=total)

        def advance(steps: int = 1) -> None:
            shown.advance(task, steps)

        yield advance


def bar() -> Progress:
    """An empty progress bar, to which tasks are added."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    # Notebooks set FORCE_COLOR. rich then treats a pipe as a terminal and prints every step of the bar on a new line.
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    console = Console(stderr=True)
    shown = is_terminal(sys.stderr) and console.is_terminal
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not shown)
