"""Whether the standard errors of a study's analysis are right if each person gives many answers: intervals and tests over
simulated studies.

Every replicate is a study of attentive people with their own speeds and the paper's time models; nothing is excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tellmore.figures import paper
from tellmore.figures.bench import Bench
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import table_figure
from tellmore.policy.cost import PAPER_COST
from tellmore.rows import Row, Rows, distinct
from tellmore.study.fits import ancova_stage, fit_candidate, fit_mixed
from tellmore.study.people import draw_answers
from tellmore.study.presets import preset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PEOPLE = 40
REPLICATES = 400
"""Simulated studies: the share of 95 % intervals then has a standard error of 1.1 points. With 200 it would be 1.5, and correct
intervals would look 2 points off in every fifth row."""
SPEED_SDS = (0.0, 0.4)
MIXED_AT = (paper.RANK, 0.4)
"""Mixed models take long, so they are fitted only for one kind and one spread of speeds."""
NORMAL = 1.96
INDEPENDENT, CLUSTERED, MIXED = "answers independent", "clustered by participant", "mixed model"


def coverage_rows(bench: Bench) -> Rows:
    """The share of 95 % intervals that contain the slope, and of 5 % tests of the stage that reject although it has no effect."""
    return bench.remembered("coverage", [], lambda: list(_measure(3 if bench.plan.quick else REPLICATES)))


def _measure(replicates: int) -> Iterator[Row]:
    study = preset("grid", lambda: "CODE")
    for kind in study.design.kinds:
        for case, speed_sd in enumerate(SPEED_SDS):
            outcomes: dict[tuple[str, str], list[bool]] = {}
            for seed in range(replicates):
                # No two rows share random draws, which would push them all to the same side.
                rng = np.random.default_rng([seed, 7, case, study.design.kinds.index(kind)])
                answers = draw_answers(study, kind, PEOPLE, rng=rng, speed_sd=speed_sd)
                for key, outcome in _outcomes(answers, kind, mixed=(kind, speed_sd) == MIXED_AT):
                    outcomes.setdefault(key, []).append(outcome)
            for (what, errors), seen in outcomes.items():
                share = float(np.mean(seen))
                se = share_error(share, len(seen))
                row = {"kind": kind, "people": PEOPLE, "speed_sd": speed_sd, "what": what, "errors": errors}
                yield {**row, "share": share, "se": se, "replicates": len(seen)}


def share_error(share: float, n: int) -> float:
    """Standard error of a share of n, with two of either outcome added: 100 of 100 is not certainty."""
    moderate = (share * n + 2) / (n + 4)
    return float(np.sqrt(moderate * (1 - moderate) / (n + 4)))


def _outcomes(answers: list[dict[str, Any]], kind: str, *, mixed: bool) -> Iterator[tuple[tuple[str, str], bool]]:
    truth = PAPER_COST.model(kind).slope
    fit = fit_candidate(answers, kind, "linear")
    yield ("slope covered", INDEPENDENT), abs(fit.b1 - truth) < NORMAL * fit.b1_se
    yield ("slope covered", CLUSTERED), fit.b1_low < truth < fit.b1_high
    if mixed and (own := fit_mixed(answers, kind)).converged:
        yield ("slope covered", MIXED), own.b1_low < truth < own.b1_high
    yield ("stage rejected", INDEPENDENT), ancova_stage(answers, kind).p < 0.05
    yield ("stage rejected", CLUSTERED), ancova_stage(answers, kind, clustered=True).p < 0.05


def draw(rows: Rows) -> Figure:
    """The shares as a table."""
    header = ["Question", "s.d. of log speed", "What", "Errors", "Share (s.e.)", "Nominal", "Studies"]
    body = [
        [
            str(row["kind"]),
            f"{row['speed_sd']:g}",
            str(row["what"]),
            str(row["errors"]),
            f"{row['share']:.3f} ({row['se']:.3f})",
            "0.95" if row["what"] == "slope covered" else "0.05",
            str(row["replicates"]),
        ]
        for row in rows
    ]
    return table_figure(header, body, title=f"Errors of a study of {PEOPLE} simulated people")


def _range(rows: Rows, keep: Callable[[Row], bool]) -> str:
    shares = [row["share"] for row in rows if keep(row)]
    if not shares:
        return "no study"
    low, high = f"{min(shares):.1%}", f"{max(shares):.1%}"
    return low if low == high else f"{low} to {high}"


def _compare(rows: Rows) -> str:
    def covered(errors: str) -> str:
        return _range(
            rows, lambda row: (row["what"], row["errors"]) == ("slope covered", errors) and row["speed_sd"] > 0
        )

    errors = [row["se"] for row in rows if row["what"] == "slope covered"]
    low, high = min(errors), max(errors)
    return (
        f"If people differ in speed, 95 % intervals contain the slope in {covered(INDEPENDENT)} of studies if answers are "
        f"treated as independent, as in the paper, in {covered(CLUSTERED)} with errors clustered by participant and in "
        f"{covered(MIXED)} with a mixed model. Standard errors of these shares are {100 * low:.1f} to {100 * high:.1f} points."
    )


def balanced_sentence(rows: Rows) -> str:
    """How often intervals contain the slope if all people answer the same sizes (`tests/oracles/balanced_study.py`)."""

    def shares(errors: str, kinds: Sequence[str]) -> str:
        found = [100 * row[errors] for row in rows if row["kind"] in kinds]
        return f"{min(found):.1f} to {max(found):.1f} %"

    kinds = distinct(rows, "kind")
    people, speeds = ([f"{value:g}" for value in distinct(rows, name)] for name in ("people", "speed_sd"))
    alone = " and ".join(f"{shares('independent', [kind])} of studies for {kind}" for kind in kinds)
    return (
        f"In {rows[0]['replicates']:,} studies each of {', '.join(people)} people who all answer the same sizes, with speeds "
        f"that differ by a log-s.d. of {' or '.join(speeds)}, clustered intervals contain the slope in "
        f"{shares('clustered', kinds)}. Intervals that treat answers as independent contain it in {alone}."
    )


EXHIBITS = (Exhibit("coverage", "Errors of a study's analysis", coverage_rows, draw, _compare, simulated=True),)
