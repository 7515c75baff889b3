"""Label one item: P(y = +1 | z) = sigmoid(w z) (eq. 1, whose printed sign is wrong: y = sign(z) needs exp(-w z))."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit

from tellmore.core.evidence import Behaviour, Evidence, label_evidence
from tellmore.core.gain import Gain, label_gain_bits, label_gain_nats
from tellmore.core.time_model import TimeModel
from tellmore.kinds.contract import Kind, Perception, Words, side
from tellmore.types import Answer, Array, truth


@dataclass(frozen=True)
class LabelAnswer(Answer):
    """The answer to a label question.

    positive: whether the item is positive.

    >>> LabelAnswer(True)
    LabelAnswer(positive=True)
    """

    type: ClassVar[str] = "label"
    positive: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "positive", truth("positive", self.positive))


class LabelKind(Kind):
    """The label question; outcomes are +1 and -1."""

    name = family = "label"
    title = "Label"
    ask = "Is this {positive} or {negative}?"
    help = "Say whether the item is {positive} or {negative}."
    fewest = most = usual = 1
    standard = labels_all = True
    looks_for = 1.0
    # The most informative labels of a whole pool are those of its oddest items: see docs/method.md.
    searched = 300
    # 4.37 s is the mean of the paper's fits of selections and rankings at one item. Labels were not measured, so the
    # spread is that of selections.
    time = TimeModel("constant", 4.37, spread_s=math.sqrt(11.22))
    answer_type = LabelAnswer

    def n_outcomes(self, k: int) -> int:
        """2; k is always 1."""
        return 2

    def outcomes(self, k: int) -> Iterator[int]:
        """+1, then -1."""
        yield from (1, -1)

    def log_likelihood(self, z: Array, outcome: int, behaviour: Behaviour) -> Array:
        """log sigmoid(y w z), z [..., 1] -> [...]."""
        return np.asarray(log_expit(outcome * behaviour.w * np.asarray(z)[..., 0]))

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> int:
        """+1 with probability sigmoid(w z)."""
        return 1 if rng.random() < expit(behaviour.w * z[0]) else -1

    def respond(self, seen: Perception) -> int:
        """The side on which the person sees the item."""
        return 1 if seen.positive[0] else -1

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """Information gain by enumeration, z [B, N, 1]."""
        gains = label_gain_nats(z[..., 0], behaviour)
        return gains, np.zeros_like(gains)

    def gain(
        self, mean: Array, cov: Array, behaviour: Behaviour, *, rng: np.random.Generator, draws: int | None = None
    ) -> Gain:
        """The exact information gain, by quadrature."""
        return Gain(float(label_gain_bits(mean, np.diag(cov), behaviour)[0]))

    def evidence(self, outcome: int, k: int) -> Evidence:
        """One label."""
        return label_evidence(np.array([float(outcome)]))

    def outcome(self, items: Sequence[str], answer: LabelAnswer) -> int:
        """+-1."""
        return 1 if answer.positive else -1

    def answer(self, items: Sequence[str], outcome: int) -> LabelAnswer:
        """Positive or not."""
        return LabelAnswer(outcome > 0)

    def labels(self, items: Sequence[str], answer: LabelAnswer) -> dict[str, bool]:
        """The label of the item."""
        return {items[0]: answer.positive}

    def tell(self, items: Sequence[str], answer: LabelAnswer, show: Callable[[str], str], words: Words) -> str:
        """For example: calm: positive."""
        return f"{show(items[0])}: {side(answer.positive, words)}"


LABEL = LabelKind()
