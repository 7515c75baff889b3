"""Errors that allow for people: against textbook formulas, and their coverage by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tellmore.errors import InputError
from tellmore.study.fits import ancova_stage, compare_candidates, fit_candidate, fit_mixed
from tellmore.study.people import draw_answers
from tellmore.study.settings import Study
from tellmore.study.vuong import gaussian_loglik
from tellmore.types import Array
from tests.oracles.balanced_study import KINDS, SIZES, Balanced, interval

Rows = list[dict[str, Any]]


@pytest.fixture
def answers(study: Study) -> Rows:
    return draw_answers(study, "rank", 25, rng=np.random.default_rng(0), speed_sd=0.4)


def columns(answers: Rows) -> tuple[Array, Array, Array]:
    return tuple(np.array([row[name] for row in answers], float) for name in ("size", "seconds", "participant"))  # type: ignore[return-value]


def sandwich(design: Array, residual: Array, people: Array) -> Array:
    """CR1, person by person: the sum of outer products of what each person adds to the normal equations."""
    meat = np.zeros((design.shape[1],) * 2)
    for person in np.unique(people):
        own = people == person
        score = design[own].T @ residual[own]
        meat += np.outer(score, score)
    bread = np.linalg.inv(design.T @ design)
    g, (n, k) = len(np.unique(people)), design.shape
    return np.asarray(g / (g - 1) * (n - 1) / (n - k) * bread @ meat @ bread)


def least_squares(design: Array, y: Array) -> tuple[Array, Array]:
    b = np.linalg.solve(design.T @ design, design.T @ y)
    return b, y - design @ b


def test_clustered_errors_and_intervals_are_the_textbooks(answers: Rows) -> None:
    size, seconds, people = columns(answers)
    design = np.column_stack([np.ones_like(size), size])
    b, residual = least_squares(design, seconds)
    se = np.sqrt(np.diag(sandwich(design, residual, people)))
    fit = fit_candidate(answers, "rank", "linear")
    assert (fit.b0_se_clustered, fit.b1_se_clustered) == pytest.approx(tuple(se))
    half = stats.t.ppf(0.975, 24) * se[1]
    assert (fit.b1_low, fit.b1_high) == pytest.approx((b[1] - half, b[1] + half))
    assert fit.participants == 25


def test_clustered_ancova_is_the_textbooks_wald_test(answers: Rows) -> None:
    size, seconds, people = columns(answers)
    stage = np.array([[row["stage"] == "late", row["stage"] == "mid"] for row in answers], float)
    design = np.column_stack([np.ones_like(size), size, stage])
    b, residual = least_squares(design, seconds)
    cov = sandwich(design, residual, people)[2:, 2:]
    f = b[2:] @ np.linalg.solve(cov, b[2:]) / 2
    test = ancova_stage(answers, "rank", clustered=True)
    assert (test.f, test.p) == pytest.approx((f, stats.f.sf(f, 2, 24)))
    assert (test.df_stage, test.df_residual) == (2, 24)


def test_clustered_vuong_sums_over_people(answers: Rows) -> None:
    size, seconds, people = columns(answers)
    ones = np.ones_like(size)
    first, second = (least_squares(np.column_stack([ones, x]), seconds)[1] for x in (size, size**2))
    m = gaussian_loglik(first) - gaussian_loglik(second)
    sums = [np.sum(m[people == person] - m.mean()) for person in np.unique(people)]
    test = compare_candidates(answers, "rank", clustered=True)
    assert test.z == pytest.approx(m.sum() / np.sqrt(25 * np.var(sums, ddof=1) + 25 * 25 / 24 * np.mean(sums) ** 2))
    assert test.p == pytest.approx(2 * stats.t.sf(abs(test.z), 24))
    assert test.clusters == 25


def test_without_people_who_differ_the_clustered_and_the_plain_errors_agree(study: Study) -> None:
    alike = draw_answers(study, "select_high", 200, rng=np.random.default_rng(1), speed_sd=0.0)
    fit = fit_candidate(alike, "select_high", "linear")
    assert fit.b1_se_clustered == pytest.approx(fit.b1_se, rel=0.15)


def test_slow_and_fast_people_widen_the_clustered_interval_and_the_mixed_one(answers: Rows) -> None:
    fit, mixed = fit_candidate(answers, "rank", "linear"), fit_mixed(answers, "rank")
    assert fit.b1_se_clustered > 1.2 * fit.b1_se
    assert mixed.converged
    assert mixed.b1 == pytest.approx(fit.b1, abs=fit.b1_se)
    assert mixed.b1_se == pytest.approx(fit.b1_se_clustered, rel=0.25)
    assert mixed.sd_slope == pytest.approx(0.4 * 4.41, rel=0.5)


def test_a_mixed_model_finds_the_spread_between_people(study: Study) -> None:
    """Compared with the truth it was made with: normal intercepts and slopes, normal residuals."""
    rng = np.random.default_rng(3)
    rows = draw_answers(study, "rank", 150, rng=rng)
    own = rng.normal([5.0, 3.0], [2.0, 0.5], (150, 2))
    made = [{**r, "seconds": own[r["participant"]] @ [1.0, r["size"]] + rng.normal(0, 1.5)} for r in rows]
    fit = fit_mixed(made, "rank")
    assert (fit.b0, fit.b1) == pytest.approx((5.0, 3.0), abs=0.6)
    assert (fit.sd_intercept, fit.sd_slope, fit.sd_residual) == pytest.approx((2.0, 0.5, 1.5), rel=0.2)


def test_coverage_with_people_of_different_speeds(study: Study) -> None:
    """As the study draws its questions; more of it, also of the mixed model, is in docs/results/coverage.csv."""
    rng = np.random.default_rng(4)
    covered = np.zeros(2)
    for _ in range(80):
        fit = fit_candidate(draw_answers(study, "rank", 30, rng=rng, speed_sd=0.4), "rank", "linear")
        covered += [abs(fit.b1 - 4.41) < 1.96 * fit.b1_se, fit.b1_low < 4.41 < fit.b1_high]
    assert covered[0] / 80 < 0.9
    assert covered[1] / 80 > 0.88


def test_nominal_coverage_within_two_points_where_everybody_answers_the_same_sizes() -> None:
    """On one such study the analysis gives the oracle's interval, which over many contains the slope as often as it should."""
    made = Balanced(*KINDS["rank"], people=40, speed_sd=0.4)
    seconds = made.seconds(1, np.random.default_rng(5))
    rows = [
        {"participant": person, "size": int(size), "seconds": float(taken)}
        for person, own in enumerate(seconds[0])
        for size, taken in zip(SIZES, own, strict=True)
    ]
    fit = fit_candidate(rows, "rank", "linear")
    assert (fit.b1, fit.b1_low, fit.b1_high) == pytest.approx([float(end[0]) for end in interval(seconds)])
    covered = made.covered(2000)
    assert abs(covered["clustered"] - 0.95) < 0.02
    assert covered["independent"] < 0.9


def test_two_people_say_nothing_of_people(study: Study) -> None:
    two = draw_answers(study, "rank", 2, rng=np.random.default_rng(0))
    assert np.isnan(fit_candidate(two, "rank", "linear").b1_se_clustered)
    for refused in (
        lambda: fit_mixed(two, "rank"),
        lambda: compare_candidates(two, "rank", clustered=True),
        lambda: ancova_stage(two, "rank", clustered=True),
    ):
        with pytest.raises(InputError, match="at least 3"):
            refused()
