"""Exhibits of the response-time study, from a simulated one: Figs. 8, 15 to 17 and Tables II to V.

The rows and pictures are those of a real study (`study.exhibits`, `study.plots`); only the participants are simulated.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tellmore.figures.bench import Bench
from tellmore.figures.exhibit import Exhibit
from tellmore.rows import Row, Rows, distinct, where
from tellmore.study import plots as drawings

PARTICIPANTS = 101
"""As many as the paper had."""
SEED = 0
_AT_RANDOM = "Drawn at random; it shows how the table looks, not real people."


def study_rows(bench: Bench) -> dict[str, list[Row]]:
    """The rows of all exhibits and tests of one simulated study."""
    rows = bench.remembered("study", [], lambda: _simulate(quick=bench.plan.quick))
    return {row["exhibit"]: row["rows"] for row in rows}


def _simulate(*, quick: bool) -> list[Row]:
    from tellmore.study.analysis import analyse
    from tellmore.study.exhibits import exhibit_rows
    from tellmore.study.simulate import SHORT_RUN, simulated_study

    with tempfile.TemporaryDirectory() as folder:
        study, records = simulated_study(
            Path(folder),
            participants=12 if quick else PARTICIPANTS,
            seed=SEED,
            stages=SHORT_RUN if quick else None,
        )
    analysis = analyse(records, study.design.kinds, pay=study.pay.amount)
    return [{"exhibit": name, "rows": rows} for name, rows in exhibit_rows(study, records, analysis).items()]


def _collector(name: str) -> Callable[[Bench], Rows]:
    return lambda bench: study_rows(bench)[name]


def _compare_fig8(rows: Rows) -> str:
    def line(kind: str) -> str:
        own = sorted(where(rows, kind=kind), key=lambda row: row["size"])
        low, high = own[0], own[-1]
        slope = (high["fitted_s"] - low["fitted_s"]) / (high["size"] - low["size"])
        return f"{low['fitted_s'] - slope * low['size']:.2f} + {slope:.2f} |S|"

    return (
        "The paper fits 4.01 + 0.63 |S| seconds to selections and -0.32 + 4.41 |S| to rankings; the simulated participants, who "
        f"are given those means, are fitted by {line('select_high')} and {line('rank')}."
    )


def _compare_ages(rows: Rows) -> str:
    ages = sorted(row["age"] for row in rows)
    median = float(np.median(ages))
    return f"Mean age {sum(ages) / len(ages):.1f} and median {median:.0f} among {len(ages)}; the paper's: 43.25 and 44 of 101."


def _compare_minutes(rows: Rows) -> str:
    minutes = [row["minutes"] for row in rows]
    pay = np.array([row["hourly_pay"] for row in rows])
    return (
        f"Mean total time {sum(minutes) / len(minutes):.0f} minutes; the paper's: about 20. Hourly pay {pay.mean():.2f} on "
        f"average, {np.median(pay):.2f} in the median, with a standard deviation of {pay.std(ddof=1):.2f}; the paper's: 12.23, "
        "10.60 and 9.53 USD."
    )


def _compare_stages(rows: Rows) -> str:
    strata = {row["stage"]: f"{row['stage']}: {row['first']} to {row['last']}" for row in rows}
    tests = [
        f"{kind} p = {own['ancova_p']:.2f}, {own['ancova_p_clustered']:.2f} with errors clustered by participant"
        for kind in distinct(rows, "kind")
        for own in where(rows, kind=kind)[:1]
        if own["ancova_p"] is not None
    ]
    return (
        f"Questions of a learning run, {'; '.join(strata.values())}. The paper finds no effect of the learning stage (p = 0.90); "
        f"the simulated people were given none: {'; '.join(tests)}."
    )


def _compare_counts(rows: Rows) -> str:
    total = {name: sum(row[name] for row in rows) for name in rows[0] if name != "size"}
    words = ", ".join(f"{kind} {count}" for kind, count in total.items())
    return f"Answers left after exclusions: {words}; the paper's: 1256 rankings and 1648 selections of 101 people."


def _compare_models(rows: Rows) -> str:
    fits = "; ".join(f"{row['kind']} {row['form']} R² = {row['r2']:.3f}" for row in rows)
    tests = "; ".join(
        f"{kind} z = {own['vuong_z']:.1f}, p = {own['vuong_p']:.2g}, {own['vuong_p_clustered']:.2g} by participant"
        for kind in distinct(rows, "kind")
        for own in where(rows, kind=kind)[:1]
        if own["vuong_z"] is not None
    )
    return (
        f"{fits}. Vuong's test of the linear form: {tests} (the paper: p = 4e-5 for rankings, 1e-5 for selections). The "
        "paper's R²: selection linear 0.112, logarithmic 0.097; ranking linear 0.373, quadratic 0.356. "
        "A simulated study cannot confirm which form is right: its people were given linear times."
    )


def _says(sentence: str) -> Callable[[Rows], str]:
    return lambda _: sentence


EXHIBITS = tuple(
    Exhibit(name, title, _collector(name), draw, compare, simulated=True)
    for name, title, draw, compare in (
        ("fig8", "Fig. 8: response time against |S|", drawings.fig8, _compare_fig8),
        ("fig15", "Fig. 15: ages", drawings.fig15, _compare_ages),
        ("fig16", "Fig. 16: total time", drawings.fig16, _compare_minutes),
        ("fig17", "Fig. 17: response time by learning stage", drawings.fig17, _compare_stages),
        ("table2", "Table II: ethnicity", drawings.table2, _says(_AT_RANDOM)),
        ("table3", "Table III: country of birth", drawings.table3, _says(_AT_RANDOM)),
        ("table4", "Table IV: answers by set size", drawings.table4, _compare_counts),
        ("table5", "Table V: candidate response-time models", drawings.table5, _compare_models),
    )
)
