"""Which can you label most confidently, and which are you least sure of: the two questions of the paper's conclusion.

The paper names them but gives no likelihood. Here an item's *clarity* is 2 cosh(K z) = e^(K z) + e^(-K z), the strength of the
two claims about it, "it is positive" and "it is negative", in Luce's choice rule. It grows with |z| as e^(K|z|) and is smooth
at the boundary. Then

    most sure     P(i, y) = clarity_i / sum_j clarity_j  sigmoid(y w z_i)
    least sure    P(i)    = clarity_i^-1 / sum_j clarity_j^-1

The first is a selection (eq. 3) among claims instead of items, with the label of eq. 1. The second says how near an item is to
the boundary but not on which side, so the posterior may have two peaks, and scores may become less certain than before. It is
learnt by moment matching, which covers both peaks, and is worth little on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import log_expit

from tellmore.core.evidence import Behaviour
from tellmore.errors import AnswerError
from tellmore.kinds.contract import Kind, Perception, Words
from tellmore.kinds.select import SELECT_HIGH, SelectAnswer, plain_choice, told_choice
from tellmore.types import Answer, Array


def _log_clarity(z: Array, behaviour: Behaviour) -> Array:
    """log(2 cosh(K z)), for z of any shape."""
    x = behaviour.K * np.asarray(z, dtype=np.float64)
    return np.asarray(np.logaddexp(x, -x))


class MostSureKind(Kind):
    """The item that is easiest to label, and its label; outcomes are (i, y)."""

    name = family = "most_sure"
    title = "Most sure"
    ask = "Which can you label most confidently?"
    help = "Choose the item you are most sure of, then label it."
    laboratory = True
    time = SELECT_HIGH.time  # assumed: finding the clearest item takes as long as finding the highest
    answer_type = SelectAnswer

    def n_outcomes(self, k: int) -> int:
        """2 k."""
        return 2 * k

    def outcomes(self, k: int) -> Iterator[tuple[int, int]]:
        """Every item with either label."""
        yield from ((i, y) for i in range(k) for y in (1, -1))

    def log_likelihood(self, z: Array, outcome: tuple[int, int], behaviour: Behaviour) -> Array:
        """log P(i, y), z [..., k] -> [...]."""
        i, y = outcome
        clarity = _log_clarity(z, behaviour)
        label = log_expit(y * behaviour.w * np.asarray(z)[..., i])
        return np.asarray(clarity[..., i] - np.logaddexp.reduce(clarity, axis=-1) + label)

    def respond(self, seen: Perception) -> tuple[int, int]:
        """The item farthest from the boundary, and its label."""
        i = int(np.argmax(np.abs(seen.z)))
        return i, 1 if seen.positive[i] else -1

    def outcome(self, items: Sequence[str], answer: SelectAnswer) -> tuple[int, int]:
        """(position chosen, +-1)."""
        return list(items).index(answer.chosen), 1 if answer.positive else -1

    def answer(self, items: Sequence[str], outcome: tuple[int, int]) -> SelectAnswer:
        """The chosen id and its label."""
        return SelectAnswer(items[outcome[0]], outcome[1] > 0)

    def check(self, items: tuple[str, ...], answer: SelectAnswer) -> None:
        """The chosen item must be one of those shown, and labelled."""
        answer.check(items)
        if answer.positive is None:
            raise AnswerError("the item chosen as the surest needs a label: positive must be True or False")

    def labels(self, items: Sequence[str], answer: SelectAnswer) -> dict[str, bool]:
        """The label of the chosen item."""
        return {} if answer.positive is None else {answer.chosen: answer.positive}

    def tell(self, items: Sequence[str], answer: SelectAnswer, show: Callable[[str], str], words: Words) -> str:
        """For example: calm (positive) among grim, plain."""
        return told_choice(items, answer, show, words)


class LeastSureKind(Kind):
    """The item that is hardest to label; the outcome is its position."""

    name = family = "least_sure"
    title = "Least sure"
    ask = "Which are you least sure of?"
    help = "Choose the item that is hardest to label. It gets no label."
    laboratory = True
    time = SELECT_HIGH.time
    answer_type = SelectAnswer

    def n_outcomes(self, k: int) -> int:
        """k."""
        return k

    def outcomes(self, k: int) -> Iterator[int]:
        """Every item."""
        yield from range(k)

    def log_likelihood(self, z: Array, outcome: int, behaviour: Behaviour) -> Array:
        """log P(i), z [..., k] -> [...]."""
        doubt = -_log_clarity(z, behaviour)
        return np.asarray(doubt[..., outcome] - np.logaddexp.reduce(doubt, axis=-1))

    def respond(self, seen: Perception) -> int:
        """The item nearest to the boundary."""
        return int(np.argmin(np.abs(seen.z)))

    def outcome(self, items: Sequence[str], answer: SelectAnswer) -> int:
        """The position chosen."""
        return list(items).index(answer.chosen)

    def answer(self, items: Sequence[str], outcome: int) -> SelectAnswer:
        """The chosen id, without a label."""
        return SelectAnswer(items[outcome], None)

    def from_plain(self, value: Any) -> Answer:
        """The answer for ``"calm"``."""
        return super().from_plain(plain_choice(value))

    def check(self, items: tuple[str, ...], answer: SelectAnswer) -> None:
        """The chosen item must be one of those shown, without a label."""
        answer.check(items)
        if answer.positive is not None:
            raise AnswerError("the item a person is least sure of gets no label: positive must be None")

    def tell(self, items: Sequence[str], answer: SelectAnswer, show: Callable[[str], str], words: Words) -> str:
        """For example: calm among grim, plain."""
        return told_choice(items, answer, show, words)


MOST_SURE = MostSureKind()
LEAST_SURE = LeastSureKind()
