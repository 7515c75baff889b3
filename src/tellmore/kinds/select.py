"""Select the highest or the lowest of k items and label it: softmax(+-K z)_i sigmoid(y w z_i) (eqs. 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit, log_expit, logsumexp

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.logistic_normal import entropy_nats
from tellmore.types import Answer, Array, Question, SelectAnswer


@dataclass(frozen=True)
class SelectKind:
    """A selection question; outcomes are (i, y)."""

    name: str
    sign: int  # +1: the highest, -1: the lowest

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
        x = self.sign * behaviour.K * z
        return np.asarray(x[..., i] - logsumexp(x, axis=-1) + log_expit(y * behaviour.w * z[..., i]))

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[int, int]:
        """The highest (lowest) score under Gumbel noise, and its label."""
        i = int(np.argmax(self.sign * behaviour.K * np.asarray(z) + rng.gumbel(size=len(z))))
        return i, 1 if rng.random() < expit(behaviour.w * z[i]) else -1

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """H[mean pmf] - mean H[pmf] over the 2 k outcomes (eq. 10), z [B, N, k]."""
        scores = np.moveaxis(z, -1, 0)  # [k, B, N]: sums over the few items are then sums of long rows
        x = (self.sign * behaviour.K) * scores
        x -= x.max(axis=0)
        share = np.exp(x)
        total = share.sum(axis=0)
        share /= total
        odds = behaviour.w * scores
        # Per draw: H = log Z + sum_i share_i (h_i - x_i), h_i the entropy of the label of i.
        x -= entropy_nats(odds)
        x *= share
        conditional = np.log(total).mean(axis=1) - x.sum(axis=0).mean(axis=1)
        chosen = share.mean(axis=2)
        positive = np.einsum("kbn,kbn->kb", expit(odds), share) / z.shape[1]
        gains = entr(positive).sum(axis=0) + entr(np.maximum(chosen - positive, 0.0)).sum(axis=0) - conditional
        return gains, np.zeros_like(gains)

    def evidence(self, outcome: tuple[int, int], k: int) -> Evidence:
        """One choice out of all k, and the chosen item's label."""
        i, y = outcome
        labels = np.zeros(k)
        labels[i] = y
        return Evidence(labels, np.array([i]), np.ones((1, k), dtype=bool), self.sign)

    def outcome(self, question: Question, answer: Answer) -> tuple[int, int]:
        """(position chosen, +-1), or 0 for the label where only the choice is known."""
        assert isinstance(answer, SelectAnswer)
        label = 0 if answer.positive is None else 1 if answer.positive else -1
        return question.items.index(answer.chosen), label

    def answer(self, question: Question, outcome: tuple[int, int]) -> SelectAnswer:
        """The chosen id and its label."""
        return SelectAnswer(question.items[outcome[0]], outcome[1] > 0 if outcome[1] else None)


SELECT_HIGH = SelectKind("select_high", +1)
SELECT_LOW = SelectKind("select_low", -1)
