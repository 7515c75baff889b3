"""Seconds per question: what an answer costs a person, by question kind and set size (Section III-C).

The forms are the paper's candidates, in the number of items shown k = |S|::

    constant     t = b0
    linear       t = b0 + b1 k
    logarithmic  t = b0 + b1 log2 k     (Hick's law, in bits: Table V's 1.84 is a slope of the binary logarithm)
    quadratic    t = b0 + b1 k^2        (bubble sort)

Selecting the highest and the lowest item share one model, "select". Fitting lives in `policy.cost_fit`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from tellmore.errors import InputError
from tellmore.types import Array

Form = Literal["constant", "linear", "logarithmic", "quadratic"]
FORMS: tuple[Form, ...] = get_args(Form)
Family = Literal["label", "select", "rank"]
FAMILIES: tuple[Family, ...] = get_args(Family)

FLOOR_S = 0.5
"""No model predicts less: nobody reads and answers a question faster."""


def family_of(kind: str) -> Family:
    """The time model that a question kind uses; "select" stands for select_high and select_low alike.

    >>> family_of("select_low")
    'select'
    """
    if kind in ("select", "select_high", "select_low"):
        return "select"
    if kind == "label":
        return "label"
    if kind == "rank":
        return "rank"
    raise InputError(f"no time model for question kind {kind!r}; the kinds are label, select_high, select_low, rank")


def basis(form: str, size: Any) -> Array:
    """The regressor of a form: k, log2 k or k^2, of the shape of ``size``; zeros for the constant form."""
    k = np.asarray(size, dtype=float)
    if form == "constant":
        return np.zeros_like(k)
    if form == "linear":
        return k
    if form == "logarithmic":
        return np.asarray(np.log2(k))
    if form == "quadratic":
        return np.asarray(k**2)
    raise InputError(f"unknown time model {form!r}; the forms are {', '.join(FORMS)}")


@dataclass(frozen=True)
class TimeModel:
    """Seconds of one kind of question: ``intercept + slope * basis(form, k)``, never below ``floor_s``.

    ``spread_s`` is the standard deviation of single answers around the mean.

    >>> TimeModel("linear", 4.01, 0.63).seconds(4)
    6.53
    """

    form: Form
    intercept: float
    slope: float = 0.0
    spread_s: float = 0.0
    floor_s: float = FLOOR_S

    def __post_init__(self) -> None:
        basis(self.form, 2)
        for name in ("intercept", "slope", "spread_s", "floor_s"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"{name} of a time model must be a finite number, not {getattr(self, name)!r}")
        if self.spread_s < 0 or self.floor_s <= 0:
            raise InputError(
                f"a time model needs spread_s >= 0 and floor_s > 0, not {self.spread_s:g} and {self.floor_s:g}"
            )

    def seconds(self, size: int) -> float:
        """Expected seconds for ``size`` items shown."""
        if size < 1:
            raise InputError(f"a question shows at least 1 item, not {size}")
        return max(self.floor_s, round(float(self.intercept + self.slope * basis(self.form, size)), 12))

    def sample(self, size: int, rng: np.random.Generator) -> float:
        """One answer's seconds: lognormal, as response times are, with the model's mean and ``spread_s``."""
        mean = self.seconds(size)
        log_variance = math.log1p((self.spread_s / mean) ** 2)
        return float(rng.lognormal(math.log(mean) - log_variance / 2, math.sqrt(log_variance)))

    def scaled(self, factor: float) -> TimeModel:
        """The model of somebody who takes ``factor`` times as long."""
        return replace(
            self, intercept=self.intercept * factor, slope=self.slope * factor, spread_s=self.spread_s * factor
        )


@dataclass(frozen=True)
class CostModel:
    """Time models of label, select and rank questions, and each annotator's speed.

    ``speed`` holds seconds relative to the models (1.2: 20 % slower); whoever is not in it takes 1.

    >>> PAPER_COST.seconds("rank", 4)
    17.32
    """

    models: Mapping[str, TimeModel]
    speed: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        missing = [name for name in FAMILIES if name not in self.models]
        if missing or len(self.models) != len(FAMILIES):
            raise InputError(
                f"a cost model needs one time model for each of {', '.join(FAMILIES)}; given: {', '.join(self.models)}"
            )
        for annotator, factor in self.speed.items():
            if not (math.isfinite(factor) and factor > 0):
                raise InputError(f"the speed of annotator {annotator!r} must be a positive number, not {factor!r}")
        object.__setattr__(self, "models", MappingProxyType(dict(self.models)))
        object.__setattr__(self, "speed", MappingProxyType(dict(self.speed)))

    def __reduce__(self) -> tuple[Any, ...]:
        return CostModel, (dict(self.models), dict(self.speed))  # a mapping proxy cannot be pickled

    def model(self, kind: str, annotator: str | None = None) -> TimeModel:
        """The time model of a question kind, for one annotator or for all."""
        model = self.models[family_of(kind)]
        factor = 1.0 if annotator is None else self.speed.get(annotator, 1.0)
        return model if factor == 1.0 else model.scaled(factor)

    def seconds(self, kind: str, size: int, *, annotator: str | None = None) -> float:
        """Expected seconds of a question, E[c(q, S)] in eq. 7."""
        return self.model(kind, annotator).seconds(size)

    def sample(self, kind: str, size: int, rng: np.random.Generator, *, annotator: str | None = None) -> float:
        """Seconds of one simulated answer: positive, with the model's mean and spread."""
        return self.model(kind, annotator).sample(size, rng)

    def rate(self, kind: str, size: int, bits: float, *, annotator: str | None = None) -> float:
        """Information rate in bits per second (eq. 7) of a question worth ``bits``."""
        return bits / self.seconds(kind, size, annotator=annotator)

    def with_model(self, kind: str, model: TimeModel) -> CostModel:
        """The same models but one."""
        return CostModel({**self.models, family_of(kind): model}, self.speed)


PAPER_COST = CostModel(
    {
        # 4.37 s is the mean of both fits at one item; nobody measured labels, so select's spread is taken.
        "label": TimeModel("constant", 4.37, spread_s=math.sqrt(11.22)),
        "select": TimeModel("linear", 4.01, 0.63, spread_s=math.sqrt(11.22)),
        "rank": TimeModel("linear", -0.32, 4.41, spread_s=math.sqrt(125.44)),
    }
)
"""The paper's fits (Table V): seconds on its interface, with its participants."""
