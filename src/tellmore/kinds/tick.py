"""Tick every positive item of a grid: the product of k labels, sigmoid(y_i w z_i) each (eq. 1).

A grid of twelve items asks for twelve labels at once, so each label costs less time than a question of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from tellmore.core.acquire import Acquired, Rows
from tellmore.core.evidence import Behaviour, Evidence, label_evidence
from tellmore.core.gain import contrastive_gain_nats, enumerated_gain_nats
from tellmore.core.gaussian import Gaussian
from tellmore.core.label_sets import label_set
from tellmore.core.logistic_normal import entropy_nats
from tellmore.core.scan import PoolScan
from tellmore.core.time_model import TimeModel
from tellmore.kinds.contract import MAX_ENUMERATED, Kind, Perception, Words
from tellmore.types import Answer, Array, check_shown, id_list

TickOutcome = tuple[int, ...]


@dataclass(frozen=True)
class TickAnswer(Answer):
    """The answer to a grid.

    positive: the ids of the positive items; all others that were shown are negative.

    >>> TickAnswer(["calm"]).positive
    ('calm',)
    """

    type: ClassVar[str] = "tick"
    positive: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "positive", id_list("positive", self.positive))

    def check(self, items: tuple[str, ...]) -> None:
        """The ticked items must be among ``items``, those shown."""
        check_shown(self.positive, items)


class TickKind(Kind):
    """The grid question; outcomes are k labels +-1."""

    name = family = "tick"
    title, noun = "Tick", "Grid"
    ask = "Tick everything that is {positive}"
    help = "Tick every item that is {positive}; the others count as {negative}. You may tick all of them, or none."
    most = 24
    usual = 12
    standard = labels_all = True
    looks_for = 0.5
    # Assumed, not measured, until people's own times replace it: reading as in a selection (Table V) and one second per
    # tick, which is about 1.5 s per label for twelve items. Published for pictures in a scrolling page: 0.9 s per label.
    time = TimeModel("linear", 4.01, 0.63, spread_s=math.sqrt(11.22), per_mark=1.0)
    answer_type = TickAnswer

    def n_outcomes(self, k: int) -> int:
        """2^k."""
        return 1 << k

    def outcomes(self, k: int) -> Iterator[TickOutcome]:
        """Every pattern of labels."""
        yield from product((1, -1), repeat=k)

    def log_likelihood(self, z: Array, outcome: TickOutcome, behaviour: Behaviour) -> Array:
        """Sum of log sigmoid(y_i w z_i), z [..., k] -> [...]."""
        return np.asarray(log_expit(behaviour.w * np.asarray(z) * np.array(outcome)).sum(axis=-1))

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> TickOutcome:
        """Each label drawn independently."""
        return tuple(_sampled(np.asarray(z)[None], behaviour, rng)[0].tolist())

    def respond(self, seen: Perception) -> TickOutcome:
        """The items that the person sees as positive."""
        return tuple(1 if positive else -1 for positive in seen.positive)

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """Information gain by enumeration up to eight items, by contrastive bounds beyond; z [B, N, k]."""
        if self.n_outcomes(z.shape[-1]) <= MAX_ENUMERATED:
            patterns = np.array(list(self.outcomes(z.shape[-1])), dtype=float)
            gains = enumerated_gain_nats(_log_pmf(z, patterns, behaviour))
            return gains, np.zeros_like(gains)
        bounds = np.array([_bounded_gain(one, self.pairwise(one, behaviour, rng), behaviour) for one in z])
        return bounds[:, 0], bounds[:, 1]

    def pairwise(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> Array:
        """log p(o_i | z_j) of all pairs, by one matrix product."""
        return _log_pmf(z, _sampled(z, behaviour, rng).astype(float), behaviour).T

    def search(
        self,
        scan: PoolScan,
        belief: Gaussian,
        size: int,
        behaviour: Behaviour,
        *,
        rng: np.random.Generator,
        exclude: Rows | Sequence[int] = (),
    ) -> Acquired:
        """Items in order of the gain of their label, given the labels of the items before."""
        return label_set(scan, belief, size, behaviour, rng=rng, exclude=exclude)

    def search_is_rough(self, k: int) -> bool:
        """The gain given earlier labels is an approximation."""
        return k > 1

    def evidence(self, outcome: TickOutcome, k: int) -> Evidence:
        """k labels."""
        return label_evidence(np.array(outcome, dtype=float))

    def outcome(self, items: Sequence[str], answer: TickAnswer) -> TickOutcome:
        """+1 for ticked items, else -1, in the order shown."""
        ticked = set(answer.positive)
        return tuple(1 if item in ticked else -1 for item in items)

    def answer(self, items: Sequence[str], outcome: TickOutcome) -> TickAnswer:
        """The ticked ids, in the order shown."""
        return TickAnswer(tuple(item for item, y in zip(items, outcome, strict=True) if y > 0))

    def labels(self, items: Sequence[str], answer: TickAnswer) -> dict[str, bool]:
        """The labels of all items."""
        return {item: item in answer.positive for item in items}

    def marks(self, answer: TickAnswer) -> int:
        """How many items are ticked."""
        return len(answer.positive)

    def tell(self, items: Sequence[str], answer: TickAnswer, show: Callable[[str], str], words: Words) -> str:
        """For example: calm, kind | grim, plain. Items before the bar are ticked."""
        ticked = [show(item) for item in items if item in answer.positive]
        left = [show(item) for item in items if item not in answer.positive]
        return " | ".join(", ".join(part) or "none" for part in (ticked, left))


def _sampled(z: Array, behaviour: Behaviour, rng: np.random.Generator) -> NDArray[np.int64]:
    """Labels +-1 [N, k] for scores z [N, k]."""
    return np.where(rng.random(z.shape) < expit(behaviour.w * z), 1, -1)


def _bounded_gain(z: Array, log_p: Array, behaviour: Behaviour) -> tuple[float, float]:
    """Gain and its error from pairs of outcomes and draws [N, N], with the surprise of each outcome as a control variate."""
    return contrastive_gain_nats(log_p, np.diag(log_p) + entropy_nats(behaviour.w * z).sum(axis=1))


def _log_pmf(z: Array, patterns: Array, behaviour: Behaviour) -> Array:
    """log P(pattern | z) [..., N, O] for scores z [..., N, k] and patterns of labels [O, k]: one matrix product."""
    x = behaviour.w * np.asarray(z)
    # log sigmoid(y x) = (y - 1) x / 2 + log sigmoid(x), so a pattern only adds a linear term.
    return np.asarray(x @ ((patterns - 1) / 2).T + log_expit(x).sum(axis=-1, keepdims=True))


TICK = TickKind()
