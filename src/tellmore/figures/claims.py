"""The quantitative sentences of the paper, one row for each sentence and mode: the estimate, its interval and the verdict.

No verdict is written by hand: `verdict.verdict` computes it from the rows of other exhibits, either new or committed.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tellmore.figures import baselines, black_box, grid, gumbel, information, learning, paper, stopping
from tellmore.figures.bench import Bench
from tellmore.figures.claims_information import rates, ratios, residuals, theory
from tellmore.figures.claims_learning import WORDS, Source, counts, curves, saving_times, savings
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.tables import rows_of
from tellmore.figures.verdict import VERDICTS, Estimate, claim_row
from tellmore.plotting import table_figure
from tellmore.rows import Row, Rows, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EXHIBITS = {
    exhibit.name: exhibit
    for module in (baselines, learning, information, gumbel, stopping, black_box, grid)
    for exhibit in module.EXHIBITS
}
_NEEDS_PEOPLE = "needs human participants; the study that is run here is simulated"
_PEOPLE_CLAIMS = (
    ("III-C", "A linear model describes selection times better than a logarithmic one (p = 1e-5)."),
    ("III-C", "A linear model describes ranking times better than a quadratic one (p = 4e-5)."),
    ("III-C", "Selection takes 4.01 + 0.63 |S| seconds, ranking -0.32 + 4.41 |S|."),
    ("III-C", "A further word takes much longer in a ranking (4.41 s) than in a selection (0.63 s)."),
    ("III-C", "Linear models closely track the mean response times of every set size."),
    ("App. C", "22 people fail the checks before the study."),
    ("III-C", "After exclusions 83 participants remain for selections and 63 for rankings, of 101."),
    ("App. C", "1648 selections and 1256 rankings remain, spread over sizes 2 to 8 as in Table IV."),
    ("App. C", "Table V: R² 0.112 and 0.097 for selections, 0.373 and 0.356 for rankings; mean squared errors 11.22, 11.36, "
     "125.44, 127.69."),
    ("App. C", "Table V: selections take 3.10 + 1.84 log |S| seconds by the logarithmic form, rankings 9.69 + 0.42 |S|² by the "
     "quadratic one."),
    ("App. C", "Participants need about 20 minutes for 50 queries."),
    ("App. C", "Participants earn 12.23 USD an hour on average, 10.60 in the median, with a standard deviation of 9.53."),
    ("App. C", "42 women and 59 men take part, 41 in the UK and 60 in the US; 69 are students, 17 are not."),
    ("App. C", "The mean age is 43.25 years, the median 44; Tables II and III give ethnicity and country of birth."),
    ("App. C", "Item difficulty explains no further variance of response times (p = 0.90)."),
)  # fmt: skip
_NEEDS_AVA = "AVA is not available; OASIS, which is easier, cannot replace it for a count"
_IMAGE_CLAIMS = (
    ("III-B", "Images: rank-4 needs 84 % fewer interactions than labels to 63 %."),
    (
        "III-B",
        "Images: labels with selection or ranking reach 65 % after about 400 and 900, respectively, labels not within 2000.",
    ),
    ("III-B", "Images: the median score, which separates the classes, is 5.58 (5.48 in App. A)."),
    ("App. A", "Images: the Kolmogorov-Smirnov distance is 0.030 for Gumbel-max and 0.123 for Gumbel-min."),
    ("App. A", "Aesthetic scores of 21,979 landscapes are strongly correlated with the distance to the classifier."),
)
_NOT_SAID = (
    ("III-C", "With the times of Fig. 11b, selection from two words is best.", "the paper does not print those times"),
    ("App. A", "Gumbel-max is a practical approximation for 60 to 80 % of the data.", "the paper gives no criterion"),
    (
        "App. A",
        "Scores of words, of their adjectives and of 23,625 faces vary linearly with the distance to the classifier.",
        "the paper gives no criterion; R² is at Figs. 1 and 13, for the scales that are available",
    ),
    (
        "III-A",
        "The uncertainty decays exponentially with the number of questions, and a smaller M needs fewer.",
        "follows from Theorem 1, without a number",
    ),
)


def from_bench(bench: Bench) -> Source:
    """Rows that are measured on a bench, or stored there."""
    kept: dict[str, Rows] = {}

    def rows(name: str) -> Rows:
        if name not in kept:
            kept[name] = _EXHIBITS[name].collect(bench) if name in _EXHIBITS else []
        return kept[name]

    return rows


def from_folder(folder: Path) -> Source:
    """Rows of CSV files written earlier."""

    def rows(name: str) -> Rows:
        path = folder / f"{name}.csv"
        return rows_of(path) if path.exists() else []

    return rows


def _untested() -> Iterator[Row]:
    for section, sentence, reason in _NOT_SAID:
        yield claim_row(section, sentence, "none", Estimate.missing(reason, testable=False))
    for claims, reason in ((_IMAGE_CLAIMS, _NEEDS_AVA), (_PEOPLE_CLAIMS, _NEEDS_PEOPLE)):
        for section, sentence in claims:
            yield claim_row(section, sentence, "none", Estimate.missing(reason, testable=False))


def claim_rows(source: Source) -> list[Row]:
    """One row for each sentence and mode."""
    return [
        *theory(source),
        *counts(source),
        *curves(source),
        *rates(source),
        *ratios(source),
        *residuals(source),
        *_untested(),
    ]


def measured_text(row: Row) -> str:
    """Estimate and interval in words, followed by what they are."""
    if row["estimate"] is None:
        return str(row["measured"])
    ends = ["open" if end is None or math.isinf(end) else _number(end) for end in (row["low"], row["high"])]
    interval = "" if ends == ["open", "open"] else f" ({ends[0]} to {ends[1]})"
    return f"{_number(row['estimate'])}{interval}; {row['measured']}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def claims(rows: Rows) -> Figure:
    """The claims as a table picture."""
    body = [
        [row["section"], row["mode"], *("\n".join(textwrap.wrap(text, 58)) for text in (row["claim"], measured_text(row))),
         row["verdict"]]
        for row in rows
    ]  # fmt: skip
    header = ["section", "mode", "claim", "measured (95 % interval)", "verdict"]
    return table_figure(header, body, title="Claims of the paper", widths=[0.07, 0.08, 0.36, 0.37, 0.12])


def as_markdown(rows: Rows) -> str:
    """The claims in Markdown: first those that do not hold, then the inconclusive ones, then the rest."""
    titles = ("What did not hold", "What is inconclusive", "What held", "What cannot be tested here")
    text = [_compare(rows)]
    for title, kind in zip(titles, VERDICTS, strict=True):
        own = where(rows, verdict=kind)
        body = [[row["section"], row["mode"], row["claim"], measured_text(row)] for row in own]
        header = ["section", "mode", "the paper", "measured (95 % interval)"]
        text += [f"## {title}: {len(own)} rows", markdown_table(header, body)]
    return "\n\n".join(text)


def saving_rows(source: Source) -> list[Row]:
    """Seconds saved compared with labels, within modes and across them."""
    return [
        {**row, "saved": own.value, "low": own.low, "high": own.high, "note": own.reason}
        for row, own in savings(source)
    ]


def savings_markdown(rows: Rows) -> str:
    """The savings as two tables: those of the paper's words side by side, then those of further pools."""
    words = where(rows, pool=WORDS)
    columns = list(dict.fromkeys((row["mode"], row["labels"]) for row in words))
    header = ["question", "", *(_compared(*column) for column in columns)]
    body = []
    for setting in dict.fromkeys(row["setting"] for row in words):
        own = {(row["mode"], row["labels"]): row for row in where(words, setting=setting)}
        cells = [_saving_cells(own[column]) if column in own else ("–",) * 4 for column in columns]
        whats = ("seconds saved, first crossings", "the mean stays there from", "accuracy after 600 s", "from")
        body += [[setting, what, *line] for what, line in zip(whats, zip(*cells, strict=True), strict=True)]
    further = [[row["pool"], row["setting"], *_saving_cells(row)] for row in rows if row["pool"] != WORDS]
    names = ["pool", "question", "seconds saved (95 % interval)", "labels → this: the mean stays there from"]
    return "\n\n".join(
        [markdown_table(header, body), markdown_table([*names, "accuracy after 600 s", "from"], further)]
    )


