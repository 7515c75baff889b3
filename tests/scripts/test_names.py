"""Scripts and benchmarks import only names that exist; most of them are run too rarely to notice otherwise."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OF_RELEASES = {"against_release.py"}  # it imports the modules of earlier versions, in processes of their own
PROGRAMS = sorted(
    path
    for folder in ("scripts", "benchmarks")
    for path in (ROOT / folder).glob("*.py")
    if path.name not in OF_RELEASES
)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_what_a_program_imports_from_tellmore_exists(path: Path) -> None:
    missing = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tellmore":
            module = import_module(str(node.module))
            is_package = hasattr(module, "__path__")
            missing += [
                f"{node.module}.{name.name}"
                for name in node.names
                if not hasattr(module, name.name) and not (is_package and find_spec(f"{node.module}.{name.name}"))
            ]
    assert not missing
