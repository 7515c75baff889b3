"""Writes what follows from the committed rows in docs/results: claims, savings, the headline, and every page that quotes them.

    python scripts/write_claims.py                 # tables and pages
    python scripts/write_claims.py fig4 race       # these pictures too

Blocks of a page between <!-- NAME --> and <!-- end NAME --> are replaced. The whole page of results is written: it begins with
docs/results/summary.md, and its sections are the figures and tables.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tellmore.figures import claims, coverage, grid, headline, race_table, tables
from tellmore.figures.registry import EXHIBITS
from tellmore.figures.report import markdown_page
from tellmore.figures.reproduce import Outcome, as_csv, picture_of, said_of
from tellmore.rows import Rows, distinct

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
RACE = DOCS / "race"
WITH_BLOCKS = (
    RESULTS / "summary.md",
    DOCS / "reproduce.md",
    DOCS / "study.md",
    DOCS / "savings.md",
    DOCS / "race.md",
    ROOT / "README.md",
)
MADE = (
    "Every section below is made by `tellmore reproduce NAME --data DATA --out DIR` and gives its number of seeds; bands and "
    "± are standard errors over seeds. This page is written by `python scripts/write_claims.py` from the rows in `docs/results`."
)


def follow() -> dict[str, str]:
    """The CSV files that follow from the others, by name."""
    source = claims.from_folder(RESULTS)
    return {
        "claims.csv": as_csv(claims.claim_rows(source)),
        "savings.csv": as_csv(claims.saving_rows(source)),
        "headline.csv": as_csv(headline.headline_rows(source)),
    }


def blocks() -> dict[str, str]:
    """The blocks of pages by name."""
    source = claims.from_folder(RESULTS)
    return {
        "claims": claims.as_markdown(claims.claim_rows(source)),
        "savings": claims.savings_markdown(claims.saving_rows(source)),
        "savings-default": claims.within_default(claims.saving_rows(source)),
        "headline": claims.markdown_table(*headline.headline_table(headline.headline_rows(source))),
        "headline-sentence": f"{headline.headline_sentence(headline.headline_rows(source))} {race_sentence()}",
        "methods": claims.markdown_table(*headline.methods_table(source)),
        "scales": claims.markdown_table(*headline.scales_table(source)),
        "grid": claims.markdown_table(*grid.grid_table(source("grid"))),
        "grid-gains": claims.markdown_table(*grid.gain_table(source("grid"))),
        "grid-short": grid.in_short(source("grid")),
        "particles": EXHIBITS["particles"].compare(source("particles")),
        "coverage": EXHIBITS["coverage"].compare(source("coverage")),
        "coverage-balanced": coverage.balanced_sentence(source("coverage_balanced")),
        **race_blocks(),
    }


def race_rows() -> Rows:
    """The rows of the race."""
    return tables.rows_of(RACE / "race.csv")


def race_sentence() -> str:
    """The race in short, after a sentence about something else."""
    rivals = "logistic regression on random or uncertain labels, TypiClust, ProbCover, BALD, words alone"
    return race_table.in_short(race_rows(), "auto").replace("the best of them", f"the best of the others ({rivals})")


def race_blocks() -> dict[str, str]:
    """The tables of the race, and a sentence."""
    rows = race_rows()
    shown = [mark for mark in distinct(rows, "mark_s") if mark == 60 or mark >= race_table.LATER_S]
    marks = {f"race-{mark}": claims.markdown_table(*race_table.at_mark(rows, mark)) for mark in shown}
    return {
        **marks,
        "race-cells": claims.markdown_table(*race_table.cells(rows)),
        "race-short": race_table.in_short(rows, "auto"),
    }


def with_blocks(text: str) -> str:
    """A page with its blocks replaced."""
    for name, content in blocks().items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)"
        text = re.sub(
            pattern, lambda found, content=content: f"{found[1]}\n{content}\n\n{found[2]}", text, flags=re.DOTALL
        )
    return text


def results_page() -> str:
    """The page of results: the summary, then every figure and table except the claims, which are at the beginning."""
    source = claims.from_folder(RESULTS)
    outcomes = [
        Outcome(name, exhibit.title, said_of(exhibit, source(name)), made=True, seconds=0.0)
        for name, exhibit in EXHIBITS.items()
        if name != "claims" and source(name)
    ]
    preface = with_blocks((RESULTS / "summary.md").read_text(encoding="utf-8"))
    return markdown_page(outcomes, made=MADE, preface=preface)


def pages() -> dict[Path, str]:
    """The content of every page."""
    return {
        **{page: with_blocks(page.read_text(encoding="utf-8")) for page in WITH_BLOCKS},
        DOCS / "results.md": results_page(),
        RACE / "tables.md": race_table.tables(race_rows()),
    }


def main(names: list[str]) -> None:
    """Write everything, and the named pictures."""
    source = claims.from_folder(RESULTS)
    if "race" in names:
        race_table.picture(race_rows()).savefig(RACE / "race.png")
    for name in set(names) - {"race"}:
        picture_of(EXHIBITS[name], source(name)).savefig(RESULTS / f"{name}.png")
    for name, content in follow().items():
        (RESULTS / name).write_text(content, encoding="utf-8")
    for page, content in pages().items():
        page.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
