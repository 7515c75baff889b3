"""Rows of the paper's study figures and tables, from an analysis; `study.plots` draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tellmore.core.time_model import TimeModel
from tellmore.study.analysis import Analysis, CandidateFit, ages, demographic_counts, mean_times
from tellmore.study.records import Records


def fig8_rows(analysis: Analysis) -> list[dict[str, Any]]:
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
    """The linear model at a size, with as many marks as answers of that size made on average."""
    marks = np.mean([row.get("marks", 0) for row in answers if row["size"] == size])
    return TimeModel("linear", fit.b0, fit.b1, per_mark=fit.per_mark or 0.0).seconds(size, float(marks))


def fig15_rows(records: Records) -> list[dict[str, Any]]:
    """Ages."""
    return [{"age": age} for age in ages(records)]


def fig16_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Total minutes."""
    return [{"minutes": minutes} for minutes in analysis.minutes]


def fig17_rows(analysis: Analysis, stages: list[str]) -> list[dict[str, Any]]:
    """Mean and standard error by kind, stage and size, stages in the order of learning."""
    rows = []
    for kind, answers in analysis.answers.items():
        points = mean_times([row for row in answers if row["stage"] is not None], by_stage=True)
        rows += [{"kind": kind, **point} for point in sorted(points, key=lambda point: stages.index(point["stage"]))]
    return rows


def table2_rows(records: Records) -> list[dict[str, Any]]:
    """Ethnicity."""
    return demographic_counts(records, "ethnicity")


def table3_rows(records: Records) -> list[dict[str, Any]]:
    """Country of birth."""
    return demographic_counts(records, "country_of_birth")


def table4_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Answers by size."""
    return [dict(row) for row in analysis.counts]


def table5_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Candidate models."""
    return [fit.row() for fit in analysis.candidates]
