"""Bits per second of question kinds and sizes (eq. 7), measured on this pool at this belief; the policy "auto".

One greedy set of the largest size holds the sets of all smaller sizes, so a kind costs one acquisition. All kinds and
sizes of a repeat see the same random numbers: differences between them are then far less noisy than each of them.
Large rankings are measured again after the search, which took the best of several noisy estimates and so flatters them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tellmore.core.acquire import greedy_set
from tellmore.core.evidence import Behaviour
from tellmore.core.gain import information_gain
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import PoolScan
from tellmore.core.update import with_constant
from tellmore.errors import InputError
from tellmore.kinds.rank import MAX_ENUMERATED
from tellmore.policy.cost import PAPER_COST, CostModel, TimeModel, family_of
from tellmore.types import Array, Kind

TABLE_KINDS: tuple[str, ...] = ("label", "select", "rank")
TABLE_SIZES: tuple[int, ...] = tuple(range(2, 11))
RANK_DRAWS = 512
"""Outcomes drawn to measure a ranking too large to enumerate: an error of 1 to 5 %."""


@dataclass(frozen=True)
class Rate:
    """What one kind and size of question is worth: bits, seconds, bits per second.

    ``bits_se`` is the standard error over repeated measurements, 0 where there was one. Rankings of more than five items
    are midpoints of two bounds (see `core.gain`).
    """

    kind: str
    size: int
    bits: float
    bits_se: float
    seconds: float
    bits_per_second: float
    best: bool = False

    def row(self) -> dict[str, Any]:
        """As a row of the JSON table."""
        return asdict(self)


def core_kind(kind: str) -> Kind:
    """The kind that is measured: "select" (either end, at random) is measured at the high end."""
    family = family_of(kind)
    if family == "select":
        return "select_low" if kind == "select_low" else "select_high"
    return family


def _sizes_of(kind: str, sizes: Collection[int], n: int) -> list[int]:
    if family_of(kind) == "label":
        return [1]
    return sorted(size for size in set(sizes) if 2 <= size <= n)


def nested_bits(
    scan: PoolScan,
    posterior: Gaussian,
    behaviour: Behaviour,
    *,
    kinds: Sequence[str],
    sizes: Collection[int],
    rng: np.random.Generator,
    repeats: int = 1,
    exclude: Collection[int] = (),
) -> dict[tuple[str, int], Array]:
    """Information gains in bits [repeats] of the greedy sets of each kind and size.

    Every kind of a repeat starts from the same seed (common random numbers); ``exclude`` holds pool rows not to show.
    """
    n = len(scan.mean)
    wanted = {kind: _sizes_of(kind, sizes, n) for kind in kinds}
    wanted = {kind: own for kind, own in wanted.items() if own}
    if not wanted:
        raise InputError(f"no question fits: kinds {list(kinds)} with sizes {sorted(sizes)} on {n} items")
    bits: dict[tuple[str, int], list[float]] = {(kind, k): [] for kind, own in wanted.items() for k in own}
    for seed in rng.integers(2**63, size=repeats):
        measured: dict[Kind, Array] = {}
        for kind, own in wanted.items():
            core = core_kind(kind)
            if core not in measured:
                common = np.random.default_rng(seed)
                measured[core] = _measure(scan, posterior, core, own, behaviour, common, tuple(exclude))
            for k in own:
                bits[kind, k].append(float(measured[core][k - 1]))
    return {key: np.asarray(values) for key, values in bits.items()}


def _measure(
    scan: PoolScan,
    posterior: Gaussian,
    kind: Kind,
    sizes: Sequence[int],
    behaviour: Behaviour,
    rng: np.random.Generator,
    exclude: tuple[int, ...],
) -> Array:
    """Bits [k] of the nested greedy sets of sizes 1 to k = the last of ``sizes``."""
    found = greedy_set(scan, posterior, kind, sizes[-1], behaviour, rng=rng, exclude=exclude)
    bits = found.bits.copy()
    if kind == "rank" and sizes[-1] > MAX_ENUMERATED:
        mean, cov, _ = posterior.project(with_constant(np.asarray(scan.X[found.rows])))
        for k in (size for size in sizes if size > MAX_ENUMERATED):
            gain = information_gain(mean[:k], cov[:k, :k], kind, behaviour, rng=rng, draws=RANK_DRAWS)
            bits[k - 1] = gain.bits
    return bits


def to_rates(
    bits: dict[tuple[str, int], Array], cost: CostModel = PAPER_COST, *, annotator: str | None = None
) -> tuple[Rate, ...]:
    """Gains and a cost model as a table in the order of ``bits``; the row of most bits per second is ``best``."""
    rows = []
    for (kind, size), values in bits.items():
        mean = float(np.mean(values))
        se = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        seconds = cost.seconds(kind, size, annotator=annotator)
        rows.append(Rate(kind, size, mean, se, seconds, mean / seconds))
    best = max(range(len(rows)), key=lambda i: rows[i].bits_per_second)
    return tuple(replace(row, best=i == best) for i, row in enumerate(rows))


def rates(
    scan: PoolScan,
    posterior: Gaussian,
    behaviour: Behaviour,
    *,
    kinds: Sequence[str] = TABLE_KINDS,
    sizes: Collection[int] = TABLE_SIZES,
    cost: CostModel = PAPER_COST,
    rng: np.random.Generator,
    repeats: int = 3,
    exclude: Collection[int] = (),
) -> tuple[Rate, ...]:
    """The table of rates: one row a kind and size, label with size 1, exactly one row ``best``."""
    bits = nested_bits(scan, posterior, behaviour, kinds=kinds, sizes=sizes, rng=rng, repeats=repeats, exclude=exclude)
    return to_rates(bits, cost)


def with_cost(table: Sequence[Rate], cost: CostModel) -> tuple[Rate, ...]:
    """The same gains at other times."""
    priced = [replace(r, seconds=cost.seconds(r.kind, r.size)) for r in table]
    priced = [replace(r, bits_per_second=r.bits / r.seconds, best=False) for r in priced]
    best = max(range(len(priced)), key=lambda i: priced[i].bits_per_second)
    return tuple(replace(r, best=i == best) for i, r in enumerate(priced))


def best_rate(table: Sequence[Rate]) -> Rate:
    """The row of most bits per second."""
    return max(table, key=lambda rate: rate.bits_per_second)


def label_ratios(table: Sequence[Rate]) -> dict[tuple[str, int], float]:
    """Information gain relative to labelling, the proxies of Section III-C; the table must hold the label row."""
    label = [rate.bits for rate in table if family_of(rate.kind) == "label"]
    if not label:
        raise InputError("ratios to labelling need the label row; measure with kind 'label' among the kinds")
    return {(rate.kind, rate.size): rate.bits / label[0] for rate in table}


def sharpness_dependence(
    scan: PoolScan,
    posterior: Gaussian,
    behaviour: Behaviour,
    factors: Sequence[float],
    *,
    kinds: Sequence[str] = TABLE_KINDS,
    sizes: Collection[int] = (2, 4, 6),
    seed: int,
    repeats: int = 1,
) -> dict[float, tuple[Rate, ...]]:
    """Tables at a/sigma (that is K, with w in proportion) times each factor, under common random numbers (Fig. 10)."""
    tables = {}
    for factor in factors:
        if factor <= 0:
            raise InputError(f"factors of a/sigma are positive, not {factor:g}")
        sharper = replace(behaviour, w=behaviour.w * factor, K=behaviour.K * factor)
        rng = np.random.default_rng(seed)
        tables[factor] = rates(scan, posterior, sharper, kinds=kinds, sizes=sizes, rng=rng, repeats=repeats)
    return tables


def winning_slopes(table: Sequence[Rate], cost: CostModel, kind: str = "select", size: int = 2) -> tuple[float, float]:
    """Slopes (low, high), in s per item, at which ``size`` is the best size of its kind; (nan, nan) where none is.

    Only the slope of that kind's linear model varies, its intercept a stays. Size j beats size k when
    b_j / (a + s j) >= b_k / (a + s k), that is s (k b_j - j b_k) >= a (b_k - b_j).
    """
    model = cost.model(kind)
    if model.form != "linear":
        raise InputError(f"winning slopes are defined for a linear time model, not a {model.form} one")
    gains = {rate.size: rate.bits for rate in table if rate.kind == kind}
    if size not in gains:
        raise InputError(f"the table has no {kind} of size {size}; it has sizes {sorted(gains)}")
    low, high = 0.0, float("inf")
    for other, bits in gains.items():
        if other == size:
            continue
        slope, constant = other * gains[size] - size * bits, model.intercept * (bits - gains[size])
        if slope > 0:
            low = max(low, constant / slope)
        elif slope < 0:
            high = min(high, constant / slope)
        elif constant > 0:
            return float("nan"), float("nan")
    return (low, high) if low <= high else (float("nan"), float("nan"))


def best_over_slopes(
    table: Sequence[Rate], cost: CostModel, select_slopes: Sequence[float], rank_slopes: Sequence[float]
) -> list[dict[str, Any]]:
    """Which kind and size wins at each pair of slopes (Fig. 11b asks when selection of 2 does); one row a pair."""
    rows = []
    for select_slope in select_slopes:
        for rank_slope in rank_slopes:
            changed = cost.with_model("select", _with_slope(cost.model("select"), select_slope))
            changed = changed.with_model("rank", _with_slope(cost.model("rank"), rank_slope))
            best = best_rate(with_cost(table, changed))
            rows.append({"select_slope": select_slope, "rank_slope": rank_slope, "kind": best.kind, "size": best.size})
    return rows


def _with_slope(model: TimeModel, slope: float) -> TimeModel:
    return replace(model, slope=slope)


@dataclass(frozen=True)
class RateTable:
    """Gains of all kinds and sizes that are allowed, and the belief's state when they were measured."""

    bits: dict[tuple[str, int], Array]
    rates: tuple[Rate, ...]
    spread: float
    answers: int


