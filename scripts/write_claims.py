"""Write what follows from the committed rows in docs/results: the claims, the savings, and the tables on the results page.

    python scripts/write_claims.py

Blocks of the page between <!-- NAME --> and <!-- end NAME --> are replaced.
"""

from __future__ import annotations

import re
from pathlib import Path

from tellmore.figures import claims
from tellmore.figures.reproduce import as_csv

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results"


def tables() -> dict[str, str]:
    """The CSV files that follow from the others, by name."""
    source = claims.from_folder(RESULTS)
    return {
        "claims.csv": as_csv(claims.claim_rows(source)),
        "savings.csv": as_csv(claims.saving_rows(source)),
    }


def blocks() -> dict[str, str]:
    """The blocks of the page by name."""
    source = claims.from_folder(RESULTS)
    return {
        "claims": claims.as_markdown(claims.claim_rows(source)),
        "savings": claims.savings_markdown(claims.saving_rows(source)),
        "headline": claims.headline_markdown(source),
    }


def with_blocks(text: str) -> str:
    """A page with its blocks written anew."""
    for name, content in blocks().items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)"
        text = re.sub(
            pattern, lambda found, content=content: f"{found[1]}\n{content}\n\n{found[2]}", text, flags=re.DOTALL
        )
    return text


def main() -> None:
    """Write all of it."""
    for name, content in tables().items():
        (RESULTS / name).write_text(content, encoding="utf-8")
    for page in (DOCS / "results.md", RESULTS / "summary.md"):
        page.write_text(with_blocks(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
