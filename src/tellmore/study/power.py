"""How many participants a study needs to detect a difference between slopes, and how often it then does, by simulation.

The clustered error of a slope falls with the root of the number of participants, so one large simulated study gives the
variance that a single participant contributes; the number follows from the noncentral t distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from tellmore.errors import InputError
from tellmore.policy.cost import PAPER_COST
from tellmore.study.fits import LEAST_PEOPLE, CandidateFit, fit_candidate
from tellmore.study.people import SPEED_SD, draw_answers
from tellmore.study.settings import Study

MOST_PEOPLE = 100_000
_LARGE = 1000
"""People in the simulated study that gives the variance, which is then known to about 3 %."""


@dataclass(frozen=True)
class Plan:
    """What a study is to detect: a slope that differs by ``difference`` seconds per item.

    groups: 2 compares two groups of participants, 1 compares one group with a known slope.
    """

    difference: float
    groups: int = 2
    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.difference <= 0:
            raise InputError(f"the difference must be above 0 s per item, not {self.difference:g}")
        if self.groups not in (1, 2):
            raise InputError(f"groups must be 1 or 2, not {self.groups}")
        if not (0 < self.alpha < self.power < 1):
            raise InputError("power and alpha must be between 0 and 1, and power above alpha")

    def attained(self, variance: float, people: int) -> float:
        """The power with ``people`` analysed in each group; ``variance``: that of the difference with one person in each."""
        df = self.groups * (people - 1)
        shift = self.difference / np.sqrt(variance / people)
        return float(stats.nct.sf(stats.t.ppf(1 - self.alpha / 2, df), df, shift))

    def needed(self, variance: float) -> int:
        """The smallest number of people in each group, after exclusions, that attains the power."""
        low, high = LEAST_PEOPLE, MOST_PEOPLE
        if self.attained(variance, high) < self.power:
            raise InputError(f"more than {MOST_PEOPLE:,} participants are needed; look for a larger difference")
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.attained(variance, middle) >= self.power else (middle + 1, high)
        return low


@dataclass(frozen=True)
class Needed:
    """The result for one kind; ``recruited`` counts all groups, including those who will be excluded.

    ``difference_se``: the standard error that the difference will have. ``simulated_power``: the share of ``replicates``
    simulated studies of that size that detect the difference.
    """

    kind: str
    slope: float
    difference: float
    groups: int
    analysed_per_group: int
    recruited: int
    difference_se: float
    simulated_power: float
    replicates: int


def participants_needed(
    study: Study,
    kind: str,
    plan: Plan,
    *,
    excluded: float = 0.0,
    speed_sd: float = SPEED_SD,
    replicates: int = 100,
    seed: int = 0,
) -> Needed:
    """How many people ``plan`` needs with the questions of ``study``; ``excluded``: the share that will be left out."""
    if kind not in study.design.kinds:
        raise InputError(f"the study does not ask {kind!r}; its kinds are {', '.join(study.design.kinds)}")
    if not 0 <= excluded < 1:
        raise InputError(f"the share of excluded participants must be from 0 to below 1, not {excluded:g}")
    rng = np.random.default_rng([seed, 6])

    def fit(people: int, difference: float = 0.0) -> CandidateFit:
        rows = draw_answers(study, kind, people, rng=rng, speed_sd=speed_sd, slope_difference=difference)
        return fit_candidate(rows, kind, "linear")

    # A larger slope has a larger spread between people, so each group has its own variance.
    compared = (plan.difference, 0.0)[: plan.groups]
    variance = _LARGE * sum(fit(_LARGE, difference).b1_se_clustered ** 2 for difference in compared)
    people = plan.needed(variance)
    slope = PAPER_COST.model(kind).slope
    seen = 0
    for _ in range(replicates):
        changed = fit(people, plan.difference)
        other, other_se = (slope, 0.0) if plan.groups == 1 else _slope(fit(people))
        t = abs(changed.b1 - other) / np.hypot(changed.b1_se_clustered, other_se)
        seen += bool(t > stats.t.ppf(1 - plan.alpha / 2, plan.groups * (people - 1)))
    recruited = int(np.ceil(plan.groups * people / (1 - excluded)))
    share = seen / replicates if replicates else float("nan")
    se = float(np.sqrt(variance / people))
    return Needed(kind, slope, plan.difference, plan.groups, people, recruited, se, share, replicates)


def _slope(fit: CandidateFit) -> tuple[float, float]:
    return fit.b1, fit.b1_se_clustered
