"""An answer as labels and choices among the k items shown, which is the form that the variational update uses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from tellmore.types import Array

RARE_SHARPNESS = 2.0
"""How sharply labels are learnt if one side is rare, relative to others: learnt as softly as these, the few labels of that side
are outweighed, and most of its items stay on the other side of the border, even labelled ones."""
LEAST_SUM = 1e-290
"""Sums of exponentials below this have lost digits or are zero."""


@dataclass(frozen=True)
class Behaviour:
    """How sharply a person answers: label sharpness w and choice sharpness K = a / sigma (eqs. 1 and 3).

    threshold: the factor on w for the labels of a ranking. They come from one decision, where the positive items end, so k of
    them carry less information than k labels given one by one.
    lapse: the expected share of answers given by chance, as if all items were alike.
    first: the share of these lapses in which the person takes what is shown first.
    across: whether choices among items of the same side say nothing, so that only those between the sides are learnt.
    """

    w: float = 9.0
    K: float = 6.75
    threshold: float = 1.0
    lapse: float = 0.0
    first: float = 0.0
    across: bool = field(default=False, kw_only=True)

    def sharper(self, factor: float, *, choices: float | None = None) -> Behaviour:
        """A person whose answers are ``factor`` times as sharp; ``choices``: another factor for these."""
        return replace(self, w=self.w * factor, K=self.K * (factor if choices is None else choices))

    @property
    def consistent(self) -> bool:
        """Whether labels that follow from an answer are learnt too. The paper does not, and it has no lapses either."""
        return self.lapse > 0

    def about_rare(self, *, many: bool) -> Behaviour:
        """How answers are learnt if one side is rare: the labels of a ranking like any other, and if there are ``many`` labels
        already, all of them twice as sharply; and no order among items of the same side, which are mostly those that are not
        looked for. A sharpness that was given is kept; it is the one with a threshold of 1."""
        if self.threshold == 1.0:
            return self
        return replace(self, w=RARE_SHARPNESS * self.w if many else self.w, threshold=1.0, across=True)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labels of some of the k items, and J choices, each of one item from a subset of the k.

    labels: [k] +1, -1, or 0 if the item got no label.
    chosen: [J] positions of the chosen items.
    candidates: [J, k] the items that each choice was made from.
    ends: [J] +1 if the highest was chosen, -1 if the lowest.

    Parameters of the methods:

    z: scores [N, k] of the k items.
    behaviour: how sharply the person labels and chooses.

    >>> one = Evidence(np.array([1.0, 0.0]), np.array([0]), np.array([[True, True]]), np.array([1]))
    >>> one.log_likelihood(np.array([[2.0, 0.0]]), Behaviour(w=1.0, K=1.0)).round(3)
    array([-0.254])
    """

    labels: Array
    chosen: NDArray[np.int64]
    candidates: NDArray[np.bool_]
    ends: NDArray[np.int64]

    def log_likelihood(self, z: Array, behaviour: Behaviour) -> Array:
        """log P(labels and choices | z) in nats for a person with this ``behaviour``, each independent given the scores:
        z [N, k] -> [N]."""
        scores = np.ascontiguousarray(z.T)  # [k, N]: sums over the few items then add long rows
        labelled = self.labels != 0
        total = log_expit(behaviour.w * self.labels[labelled, None] * scores[labelled]).sum(axis=0)
        for end in set(self.ends.tolist()):
            at = self.ends == end
            x = end * behaviour.K * scores
            total += x[self.chosen[at]].sum(axis=0) - _log_sums(x, self.candidates[at])
        return np.asarray(total)

    def log_chance(self, behaviour: Behaviour) -> float:
        """log P(answer) for a person with this ``behaviour`` to whom all items are alike."""
        chance = -float(np.count_nonzero(self.labels) * np.log(2) + np.log(self.candidates.sum(axis=1)).sum())
        if not behaviour.first:
            return chance
        first = self.log_first()
        return float(np.logaddexp(np.log1p(-behaviour.first) + chance, np.log(behaviour.first) + first))

    def log_first(self) -> float:
        """log P(answer) for a person who chooses what is shown first, or leaves an order unchanged, and labels at random."""
        labels = float(np.count_nonzero(self.labels) * np.log(0.5))
        taken = np.array_equal(self.chosen, np.arange(self.chosen.size)) or not self.chosen.size
        return labels if taken else -np.inf

    def completed(self) -> Evidence:
        """The same with the labels that follow from it: if even the highest of some items is negative, all of them are, and if
        even the lowest is positive, all are positive."""
        extreme = self.labels[self.chosen] == -self.ends
        if not extreme.any():
            return self
        labels = self.labels.copy()
        for item, candidates in zip(self.chosen[extreme], self.candidates[extreme], strict=True):
            labels[candidates & (labels == 0)] = labels[item]
        return replace(self, labels=labels)

    def across_sides(self) -> Evidence:
        """The same without choices among items of the same side."""
        side = self.labels[self.chosen][:, None]
        others = self.candidates & ~((side != 0) & (self.labels == side))
        said = others.any(axis=1)
        candidates = others[said]
        candidates[np.arange(len(candidates)), self.chosen[said]] = True
        return replace(self, chosen=self.chosen[said], candidates=candidates, ends=self.ends[said])

    def factors(self) -> list[Evidence]:
        """The same evidence one choice at a time, each preceded by the label of its item (as Algorithm 4 takes them)."""
        parts: list[Evidence] = []
        k = self.labels.size
        positions = [*self.chosen.tolist(), *(i for i in range(k) if i not in self.chosen)]
        for step, position in enumerate(positions):
            if self.labels[position]:
                labels = np.zeros(k)
                labels[position] = self.labels[position]
                parts.append(label_evidence(labels))
            if step < self.chosen.size:
                one = slice(step, step + 1)
                parts.append(Evidence(np.zeros(k), self.chosen[one], self.candidates[one], self.ends[one]))
        return parts


def _log_sums(x: Array, candidates: NDArray[np.bool_]) -> Array:
    """The sum [N] over the choices [J, k] of log sum exp of their candidates' x [k, N]; each exp is computed once."""
    top = x.max(axis=0)
    sums = candidates.astype(float) @ np.exp(x - top)
    if sums.min() > LEAST_SUM:
        return np.asarray(np.log(sums).sum(axis=0) + len(sums) * top)
    return np.asarray(sum(np.logaddexp.reduce(x[own], axis=0) for own in candidates))


def label_evidence(labels: Array) -> Evidence:
    """Labels [k] alone: +1, -1, or 0 for an item without one."""
    return choice_evidence(labels, np.empty(0, dtype=np.int64), np.empty((0, labels.size), dtype=bool))


def choice_evidence(labels: Array, chosen: NDArray[np.int64], candidates: NDArray[np.bool_], end: int = 1) -> Evidence:
    """Labels, and choices that are all of the highest item (end = +1) or all of the lowest (-1)."""
    return Evidence(labels, chosen, candidates, np.full(len(chosen), end))
