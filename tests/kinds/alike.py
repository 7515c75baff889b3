"""A kind that only has a likelihood: are two items on the same side? Everything else is what the base class gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_expit

from tellmore.core.evidence import Behaviour
from tellmore.core.time_model import TimeModel
from tellmore.kinds import Kind
from tellmore.types import Answer, Array, truth


@dataclass(frozen=True)
class AlikeAnswer(Answer):
    """Both items are positive or both are negative, or they are not."""

    type: ClassVar[str] = "alike"
    alike: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "alike", truth("alike", self.alike))


class AlikeKind(Kind):
    """P(alike) = s1 s2 + (1 - s1)(1 - s2), s = sigmoid(w z): the scores may be high or low, so the posterior has two peaks."""

    name = family = "alike"
    title = "Alike"
    ask = "Are both of them {positive}, or both {negative}?"
    help = "Say whether the two items are on the same side."
    fewest = most = usual = 2
    time = TimeModel("constant", 5.0)
    answer_type = AlikeAnswer

    def n_outcomes(self, k: int) -> int:
        return 2

    def outcomes(self, k: int) -> Iterator[bool]:
        yield from (True, False)

    def log_likelihood(self, z: Array, outcome: bool, behaviour: Behaviour) -> Array:
        x = behaviour.w * np.asarray(z, dtype=np.float64)
        sign = 1 if outcome else -1
        both = [log_expit(side * x[..., 0]) + log_expit(side * sign * x[..., 1]) for side in (1, -1)]
        return np.asarray(np.logaddexp(*both))

    def outcome(self, items: Sequence[str], answer: AlikeAnswer) -> bool:
        return answer.alike

    def answer(self, items: Sequence[str], outcome: bool) -> AlikeAnswer:
        return AlikeAnswer(outcome)


ALIKE = AlikeKind()
