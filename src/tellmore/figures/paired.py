"""Estimates from trials of the same seeds: what one setting needs, and how two settings compare seed by seed.

A trial that never reached the target would have needed more than its length. It counts with its length, so the estimate is a
bound, and its interval is open on the side on which the truth may lie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tellmore.figures.verdict import Estimate, least
from tellmore.rows import Row, Rows
from tellmore.sim.seconds import mean_and_se
from tellmore.types import Array

LENGTHS = {"interactions": "longest", "seconds": "longest_s"}


@dataclass(frozen=True)
class Runs:
    """One measure of the trials of a setting by seed; ``short``: the seeds whose trials ended before the target."""

    values: Mapping[int, float] = field(default_factory=dict)
    short: frozenset[int] = frozenset()

    @classmethod
    def of(cls, rows: Rows, measure: str) -> Runs:
        """The values in rows of trials; a trial without the measure is left out, unless it was too short to reach the target."""
        found: dict[int, float] = {}
        short = set()
        for row in rows:
            value = row.get(measure)
            if value is None and measure in LENGTHS:
                value = row.get(LENGTHS[measure])
                short.add(int(row["seed"]))
            if value is not None:
                found[int(row["seed"])] = float(value)
        return cls(found, frozenset(short & set(found)))

    def on(self, seeds: Iterable[int]) -> np.ndarray:
        """The values of these seeds."""
        return np.array([self.values[seed] for seed in seeds])


def each_text(values: Iterable[float]) -> str:
    """The values of the seeds 0, 1, … in one cell of a table.

    >>> each_text([0.25, 1 / 3])
    '0.25 0.333333'
    """
    return " ".join(f"{value:.6g}" for value in values)


def each_of(row: Row, name: str) -> Array:
    """The values that `each_text` wrote into a column; none if the table does not have it."""
    return np.array(str(row.get(name) or "").split(), dtype=float)


def difference(values: Array, reason: str, what: str = "seeds") -> Estimate:
    """The mean of differences or ratios, one for each seed."""
    if values.size < 2:
        return _few(values.size)
    mean, se = mean_and_se(values.tolist())
    return Estimate.of(mean or 0.0, se or 0.0, values.size, f"{reason}, {values.size} paired {what}")


def smallest(found: Mapping[str, Array], reason: str, what: str = "seeds") -> Estimate:
    """The smallest mean of several differences by name, each with one value for each of the same seeds; the interval takes into
    account that the smallest of several was chosen."""
    n = min((values.size for values in found.values()), default=0)
    if n < 2:
        return _few(n)
    moments = {name: mean_and_se(values.tolist()) for name, values in found.items()}
    estimates = {name: Estimate.of(mean or 0.0, se or 0.0, n, among=len(found)) for name, (mean, se) in moments.items()}
    return least(estimates, f"{reason}, {n} paired {what}")


def _common(first: Runs, second: Runs) -> list[int]:
    return sorted(set(first.values) & set(second.values))


def mean(runs: Runs) -> Estimate:
    """The mean over seeds; a lower bound if trials were too short."""
    n = len(runs.values)
    if n < 2:
        return _few(n)
    value, se = mean_and_se(list(runs.values.values()))
    reason = f"{n} seeds"
    if runs.short:
        reason += f", {n - len(runs.short)} of which reached it; the others count with their length: at least"
    estimate = Estimate.of(value or 0.0, se or 0.0, n, reason)
    return replace(estimate, high=math.inf) if runs.short else estimate


def fewer(few: Runs, many: Runs) -> Estimate:
    """How much larger ``many`` is than ``few``, seed by seed."""
    seeds = _common(few, many)
    if len(seeds) < 2:
        return _few(len(seeds))
    value, se = mean_and_se((many.on(seeds) - few.on(seeds)).tolist())
    return _bounded(
        Estimate.of(value or 0.0, se or 0.0, len(seeds), f"difference, {len(seeds)} paired seeds"), few, many
    )


def saved(few: Runs, many: Runs) -> Estimate:
    """The share of ``many`` that ``few`` saves: 1 minus the ratio of means over the same seeds."""
    seeds = _common(few, many)
    if len(seeds) < 2:
        return _few(len(seeds))
    ratio, se = paired_ratio(few.on(seeds), many.on(seeds))
    return _bounded(Estimate.of(1 - ratio, se or 0.0, len(seeds), f"{len(seeds)} paired seeds"), few, many)


def paired_ratio(values: Array, reference: Array) -> tuple[float, float | None]:
    """Ratio of means over the same seeds, with its standard error by linearisation."""
    ratio = float(values.mean() / reference.mean())
    spread = mean_and_se((values - ratio * reference).tolist())[1]
    return ratio, None if spread is None else spread / float(reference.mean())


def _bounded(estimate: Estimate, few: Runs, many: Runs) -> Estimate:
    """The estimate with its interval opened on the sides that too short trials leave unknown."""
    seeds = set(_common(few, many))
    if not (few.short | many.short) & seeds:
        return estimate
    count = f"{len(few.short & seeds)} and {len(many.short & seeds)} of them too short, counted with their length"
    estimate = replace(estimate, reason=f"{estimate.reason}, {count}")
    low = -math.inf if few.short & seeds else estimate.low
    return replace(estimate, low=low, high=math.inf if many.short & seeds else estimate.high)


def _few(seeds: int) -> Estimate:
    return Estimate.missing("not run in this mode" if seeds == 0 else "one seed only: no interval")
