"""A kind of question in one file: which of these is the most positive, and which the least? Only outcomes and a likelihood."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from tellmore import Answer, AnswerError, Kind
from tellmore.core.evidence import Behaviour
from tellmore.core.time_model import TimeModel
from tellmore.kinds import Words
from tellmore.types import Array


@dataclass(frozen=True)
class BestWorstAnswer(Answer):
    """The two ends."""

    type: ClassVar[str] = "best_worst"
    best: str
    worst: str

    def check(self, items: tuple[str, ...]) -> None:
        if self.best == self.worst or not {self.best, self.worst} <= set(items):
            raise AnswerError(f"best and worst are two of the items shown, {list(items)}")


class BestWorstKind(Kind):
    """Best by softmax(K z), then worst by softmax(-K z) of the rest; outcomes are (best, worst)."""

    name = family = "best_worst"
    title = "Best and worst"
    ask = "Which is the most {attribute}, and which the least?"
    help = "Choose the most {attribute} item, then the least."
    fewest = 3
    time = TimeModel("linear", 8.02, 0.63, spread_s=4.0)
    answer_type = BestWorstAnswer
    script = Path(__file__).with_suffix(".js")

    def n_outcomes(self, k: int) -> int:
        return k * (k - 1)

    def outcomes(self, k: int) -> Iterator[tuple[int, int]]:
        yield from ((best, worst) for best in range(k) for worst in range(k) if best != worst)

    def log_likelihood(self, z: Array, outcome: tuple[int, int], behaviour: Behaviour) -> Array:
        best, worst = outcome
        x = behaviour.K * np.asarray(z, dtype=float)
        rest = -np.delete(x, best, axis=-1)
        return np.asarray(x[..., best] - logsumexp(x, axis=-1) - x[..., worst] - logsumexp(rest, axis=-1))

    def outcome(self, items: Sequence[str], answer: BestWorstAnswer) -> tuple[int, int]:
        return list(items).index(answer.best), list(items).index(answer.worst)

    def answer(self, items: Sequence[str], outcome: tuple[int, int]) -> BestWorstAnswer:
        return BestWorstAnswer(items[outcome[0]], items[outcome[1]])

    def tell(self, items: Sequence[str], answer: BestWorstAnswer, show: Callable[[str], str], words: Words) -> str:
        return f"{show(answer.best)} most, {show(answer.worst)} least of {len(items)}"


BEST_WORST = BestWorstKind()
