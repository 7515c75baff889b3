"""Time models of single answers and the tests between them, each as in the paper and allowing for differences between people.

Answers of one participant are alike: some people are slow. Ordinary least squares treats them as independent and reports
standard errors that are too small. So every fit and test is also reported with errors clustered by participant (compared with
Student's t with participants - 1 degrees of freedom), and with a mixed model in which each participant has a line of their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tellmore import kinds as question_kinds
from tellmore.core.time_model import Form, basis
from tellmore.errors import InputError, needs
from tellmore.study.vuong import VuongTest, gaussian_loglik, vuong
from tellmore.types import Array

Answers = Sequence[Mapping[str, Any]]
LEAST_PEOPLE = 3
"""With fewer people, nothing can be said about how people differ."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class CandidateFit:
    """One row of Table V. ``mse`` is the residual mean square; clustered errors allow for differences between participants.

    ``b1_low`` and ``b1_high`` are the slope's 95 % interval by the clustered error. ``per_mark``: the seconds that each mark
    adds, if the kind counts marks, such as ticks.
    """

    kind: str
    form: Form
    b0: float
    b0_se: float
    b1: float
    b1_se: float
    b0_se_clustered: float
    b1_se_clustered: float
    b1_low: float
    b1_high: float
    r2: float
    r2_adjusted: float
    mse: float
    n: int
    participants: int
    per_mark: float | None = None
    per_mark_se: float | None = None
    per_mark_se_clustered: float | None = None

    def row(self) -> dict[str, Any]:
        """The fit as a plain dict, without marks if the kind has none."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class MixedFit:
    """The linear model with an intercept and a slope for each participant, by restricted maximum likelihood.

    ``sd_intercept`` and ``sd_slope``: how much people differ; ``sd_residual``: how much one person's answers differ.
    """

    kind: str
    b0: float
    b0_se: float
    b1: float
    b1_se: float
    b1_low: float
    b1_high: float
    sd_intercept: float
    sd_slope: float
    sd_residual: float
    n: int
    participants: int
    converged: bool


@dataclass(frozen=True)
class Ancova:
    """Whether the learning stage explains time beyond set size: an F test of the larger model against the smaller.

    ``clustered``: a Wald test with errors clustered by participant, whose residual degrees of freedom are participants - 1.
    """

    kind: str
    f: float
    df_stage: int
    df_residual: int
    p: float
    n: int
    clustered: bool = False


def _statsmodels() -> Any:
    with needs("statsmodels", "lab"):
        import statsmodels.api as sm
    return sm


def _sizes_and_seconds(answers: Answers, kind: str) -> tuple[Array, Array]:
    sizes = np.array([row["size"] for row in answers], dtype=float)
    seconds = np.array([row["seconds"] for row in answers], dtype=float)
    if len(sizes) < 3:
        raise InputError(f"{len(sizes)} {kind} answers are left: too few to fit a time model; at least 3 are needed")
    if np.ptp(sizes) == 0:
        raise InputError(f"all {kind} answers show {int(sizes[0])} items: a slope cannot be fitted; ask several sizes")
    if np.ptp(seconds) == 0:
        raise InputError(f"all {kind} answers took exactly {seconds[0]:g} s: these are not measured times")
    return sizes, seconds


def _marks(answers: Answers, kind: str) -> Array:
    """The marks of each answer as a column, if its kind counts them; else no column."""
    if not question_kinds.named(kind).time.counts_marks:
        return np.empty((len(answers), 0))
    return np.array([[float(row["marks"])] for row in answers])


def _people(answers: Answers) -> tuple[NDArray[np.int64], int]:
    """The participant of each answer as a number from 0, and the number of participants."""
    numbers = np.unique([row["participant"] for row in answers], return_inverse=True)[1]
    return numbers, int(numbers.max()) + 1


def _enough_people(answers: Answers, kind: str) -> tuple[NDArray[np.int64], int]:
    people, count = _people(answers)
    if count < LEAST_PEOPLE:
        raise InputError(
            f"{count} participants are left in {kind}: errors that allow for people need at least {LEAST_PEOPLE}"
        )
    return people, count


def _ols(answers: Answers, kind: str, form: Form) -> Any:
    sm = _statsmodels()
    sizes, seconds = _sizes_and_seconds(answers, kind)
    return sm.OLS(seconds, np.column_stack([sm.add_constant(basis(form, sizes)), _marks(answers, kind)])).fit()


def _clustered(fit: Any, answers: Answers) -> Any:
    """The same fit with errors clustered by participant; None if there are too few people."""
    people, count = _people(answers)
    if count < LEAST_PEOPLE:
        return None
    return fit.get_robustcov_results("cluster", groups=people, use_correction=True, use_t=True)


def half_width(se: float, participants: int) -> float:
    """Half of the 95 % interval of an estimate whose error is clustered by participant."""
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, participants - 1)) * se


def fit_candidate(answers: Answers, kind: str, form: Form) -> CandidateFit:
    """Ordinary least squares of seconds on one form, from single answers."""
    fit = _ols(answers, kind, form)
    robust, participants = _clustered(fit, answers), _people(answers)[1]
    b, se = fit.params.tolist(), fit.bse.tolist()
    own = [float("nan")] * len(b) if robust is None else robust.bse.tolist()
    half = half_width(own[1], participants) if robust is not None else float("nan")
    return CandidateFit(
        kind,
        form,
        *(b[0], se[0], b[1], se[1], own[0], own[1], b[1] - half, b[1] + half),
        *(float(fit.rsquared), float(fit.rsquared_adj), float(fit.mse_resid), int(fit.nobs), participants),
        *((b[2], se[2], own[2]) if len(b) > 2 else ()),
    )


def fit_candidates(answers: Answers, kind: str) -> list[CandidateFit]:
    """The two candidate models of a kind, in the order in which Vuong's test compares them (Table V)."""
    return [fit_candidate(answers, kind, form) for form in question_kinds.named(kind).time_forms]


