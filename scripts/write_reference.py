"""Writes the reference pages that are generated from the program: commands, public names and HTTP routes, in docs/reference/.

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
    """``text`` without spaces at line ends."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


PUBLIC = {
    "tellmore": "Teaching: learners, questions and answers, projects.",
    "tellmore.sklearn": "For scikit-learn (extra `sklearn`): [its page](../scikit-learn.md).",
    "tellmore.lab": "The laboratory (extra `lab`): [its page](../reproduce.md).",
}
"""The modules from which users import, and what they are for."""


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
    """One public name with a table of its parameters; for a class also its public methods and properties."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return f"## `{name}`\n\n`{thing!r}`"
    told = told_of(thing)
    text, examples = apart(inspect.getdoc(thing) or "")
    called = f"`{name}{signature(thing)}`" if parameters(thing) else ""
    parts = [f"## `{name}`", called, text, table(parameters(thing), told)]
    if inspect.isclass(thing):
        taken = {each.name for _, value in members(thing) for each in parameters(value)}
        own = {each.name for each in parameters(thing)} | taken
        parts += [attributes({name: words for name, words in told_in(thing).items() if name not in own})]
    parts += examples
    if inspect.isclass(thing):
        parts += [*inherited(thing), *described_members(name, thing, told)]
    return "\n\n".join(filter(None, parts))


def apart(doc: str) -> tuple[str, list[str]]:
    """The text of a docstring as Markdown, without the lines about parameters, and its examples."""
    blocks = doc.replace("``", "`").split("\n\n")
    examples = [f"```text\n{block}\n```" for block in blocks if block.startswith((">>>", "    "))]
    text = [block for block in blocks if not re.match(rf">>>|    |{OF_METHODS}$|{PARAMETER}", block)]
    return "\n\n".join(text), examples


PARAMETER = r"(\w+(?:, \w+)*)(?: (\[.*?\]))?: "
"""The beginning of a docstring's line about parameters: ``name: ``, ``one, two: `` or ``name [n, d]: ``."""


OF_METHODS = "Parameters of the methods:"
"""The line in the docstring of a class above parameters that several of its methods share."""


def told_in(thing: Any) -> dict[str, str]:
    """What a docstring says about each parameter."""
    doc = inspect.cleandoc(vars(thing).get("__doc__") or "" if inspect.isclass(thing) else inspect.getdoc(thing) or "")
    found = {}
    for block in doc.replace("``", "`").split("\n\n"):
        if not re.match(PARAMETER, block):
            continue
        for line in re.sub(r"\n +", " ", block).splitlines():
            if line_of := re.match(PARAMETER, line):
                words = f"{line_of[2]} {line[line_of.end() :]}" if line_of[2] else line[line_of.end() :]
                found |= dict.fromkeys(line_of[1].split(", "), words)
    return found


def told_of(thing: Any) -> dict[str, str]:
    """The same; for a class also from its bases, whose methods it shares."""
    bases = reversed(thing.__mro__[:-1]) if inspect.isclass(thing) else (thing,)
    return {name: words for base in bases if ours(base) for name, words in told_in(base).items()}


def ours(thing: Any) -> bool:
    """Whether it is defined in tellmore."""
    return str(getattr(thing, "__module__", "")).startswith("tellmore")


def table(given: list[inspect.Parameter], told: dict[str, str]) -> str:
    """A table of parameters; empty if there are none."""
    rows = [[f"`{stars(each)}{each.name}`", type_of(each), default_of(each), told.get(each.name, "")] for each in given]
    return markdown(["parameter", "type", "default", "what it is"], rows)


