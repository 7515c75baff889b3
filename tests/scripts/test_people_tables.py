"""The tables of docs/people/results.md are those of the runs next to it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.loading import loaded

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    return loaded(ROOT / "benchmarks" / "people_tables.py")


def test_the_page_agrees_with_the_runs(tables: ModuleType) -> None:
    page = (ROOT / "docs" / "people" / "results.md").read_text(encoding="utf-8")
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


def test_questions_that_tell_people_apart_are_compared_with_the_careful_people_alone(tables: ModuleType) -> None:
    pool = "words_vader_w2v300.npz,2500"
    runs = {("alone", "as usual"): [0.8, 0.9], ("people", "as usual"): [0.8, 0.9], ("people", "2 x doubt"): [0.7]}
    rows = [
        {
            "pool": pool,
            "team": team,
            "learner": who,
            "prior": "85, 10, 5",
            "asked": asked,
            "seed": str(at),
            "accuracy": one,
        }
        for team in tables.FIVE
        for (who, asked), each in runs.items()
        for at, one in enumerate(map(str, each))
    ]
    *_, usual, asked = tables.apart(rows)
    assert usual == "| VADER | by person, 85, 10, 5 | none | 2 |" + " +0.0 ± 0.0 |" * 4
    assert asked == "| VADER | by person, 85, 10, 5 | 2 × doubt | 1 |" + " −10.0 |" * 4


def test_what_auto_gains_is_measured_on_the_same_seeds(tables: ModuleType) -> None:
    seen = {("no", "0"): (0.5, "slower"), ("yes", "0"): (0.6, ""), ("no", "1"): (0.7, ""), ("yes", "2"): (0.9, "")}
    rows = [
        {"pool": "wine=1", "habit": habit, "weighed": weighed, "seed": seed, "after 60 s": str(one), "noticed": noticed}
        for habit in tables.TIRING
        for (weighed, seed), (one, noticed) in seen.items()
    ]
    title, _, steady, *_ = tables.auto(rows)
    assert title == "| person | pools | runs | noticed | after 60 s, %: not weighed | gained |"
    assert steady == "| steady | 1 | 1 | 1 | 50.0 | +10.0 |"
