"""Select the highest or the lowest of k items and label it: softmax(+-K z)_i sigmoid(y w z_i) (eqs. 3 and 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr, expit, log_expit

from tellmore.core.acquire import Effort
from tellmore.core.evidence import Behaviour, Evidence, choice_evidence
from tellmore.core.logistic_normal import chance_and_entropy
from tellmore.core.time_model import TimeModel
from tellmore.kinds.contract import Kind, Perception, Words, side
from tellmore.types import Answer, Array, check_shown, one_id, truth

LARGEST_LEAD = 600.0  # exp of this is finite, and so large that all other items have no chance


@dataclass(frozen=True)
class SelectAnswer(Answer):
    """The answer to a selection: the most (or least) positive item.

    chosen: its id.
    positive: whether that item is positive; None if only the choice is known.

    >>> SelectAnswer("calm", positive=True).chosen
    'calm'
    """

    type: ClassVar[str] = "select"
    chosen: str
    positive: bool | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", one_id("chosen", self.chosen))
        if self.positive is not None:
            object.__setattr__(self, "positive", truth("positive", self.positive))

    def check(self, items: tuple[str, ...]) -> None:
        """The chosen item must be one of ``items``, those shown."""
        check_shown([self.chosen], items)


def plain_choice(value: Any) -> tuple[Any, ...]:
    """A choice as a plain value: an id, whose label is unknown, or an id and its label."""
    return value if isinstance(value, tuple) else (value, None)


class SelectKind(Kind):
    """A selection question; outcomes are (i, y), with y = 0 if only the choice is known."""

    family = "select"
    standard = True
    looks_for, likely = 1.0, 0.1
    time = TimeModel("linear", 4.01, 0.63, spread_s=math.sqrt(11.22))  # the paper's fit, Table V
    answer_type = SelectAnswer

    def __init__(self, name: str, end: int, word: str) -> None:
        self.name, self.end = name, end  # +1: the highest, -1: the lowest
        follows = "{negative}" if end > 0 else "{positive}"
        self.help = f"Choose the item asked for, then label it. If it is {follows}, the others count as {follows} too."
        self.noun = "Selection" if end > 0 else "Selection (lowest)"
        self.title, self.ask = f"Select {word}", f"Choose the {word} {{attribute}}"

    def n_outcomes(self, k: int) -> int:
        """2 k."""
        return 2 * k

    def outcomes(self, k: int) -> Iterator[tuple[int, int]]:
        """Every item with either label."""
        yield from ((i, y) for i in range(k) for y in (1, -1))

    def log_likelihood(self, z: Array, outcome: tuple[int, int], behaviour: Behaviour) -> Array:
        """log softmax(+-K z)_i + log sigmoid(y w z_i), z [..., k] -> [...]."""
        z = np.asarray(z, dtype=np.float64)
        i, y = outcome
        x = self.end * behaviour.K * z
        label = log_expit(y * behaviour.w * z[..., i]) if y else 0.0
        return np.asarray(x[..., i] - np.logaddexp.reduce(x, axis=-1) + label)

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[int, int]:
        """The highest (lowest) score under Gumbel noise, and its label."""
        i = int(np.argmax(self.end * behaviour.K * np.asarray(z) + rng.gumbel(size=len(z))))
        return i, 1 if rng.random() < expit(behaviour.w * z[i]) else -1

    def respond(self, seen: Perception) -> tuple[int, int]:
        """The first or the last item in order, and its label."""
        i = int(seen.highest_first[0 if self.end > 0 else -1])
        return i, 1 if seen.positive[i] else -1

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """H[mean pmf] - mean H[pmf] over the 2 k outcomes (eq. 10), z [B, N, k]."""
        scores = np.moveaxis(z, -1, 0)  # [k, B, N]: sums over the few items then add long rows
        x = (self.end * behaviour.K) * scores
        x -= x.max(axis=0)
        share = np.exp(x)
        total = share.sum(axis=0)
        share /= total
        chance, entropy = chance_and_entropy(behaviour.w * scores)
        # Per draw: H = log Z + sum_i share_i (h_i - x_i), where h_i is the entropy of the label of i.
        x -= entropy
        x *= share
        conditional = np.log(total).mean(axis=1) - x.sum(axis=0).mean(axis=1)
        chosen = share.mean(axis=2)
        positive = np.einsum("kbn,kbn->kb", chance, share) / z.shape[1]
        gains = entr(positive).sum(axis=0) + entr(np.maximum(chosen - positive, 0.0)).sum(axis=0) - conditional
        return gains, np.zeros_like(gains)

    def gains_with(self, own: Array, candidates: Array, behaviour: Behaviour, rng: np.random.Generator) -> Array:
        """The gain of sets that differ in one item: the terms of the other items are computed once for all candidates."""
        n = own.shape[1]
        x = (self.end * behaviour.K) * own
        peak = x.max(axis=0)
        x -= peak
        weight = np.exp(x)
        positive, entropy = chance_and_entropy(behaviour.w * own)
        # Per draw: H = log Z + sum_i weight_i (h_i - x_i) / Z, where h_i is the entropy of the label of i.
        known = (weight * (entropy - x)).sum(axis=0)
        x = np.minimum((self.end * behaviour.K) * candidates - peak, LARGEST_LEAD)
        joining = np.exp(x)
        each = 1 / (joining + weight.sum(axis=0))
        joining_positive, entropy = chance_and_entropy(behaviour.w * candidates)
        conditional = (each * (known + joining * (entropy - x)) - np.log(each)).mean(axis=1)
        joining *= each
        chosen = np.column_stack([joining.sum(axis=1), each @ weight.T]) / n
        positive = np.column_stack([np.einsum("bn,bn->b", joining, joining_positive), each @ (weight * positive).T]) / n
        return np.asarray((entr(positive) + entr(np.maximum(chosen - positive, 0.0))).sum(axis=1) - conditional)

    def effort(self, k: int) -> Effort:
        """Enough for 99 % of the gain of a full greedy search on average (benchmarks/bench_engine.py)."""
        return Effort(384, 256, finalists=16)

    def evidence(self, outcome: tuple[int, int], k: int) -> Evidence:
        """One choice among all k items, and the label of the chosen one."""
        i, y = outcome
        labels = np.zeros(k)
        labels[i] = y
        return choice_evidence(labels, np.array([i]), np.ones((1, k), dtype=bool), self.end)

    def outcome(self, items: Sequence[str], answer: SelectAnswer) -> tuple[int, int]:
        """(position chosen, +-1), with 0 for the label if only the choice is known."""
        label = 0 if answer.positive is None else 1 if answer.positive else -1
        return list(items).index(answer.chosen), label

    def answer(self, items: Sequence[str], outcome: tuple[int, int]) -> SelectAnswer:
        """The chosen id and its label."""
        return SelectAnswer(items[outcome[0]], outcome[1] > 0 if outcome[1] else None)

    def from_plain(self, value: Any) -> Answer:
        """The answer for ``"calm"``, or with its label for ``("calm", True)``."""
        return super().from_plain(plain_choice(value))

    def refusal(self, answer: SelectAnswer, *, ties: bool) -> str | None:
        """The chosen item must be labelled."""
        return "the chosen item has no label; say whether it is positive" if answer.positive is None else None

    def labels(self, items: Sequence[str], answer: SelectAnswer) -> dict[str, bool]:
        """The label of the chosen item; of all items, if even the highest is negative or the lowest positive."""
        if answer.positive is None:
            return {}
        return dict.fromkeys(items if answer.positive == (self.end < 0) else [answer.chosen], answer.positive)

    def tell(self, items: Sequence[str], answer: SelectAnswer, show: Callable[[str], str], words: Words) -> str:
        """For example: calm (positive) among grim, plain."""
        return told_choice(items, answer, show, words)


def told_choice(items: Sequence[str], answer: SelectAnswer, show: Callable[[str], str], words: Words) -> str:
    """The chosen item, its label if it has one, and the others."""
    label = "" if answer.positive is None else f" ({side(answer.positive, words)})"
    return f"{show(answer.chosen)}{label} among {', '.join(show(item) for item in items if item != answer.chosen)}"


SELECT_HIGH = SelectKind("select_high", +1, "most")
SELECT_LOW = SelectKind("select_low", -1, "least")
