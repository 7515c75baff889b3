"""Time models from logged answers: robust to interruptions, with intervals; answer by answer, with each person's speed.

What costs money is the *mean* time, and response times are skewed: medians, Theil-Sen lines and Huber fits all estimate
something smaller. So interruptions are set aside first (far out on the log scale, where response times are nearly
normal) and the mean of the rest is fitted by least squares with heteroscedasticity-consistent (HC3) errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tellmore import kinds
from tellmore.core.time_model import Form, TimeModel, basis
from tellmore.errors import InputError
from tellmore.policy.cost import PAPER_COST, CostModel, family_of
from tellmore.types import Array

MAX_SECONDS = 86_400.0
"""A day. Longer is no response time but a fault of clock or unit."""

OUTLIER_LOG_SD = 3.5
MIN_PER_SIZE = 10


class Timed(NamedTuple):
    """Seconds that one answer took; ``marks``: how many it made, where its kind counts them."""

    kind: str
    size: int
    seconds: float | None
    annotator: str | None = None
    marks: int = 0


def fault(timed: Timed) -> str | None:
    """Why a logged time cannot be used, or None: missing, not a number, not positive, longer than a day."""
    if timed.seconds is None or math.isnan(timed.seconds):
        return "the time is missing"
    if timed.seconds <= 0:
        return f"{timed.seconds:g} s is not positive"
    if timed.seconds > MAX_SECONDS:
        return f"{timed.seconds:g} s is more than a day: are these milliseconds?"
    if timed.size < 1:
        return f"a question shows at least 1 item, not {timed.size}"
    return None


@dataclass(frozen=True)
class TimeFit:
    """A fitted time model with ``level`` intervals; ``outliers`` marks times set aside, in the order given."""

    model: TimeModel
    se: tuple[float, float]
    intercept_interval: tuple[float, float]
    slope_interval: tuple[float, float]
    n: int
    outliers: tuple[bool, ...]
    level: float


def _log_outliers(sizes: Array, seconds: Array) -> NDArray[np.bool_]:
    """Mark times [n] further than OUTLIER_LOG_SD robust deviations from their size's median log time."""
    logs = np.log(seconds)
    residual = np.empty_like(logs)
    for size in np.unique(sizes):
        residual[sizes == size] = logs[sizes == size] - np.median(logs[sizes == size])
    pooled = stats.median_abs_deviation(residual, scale="normal")
    scale = np.full_like(logs, pooled)
    for size in np.unique(sizes):
        at = sizes == size
        if at.sum() >= MIN_PER_SIZE:
            # Relative spread is larger for small sets (absolute spread hardly differs): theirs is taken where it is.
            scale[at] = max(stats.median_abs_deviation(residual[at], scale="normal"), pooled)
    return np.asarray(np.abs(residual) > OUTLIER_LOG_SD * np.maximum(scale, 1e-12))


def _least_squares(design: Array, seconds: Array) -> tuple[Array, Array, float]:
    """Coefficients [p], HC3 covariance [p, p], residual standard deviation."""
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ seconds
    residual = seconds - design @ beta
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    meat = (design * (residual / np.maximum(1 - leverage, 1e-6))[:, None] ** 2).T @ design
    dof = max(len(seconds) - design.shape[1], 1)
    return beta, inverse @ meat @ inverse, float(np.sqrt(residual @ residual / dof))


def fit_time(times: Sequence[Timed], form: Form = "linear", *, level: float = 0.95) -> TimeFit:
    """Fit one form to the times of one kind; raise InputError on unusable times or where no slope can be fitted."""
    families = {family_of(timed.kind) for timed in times}
    if len(families) > 1:
        raise InputError(f"one time model is fitted to one kind of question, not to {', '.join(sorted(families))}")
    for position, timed in enumerate(times):
        reason = fault(timed)
        if reason is not None:
            raise InputError(f"time {position + 1} of {len(times)} ({timed.kind}, {timed.size} items): {reason}")
    parameters = 1 if form == "constant" else 2
    if len(times) < parameters + 1:
        raise InputError(f"{len(times)} times are too few to fit a {form} model; at least {parameters + 1} are needed")
    sizes = np.array([timed.size for timed in times], dtype=float)
    seconds = np.array([timed.seconds for timed in times], dtype=float)
    if parameters == 2 and np.ptp(sizes) == 0:
        raise InputError(
            f"all {len(times)} times are of sets of size {int(sizes[0])}: a slope cannot be fitted; "
            "ask at least two sizes or fit the constant form"
        )
    outliers = _log_outliers(sizes, seconds)
    kept = ~outliers
    if parameters == 2 and np.ptp(sizes[kept]) == 0:
        raise InputError(f"without interruptions only sets of size {int(sizes[kept][0])} remain: ask more sizes")
    design = np.column_stack([np.ones(kept.sum()), basis(form, sizes[kept])])[:, :parameters]
    beta, covariance, spread = _least_squares(design, seconds[kept])
    half = float(stats.t.ppf((1 + level) / 2, max(int(kept.sum()) - parameters, 1)))
    b = [*beta.tolist(), 0.0][:2]
    se = [*np.sqrt(np.diag(covariance)).tolist(), 0.0][:2]
    return TimeFit(
        TimeModel(form, b[0], b[1], spread),
        (se[0], se[1]),
        (b[0] - half * se[0], b[0] + half * se[0]),
        (b[1] - half * se[1], b[1] + half * se[1]),
        int(kept.sum()),
        tuple(outliers.tolist()),
        level,
    )


