"""The laboratory names the paper's kinds in one place; a list of kinds elsewhere would leave new kinds out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tellmore import kinds
from tellmore.figures import paper

ALLOWED = {"figures/paper.py", "study/settings.py"}


def lists_of_kinds(text: str) -> list[int]:
    """Lines on which two kinds or more stand side by side in a literal, at any size ("rank-4")."""
    names = {*kinds.families(), *(kind.name for kind in kinds.all_kinds())}

    def named(node: ast.AST | None) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split("-")[0] in names

    found = []
    for node in ast.walk(ast.parse(text)):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        if sum(map(named, parts)) > 1:
            found.append(node.lineno)
    return found


def test_kinds_are_listed_once(repository: Path) -> None:
    rooms = repository / "src" / "tellmore"
    files = [file for room in ("figures", "sim", "study") for file in (rooms / room).rglob("*.py")]
    where = {file.relative_to(rooms).as_posix(): lists_of_kinds(file.read_text(encoding="utf-8")) for file in files}
    assert {name: lines for name, lines in where.items() if lines and name not in ALLOWED} == {}
    assert lists_of_kinds('x = ("label", "rank-4")') == lists_of_kinds('x = {"label": 1, "tick": 2}') == [1]


def test_what_the_paper_prints() -> None:
    assert paper.SETTINGS[-2:] == ("rank-4, random", "rank-4")
    assert paper.COUNTS["label"] == 1310
    assert paper.COUNT_WORDS["label, random"] == "> 2000"
    assert paper.MEMBERS == ("label", "select_high", "select_low", "rank")


@pytest.mark.parametrize("setting", paper.SETTINGS)
def test_every_setting_has_its_words(setting: str) -> None:
    assert paper.COUNT_WORDS[setting].split()[-1] == str(paper.COUNTS[setting])
