"""One HTML file with the whole analysis of a study: tables and embedded figures, no scripts, no external links."""

from __future__ import annotations

import base64
import io
from typing import Any

from tellmore import kinds
from tellmore.pages import render_page
from tellmore.study import plots as figures
from tellmore.study.analysis import Analysis, demographic_counts
from tellmore.study.exhibits import exhibit_rows
from tellmore.study.records import Records
from tellmore.study.settings import Study


def _is_number(cell: str) -> bool:
    """Whether a table aligns a cell to the right."""
    return cell.replace(".", "").replace("-", "").replace("−", "").isdigit()


def _png(figure: Any) -> str:
    """A matplotlib figure as base64."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return base64.b64encode(buffer.getvalue()).decode()


def p_value(p: float) -> str:
    """A p-value as in a paper: two digits, never "0.00".

    >>> p_value(0.00004), p_value(0.9)
    ('4.0e-05', '0.90')
    """
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _tests(analysis: Analysis) -> list[list[str]]:
    rows = []
    for kind, own in analysis.fits.items():
        forms = kinds.named(kind).time_forms
        for test in (own.vuong, own.vuong_clustered):
            if test is not None:
                errors = "as in the paper" if test.clusters is None else "by participant"
                closer = forms[0 if test.z > 0 else 1]
                rows.append(
                    [figures.noun(kind), " against ".join(forms), errors, f"{test.z:.2f}", p_value(test.p), closer]
                )
    return rows


def _ancova(analysis: Analysis) -> list[list[str]]:
    return [
        [
            figures.noun(kind),
            "by participant" if test.clustered else "as in the paper",
            f"F({test.df_stage}, {test.df_residual}) = {test.f:.2f}",
            p_value(test.p),
            str(test.n),
        ]
        for kind, own in analysis.fits.items()
        for test in (own.ancova, own.ancova_clustered)
        if test is not None
    ]


def _interval(low: float, high: float) -> str:
    return f"{low:.2f} to {high:.2f}"


def _slopes(analysis: Analysis) -> list[list[str]]:
    """The linear slope of each kind, with differences between people treated in three ways."""
    rows = []
    for kind, own in analysis.fits.items():
        name = figures.noun(kind)
        for fit in own.candidates:
            if fit.form == "linear":
                plain = 1.96 * fit.b1_se
                rows.append([name, "answers independent", f"{fit.b1:.2f}", _interval(fit.b1 - plain, fit.b1 + plain)])
                rows.append([name, "clustered by participant", f"{fit.b1:.2f}", _interval(fit.b1_low, fit.b1_high)])
        if own.mixed is not None:
            mixed = own.mixed
            rows.append([name, "mixed model", f"{mixed.b1:.2f}", _interval(mixed.b1_low, mixed.b1_high)])
    return rows


def _people_differ(analysis: Analysis) -> list[list[str]]:
    return [
        [figures.noun(kind), *(f"{sd:.2f}" for sd in (fit.sd_intercept, fit.sd_slope, fit.sd_residual))]
        for kind, own in analysis.fits.items()
        if (fit := own.mixed) is not None
    ]


def _demographics(study: Study, records: Records) -> list[figures.Table]:
    """A table, header and body, for each question about the person that anyone answered; ages have a figure."""
    tables = []
    for field in study.demographics:
        counts = [] if field.name == "age" else demographic_counts(records, field.name)
        if any(row["value"] != "Not available" for row in counts):
            name = field.name.replace("_", " ").capitalize()
            tables.append(figures.demographic_table(counts, name))
    return tables


def report_html(study: Study, records: Records, analysis: Analysis, *, simulated: bool = False) -> str:
    """The report as one HTML document."""
    rows = exhibit_rows(study, records, analysis)

    def picture(name: str) -> str | None:
        return _png(getattr(figures, name)(rows[name])) if rows[name] else None

    return render_page(
        "study.html",
        study=study,
        simulated=simulated,
        is_number=_is_number,
        exclusions=[[figures.noun(s.kind), s.step, str(s.participants), str(s.answers)] for s in analysis.exclusions],
        unusable=[[row["participant"], row["question_id"], row["reason"]] for row in analysis.unusable],
        counts=figures.counts_table(analysis.counts),
        fig8=picture("fig8"),
        candidates=figures.candidates_table(rows["table5"]) if analysis.candidates else None,
        slopes=_slopes(analysis),
        people_differ=_people_differ(analysis),
        notes=analysis.notes,
        tests=_tests(analysis),
        ancova=(ancova := _ancova(analysis)),
        fig17=picture("fig17") if ancova else None,
        fig16=picture("fig16"),
        pay=analysis.pay,
        fig15=picture("fig15"),
        demographics=_demographics(study, records),
    )