@dataclass(frozen=True, eq=False)
class _Moments:
    """Normal equations of one family in the terms 1, f(k) and marks, and what they were made from."""

    gram: Array  # [3, 3]
    moment: Array  # [3]
    squares: float = 0.0
    n: int = 0
    shown: float = 0.0
    marks: float = 0.0


def _prior_moments(kind: kinds.Kind, model: TimeModel, weight: float) -> _Moments:
    """``weight`` pseudo-answers of the prior model around the kind's usual size, with few and with many marks."""
    sizes = (kind.usual / 2, kind.usual, 1.5 * kind.usual)
    design = np.array([model.terms(k, share * k) for k in sizes for share in (0.25, 0.75)])
    gram = design.T @ design * (weight / len(design))
    return _Moments(gram, gram @ np.array(model.coefficients))


@dataclass(frozen=True)
class OnlineCost:
    """A cost model updated answer by answer: least squares with the base model as ``weight`` pseudo-answers a family.

    A time beyond ``clip`` times the current prediction counts as that much: an interruption moves the model a little, a
    real change of pace moves it all the way. Immutable: `observe` returns the next state, so a log folds into a model.
    """

    base: CostModel = PAPER_COST
    weight: float = 20.0
    clip: float = 5.0
    moments: Mapping[str, _Moments] = field(default_factory=dict)
    log_ratios: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    def _model(self, family: str) -> TimeModel:
        base = self.base.model(family)
        state = self.moments.get(family)
        if state is None:
            return base
        # Terms that the form does not have are columns of zeros, to which the shortest solution gives 0.
        intercept, slope, per_mark = np.linalg.lstsq(state.gram, state.moment, rcond=None)[0].tolist()
        spread = math.sqrt((self.weight * base.spread_s**2 + state.squares) / (self.weight + state.n))
        expected = self.weight * kinds.family(family)[0].usual
        share = (expected * base.mark_share + state.marks) / (expected + state.shown)
        return replace(
            base, intercept=intercept, slope=slope, per_mark=per_mark, spread_s=spread, mark_share=float(share)
        )

    @property
    def cost(self) -> CostModel:
        """The model as of now, with every annotator's speed shrunk towards 1."""
        models = {family: self._model(family) for family in self.moments}
        total = sum(n for n, _ in self.log_ratios.values())
        if not total:
            return replace(self.base, models={**self.base.models, **models})
        centre = sum(s for _, s in self.log_ratios.values()) / total
        # Variances of log times within and between people: 0.6^2 and 0.35^2.
        shrink = {who: n / (n + 0.6**2 / 0.35**2) for who, (n, _) in self.log_ratios.items()}
        speed = {who: math.exp(shrink[who] * (s / n - centre)) for who, (n, s) in self.log_ratios.items()}
        return CostModel({**self.base.models, **models}, speed)

    def observe(self, timed: Timed) -> OnlineCost:
        """The state after one more answer; InputError (and no change) where the time is unusable."""
        reason = fault(timed)
        if reason is not None or timed.seconds is None:
            raise InputError(f"a {timed.kind} answer on {timed.size} items: {reason}")
        first = kinds.family(timed.kind)[0]
        model = self._model(first.family)
        expected = model.seconds(timed.size, timed.marks)
        seconds = min(timed.seconds, self.clip * expected)
        state = self.moments.get(first.family) or _prior_moments(first, model, self.weight)
        row = np.array(model.terms(timed.size, timed.marks))
        grown = _Moments(
            state.gram + np.outer(row, row),
            state.moment + row * seconds,
            state.squares + (seconds - expected) ** 2,
            state.n + 1,
            state.shown + timed.size,
            state.marks + timed.marks,
        )
        log_ratios = dict(self.log_ratios)
        if timed.annotator is not None:
            n, total = log_ratios.get(timed.annotator, (0, 0.0))
            log_ratios[timed.annotator] = (n + 1, total + math.log(seconds / expected))
        return replace(self, moments={**self.moments, first.family: grown}, log_ratios=log_ratios)
