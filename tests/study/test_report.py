"""Figures, tables and the report: they show what is in the rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tellmore.study import plots as figures
from tellmore.study.analysis import Analysis, analyse
from tellmore.study.exhibits import exhibit_rows
from tellmore.study.records import Records
from tellmore.study.report import p_value, report_html
from tellmore.study.settings import Study
from tests.study.made_up import Draw


@pytest.fixture
def records(draw: Draw) -> Records:
    draw.miss = lambda number, _kind: number == 0
    return draw.records(8)


@pytest.fixture
def analysis(records: Records, study: Study) -> Analysis:
    return analyse(records, study.design.kinds, pay=4.0)


Rows = list[dict[str, Any]]
STAGES = ["early", "mid", "late"]


@pytest.fixture
def exhibits(study: Study, records: Records, analysis: Analysis) -> dict[str, Rows]:
    return exhibit_rows(study, records, analysis)


def test_fig8_shows_means_and_the_fitted_line(analysis: Analysis, exhibits: dict[str, Rows]) -> None:
    rows = exhibits["fig8"]
    assert len(rows) == 14
    line = next(fit for fit in analysis.candidates if fit.kind == "rank" and fit.form == "linear")
    assert next(row["fitted_s"] for row in rows if row["kind"] == "rank" and row["size"] == 5) == pytest.approx(
        line.b0 + 5 * line.b1
    )
    axes = figures.fig8(rows).axes[0]
    shown = sorted(label.get_text() for label in axes.get_legend().get_texts())
    assert shown == [
        "Ranking, linear fit", "Ranking, mean ± s.e.", "Selection, linear fit", "Selection, mean ± s.e.",
    ]  # fmt: skip


def test_fig17_has_a_panel_a_kind_and_stages_in_order(exhibits: dict[str, Rows]) -> None:
    figure = figures.fig17(exhibits["fig17"])
    assert [axes.get_title() for axes in figure.axes] == ["Ranking", "Selection"]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == STAGES


def test_tests_and_pay_stand_beside_the_rows(analysis: Analysis, study: Study, exhibits: dict[str, Rows]) -> None:
    ranked = analysis.fits["rank"]
    assert ranked.vuong is not None
    assert ranked.ancova_clustered is not None
    assert exhibits["table5"][0]["vuong_p"] == ranked.vuong.p
    assert exhibits["fig17"][0]["ancova_p_clustered"] == ranked.ancova_clustered.p
    assert (exhibits["fig17"][0]["first"], exhibits["fig17"][0]["last"]) == (
        study.stages[0].first,
        study.stages[0].last,
    )
    pay = exhibits["fig16"][0]
    assert pay["hourly_pay"] * pay["minutes"] / 60 == pytest.approx(study.pay.amount)


def test_ages_and_minutes_are_drawn_for_everybody(exhibits: dict[str, Rows]) -> None:
    assert len(exhibits["fig15"]) == len(exhibits["fig16"]) == 8
    histogram = figures.fig15(exhibits["fig15"]).axes[0]
    assert sum(bar.get_height() for bar in histogram.patches) == 8
    assert len(figures.fig16(exhibits["fig16"]).axes[0].collections[-1].get_offsets()) == 8


def test_one_participant_can_be_drawn(study: Study, draw: Draw) -> None:
    records = draw.records(1)
    rows = exhibit_rows(study, records, analyse(records, study.design.kinds))
    figures.fig16(rows["fig16"])
    figures.fig15(rows["fig15"])


def test_tables_hold_the_counts_and_fits(exhibits: dict[str, Rows]) -> None:
    header, body = figures.counts_table(exhibits["table4"])
    assert header == ["|S|", "Ranking", "Selection"]
    assert body[-1] == ["Total", "140", "140"]
    header, body = figures.candidates_table(exhibits["table5"])
    assert [row[:2] for row in body] == [
        ["Ranking", "Linear"],
        ["Ranking", "Quadratic"],
        ["Selection", "Linear"],
        ["Selection", "Logarithmic"],
    ]
    assert sum(row["count"] for row in exhibits["table2"]) == 8
    assert exhibits["table3"] == [{"value": "Not available", "count": 8}]
    for name in ("table2", "table3", "table4", "table5"):
        assert getattr(figures, name)(exhibits[name]).axes


def rate_rows(best: str) -> list[dict[str, Any]]:
    bits = {("label", 1): 0.2, ("select", 2): 0.4, ("select", 3): 0.5, ("rank", 2): 0.5, ("rank", 3): 0.9}
    return [
        {
            "kind": kind, "size": size, "bits": b, "bits_se": 0.01, "seconds": 5.0, "bits_per_second": b / 5,
            "best": kind == best,
        }
        for (kind, size), b in bits.items()
    ]  # fmt: skip


@pytest.mark.parametrize("best", ["label", "select"])
def test_the_rates_figure_marks_the_best(best: str) -> None:
    texts = [text.get_text() for text in figures.rates_figure(rate_rows(best)).axes[1].get_legend().get_texts()]
    assert ("best" in texts) == (best != "label")


def test_the_report_is_one_file_with_everything(study: Study, records: Records, analysis: Analysis) -> None:
    html = report_html(study, records, analysis)
    for heading in ("Exclusions", "Answers by set size", "Response times", "Vuong", "Learning stage", "Participants"):
        assert f"<h2>{heading}" in html
    assert "no human was measured" not in html
    assert "mean 15." in html or "Pay per hour" in html
    assert "<script" not in html


def test_the_report_escapes_what_people_wrote(study: Study, records: Records) -> None:
    hostile = study.model_copy(update={"title": "<script>alert(1)</script>"})
    records.people[0]["demographics"]["country_of_birth"] = "<img src=x>"
    html = report_html(hostile, records, analyse(records, study.design.kinds))
    assert "<script" not in html
    assert "<img src=x" not in html


def test_a_report_of_nothing_says_why(study: Study) -> None:
    empty = analyse(Records(), study.design.kinds)
    html = report_html(study, Records(), empty)
    assert "too few to fit" in html


def test_the_report_lists_times_that_cannot_be_used(study: Study, records: Records) -> None:
    records.answers[3]["seconds"] = -2.0
    html = report_html(study, records, analyse(records, study.design.kinds))
    assert "-2 s is not positive" in html


def test_numbers_of_the_analysis_are_json(analysis: Analysis) -> None:
    plain = json.loads(json.dumps(analysis.as_json()))
    assert set(plain) == {
        "exclusions", "counts_by_size", "fits", "unusable_times", "minutes", "hourly_pay", "notes",
    }  # fmt: skip


def test_p_values_are_never_zero() -> None:
    assert [p_value(p) for p in (0.9, 0.04, 0.00004)] == ["0.90", "0.040", "4.0e-05"]
