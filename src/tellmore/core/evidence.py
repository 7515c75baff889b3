"""What an answer says about the scores of the k items shown, in the form every update and every kind shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellmore.types import Array


@dataclass(frozen=True)
class Behaviour:
    """How sharply a person answers: label sharpness w and choice sharpness K = a / sigma (eqs. 1 and 3).

    The defaults suit unit-norm embeddings and classifiers of norm about 1. They are 3/4 of what people's
    scores show along the best direction (12 and 9 on three pools of words): at first the direction itself is unknown, and a
    belief that takes answers for sharper than they are is too sure too soon.
    """

    w: float = 9.0
    K: float = 6.75

    def sharper(self, factor: float) -> Behaviour:
        """A person whose answers are ``factor`` times as sharp."""
        return Behaviour(self.w * factor, self.K * factor)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labels of some items and J choices, each of one item out of some of the k.

    labels [k]: +1, -1, or 0 where the item got no label. chosen [J]: positions. candidates [J, k]: who stood for choice.
    sign: +1 when the highest was chosen, -1 when the lowest.
    """

    labels: Array
    chosen: NDArray[np.int64]
    candidates: NDArray[np.bool_]
    sign: int = 1

    def factors(self) -> list[Evidence]:
        """The same evidence one choice at a time, each preceded by the label of its item (Algorithm 4, one after another)."""
        parts: list[Evidence] = []
        k = self.labels.size
        positions = [*self.chosen.tolist(), *(i for i in range(k) if i not in self.chosen)]
        for step, position in enumerate(positions):
            if self.labels[position]:
                parts.append(label_evidence(position, int(self.labels[position]), k))
            if step < self.chosen.size:
                one = slice(step, step + 1)
                parts.append(Evidence(np.zeros(k), self.chosen[one], self.candidates[one], self.sign))
        return parts


def label_evidence(position: int, y: int, k: int) -> Evidence:
    """One label y = +-1 on the item at ``position``."""
    labels = np.zeros(k)
    labels[position] = y
    return Evidence(labels, np.empty(0, dtype=np.int64), np.empty((0, k), dtype=bool))
