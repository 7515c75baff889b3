"""Rows of the paper's study figures and tables, from an analysis; `study.plots` draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tellmore.core.time_model import TimeModel
from tellmore.study.analysis import Analysis, KindAnalysis, ages, demographic_counts, mean_times
from tellmore.study.fits import Ancova, CandidateFit
from tellmore.study.records import Records
from tellmore.study.settings import Stage, Study
from tellmore.study.vuong import VuongTest

Rows = list[dict[str, Any]]


def exhibit_rows(study: Study, records: Records, analysis: Analysis) -> dict[str, Rows]:
    """The rows of every figure and table, by its name in the paper."""
    return {
        "fig8": _times(analysis),
        "fig15": [{"age": age} for age in ages(records)],
        "fig16": [
            {"minutes": minutes, "hourly_pay": study.pay.amount / (minutes / 60)} for minutes in analysis.minutes
        ],
        "fig17": _times_by_stage(analysis, study.stages),
        "table2": demographic_counts(records, "ethnicity"),
        "table3": demographic_counts(records, "country_of_birth"),
        "table4": [dict(row) for row in analysis.counts],
        "table5": [{**fit.row(), **_against_the_other(analysis.fits[fit.kind])} for fit in analysis.candidates],
    }


def _times(analysis: Analysis) -> Rows:
    """Mean and standard error by kind and size, with the linear fit at that size."""
    lines = {fit.kind: fit for fit in analysis.candidates if fit.form == "linear"}
    rows = []
    for kind, answers in analysis.answers.items():
        fit = lines.get(kind)
        for point in mean_times(answers):
            fitted = None if fit is None else _fitted(fit, point["size"], answers)
            rows.append({"kind": kind, **point, "fitted_s": fitted})
    return rows


def _fitted(fit: CandidateFit, size: int, answers: Sequence[Mapping[str, Any]]) -> float:
    """The linear model at a size, with the mean number of marks of answers of that size."""
    marks = np.mean([row.get("marks", 0) for row in answers if row["size"] == size])
    return TimeModel("linear", fit.b0, fit.b1, per_mark=fit.per_mark or 0.0).seconds(size, float(marks))


def _times_by_stage(analysis: Analysis, stages: Sequence[Stage]) -> Rows:
    """Mean and standard error by kind, stage and size, with stages in the order of learning, and the test of the stage."""
    order = {stage.name: place for place, stage in enumerate(stages)}
    rows = []
    for kind, answers in analysis.answers.items():
        own = analysis.fits[kind]
        p = {"ancova_p": _p(own.ancova), "ancova_p_clustered": _p(own.ancova_clustered)}
        points = mean_times([row for row in answers if row["stage"] is not None], by_stage=True)
        for point in sorted(points, key=lambda point: order[point["stage"]]):
            stage = stages[order[point["stage"]]]
            rows.append({"kind": kind, **point, "first": stage.first, "last": stage.last, **p})
    return rows


def _against_the_other(own: KindAnalysis) -> dict[str, Any]:
    """Vuong's test between the candidates of a kind, as in the paper and clustered by participant."""
    z = None if own.vuong is None else own.vuong.z
    return {"vuong_z": z, "vuong_p": _p(own.vuong), "vuong_p_clustered": _p(own.vuong_clustered)}


def _p(test: VuongTest | Ancova | None) -> float | None:
    return None if test is None else test.p
