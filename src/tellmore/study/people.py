"""Simulated participants: who they are, how fast they are, and how often they do not look. No server, no clock.

Speeds are lognormal with mean 1, so that mean times over all people are those of the cost model. Part of a study's residual
spread is between people; `within_people` gives the rest to single answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellmore.core.time_model import TimeModel
from tellmore.errors import InputError
from tellmore.policy.cost import PAPER_COST, CostModel, family_of
from tellmore.study.design import cells
from tellmore.study.settings import PAPER_KINDS, Study
from tellmore.types import Array

SPEED_SD = 0.3
"""Standard deviation of the logarithm of people's speeds. This is assumed, because the paper does not report one: about half of
the residual variance of its Table V is then between people."""
LAPSES = 0.01
"""Mean share of answers given without looking; assumed."""

PAPER_DEMOGRAPHICS: dict[str, dict[str, int]] = {
    "sex": {"Female": 42, "Male": 59},
    "country_of_residence": {"United States": 60, "United Kingdom": 41},
    "student": {"Yes": 69, "No": 17, "": 15},
    "ethnicity": {"White": 68, "Asian": 15, "Black": 11, "Mixed": 4, "Other": 1, "": 2},
    "country_of_birth": {
        "United States": 55,
        "United Kingdom": 36,
        "Nigeria": 2,
        **dict.fromkeys(
            ("Bulgaria", "China", "Hungary", "Indonesia", "Japan", "Korea", "Malta", "Philippines"), 1
        ),
    },
}  # fmt: skip
"""The paper's counts (Appendix C), from which simulated people are drawn; "" stands for no answer."""


@dataclass(frozen=True)
class Person:
    """How one simulated participant behaves; ``inattentive_in``: the kinds in which the person misses a gold question.

    speed: seconds relative to the average; lapse: share of answers given without looking.
    """

    external: str
    inattentive_in: frozenset[str] = frozenset()
    consents: bool = True
    understands: bool = True
    stop_after: int | None = None
    speed: float = 1.0
    lapse: float = 0.0


def speeds(n: int, speed_sd: float, rng: np.random.Generator) -> Array:
    """Speeds [n] of people: lognormal with mean 1."""
    return np.asarray(rng.lognormal(-(speed_sd**2) / 2, speed_sd, n))


def crowd(
    n: int,
    *,
    inattentive: int | Mapping[str, int] = 0,
    declining: int = 0,
    failing: int = 0,
    seed: int = 0,
    speed_sd: float = SPEED_SD,
    lapses: float = LAPSES,
) -> list[Person]:
    """``n`` people with external ids; some of them are inattentive, decline consent or fail the comprehension check.

    ``inattentive``: the number of people who miss gold questions of both of the paper's kinds, or a number for each kind.
    ``lapses``: the mean share of answers given without looking; it has an exponential distribution over people.
    """
    per_kind = inattentive if isinstance(inattentive, Mapping) else dict.fromkeys(PAPER_KINDS, inattentive)
    attending = n - declining - failing
    if attending < max(per_kind.values(), default=0) or attending < 0:
        raise InputError(
            f"{n} people are too few for {declining} declining, {failing} failing and {per_kind} inattentive"
        )
    rng = np.random.default_rng([seed, 3])
    number = {int(place): rank for rank, place in enumerate(rng.permutation(n))}
    speed, lapse = speeds(n, speed_sd, rng), np.minimum(rng.exponential(lapses, n), 1.0)
    return [
        Person(
            f"sim{i:04d}",
            frozenset(kind for kind, count in per_kind.items() if number[i] < count),
            consents=number[i] < n - declining,
            understands=not n - declining - failing <= number[i] < n - declining,
            speed=float(speed[i]),
            lapse=float(lapse[i]),
        )
        for i in range(n)
    ]


def within_people(model: TimeModel, sizes: Sequence[int], speed_sd: float) -> TimeModel:
    """``model`` with the spread of one person's answers, chosen so that people of these speeds together have the model's spread.

    At least half of the variance stays within people, even if speeds would take more.
    """
    between = math.expm1(speed_sd**2)
    variance = model.spread_s**2
    squares = float(np.mean([model.seconds(size) ** 2 for size in sizes]))
    left = max((variance - between * squares) / (1 + between), variance / 2)
    return replace(model, spread_s=math.sqrt(left))


def people_cost(study: Study, speed_sd: float = SPEED_SD, cost: CostModel = PAPER_COST) -> CostModel:
    """``cost`` with the spread of one person's answers, for the kinds and sizes of a study."""
    models = {
        kind: within_people(cost.model(kind), study.design.sizes_for(kind), speed_sd) for kind in study.design.kinds
    }
    return CostModel({**cost.models, **{family_of(kind): model for kind, model in models.items()}})


def draw_answers(
    study: Study,
    kind: str,
    people: int,
    *,
    rng: np.random.Generator,
    speed_sd: float = SPEED_SD,
    slope_difference: float = 0.0,
) -> list[dict[str, Any]]:
    """Answers of ``kind`` in the form of the analysis, from attentive people who take part in ``study``; no server is needed.

    The time model is that of the kind, with its slope changed by ``slope_difference``.
    """
    own = within_people(PAPER_COST.model(kind), study.design.sizes_for(kind), speed_sd)
    own = replace(own, slope=own.slope + slope_difference)
    rows = []
    for number, speed in enumerate(speeds(people, speed_sd, rng)):
        for size, stage in cells(study, number, kind):
            marks = int(rng.binomial(size, own.mark_share)) if own.counts_marks else 0
            seconds = float(speed) * own.sample(size, rng, marks)
            rows.append({"participant": number, "size": size, "stage": stage, "marks": marks, "seconds": seconds})
    return rows
