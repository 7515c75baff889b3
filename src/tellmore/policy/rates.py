"""Bits per second of question kinds and sizes (eq. 7), measured on this pool at this belief; the policy "auto".

One greedy set of the largest size contains the sets of all smaller sizes, so each kind needs only one search. All kinds and
sizes of a repeat use the same random numbers, so that their differences are far less noisy than the values themselves.
Gains that the search only approximates (large rankings, grids) are measured again after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tellmore import kinds as question_kinds
from tellmore.core.candidates import Candidates, candidates
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import Part, Scan
from tellmore.core.update import with_constant
from tellmore.errors import InputError
from tellmore.kinds import Kind
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.types import Array

TABLE_SIZES: tuple[int, ...] = (*range(2, 11), 12, 24)
ROUGH_DRAWS = 512
"""Draws used to measure gains that the search only approximates, with an error of 1 to 5 %."""


@dataclass(frozen=True)
class Rate:
    """What one kind and size of question is worth: bits, seconds, bits per second.

    ``bits_se`` is the standard error over repeated measurements, 0 if there was only one. The bits of rankings of more than
    five items are midpoints of two bounds (see `core.gain`).
    """

    kind: str
    size: int
    bits: float
    bits_se: float
    seconds: float
    bits_per_second: float
    best: bool


def table_kinds() -> tuple[str, ...]:
    """The families that ``auto`` may choose from; the table has one row for each of them and size."""
    return tuple(dict.fromkeys(question_kinds.named(name).family for name in question_kinds.standard_kinds()))


def _sizes_of(kind: Kind, sizes: Collection[int], n: int) -> list[int]:
    if kind.most == 1:
        return [1]
    return sorted(size for size in set(sizes) if kind.fewest <= size <= min(kind.most, n))


def nested_bits(
    scan: Scan,
    posterior: Gaussian,
    behaviour: Behaviour,
    *,
    kinds: Sequence[str],
    sizes: Collection[int],
    rng: np.random.Generator,
    repeats: int = 1,
    exclude: Collection[int] = (),
    as_asked: bool = False,
) -> dict[tuple[str, int], Array]:
    """Information gains in bits [repeats] of the greedy sets of each kind and size.

    All kinds of a repeat start from the same seed (common random numbers); ``exclude``: rows of the pool not to show.
    ``as_asked``: whether kinds that are asked about the best of some random items are measured on such a draw too.
    """
    n = len(scan)
    measured = {kind: question_kinds.family(kind)[0] for kind in kinds}  # the first kind stands for its family
    wanted = {kind: _sizes_of(measured[kind], sizes, n) for kind in kinds}
    wanted = {kind: own for kind, own in wanted.items() if own}
    if not wanted:
        raise InputError(f"no question fits: kinds {list(kinds)} with sizes {sorted(sizes)} on {n} items")
    largest = max(own[-1] for own in wanted.values())
    among = partial(candidates, scan, behaviour=behaviour, exclude=tuple(exclude), belief=posterior)
    whole = among(largest, rng=rng)
    lots = rng.spawn(1)[0]  # of its own, so that a draw for one kind changes nothing for the others
    bits: dict[tuple[str, int], list[float]] = {(kind, k): [] for kind, own in wanted.items() for k in own}
    for seed in rng.integers(2**63, size=repeats):
        for kind, own in wanted.items():
            common, each = np.random.default_rng(seed), measured[kind].searched if as_asked else None
            searched = whole if each is None else among(own[-1], rng=lots, drawn=each * own[-1])
            found = _measure(searched, posterior, measured[kind], own, behaviour, common)
            for k in own:
                bits[kind, k].append(float(found[k - 1]))
    return {key: np.asarray(values) for key, values in bits.items()}


def _measure(
    searched: Candidates,
    posterior: Gaussian,
    kind: Kind,
    sizes: Sequence[int],
    behaviour: Behaviour,
    rng: np.random.Generator,
) -> Array:
    """Bits [k] of the nested sets of sizes 1 to k, where k is the last of ``sizes``."""
    found = searched.search(kind, posterior, sizes[-1], behaviour, rng=rng)
    bits = found.bits.copy()
    rough = [size for size in sizes if kind.search_is_rough(size)]
    if rough:
        mean, cov, _ = posterior.project(with_constant(searched.pool.rows[found.rows]))
        for k in rough:
            bits[k - 1] = kind.gain(mean[:k], cov[:k, :k], behaviour, rng=rng, draws=ROUGH_DRAWS).bits
    return bits


def to_rates(bits: dict[tuple[str, int], Array], cost: CostModel = PAPER_COST) -> tuple[Rate, ...]:
    """The table of rates from gains and a cost model, in the order of ``bits``; the row with most bits per second is ``best``."""
    rows = []
    for (kind, size), values in bits.items():
        mean = float(np.mean(values))
        se = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        seconds = cost.seconds(kind, size)
        rows.append(Rate(kind, size, mean, se, seconds, mean / seconds, best=False))
    best = max(range(len(rows)), key=lambda i: rows[i].bits_per_second)
    return tuple(replace(row, best=i == best) for i, row in enumerate(rows))


def rates(
    scan: Scan,
    posterior: Gaussian,
    behaviour: Behaviour,
    *,
    kinds: Sequence[str] | None = None,
    sizes: Collection[int] = TABLE_SIZES,
    cost: CostModel = PAPER_COST,
    rng: np.random.Generator,
    repeats: int = 3,
) -> tuple[Rate, ...]:
    """The table of rates: one row per kind and size (1 for a label), exactly one of them ``best``."""
    kinds = kinds or table_kinds()
    bits = nested_bits(scan, posterior, behaviour, kinds=kinds, sizes=sizes, rng=rng, repeats=repeats, as_asked=True)
    return to_rates(bits, cost)


def best_rate(table: Sequence[Rate]) -> Rate:
    """The row with most bits per second."""
    return max(table, key=lambda rate: rate.bits_per_second)


NEARLY_BEST = 0.9


def longest_rate(table: Sequence[Rate]) -> Rate:
    """The row with the longest time, of those that are nearly the best: if many people answer, they then need fewer
    questions."""
    enough = NEARLY_BEST * best_rate(table).bits_per_second
    return max((rate for rate in table if rate.bits_per_second >= enough), key=lambda rate: rate.seconds)


@dataclass(frozen=True)
class RateTable:
    """Gains of all allowed kinds and sizes, and the state of the belief when they were measured."""

    bits: dict[tuple[str, int], Array]
    rates: tuple[Rate, ...]
    spread: float
    answers: int


@dataclass(frozen=True)
class Policy:
    """``question="auto"``: of the allowed kinds and sizes, the one with most bits per second.

    Kinds of one family are worth the same, so they are measured as one, such as "select"; a question is then one of them,
    drawn at random, as in the paper.

    Gains shrink while people answer, but their ratios hardly change (Fig. 9). So the table is kept, and measured again only
    when the belief has drifted: when the spread of the scores, on which the ratios depend (Fig. 10), has changed by more than
    ``drift``, or after ``every`` answers at the latest.
    """

    kinds: tuple[str, ...] = field(default_factory=table_kinds)
    sizes: tuple[int, ...] = tuple(range(2, 9))
    cost: CostModel = PAPER_COST
    drift: float = 0.2
    every: int = 50

    def drifted(self, table: RateTable | None, scan: Scan, answers: int) -> bool:
        """Whether the gains must be measured again."""
        if table is None or not table.answers <= answers < table.answers + self.every:
            return True
        return bool(abs(np.log(score_spread(scan) / table.spread)) > np.log1p(self.drift))

    def choose(
        self,
        scan: Scan,
        posterior: Gaussian,
        behaviour: Behaviour,
        table: RateTable | None = None,
        *,
        answers: int,
        rng: np.random.Generator,
        exclude: Collection[int] = (),
        as_asked: bool = True,
        pick: Callable[[Sequence[Rate]], Rate] = best_rate,
    ) -> tuple[str, int, RateTable]:
        """The kind and size to ask now, which ``pick`` chooses from the rates, and the table to pass to the next call."""
        if table is None or self.drifted(table, scan, answers):
            measure = partial(nested_bits, kinds=self.kinds, sizes=self.sizes, exclude=exclude, as_asked=as_asked)
            bits = measure(scan, posterior, behaviour, rng=rng)
            table = RateTable(bits, to_rates(bits, self.cost), score_spread(scan), answers)
        best = pick(to_rates(table.bits, self.cost))
        return best.kind, best.size, table


def score_spread(scan: Scan) -> float:
    """The root of the mean variance of the pool's scores under the belief."""
    return float(np.sqrt(max(sum(scan.look(_total_variance)) / len(scan), 1e-300)))


def _total_variance(part: Part) -> float:
    return float(part.scores[0][1].sum())