def fit_mixed(answers: Answers, kind: str) -> MixedFit:
    """The linear model with a separate line for each participant; InputError if there are too few people."""
    sm = _statsmodels()
    sizes, seconds = _sizes_and_seconds(answers, kind)
    people, count = _enough_people(answers, kind)
    line = sm.add_constant(sizes)
    with warnings.catch_warnings():
        # Convergence is reported below; a spread of exactly 0 between people is not an error.
        warnings.simplefilter("ignore")
        model = sm.MixedLM(seconds, np.column_stack([line, _marks(answers, kind)]), people, exog_re=line)
        # If people hardly differ, gradients mislead the first method, and the second is used.
        fit = model.fit(method=["lbfgs", "powell"])
        (b0, b1), (b0_se, b1_se) = fit.fe_params[:2].tolist(), fit.bse_fe[:2].tolist()
    half = half_width(b1_se, count)
    spread = np.sqrt(np.maximum(np.diag(np.asarray(fit.cov_re)), 0.0)).tolist()
    return MixedFit(
        kind,
        *(b0, b0_se, b1, b1_se, b1 - half, b1 + half),
        *(spread[0], spread[1], float(np.sqrt(fit.scale))),
        *(len(seconds), count, bool(fit.converged and np.isfinite(b1_se))),
    )


def compare_candidates(answers: Answers, kind: str, *, clustered: bool = False) -> VuongTest:
    """Vuong's test of a kind's first candidate (linear) against its second."""
    first, second = (_ols(answers, kind, form) for form in question_kinds.named(kind).time_forms)
    people = _enough_people(answers, kind)[0] if clustered else None
    return vuong(gaussian_loglik(first.resid), gaussian_loglik(second.resid), people)


def ancova_stage(answers: Answers, kind: str, *, clustered: bool = False) -> Ancova:
    """ANCOVA of seconds on size alone against size and stage; answers without a stage are left out."""
    sm = _statsmodels()
    staged = [row for row in answers if row["stage"] is not None]
    sizes, seconds = _sizes_and_seconds(staged, kind)
    names = sorted({row["stage"] for row in staged})
    if len(names) < 2:
        raise InputError(f"{kind} answers come from {len(names)} stage of learning; an ANCOVA needs at least two")
    dummies = np.array([[float(row["stage"] == name) for name in names[1:]] for row in staged])
    terms = np.column_stack([sm.add_constant(sizes), _marks(staged, kind)])
    large = sm.OLS(seconds, np.column_stack([terms, dummies])).fit()
    if not clustered:
        f, p, df = large.compare_f_test(sm.OLS(seconds, terms).fit())
        return Ancova(kind, float(f), int(df), int(large.df_resid), float(p), len(staged))
    participants = _enough_people(staged, kind)[1]
    test = _clustered(large, staged).f_test(np.eye(large.params.size)[terms.shape[1] :])
    f, p = float(np.squeeze(test.fvalue)), float(test.pvalue)
    return Ancova(kind, f, len(names) - 1, participants - 1, p, len(staged), clustered=True)
