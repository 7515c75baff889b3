"""Write exhibits to disk: the picture (PNG and SVG), the rows (CSV) and the sentence."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tellmore.figures.bench import Bench
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.joined import earlier_rows, joined
from tellmore.files import replacing, write_whole
from tellmore.rows import Rows
from tellmore.sim.trials import writable_folder, write_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMULATED = "Simulated study: no human was measured."


@dataclass(frozen=True)
class Outcome:
    """The result of an exhibit. ``sentence`` compares it with the paper, or says why it could not be made."""

    name: str
    title: str
    sentence: str
    made: bool
    seconds: float


def said_of(exhibit: Exhibit, rows: Rows) -> str:
    """How the rows compare with the paper, in words."""
    said = exhibit.compare(rows)
    return f"{SIMULATED} {said}" if exhibit.simulated else said


def picture_of(exhibit: Exhibit, rows: Rows) -> Figure:
    """The picture, with the word "simulated" in it if people were simulated."""
    figure = exhibit.draw(rows)
    if exhibit.simulated:
        figure.text(0.995, 0.995, "simulated", ha="right", va="top", fontsize=8, color="#D55E00")
    return figure


def produce(exhibit: Exhibit, bench: Bench, out: Path) -> Outcome:
    """Measure, draw and write one exhibit into ``out``."""
    started = time.perf_counter()
    rows = joined(exhibit.collect(bench), earlier_rows(bench, exhibit.name))
    sentence, figure = said_of(exhibit, rows), picture_of(exhibit, rows)
    writable_folder(out)
    with replacing(out / f"{exhibit.name}.png") as fresh:
        figure.savefig(fresh)
    with replacing(out / f"{exhibit.name}.svg") as fresh:
        figure.savefig(fresh, metadata={"Date": None})  # without a date, the same rows give the same file
    write_whole(out / f"{exhibit.name}.csv", as_csv(rows))
    write_whole(out / f"{exhibit.name}.txt", sentence + "\n")
    outcome = Outcome(exhibit.name, exhibit.title, sentence, True, time.perf_counter() - started)
    write_json(out / f"{exhibit.name}.json", {"name": outcome.name, "title": outcome.title, "sentence": sentence})
    return outcome


def produce_all(
    exhibits: Sequence[Exhibit], bench: Bench, out: Path, *, announce: Callable[[Exhibit], None] = lambda _: None
) -> list[Outcome]:
    """Produce exhibits one after another."""
    outcomes = []
    for exhibit in exhibits:
        announce(exhibit)
        outcomes.append(produce(exhibit, bench, out))
    return outcomes


def as_csv(rows: Rows) -> str:
    """Rows as CSV; floats with six significant digits, so that files stay small and stable."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in names])
    return text.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value
