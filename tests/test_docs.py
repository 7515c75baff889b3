"""The documentation is correct: its code runs, its commands exist, and everything public is mentioned."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tellmore

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
GENERATED = {"commands.md", "library.md"}
BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: what its head says, and its text."""

    info: str
    body: str

    @property
    def file(self) -> str | None:
        """The name it is to be written to."""
        found = re.search(r"\bfile=(\S+)", self.info)
        return found.group(1) if found else None

    def commands(self) -> Iterator[str]:
        """The commands of a console block, without prompt and comment, continued lines joined."""
        if self.info.split()[:1] == ["console"]:
            for line in self.body.replace("\\\n", " ").splitlines():
                if line.startswith("$ "):
                    yield re.sub(r"\s+#\s.*$", "", line[2:]).strip()


def blocks(page: Path) -> list[Block]:
    return [Block(found["info"].strip(), found["body"]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


RUNNABLE = [
    page for page in PAGES if any(block.info == "python" or "run" in block.info.split() for block in blocks(page))
]


@pytest.mark.docs
@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = blocks(page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in content:
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.body, encoding="utf-8")
        elif block.info == "python":
            exec(compile(block.body, name(page), "exec"), namespace)
        elif block.info.split() == ["console", "run"]:
            for command in block.commands():
                done = subprocess.run(command, shell=True, text=True, capture_output=True, timeout=240)
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.docs
def test_the_site_is_built_and_its_notebooks_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build_site.py", tmp_path / "site"], text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    for notebook in NOTEBOOKS:
        page = (tmp_path / "site/tutorials" / notebook.stem / "index.html").read_text(encoding="utf-8")
        assert "jp-OutputArea-output" in page, f"{notebook.name} was not run"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_kept_without_what_running_them_printed(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert [cell["outputs"] for cell in cells if cell["cell_type"] == "code" and cell["outputs"]] == []


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_there_is_code_to_run() -> None:
    assert {"README.md", "docs/library.md", "docs/your-data.md"} <= {name(page) for page in RUNNABLE}


def command_tree() -> dict[str, Any]:
    """Every command by its full name."""
    from typer.main import get_command

    from tellmore.cli import app

    found: dict[str, Any] = {}

    def walk(command: Any, path: str) -> None:
        found[path] = command
        for inner, below in getattr(command, "commands", {}).items():
            walk(below, f"{path} {inner}")

    walk(get_command(app), "tellmore")
    return found


def options(command: Any) -> set[str]:
    return {flag for parameter in command.params for flag in [*parameter.opts, *parameter.secondary_opts]}


def mentioned() -> list[tuple[str, str]]:
    return [(name(page), command) for page in PAGES for block in blocks(page) for command in block.commands()]


@pytest.mark.parametrize(("page", "command"), [pair for pair in mentioned() if pair[1].startswith("tellmore")])
def test_commands_in_the_pages_exist(page: str, command: str) -> None:
    tree = command_tree()
    words = shlex.split(command.split("|")[0])
    path = "tellmore"
    for word in words[1:]:
        if f"{path} {word}" not in tree:
            break
        path = f"{path} {word}"
    assert not hasattr(tree[path], "commands") or set(words[1:]) & {"--version", "--help"}, (
        f"{page}: no such command: {command}"
    )
    known = options(tree[path]) | options(tree["tellmore"]) | {"--help"}
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in known, f"{page}: {path} has no option {word}"


@pytest.mark.parametrize(("page", "command"), [pair for pair in mentioned() if pair[1].startswith("make")])
def test_make_targets_in_the_pages_exist(page: str, command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [word for word in shlex.split(command)[1:] if "=" not in word]
    for target in targets:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"{page}: make has no target {target}"


def test_every_console_line_is_a_command_that_is_checked() -> None:
    ours = ("tellmore", "make", "pip", "git", "cd", "python", "docker", "curl", "ls", "cat", "psql", "unzip")
    assert [pair for pair in mentioned() if not pair[1].startswith(ours)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for found in LINK.finditer(text):
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        goal = (page.parent / target).resolve() if target else page
        assert goal.exists(), f"{name(page)} links to {target}, which is not there"
        if anchor and goal.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", goal.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{name(page)} links to {found['target']}, which has no such heading"


def test_every_page_is_reached_from_the_index_and_the_navigation_of_the_site() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(ROOT / "docs")) for page in [*(ROOT / "docs").rglob("*.md"), *NOTEBOOKS]}
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:")[2]
    assert {page for page in pages if f": {page}\n" not in navigation} == set()
    pages -= {"index.md", "results/summary.md"}  # the summary is a part of results.md
    assert {page for page in pages if f"({page})" not in index} == set()


def test_the_generated_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "write_reference.py", "--check"], text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    for path, command in command_tree().items():
        assert f"## `{path}`" in page
        for parameter in command.params:
            assert parameter.opts[0] in page or parameter.name.upper() in page, f"{path} {parameter.name}"
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", None), f"{path} {parameter.opts[0]} has no help"


def test_every_public_name_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    for public in tellmore.__all__:
        assert re.search(rf"^## `{public}\b", page, re.MULTILINE), public


def test_every_setting_is_documented() -> None:
    from tellmore.data.settings import Settings

    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    for section, field in Settings.model_fields.items():
        _, _, part = page.partition(f"## `[{section}]`")
        part = part.partition("\n## ")[0]
        assert part, section
        model: Any = field.annotation
        documented = set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))
        assert documented == set(model.model_fields), section


def test_every_route_is_documented() -> None:
    from tellmore.app import api

    page = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    shown = [route for router in (*api.ROUTERS, api.pages) for route in router.routes]
    assert len(shown) > 10
    for route in shown:
        for method in route.methods:
            found = re.search(rf"^\| `{re.escape(f'{method} {route.path}')}` \| (.*) \|$", page, re.MULTILINE)
            assert found, f"{method} {route.path}"
            assert found.group(1), f"{method} {route.path} has no purpose"
