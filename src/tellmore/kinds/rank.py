"""Rank k items and mark where the positive ones end: Plackett-Luce (eqs. 5-6) times a threshold.

Independent logistic labels would also allow label patterns that no threshold can express, so the probabilities of the pairs
(order, threshold) would not sum to one. The likelihood here normalises the threshold given the order,

    P(l | r) = softmax_l( w (z_r1 + ... + z_rl) ),

which is the same product of logistic labels restricted to the k + 1 patterns that a threshold can express. The update learns
the k labels as k logistic observations, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from math import factorial, log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tellmore.core import plackett_luce
from tellmore.core.acquire import Effort
from tellmore.core.evidence import Behaviour, Evidence, choice_evidence
from tellmore.core.gain import Gain, contrastive_gain_nats, sampled_gain
from tellmore.core.rank_gain import ranking_gain_nats
from tellmore.core.sampling import normal_points, score_root
from tellmore.core.time_model import TimeModel
from tellmore.errors import AnswerError
from tellmore.kinds.contract import Kind, Perception, Words
from tellmore.types import Answer, Array, id_list, whole_number

LARGE_DRAWS = 2048  # outcomes drawn for a ranking too large to enumerate; a third of a second for ten items
TIES_HELP = (
    " If two neighbours are equal, tie them. To rank only the best, pick up the first of the others and press “The "
    "rest are tied”."
)
RIVALS = 9
"""An item of a long ranking counts as chosen from this many of those below it, and itself."""
LONGEST = 200
UNMARKED = -1  # an order without a threshold, as collected elsewhere
RankOutcome = tuple[tuple[int, ...], int] | tuple[tuple[int, ...], int, tuple[int, ...]]
"""(order, n_positive), and if items are tied, the places that are tied with the next one."""


@dataclass(frozen=True)
class RankAnswer(Answer):
    """The answer to a ranking.

    order: the ids of all items shown, highest first.
    n_positive: how many of them, from the first on, are positive; None if only the order is known.
    ties: places (from 0) whose item is tied with the next one. A partial ranking, the best m in order, ties the rest.

    >>> RankAnswer(["calm", "plain", "dull", "grim"], n_positive=1, ties=[1]).ties  # plain and dull are tied
    (1,)
    """

    type: ClassVar[str] = "rank"
    order: tuple[str, ...]
    n_positive: int | None
    ties: tuple[int, ...] = ()

    def __init__(self, order: Sequence[Any], n_positive: int | None, ties: Iterable[int] = ()) -> None:
        if not isinstance(ties, list | tuple | set | frozenset):
            raise AnswerError(f"ties must be a list of places, not {ties!r}")
        if isinstance(order, Set):
            raise AnswerError(f"order must be a list of ids, highest first, and a set has no order: {order!r}")
        object.__setattr__(self, "order", id_list("order", order))
        object.__setattr__(self, "n_positive", None if n_positive is None else whole_number("n_positive", n_positive))
        object.__setattr__(self, "ties", tuple(sorted({whole_number("a place in ties", place) for place in ties})))

    def as_json(self) -> dict[str, Any]:
        """As stored in the log and sent over HTTP, with ``ties`` only if there are any."""
        plain = super().as_json()
        return plain if self.ties else {key: value for key, value in plain.items() if key != "ties"}

    def check(self, items: tuple[str, ...]) -> None:
        """The order must contain each of ``items`` once; ``n_positive`` and ``ties`` must fit it."""
        k = len(items)
        if k > LONGEST:
            raise AnswerError(f"a ranking may have at most {LONGEST} items, not {k}; split it into shorter ones")
        if sorted(self.order) != sorted(items):
            raise AnswerError(
                f"the order must hold each item shown exactly once: {list(items)}, not {list(self.order)}"
            )
        if self.n_positive is not None and self.n_positive > k:
            raise AnswerError(f"n_positive must be from 0 to {k}, not {self.n_positive}")
        if any(place >= k - 1 for place in self.ties):
            raise AnswerError(f"ties must be places from 0 to {k - 2}, not {list(self.ties)}")
        if self.n_positive is not None and self.n_positive - 1 in self.ties:
            raise AnswerError(
                "the last positive item cannot be tied with the first negative one; move the divider or the tie"
            )


class RankKind(Kind):
    """The ranking question; outcomes are (order of positions, highest first; how many are positive)."""

    name = family = "rank"
    title, noun = "Rank", "Ranking"
    ask = "Put the most {attribute} first"
    help = (
        "Put the items in order, then set the divider: above it {positive}, below it {negative}. "
        "All items may be on one side."
    )
    standard = labels_all = True
    looks_for, if_rare = 1.0, "tick"
    """An order among items of which hardly any is positive says little; their labels are what counts."""
    time = TimeModel("linear", -0.32, 4.41, spread_s=sqrt(125.44))  # the paper's fit, Table V
    time_forms = ("linear", "quadratic")
    answer_type = RankAnswer

    def n_outcomes(self, k: int) -> int:
        """k! orders times k + 1 thresholds."""
        return factorial(k + 1)

    def outcomes(self, k: int) -> Iterator[RankOutcome]:
        """Every order with every threshold."""
        yield from ((order, n) for order in permutations(range(k)) for n in range(k + 1))

    def log_likelihood(self, z: Array, outcome: RankOutcome, behaviour: Behaviour) -> Array:
        """log P(order | z) + log P(threshold | order, z), z [..., k] -> [...]."""
        order, n_positive = outcome[:2]
        ranked = np.asarray(z, dtype=np.float64)[..., list(order)]
        x = behaviour.K * ranked
        tails = np.logaddexp.accumulate(x[..., ::-1], axis=-1)[..., ::-1]
        levels = plackett_luce.levels_of(behaviour.w * ranked)
        return np.asarray((x - tails).sum(axis=-1) + levels[..., n_positive] - np.logaddexp.reduce(levels, axis=-1))

    def learnt_with(self, behaviour: Behaviour) -> Behaviour:
        """The behaviour with labels as sharp as those from a threshold."""
        return behaviour if behaviour.threshold == 1.0 else _of_threshold(behaviour)

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> RankOutcome:
        """Sort under Gumbel noise, then draw the threshold."""
        orders, thresholds = plackett_luce.sample_outcomes(np.asarray(z)[None], behaviour, rng)
        return tuple(int(i) for i in orders[0]), int(thresholds[0])

    def respond(self, seen: Perception) -> RankOutcome:
        """The order as seen, and how many are positive."""
        return tuple(int(i) for i in seen.highest_first), int(np.count_nonzero(seen.positive))

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """Information gain by enumeration up to k = 5, by contrastive bounds beyond; z [B, N, k]."""
        if z.shape[-1] <= plackett_luce.MAX_ENUMERATED:
            gains = plackett_luce.enumerated_gains(z, behaviour)
            return gains, np.zeros_like(gains)
        bounds = np.array([contrastive_gain_nats(self.pairwise(one, behaviour, rng)) for one in z])
        return bounds[:, 0], bounds[:, 1]

    def pairwise(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> Array:
        """log p(o_i | z_j) of all pairs at once."""
        return plackett_luce.pairwise_log_likelihood(z, *plackett_luce.sample_outcomes(z, behaviour, rng), behaviour)

    def gain(
        self, mean: Array, cov: Array, behaviour: Behaviour, *, rng: np.random.Generator, draws: int | None = None
    ) -> Gain:
        """The information gain; beyond five items, from ``draws`` outcomes, as the midpoint of two bounds.

        The error includes the gap between the bounds. It is 1 to 3 % of the gain, and more if answers are almost certain (a
        standard deviation of K z above thirty).
        """
        if len(mean) <= plackett_luce.MAX_ENUMERATED:
            return sampled_gain(lambda z: plackett_luce.enumerated_gains(z, behaviour), mean, cov, rng=rng, draws=draws)
        points = normal_points(draws or LARGE_DRAWS, len(mean), rng)
        bits, error = np.array(ranking_gain_nats(mean, score_root(cov), points, behaviour, rng)) / log(2)
        return Gain(max(float(bits), 0.0), float(error))

    def effort(self, k: int) -> Effort:
        """Enough for 99 % of the gain of a full greedy search on average (benchmarks/bench_engine.py)."""
        if k <= 3:
            return Effort(256, 256, finalists=16)
        if k <= plackett_luce.MAX_ENUMERATED:
            return Effort(96, 256, finalists=8) if k == 4 else Effort(32, 128, finalists=6)
        return Effort(8, 128)

    def search_is_rough(self, k: int) -> bool:
        """Beyond five items, the search takes the best of several noisy estimates, which overestimates the gain."""
        return k > plackett_luce.MAX_ENUMERATED

    def evidence(self, outcome: RankOutcome, k: int) -> Evidence:
        """k labels (none if n_positive is UNMARKED) and k - 1 choices from shrinking sets.

        An item that is tied with others is a choice over the items below all of them, and says nothing about its equals.
        """
        return _evidence(outcome, k)

    def outcome(self, items: Sequence[str], answer: RankAnswer) -> RankOutcome:
        """(order of positions, n_positive)."""
        n_positive = UNMARKED if answer.n_positive is None else answer.n_positive
        order = tuple(list(items).index(item) for item in answer.order)
        return (order, n_positive, answer.ties) if answer.ties else (order, n_positive)

    def answer(self, items: Sequence[str], outcome: RankOutcome) -> RankAnswer:
        """The ids, highest first."""
        n_positive = None if outcome[1] == UNMARKED else outcome[1]
        return RankAnswer([items[i] for i in outcome[0]], n_positive, outcome[2] if len(outcome) > 2 else ())

    def from_plain(self, value: Any) -> Answer:
        """The order, highest first: ``["calm", "plain", "grim"]``; or with the number of positive items: ``(["calm", …], 1)``."""
        with_border = isinstance(value, tuple) and value and isinstance(value[0], list | tuple)
        return super().from_plain(value if with_border else (value, None))

    def refusal(self, answer: RankAnswer, *, ties: bool) -> str | None:
        """A divider is needed, and ties are refused unless the project allows them."""
        if answer.n_positive is None:
            return "the ranking has no divider; say how many items are positive"
        if answer.ties and not ties:
            return "this project allows no ties; put all items in order, or reload the page"
        return None

    def instructions(self, words: Words, *, ties: bool = False) -> str:
        """How to answer, and how to tie items if that is allowed."""
        return super().instructions(words) + (TIES_HELP if ties else "")

    def labels(self, items: Sequence[str], answer: RankAnswer) -> dict[str, bool]:
        """The labels of all items, which follow from the divider."""
        if answer.n_positive is None:
            return {}
        return {item: place < answer.n_positive for place, item in enumerate(answer.order)}

    def tell(self, items: Sequence[str], answer: RankAnswer, show: Callable[[str], str], words: Words) -> str:
        """For example: calm › plain | dull = grim. Items before the bar are positive, and = joins tied items."""
        border = len(answer.order) if answer.n_positive is None else answer.n_positive
        parts = [self._told_side(answer, start, end, show) for start, end in ((0, border), (border, len(answer.order)))]
        return parts[0] if answer.n_positive is None else " | ".join(part or "none" for part in parts)

    def _told_side(self, answer: RankAnswer, start: int, end: int, show: Callable[[str], str]) -> str:
        told = [
            (" = " if place in answer.ties else " › ") + show(answer.order[place + 1])
            for place in range(start, end - 1)
        ]
        return show(answer.order[start]) + "".join(told) if end > start else ""


@lru_cache(maxsize=4096)
def _evidence(outcome: RankOutcome, k: int) -> Evidence:
    order, n_positive = np.array(outcome[0]), outcome[1]
    labels = np.zeros(k)
    if n_positive != UNMARKED:
        labels[order] = np.where(np.arange(k) < n_positive, 1.0, -1.0)
    place = np.empty(k, dtype=int)
    place[order] = np.arange(k)
    last = _last_of_level(k, outcome[2] if len(outcome) > 2 else ())  # last place tied with each place
    rivals = place[None, :] > last[:, None]
    if (
        k > RIVALS + 1
    ):  # a choice from fewer items says less but is as true; from all, memory would grow like k to the power 4
        rivals &= place[None, :] <= last[:, None] + RIVALS
    candidates = rivals | (place[None, :] == np.arange(k)[:, None])
    chosen = rivals.any(axis=1)
    return choice_evidence(labels, order[chosen], candidates[chosen])


def _last_of_level(k: int, ties: tuple[int, ...]) -> NDArray[np.int64]:
    """For every place, the last place that is tied with it."""
    last = np.arange(k)
    for place in sorted(ties, reverse=True):
        last[place] = last[place + 1]
    return last


@lru_cache(maxsize=256)
def _of_threshold(behaviour: Behaviour) -> Behaviour:
    return replace(behaviour, w=behaviour.w * behaviour.threshold)


RANK = RankKind()
