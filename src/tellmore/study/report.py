"""One HTML file with the whole analysis of a study: tables, figures as embedded pictures, no scripts, no links out."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import Any

from tellmore import kinds
from tellmore.study import plots as figures
from tellmore.study.analysis import Analysis, demographic_counts
from tellmore.study.exhibits import fig8_rows, fig15_rows, fig16_rows, fig17_rows, table5_rows
from tellmore.study.records import Records
from tellmore.study.settings import Study

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: 0.8rem 0; display: block; overflow-x: auto; }
th, td { border: 1px solid #ccc; padding: 0.25rem 0.7rem; text-align: left; }
th { background: #f2f2f2; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; } figcaption { color: #444; font-size: 0.9rem; }
.notice { border-left: 4px solid #d55e00; padding: 0.4rem 0.8rem; background: #fff6f0; }
"""


def html_table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table; cells that look like numbers are set right."""
    head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in header)
    rows = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: str) -> str:
    number = cell.replace(".", "").replace("-", "").replace("−", "").isdigit()
    return f"<td{' class=number' if number else ''}>{escape(cell)}</td>"


def html_figure(figure: Any, caption: str) -> str:
    """A matplotlib figure as an embedded PNG; the caption is its text alternative too."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f"<figure><img alt='{escape(caption, quote=True)}' src='data:image/png;base64,{data}'>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def p_value(p: float) -> str:
    """As in a paper: two digits, never "0.00".

    >>> p_value(0.00004), p_value(0.9)
    ('4.0e-05', '0.90')
    """
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _exclusions(analysis: Analysis) -> str:
    body = [
        [figures.noun(step.kind), step.step, str(step.participants), str(step.answers)] for step in analysis.exclusions
    ]
    text = "<h2>Exclusions</h2>" + html_table(["Question", "After this step", "Participants", "Answers"], body)
    if analysis.unusable:
        rows = [[row["participant"], row["question_id"], row["reason"]] for row in analysis.unusable]
        text += f"<p class='notice'>{len(rows)} times cannot be used and were set aside; the log keeps them.</p>"
        text += html_table(["Participant", "Question", "Reason"], rows)
    return text


def _times(analysis: Analysis) -> str:
    parts = ["<h2>Answers by set size</h2>", html_table(*figures.counts_table(analysis.counts))]
    if rows := fig8_rows(analysis):
        parts += ["<h2>Response times</h2>", html_figure(figures.fig8(rows), _FIG8)]
    if analysis.candidates:
        parts.append(html_table(*figures.candidates_table(table5_rows(analysis))))
        clustered = "; ".join(
            f"{figures.noun(fit.kind)}: {fit.b1_se_clustered:.3f}"
            for fit in analysis.candidates
            if fit.form == "linear"
        )
        parts.append(
            "<p>MSE is the residual sum of squares over N − 2; the logarithm is binary. Standard errors of the linear "
            f"slope that allow for answers of one participant being alike: {escape(clustered)}.</p>"
        )
    parts += [f"<p class='notice'>{escape(note)}</p>" for note in analysis.notes]
    return "".join(parts)


_FIG8 = "Mean response time and standard error of all answers by set size, with the linear fit on single answers."
_FIG17 = "Response time by set size and learning stage; the bands are one standard error."
_FIG16 = "Total time of every participant who completed the study, instructions included."


def _tests(analysis: Analysis, study: Study) -> str:
    parts = []
    if analysis.tests:
        body = [
            [
                figures.noun(kind),
                " against ".join(kinds.named(kind).time_forms),
                f"{test.z:.2f}",
                p_value(test.p),
                kinds.named(kind).time_forms[0 if test.z > 0 else 1],
            ]
            for kind, test in analysis.tests.items()
        ]
        parts += ["<h2>Vuong's test</h2>", html_table(["Question", "Models", "z", "p (two-sided)", "Closer"], body)]
    if analysis.ancova:
        body = [
            [
                figures.noun(t.kind),
                f"F({t.df_stage}, {t.df_residual}) = {t.f:.2f}",
                p_value(t.p),
                str(t.n),
            ]
            for t in analysis.ancova
        ]
        parts.append("<h2>Learning stage</h2>")
        parts.append("<p>ANCOVA: does the stage of learning explain time beyond set size?</p>")
        parts.append(html_table(["Question", "F", "p", "N"], body))
        rows = fig17_rows(analysis, [stage.name for stage in study.stages])
        parts.append(html_figure(figures.fig17(rows), _FIG17))
    return "".join(parts)


def _people(study: Study, records: Records, analysis: Analysis) -> str:
    parts = ["<h2>Participants</h2>"]
    if analysis.minutes:
        parts.append(html_figure(figures.fig16(fig16_rows(analysis)), _FIG16))
    if analysis.pay:
        pay = analysis.pay
        parts.append(
            f"<p>Pay per hour, {escape(study.pay.currency)}: mean {pay['mean']:.2f}, median {pay['median']:.2f}, "
            f"standard deviation {pay['sd']:.2f}.</p>"
        )
    if rows := fig15_rows(records):
        parts.append(html_figure(figures.fig15(rows), "Ages of the participants who gave theirs."))
    for field in study.demographics:
        if field.name == "age":
            continue
        counts = demographic_counts(records, field.name)
        if any(row["value"] != "Not available" for row in counts):
            name = field.name.replace("_", " ").capitalize()
            header, body, _ = figures.demographic_table(counts, heading=name, title=name)
            parts.append(html_table(header, body))
    return "".join(parts)


def report_html(study: Study, records: Records, analysis: Analysis, *, simulated: bool = False) -> str:
    """The report as one HTML document."""
    notice = "<p class='notice'>Simulated study: no human was measured.</p>" if simulated else ""
    body = "".join(
        [
            f"<h1>{escape(study.title)}</h1>",
            notice,
            _exclusions(analysis),
            _times(analysis),
            _tests(analysis, study),
            _people(study, records, analysis),
            f"<h2>Study file</h2><p>Fingerprint {study.fingerprint[:16]}.</p>",
        ]
    )
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(study.title)}: analysis</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )
