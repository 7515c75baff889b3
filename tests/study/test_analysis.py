"""Exclusions step by step, candidate models, Vuong's verdict, ANCOVA, pay, and records that cannot be used."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable

import numpy as np
import pytest

from tellmore.core.time_model import TimeModel
from tellmore.errors import InputError
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.study.analysis import (
    analyse,
    counts_by_size,
    demographic_counts,
    exclude,
    hourly_pay,
    mean_times,
    total_times,
)
from tellmore.study.fits import ancova_stage, compare_candidates, fit_candidate
from tellmore.study.people import draw_answers
from tellmore.study.plots import candidates_table
from tellmore.study.records import Records
from tests.study.made_up import Draw


def test_only_the_inattentive_are_excluded_and_only_in_that_kind(draw: Draw) -> None:
    draw.miss = lambda number, kind: number % 5 == 0 and (kind == "rank" or number % 2 == 0)
    records = draw.records(20)
    rank, rank_steps = exclude(records, "rank")
    select, _ = exclude(records, "select_high")
    assert {row["participant"] for row in rank} == {f"p{n}" for n in range(20) if n % 5}
    assert {row["participant"] for row in select} == {f"p{n}" for n in range(20) if n % 10}
    assert not any(row["gold"] for row in rank)
    by_step = {step.step: (step.participants, step.answers) for step in rank_steps}
    assert by_step["entered"] == (20, 500)
    assert by_step["answered all gold questions correctly"] == (16, 400)
    assert by_step["gold questions removed"] == (16, 320)


def test_every_step_is_counted(draw: Draw) -> None:
    records = draw.records(6)
    records.people[0]["consented"] = False
    records.people[1]["passed_comprehension"] = False
    left = [row for row in records.answers if not (row["participant"] == "p2" and row["position"] > 10)]
    records = Records(records.people, left)
    mine = [row for row in records.answers if row["kind"] == "rank" and not row["gold"]]
    mine[-1]["seconds"] = -1.0
    mine[-2]["seconds"] = None
    mine[-3]["skipped"] = True
    before = copy.deepcopy(records)
    _, steps = exclude(records, "rank")
    assert [step.participants for step in steps] == [6, 5, 4, 3, 3, 3, 3, 3]
    assert [step.answers for step in steps[4:]] == [75, 60, 59, 57]
    assert records == before


def test_coefficients_are_recovered(draw: Draw) -> None:
    answers, _ = exclude(draw.records(60), "rank")
    fit = fit_candidate(answers, "rank", "linear")
    truth = PAPER_COST.model("rank")
    assert abs(fit.b1 - truth.slope) < 2.5 * fit.b1_se
    assert abs(fit.b0 - truth.intercept) < 2.5 * fit.b0_se
    assert fit.mse == pytest.approx(125.44, rel=0.25)
    assert fit.n == 1200


def test_over_many_seeds_intervals_cover_and_linear_is_mostly_preferred(draw: Draw) -> None:
    covered, ahead = [], []
    for seed in range(60):
        answers = draw_answers(draw.study, "rank", 12, rng=np.random.default_rng(seed), speed_sd=0.0)
        fit = fit_candidate(answers, "rank", "linear")
        covered.append(abs(fit.b1 - 4.41) < 2 * fit.b1_se)
        ahead.append(compare_candidates(answers, "rank").z > 0)
    assert np.mean(covered) > 0.87
    assert np.mean(ahead) > 0.65


def test_least_squares_agree_with_the_textbook(draw: Draw) -> None:
    answers, _ = exclude(draw.records(8), "select_high")
    k = np.array([row["size"] for row in answers], dtype=float)
    t = np.array([row["seconds"] for row in answers])
    fit = fit_candidate(answers, "select_high", "logarithmic")
    x = np.log2(k)
    slope = np.cov(x, t)[0, 1] / np.var(x, ddof=1)
    residual = t - t.mean() - slope * (x - x.mean())
    mse = residual @ residual / (len(t) - 2)
    assert fit.b1 == pytest.approx(slope)
    assert fit.b0 == pytest.approx(t.mean() - slope * x.mean())
    assert fit.mse == pytest.approx(mse)
    assert fit.b1_se == pytest.approx(math.sqrt(mse / np.sum((x - x.mean()) ** 2)))
    assert fit.r2 == pytest.approx(1 - residual @ residual / np.sum((t - t.mean()) ** 2))
    assert fit.r2_adjusted < fit.r2


@pytest.mark.parametrize(("form", "sign"), [("linear", 1), ("quadratic", -1)])
def test_vuong_prefers_the_form_that_made_the_times(draw: Draw, form: str, sign: int) -> None:
    model = TimeModel(form, 5.0, 4.0 if form == "linear" else 0.5, spread_s=4.0)  # type: ignore[arg-type]
    draw.cost = CostModel({"rank": model})
    answers, _ = exclude(draw.records(40), "rank")
    assert sign * compare_candidates(answers, "rank").z > 2


def test_ancova_sees_a_stage_effect_and_none_where_there_is_none(draw: Draw) -> None:
    answers, _ = exclude(draw.records(40), "select_high")
    assert ancova_stage(answers, "select_high").p > 0.01
    slow = [{**row, "seconds": row["seconds"] + (2.0 if row["stage"] == "late" else 0.0)} for row in answers]
    test = ancova_stage(slow, "select_high")
    assert test.p < 1e-6
    assert (test.df_stage, test.df_residual) == (2, len(answers) - 4)


def test_ancova_rarely_rejects_without_an_effect(draw: Draw) -> None:
    p = []
    for seed in range(60):
        answers = draw_answers(draw.study, "select_high", 5, rng=np.random.default_rng(seed), speed_sd=0.0)
        p.append(ancova_stage(answers, "select_high").p)
    assert np.mean(np.array(p) < 0.05) < 0.15


def one_size(answers: list[dict[str, object]]) -> list[dict[str, object]]:
    return [row for row in answers if row["size"] == 4]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (one_size, "all rank answers show 4 items: a slope cannot be fitted"),
        (lambda answers: answers[:2], "too few"),
        (lambda answers: [{**row, "seconds": 3.0} for row in answers], "took exactly 3 s"),
    ],
)
def test_unfittable_answers_are_refused(draw: Draw, change: Callable[..., list[dict[str, object]]], says: str) -> None:
    answers, _ = exclude(draw.records(3), "rank")
    with pytest.raises(InputError, match=says):
        fit_candidate(change(answers), "rank", "linear")


def test_an_ancova_needs_two_stages(draw: Draw) -> None:
    answers, _ = exclude(draw.records(3), "rank")
    with pytest.raises(InputError, match="at least two"):
        ancova_stage([row for row in answers if row["stage"] == "mid"], "rank")


def test_counts_means_totals_and_pay(draw: Draw) -> None:
    records = draw.records(21)
    answers = {kind: exclude(records, kind)[0] for kind in ("rank", "select_high")}
    counts = counts_by_size(answers)
    assert [row["size"] for row in counts] == list(range(2, 9))
    assert sum(row["rank"] for row in counts) == 420
    points = mean_times(answers["rank"])
    assert points[0]["mean_s"] == pytest.approx(
        np.mean([row["seconds"] for row in answers["rank"] if row["size"] == 2])
    )
    minutes = total_times(records)
    assert len(minutes) == 21
    assert hourly_pay([30.0, 15.0], 5.0) == {"mean": 15.0, "median": 15.0, "sd": pytest.approx(7.0710678)}
    assert hourly_pay([], 5.0) is None
    assert hourly_pay([3.0], 0.0) is None


def test_demographics_are_counted_where_given(draw: Draw) -> None:
    records = draw.records(6)
    records.people[1]["demographics"] = {}
    assert demographic_counts(records, "ethnicity") == [
        {"value": "White", "count": 3},
        {"value": "Asian", "count": 2},
        {"value": "Not available", "count": 1},
    ]


def test_an_analysis_of_nothing_says_so_instead_of_failing(draw: Draw) -> None:
    analysis = analyse(Records(), ("rank", "select_high"), pay=4.0)
    assert len(analysis.notes) == 2
    assert analysis.candidates == []
    json.dumps(analysis.as_json())


def test_hidden_pages_are_mentioned(draw: Draw) -> None:
    records = draw.records(8)
    for row in records.answers[2:5]:
        row["timing"] = {"hidden_ms": 900}
    assert analyse(records, ("rank", "select_high")).notes == [
        "3 answers are analysed although the page was hidden for part of the time"
    ]


def test_unusable_times_are_listed_with_reasons(draw: Draw) -> None:
    records = draw.records(2)
    records.answers[5]["seconds"] = None
    records.answers[6]["seconds"] = 1e9
    listed = analyse(records, ("rank", "select_high")).unusable
    assert [row["question_id"] for row in listed] == [records.answers[i]["question_id"] for i in (5, 6)]
    assert "missing" in listed[0]["reason"]


def test_the_time_of_a_grid_is_taken_apart_into_items_and_ticks(draw: Draw) -> None:
    truth = TimeModel("linear", 3.0, 0.5, spread_s=1.0, per_mark=1.5)
    rng = np.random.default_rng(0)
    rows = []
    for number in range(400):
        size, stage = int(rng.choice([4, 8, 12])), ["early", "late"][number % 2]
        marks = int(rng.binomial(size, 0.4))
        seconds = truth.sample(size, rng, marks)
        rows.append(
            {"participant": f"p{number % 20}", "size": size, "marks": marks, "seconds": seconds, "stage": stage}
        )
    fit = fit_candidate(rows, "tick", "linear")
    assert fit.per_mark is not None
    assert fit.per_mark_se is not None
    for found, se, wanted in ((fit.b0, fit.b0_se, 3.0), (fit.b1, fit.b1_se, 0.5), (fit.per_mark, fit.per_mark_se, 1.5)):
        assert abs(found - wanted) < 3 * se < 1.0
    assert compare_candidates(rows, "tick").z > 0
    assert ancova_stage(rows, "tick").p > 0.001
    assert "per mark (s.e.)" in candidates_table([fit.row()])[0]
