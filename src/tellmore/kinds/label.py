"""Label one item: P(y = +1 | z) = sigmoid(w z) (eq. 1, whose printed sign is wrong: y = sign(z) needs exp(-w z))."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit, log_expit

from tellmore.core.evidence import Behaviour, Evidence, label_evidence
from tellmore.core.logistic_normal import entropy_nats
from tellmore.types import Answer, Array, LabelAnswer, Question


@dataclass(frozen=True)
class LabelKind:
    """The label question; outcomes are +1 and -1."""

    name: str = "label"

    def n_outcomes(self, k: int) -> int:
        """Two, whatever k (which is 1)."""
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

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """H[mean p] - mean H[p] (eq. 11), z [B, N, 1]."""
        x = behaviour.w * z[..., 0]
        p = expit(x).mean(axis=1)
        gains = entr(p) + entr(1 - p) - entropy_nats(x).mean(axis=1)
        return gains, np.zeros_like(gains)

    def evidence(self, outcome: int, k: int) -> Evidence:
        """One label."""
        return label_evidence(0, outcome, k)

    def outcome(self, question: Question, answer: Answer) -> int:
        """+-1."""
        assert isinstance(answer, LabelAnswer)
        return 1 if answer.positive else -1

    def answer(self, question: Question, outcome: int) -> LabelAnswer:
        """Positive or not."""
        return LabelAnswer(outcome > 0)


LABEL = LabelKind()
