"""The tables of docs/people.md are those of the runs next to it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("people_tables", ROOT / "benchmarks" / "people_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_agrees_with_the_runs(tables: ModuleType) -> None:
    page = (ROOT / "docs" / "people.md").read_text(encoding="utf-8")
    assert page.count("<!-- end ") >= 5
    assert tables.filled(page, ROOT / "docs" / "people") == page


def test_points_are_means_over_the_seeds_that_both_have(tables: ModuleType) -> None:
    learners = {"alone": [0.8, 0.9], "trusting": [0.7, 0.9], "people": [0.8, 0.86, 0.5]}
    rows = [
        {"pool": pool, "kind": "label", "team": "two random", "learner": who, "seed": str(at), "accuracy": str(one)}
        for pool in ("breast-cancer", "wine=1")
        for who, each in learners.items()
        for at, one in enumerate(each)
    ]
    *_, line, mean = tables.teams(tables.runs_of(rows), "label", tables.FIVE)
    assert line == "| wine = 1 | two random | 2 | 85.0 | −5.0 ± 5.0 | −2.0 ± 2.0 | +3.0 ± 7.0 |"
    assert mean == "| **mean of 2 pools** | two random | | | −5.0 ± 0.0 | −2.0 ± 0.0 | **+3.0 ± 0.0** |"
