"""Time models from logged answers, answer by answer: for everyone, and for each person.

The cost is the *mean* time, and response times are skewed: medians, Theil-Sen lines and Huber fits all estimate something
smaller. So means are fitted, by least squares, with interruptions cut short.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tellmore import kinds
from tellmore.core.time_model import TimeModel
from tellmore.errors import InputError
from tellmore.policy.cost import PAPER_COST, CostModel, family_of
from tellmore.types import Array

MAX_SECONDS = 86_400.0
"""A day. A longer time is an error of the clock or of the unit."""


class Timed(NamedTuple):
    """Seconds that one answer took.

    kind: the kind of question.
    size: how many items it showed.
    seconds: how long it took; None if unknown.
    annotator: who answered.
    marks: how many marks the answer has, if its kind counts them.

    >>> Timed("rank", 4, 15.5, "anna").seconds
    15.5
    """

    kind: str
    size: int
    seconds: float | None
    annotator: str | None = None
    marks: int = 0


def fault(timed: Timed) -> str | None:
    """Why a logged time cannot be used, or None; it may be missing, not a number, not positive, or longer than a day."""
    if timed.seconds is None or math.isnan(timed.seconds):
        return "the time is missing"
    if timed.seconds <= 0:
        return f"{timed.seconds:g} s is not positive"
    if timed.seconds > MAX_SECONDS:
        return f"{timed.seconds:g} s is more than a day: are these milliseconds?"
    if timed.size < 1:
        return f"a question shows at least 1 item, not {timed.size}"
    return None


@dataclass(frozen=True, eq=False)
class _Moments:
    """Answers of one family: their normal equations in the terms 1, f(k) and marks, and sums of squares and counts."""

    gram: Array = field(default_factory=lambda: np.zeros((3, 3)))
    moment: Array = field(default_factory=lambda: np.zeros(3))
    squares: float = 0.0
    n: int = 0
    shown: int = 0
    marks: int = 0

    def grown(self, timed: Timed, row: Array, seconds: float) -> _Moments:
        """The moments with one more answer, which has the terms ``row`` [3]."""
        return _Moments(
            self.gram + np.outer(row, row),
            self.moment + row * seconds,
            self.squares + seconds**2,
            self.n + 1,
            self.shown + timed.size,
            self.marks + timed.marks,
        )

    def fitted(self, kind: kinds.Kind, start: TimeModel, weight: float) -> TimeModel:
        """The least-squares model, with ``start`` as ``weight`` pseudo-answers around the kind's usual size, with few and many
        marks."""
        sizes = (kind.usual / 2, kind.usual, 1.5 * kind.usual)
        design = np.array([start.terms(k, share * k) for k in sizes for share in (0.25, 0.75)])
        gram = design.T @ design * (weight / len(design))
        moment = gram @ np.array(start.coefficients) + self.moment
        # Terms that the form does not have are columns of zeros, whose coefficients are 0 in the shortest solution.
        b = np.linalg.lstsq(gram + self.gram, moment, rcond=None)[0]
        intercept, slope, per_mark = b.tolist()
        residual = max(0.0, float(self.squares - 2 * b @ self.moment + b @ self.gram @ b))
        expected = weight * kind.usual
        return replace(
            start,
            intercept=intercept,
            slope=slope,
            per_mark=per_mark,
            spread_s=math.sqrt((weight * start.spread_s**2 + residual) / (weight + self.n)),
            mark_share=(expected * start.mark_share + self.marks) / (expected + self.shown),
        )


@dataclass(frozen=True)
class OnlineCost:
    """A cost model updated answer by answer, by least squares in two steps. Immutable: `observe` returns the next state.

    base: the models to start from.
    weight: how many answers of a family these count as. Each person's own models start from the common ones, scaled to that
        person's speed, and these count as this many of the person's answers.
    clip: times are cut off at this many times the prediction: an interruption changes the model little, a lasting change of
        pace changes it fully.
    moments, own_moments, log_ratios: what was observed.

    >>> OnlineCost().observe(Timed("rank", 4, 15.5, "anna")).cost.seconds("rank", 4) < 17.32
    True
    """

    base: CostModel = PAPER_COST
    weight: float = 20.0
    clip: float = 5.0
    moments: Mapping[str, _Moments] = field(default_factory=dict)
    own_moments: Mapping[tuple[str, str], _Moments] = field(default_factory=dict)
    log_ratios: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    def _model(self, family: str) -> TimeModel:
        """The common model of a family."""
        base = self.base.model(family)
        known = self.moments.get(family)
        return base if known is None else known.fitted(kinds.family(family)[0], base, self.weight)

    def _speeds(self) -> dict[str, float]:
        """Seconds of each person relative to the average, shrunk towards 1."""
        centre = sum(s for _, s in self.log_ratios.values()) / max(sum(n for n, _ in self.log_ratios.values()), 1)
        # Variances of log times within and between people: 0.6^2 and 0.35^2.
        shrink = {who: n / (n + 0.6**2 / 0.35**2) for who, (n, _) in self.log_ratios.items()}
        return {who: math.exp(shrink[who] * (s / n - centre)) for who, (n, s) in self.log_ratios.items()}

    @property
    def cost(self) -> CostModel:
        """The current models, for everyone and for each annotator."""
        models = {family: self._model(family) for family in kinds.families()}
        own = {}
        for who, speed in self._speeds().items():
            own[who] = {family: model.scaled(speed) for family, model in models.items()}
            for family, start in own[who].items():
                known = self.own_moments.get((who, family))
                if known is not None:
                    own[who][family] = known.fitted(kinds.family(family)[0], start, self.weight)
        return CostModel(models, own)

    def observe(self, timed: Timed) -> OnlineCost:
        """The state after one more answer; InputError, and no change, if its time is unusable.

        timed: the answer and its seconds.
        """
        reason = fault(timed)
        if reason is not None or timed.seconds is None:
            raise InputError(f"a {timed.kind} answer on {timed.size} items: {reason}")
        family = family_of(timed.kind)
        model = self._model(family)
        expected = model.seconds(timed.size, timed.marks)
        seconds = min(timed.seconds, self.clip * expected)
        row = np.array(model.terms(timed.size, timed.marks))
        known = self.moments.get(family, _Moments()).grown(timed, row, seconds)
        state = replace(self, moments={**self.moments, family: known})
        if timed.annotator is None:
            return state
        key = timed.annotator, family
        own = self.own_moments.get(key, _Moments()).grown(timed, row, seconds)
        n, total = self.log_ratios.get(timed.annotator, (0, 0.0))
        return replace(
            state,
            own_moments={**self.own_moments, key: own},
            log_ratios={**self.log_ratios, timed.annotator: (n + 1, total + math.log(seconds / expected))},
        )