@dataclass(frozen=True)
class Policy:
    """``question="auto"``: of the kinds and sizes allowed, the one of most bits per second.

    Selecting the highest and the lowest are worth the same; where both are allowed they stand as one kind, "select",
    and whoever asks takes either end at random, as the paper does.

    Gains shrink while people answer but their ratios hardly move (Fig. 9), so the table is kept and measured anew only
    when the belief has drifted: when the spread of the scores, on which the ratios depend (Fig. 10), has changed by
    more than ``drift``, or after ``every`` answers at the latest.
    """

    kinds: tuple[str, ...] = TABLE_KINDS
    sizes: tuple[int, ...] = tuple(range(2, 9))
    cost: CostModel = PAPER_COST
    drift: float = 0.2
    every: int = 50
    repeats: int = 1

    @property
    def measured_kinds(self) -> tuple[str, ...]:
        """The kinds of the table."""
        if {"select_high", "select_low"} <= set(self.kinds):
            others = (kind for kind in self.kinds if family_of(kind) != "select")
            return tuple(dict.fromkeys(("select", *others)))
        return self.kinds

    def drifted(self, table: RateTable | None, scan: PoolScan, answers: int) -> bool:
        """Whether the gains must be measured anew."""
        if table is None or not table.answers <= answers < table.answers + self.every:
            return True
        return bool(abs(np.log(score_spread(scan) / table.spread)) > np.log1p(self.drift))

    def choose(
        self,
        scan: PoolScan,
        posterior: Gaussian,
        behaviour: Behaviour,
        table: RateTable | None = None,
        *,
        answers: int,
        rng: np.random.Generator,
        exclude: Collection[int] = (),
        annotator: str | None = None,
    ) -> tuple[str, int, RateTable]:
        """Kind and size to ask now, and the table to hand back at the next call."""
        if table is None or self.drifted(table, scan, answers):
            bits = nested_bits(
                scan,
                posterior,
                behaviour,
                kinds=self.measured_kinds,
                sizes=self.sizes,
                rng=rng,
                repeats=self.repeats,
                exclude=exclude,
            )
            table = RateTable(bits, to_rates(bits, self.cost), score_spread(scan), answers)
        best = best_rate(to_rates(table.bits, self.cost, annotator=annotator))
        return best.kind, best.size, table


def score_spread(scan: PoolScan) -> float:
    """Root mean variance of the scores of the pool under the belief."""
    return float(np.sqrt(max(float(np.mean(scan.variance)), 1e-300)))