def attributes(told: dict[str, str]) -> str:
    """A table of the attributes in a class's docstring that are not parameters."""
    return markdown(["attribute", "what it is"], [[f"`{name}`", words] for name, words in told.items()])


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; empty without rows."""
    lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if rows else ""


def stars(parameter: inspect.Parameter) -> str:
    """The stars before the name of a parameter that takes all others."""
    return {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")


def type_of(parameter: inspect.Parameter) -> str:
    """Its type, in code."""
    given = parameter.annotation
    if given is parameter.empty:
        return ""
    name = given if isinstance(given, str) else inspect.formatannotation(given)
    named = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", name)
    return f"`{named.replace(' | ', ' or ')}`"


def default_of(parameter: inspect.Parameter) -> str:
    """Its default, in code; empty if it is required."""
    given = parameter.default
    return "" if given is parameter.empty else f"`{plain(repr(given))}`"


def plain(text: str) -> str:
    """``text`` without the addresses of functions."""
    return re.sub(r"<function .*? at 0x[0-9a-f]+>", "…", text)


def parameters(thing: Any) -> list[inspect.Parameter]:
    """Its parameters except self; the only parameter of an error is its message."""
    if (inspect.isclass(thing) and issubclass(thing, BaseException)) or not callable(thing):
        return []
    try:
        given = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each for each in given if each.name not in ("self", "cls")]


def signature(thing: Any) -> str:
    """The call signature without types, which are in the table."""
    if (inspect.isclass(thing) and issubclass(thing, BaseException)) or not callable(thing):
        return ""
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in parameters(thing)]
    return plain(str(inspect.Signature(bare)))


def inherited(cls: type) -> list[str]:
    """A sentence that links to the public classes from which it inherits."""
    bases = [f"[{base.__name__}](#{base.__name__.lower()})" for base in cls.__mro__[1:] if public(base)]
    return [f"A kind of {' and '.join(bases)}, with all that is there."] if bases else []


def public(cls: type) -> bool:
    """Whether a class has its own entry."""
    return any(cls is getattr(home, name) for home in map(import_module, PUBLIC) for name in home.__all__)


def described_members(name: str, cls: type, told: dict[str, str]) -> Iterator[str]:
    """Its properties and methods without parameters in one table, then every other method with its own table."""
    every = list(members(cls))
    short = [[f"`{each}{signature(value)}`", first_line(value)] for each, value in every if not parameters(value)]
    yield markdown(["property or method", "what it is"], short)
    for each, value in every:
        if parameters(value):
            text, examples = apart(inspect.getdoc(value) or "")
            shared = table(parameters(value), {**told, **told_in(value)})
            yield "\n\n".join([f"### `{name}.{each}`", f"`{each}{signature(value)}`", text, shared, *examples])


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties defined by ``cls``, or by a base of ours that is not public, in order of definition."""
    seen = set()
    for base in cls.__mro__:
        if not ours(base) or (base is not cls and public(base)):
            continue
        for name, value in vars(base).items():
            home = type(value).__module__.lstrip("_")
            foreign = home.startswith(("sklearn", "collections"))  # routing, fields of a tuple
            documented = inspect.isroutine(value) or hasattr(value, "__get__")
            if not name.startswith("_") and documented and not foreign and name not in seen:
                seen.add(name)
                if inspect.getdoc(value) is not None:
                    yield name, getattr(value, "__func__", value)


def first_line(thing: Any) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")


HTTP_INTRODUCTION = """\
Written by `make docs` from the program; do not edit. A running server describes bodies and replies at `/api/openapi.json`.

Every path under `/api` needs the cookie that opening an invitation link sets, or the header `Authorization: Bearer TOKEN`.
`POST` and `PUT` need `Content-Type: application/json` and a body. A refusal is `{"error": "one line"}` with status 401 (no
valid token), 403 (not allowed for this role, or from another site), 404 (unknown), 409 (in conflict with the log), 413 (too
large), 415 (not JSON), 421 (unknown Host), 422 (malformed), 429 (too many requests; see `Retry-After`), 501 (needs a package
that is not installed) or 503 (the database does not respond).
"""


def routes() -> dict[str, list[Any]]:
    """All routes, by who uses them."""
    from tellmore.app import api, participants

    study: Any = participants.study_router
    every: list[Any] = [route for router in api.ROUTERS for route in router.routes]
    return {
        "Pages": api.pages.routes,
        "People who teach": [route for route in every if "people" in route.tags],
        "The project's owner": [route for route in every if "owner" in route.tags],
        "People who run the server": [route for route in every if "operations" in route.tags],
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
