"""One HTML file with the whole analysis of a study: tables, figures as embedded pictures, no scripts, no links out."""

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
    """Whether a table sets a cell right."""
    return cell.replace(".", "").replace("-", "").replace("−", "").isdigit()


def _png(figure: Any) -> str:
    """A matplotlib figure as base64."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return base64.b64encode(buffer.getvalue()).decode()


def p_value(p: float) -> str:
    """As in a paper: two digits, never "0.00".

    >>> p_value(0.00004), p_value(0.9)
    ('4.0e-05', '0.90')
    """
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _clustered(analysis: Analysis) -> str:
    return "; ".join(
        f"{figures.noun(fit.kind)}: {fit.b1_se_clustered:.3f}" for fit in analysis.candidates if fit.form == "linear"
    )


def _tests(analysis: Analysis) -> list[list[str]]:
    rows = []
    for kind, test in analysis.tests.items():
        forms = kinds.named(kind).time_forms
        closer = forms[0 if test.z > 0 else 1]
        rows.append([figures.noun(kind), " against ".join(forms), f"{test.z:.2f}", p_value(test.p), closer])
    return rows


def _demographics(study: Study, records: Records) -> list[figures.Table]:
    """A table, header and body, of each question on the person that somebody answered; ages have a figure."""
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
        clustered=_clustered(analysis),
        notes=analysis.notes,
        tests=_tests(analysis),
        ancova=[
            [figures.noun(t.kind), f"F({t.df_stage}, {t.df_residual}) = {t.f:.2f}", p_value(t.p), str(t.n)]
            for t in analysis.ancova
        ],
        fig17=picture("fig17") if analysis.ancova else None,
        fig16=picture("fig16"),
        pay=analysis.pay,
        fig15=picture("fig15"),
        demographics=_demographics(study, records),
    )
