"""Write the reference pages that come from the program itself: commands, public names and HTTP routes, in docs/reference/.

python scripts/write_reference.py [--check]
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ["TERM"] = "dumb"
ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
WIDTH = 100


def walk(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, Any]]:
    """Every command below ``command`` with its full name, as (name, context), in the order of --help."""
    context = command.context_class(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield context.command_path, context
    for inner in getattr(command, "commands", {}):
        yield from walk(command.commands[inner], inner, context)


def commands_page() -> str:
    """The help of every command."""
    from typer.main import get_command

    from tellmore.cli import app

    parts = [
        "# Commands",
        "Written by `make docs` from the program; do not edit. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. "
        "`--debug`, anywhere on the line, shows the traceback of a failure.",
    ]
    for name, context in walk(get_command(app), "tellmore"):
        parts.append(f"## `{name}`\n\n```text\n{tidy(context.get_help())}\n```")
    return "\n\n".join(parts) + "\n"


def tidy(text: str) -> str:
    """Without spaces at line ends."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


PUBLIC = {
    "tellmore": "Teaching: learners, questions and answers, projects.",
    "tellmore.sklearn": "For scikit-learn (extra `sklearn`): [its page](../scikit-learn.md).",
    "tellmore.lab": "The laboratory (extra `lab`): [its page](../reproduce.md).",
}
"""The modules from which anything is imported, and what they are for."""


def library_page() -> str:
    """Every public name with its signature and its docstring."""
    parts = [
        "# Public names",
        "Written by `make docs` from the docstrings; do not edit. What is not here may change.",
    ]
    for name, about in PUBLIC.items():
        module = import_module(name)
        parts.append(f"# `{name}`\n\n{about}")
        parts += [entry(each, getattr(module, each)) for each in sorted(module.__all__, key=str.lower)]
    return "\n\n".join(parts) + "\n"


def entry(name: str, thing: Any) -> str:
    """One public name; of a class also its public methods and properties, one line each."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return f"## `{name}`\n\n`{thing!r}`"
    lines = [f"## `{name}{signature(thing)}`", paragraphs(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing):
        lines += [f"- `{member}`: {first_line(value)}{parameters(value)}" for member, value in members(thing)]
    return "\n\n".join(lines[:2]) + ("\n\n" + "\n".join(lines[2:]) if lines[2:] else "")


def paragraphs(doc: str) -> str:
    """A docstring as Markdown: double backquotes become single ones, parameters a list, doctests and drawings code."""
    blocks = doc.replace("``", "`").split("\n\n")
    return "\n\n".join(
        f"```text\n{block}\n```" if block.startswith((">>>", "    ")) else listed(block) for block in blocks
    )


def listed(block: str, indent: str = "") -> str:
    """A paragraph; where it says what the parameters are, one a line, a list of them."""
    if not re.match(PARAMETER, block):
        return block
    lines = re.sub(r"\n +", " ", block).splitlines()
    return "\n".join(indent + re.sub(PARAMETER, r"- `\1`: ", line) for line in lines)


PARAMETER = r"^(\w+(?:, \w+)*): "


def parameters(thing: Any) -> str:
    """The parameters of a method, as a list below it."""
    blocks = (inspect.getdoc(thing) or "").replace("``", "`").split("\n\n")[1:]
    return "".join("\n" + listed(block, "  ") for block in blocks if re.match(PARAMETER, block))


def signature(thing: Any) -> str:
    """The call signature without types, which the docstring tells in words."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return ""
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return re.sub(r"<function .*? at 0x[0-9a-f]+>", "…", str(inspect.Signature(plain)))


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties defined by ``cls`` or a base of ours, in the order of definition."""
    seen = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("tellmore"):
            continue
        for name, value in vars(base).items():
            documented = inspect.isroutine(value) or hasattr(value, "__get__")
            if not name.startswith("_") and documented and name not in seen:
                seen.add(name)
                if inspect.getdoc(value) is not None:
                    yield f"{name}{method_signature(cls, name)}", getattr(value, "__func__", value)


def method_signature(cls: type, name: str) -> str:
    """How a method is called on an object (or, for a class method, on the class); nothing for a property."""
    if isinstance(inspect.getattr_static(cls, name), staticmethod | classmethod):
        return signature(getattr(cls, name))
    value = getattr(cls, name)
    return signature(value).replace("(self, ", "(").replace("(self)", "()") if inspect.isroutine(value) else ""


def first_line(thing: Any) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")


HTTP_INTRODUCTION = """\
Written by `make docs` from the program; do not edit. A running server describes bodies and replies at `/api/openapi.json`.

Every path under `/api` needs the cookie that opening an invitation link sets, or the header `Authorization: Bearer TOKEN`.
`POST` and `PUT` need `Content-Type: application/json` and a body. A refusal is `{"error": "one line"}` with status 401 (no
valid token), 403 (not this role, or from another site), 404 (unknown), 409 (in conflict with the log), 413 (too large),
415 (not JSON), 421 (unknown Host), 422 (malformed) or 429 (too many requests; see `Retry-After`).
"""


def routes() -> dict[str, list[Any]]:
    """Every route by who uses it."""
    from tellmore.app import api, participants

    study: Any = participants.study_router
    every: list[Any] = [route for router in api.ROUTERS for route in router.routes]
    return {
        "Pages": api.pages.routes,
        "People who teach": [route for route in every if "people" in route.tags],
        "The project's owner": [route for route in every if "owner" in route.tags],
        "Whoever keeps it running": [route for route in every if "operations" in route.tags],
        "Participants of a study": study(None, None, "cookie", api.study_page, "key").routes,
    }


def http_page() -> str:
    """Every route with its purpose."""
    parts = ["# HTTP routes", HTTP_INTRODUCTION.strip()]
    for heading, group in routes().items():
        rows = [
            f"| `{method} {route.path}` | {first_line(route.endpoint)} |"
            for route in group
            for method in sorted(route.methods)
        ]
        parts.append(f"## {heading}\n\n| route | purpose |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


PAGES = {"commands.md": commands_page, "library.md": library_page, "http.md": http_page}


def main() -> None:
    """Write the pages, or with --check only say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    REFERENCE.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, page in PAGES.items():
        path, text = REFERENCE / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs`")


if __name__ == "__main__":
    main()