def _compared(mode: str, labels: str) -> str:
    return f"within {mode}" if mode == labels else f"{mode} against labels of {labels}"


def _saving_cells(row: Row) -> tuple[str, str, str, str]:
    saved = "not known" if row["saved"] is None else f"{row['saved']:.0%} ({_ends(row)})"
    return saved, *saving_times(row), str(row["note"])


def within_default(rows: Rows) -> str:
    """What each kind of question, and the choice among them, saves of the seconds of labels in the default mode, in words."""
    own = [row for row in where(rows, mode="default", labels="default", pool=WORDS) if row["saved"] is not None]
    told = [f"`{row['setting']}` {row['saved']:.0%} ({_ends(row)}; {row['note']})" for row in own]
    return f"Seconds saved compared with labels in the same mode, to {paper.TARGET:.0%}: {', '.join(told)}."


def _ends(row: Row) -> str:
    return " to ".join("open" if math.isinf(end) else f"{end:.0%}" for end in (row["low"], row["high"]))


def markdown_table(header: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _compare(rows: Rows) -> str:
    said = ", ".join(f"{kind} {len(where(rows, verdict=kind))}" for kind in VERDICTS)
    return (
        f"Of {len(rows)} rows, one for each quantitative sentence and mode: {said}. One rule computes every verdict from the "
        "estimate, its 95 % interval and what the sentence allows (a printed number and a tenth to either side): a claim "
        "holds if the interval is inside this range, does not hold if it is outside, and is inconclusive otherwise."
    )


EXHIBITS = (
    Exhibit(
        "claims",
        "Claims of the paper, sentence by sentence",
        lambda bench: claim_rows(from_bench(bench)),
        claims,
        _compare,
    ),
)
