"""Seconds that an answer takes, by the number of items shown and of marks made (Section III-C).

The forms are the paper's candidates, in the number of items shown k = |S|::

    constant     t = b0
    linear       t = b0 + b1 k
    logarithmic  t = b0 + b1 log2 k     (Hick's law, in bits: Table V's 1.84 is a slope of the binary logarithm)
    quadratic    t = b0 + b1 k^2        (bubble sort)

If an answer consists of marks, such as the ticks of a grid, each mark adds ``per_mark`` seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from tellmore.errors import InputError
from tellmore.types import Array

Form = Literal["constant", "linear", "logarithmic", "quadratic"]
FORMS: tuple[Form, ...] = get_args(Form)
_REGRESSORS: dict[str, Any] = {
    "constant": np.zeros_like,
    "linear": np.positive,
    "logarithmic": np.log2,
    "quadratic": np.square,
}

FLOOR_S = 0.5
"""No model predicts less, because no one reads and answers a question faster."""


def basis(form: str, size: Any) -> Array:
    """The regressor of a form: k, log2 k or k^2, in the shape of ``size``; zeros for the constant form."""
    if form not in _REGRESSORS:
        raise InputError(f"unknown time model {form!r}; the forms are {', '.join(FORMS)}")
    return np.asarray(_REGRESSORS[form](np.asarray(size, dtype=float)))


@dataclass(frozen=True)
class TimeModel:
    """Seconds of one kind of question: ``intercept + slope * basis(form, k) + per_mark * marks``, never below ``floor_s``.

    form: ``constant``, ``linear``, ``logarithmic`` or ``quadratic`` in the number of items k.
    intercept, slope: seconds.
    spread_s: the standard deviation of single answers around the mean.
    floor_s: the smallest time ever predicted.
    per_mark: seconds for each mark in an answer, such as a tick.
    mark_share: the expected share of the items shown that are marked.

    Parameters of the methods:

    size: how many items are shown.
    marks: how many of them are marked; None: as many as expected.
    rng: the random number generator.
    factor: how many times as long the person takes.

    >>> TimeModel("linear", 4.01, 0.63).seconds(4)
    6.53
    """

    form: Form
    intercept: float
    slope: float = 0.0
    spread_s: float = 0.0
    floor_s: float = FLOOR_S
    per_mark: float = 0.0
    mark_share: float = 0.5

    def __post_init__(self) -> None:
        basis(self.form, 2)
        for name in ("intercept", "slope", "spread_s", "floor_s", "per_mark", "mark_share"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"{name} of a time model must be a finite number, not {getattr(self, name)!r}")
        if self.spread_s < 0 or self.floor_s <= 0:
            raise InputError(
                f"a time model needs spread_s >= 0 and floor_s > 0, not {self.spread_s:g} and {self.floor_s:g}"
            )

    @property
    def counts_marks(self) -> bool:
        """Whether marks are a term of this model."""
        return self.per_mark != 0.0

    @property
    def coefficients(self) -> tuple[float, float, float]:
        """The coefficients of the terms 1, basis(k) and marks."""
        return self.intercept, self.slope, self.per_mark

    def terms(self, size: float, marks: float | None = None) -> tuple[float, float, float]:
        """1, basis(``size``) and the number of ``marks``: as given, or as expected."""
        expected = self.mark_share * size if marks is None else marks
        return 1.0, float(basis(self.form, size)), float(expected) if self.counts_marks else 0.0

    def seconds(self, size: int, marks: float | None = None) -> float:
        """Expected seconds for ``size`` items shown, of which ``marks`` are marked."""
        if size < 1:
            raise InputError(f"a question shows at least 1 item, not {size}")
        _, x, marked = self.terms(size, marks)
        return max(self.floor_s, round(self.intercept + self.slope * x + self.per_mark * marked, 12))

    def sample(self, size: int, rng: np.random.Generator, marks: float | None = None) -> float:
        """Random seconds of one answer about ``size`` items, of which ``marks`` are marked: lognormal, as response times are,
        with the model's mean and ``spread_s``."""
        mean = self.seconds(size, marks)
        log_variance = math.log1p((self.spread_s / mean) ** 2)
        return float(rng.lognormal(math.log(mean) - log_variance / 2, math.sqrt(log_variance)))

    def scaled(self, factor: float) -> TimeModel:
        """The model of a person who takes ``factor`` times as long."""
        return replace(
            self,
            intercept=self.intercept * factor,
            slope=self.slope * factor,
            spread_s=self.spread_s * factor,
            per_mark=self.per_mark * factor,
        )
