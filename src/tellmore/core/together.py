"""Who answers with care, guesses, or swaps positive and negative: everybody's answers are judged together.

If two people of five guess, the belief from everybody's answers is spoilt, and compared with it, careful people seem to guess
too. So nobody is compared with a belief here. A *reading* of the answers says of each person whether their answers were meant,
given by chance, or reversed. Its probability follows from how well the answers that are then meant predict each other under
the prior: one classifier explains those of careful people, and none explains those of people who guess. The sum over
readings gives the probability of each manner for each person. How sharp answers are is not known beforehand and the same for
all, so readings at several sharpnesses are compared: if answers vary much, nobody looks worse for it.

People are added one after another, and only the most probable readings are continued. Each answer counts as a few yes-or-no
facts: an item is above or below the boundary, or above or below another item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.label_chain import SMALLEST
from tellmore.types import Array

MEANT, CHANCE, REVERSED = range(3)
PRIOR = np.array([0.96, 0.03, 0.01])
"""The probability of each manner before any answer."""
SHARPNESS = (0.25, 0.5, 1.0, 2.0)
"""How sharp everybody's answers may be, relative to what is expected of a single person's."""
READINGS = 16
"""The most readings that are continued, at each sharpness."""
MOST_FACTS = 600
"""The newest facts that are judged, of all people together. With fewer, people who were found may be forgotten
again: late answers are about items near the boundary and say less about who gave them. The time grows with the third power."""
MOST_PEOPLE = 20
"""Of more people nothing is found: too few facts of each would be left."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(16)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
LOG_HALF = float(np.log(0.5))


class Facts(NamedTuple):
    """Facts that were told, as rows a [m, D] and sharpnesses w [m]: each has the probability sigmoid(w a'theta) if meant."""

    rows: Array
    w: Array

    def newest(self, most: int) -> Facts:
        """The last of them, at most this many."""
        return Facts(self.rows[-most:], self.w[-most:])


def facts_of(evidence: Evidence, A: Array, behaviour: Behaviour) -> Facts:
    """The facts in one answer about items A [k, D]: its labels, and for every choice that the chosen item is further to the
    chosen end than the next one (in a ranking) or the first of the others. A selection's label is left out: an item
    that was chosen as the highest seems positive more often than others with its score."""
    at = np.flatnonzero(evidence.labels)
    if evidence.chosen.size == 1 and len(at) < len(A):
        at = at[:0]
    rows, w = [evidence.labels[at, None] * A[at]], [np.full(len(at), behaviour.w)]
    for step, chosen in enumerate(evidence.chosen):
        others = evidence.candidates[step].copy()
        others[chosen] = False
        if others.any():
            following = evidence.chosen[step + 1 : step + 2]
            other = following[0] if following.size and others[following[0]] else np.argmax(others)
            rows.append(evidence.ends[step] * (A[chosen] - A[other])[None])
            w.append(np.array([behaviour.K]))
    return Facts(np.vstack(rows), np.concatenate(w))


def joined(several: Sequence[Facts]) -> Facts:
    """The facts of several answers, in this order."""
    return Facts(np.vstack([one.rows for one in several]), np.concatenate([one.w for one in several]))


@dataclass(frozen=True, eq=False)
class Judged:
    """``manners``: the probability of each manner [3], by name, unless there are too many people; ``sharpness``: the most
    probable of SHARPNESS."""

    manners: dict[str, Array]
    sharpness: float


def judged(mean: Array, cov: Array, people: Mapping[str, Facts]) -> Judged:
    """The manner of everybody who told these facts, if the weights are N(mean [D], cov [D, D]) beforehand."""
    if len(people) > MOST_PEOPLE:
        return Judged({}, 1.0)
    told = [one.newest(MOST_FACTS // len(people)) for one in people.values()]
    rows = np.vstack([one.rows for one in told])
    gram = rows @ cov @ rows.T
    found = [_Readings.begun(rows @ mean, gram).of(told, factor) for factor in SHARPNESS]
    log_p = np.concatenate([each.log_p for each in found])
    manners = np.concatenate([each.manners for each in found])
    weights = np.exp(log_p - logsumexp(log_p))
    best = int(np.argmax([logsumexp(each.log_p) for each in found]))
    shares = np.array([weights @ (manners == kind) for kind in range(len(PRIOR))])
    return Judged(dict(zip(people, shares.T, strict=True)), SHARPNESS[best])


@dataclass(frozen=True, eq=False)
class _Readings:
    """R readings of the first people's answers: the manner of each person [R, P], their log probabilities [R], and what each
    predicts of the other people's facts: means [R, N] and covariances [R, N, N] of a'theta."""

    manners: Array
    log_p: Array
    mean: Array
    cov: Array

    @classmethod
    def begun(cls, mean: Array, cov: Array) -> _Readings:
        return cls(np.zeros((1, 0), dtype=np.int64), np.zeros(1), mean[None], cov[None])

    def of(self, people: Sequence[Facts], factor: float) -> _Readings:
        """The readings once these ``people`` are added, whose answers are ``factor`` times as sharp as expected."""
        found = self
        for one in people:
            found = found._best([found._with(kind, one.w * factor) for kind in (MEANT, CHANCE, REVERSED)])
        return found

    def _with(self, kind: int, w: Array) -> _Readings:
        """The readings in which the next person, who told the next facts, has this manner."""
        k = len(w)
        manners = np.column_stack([self.manners, np.full(len(self.manners), kind)])
        log_p = self.log_p + np.log(PRIOR[kind])
        mean, cov, across = self.mean[:, k:], self.cov[:, k:, k:], self.cov[:, k:, :k]
        if kind == CHANCE:
            return _Readings(manners, log_p + k * LOG_HALF, mean, cov)
        own, inner = self.mean[:, :k], self.cov[:, :k, :k]
        log_evidence, precision, shift = _learnt(own, inner, w if kind == MEANT else -w)
        root = np.sqrt(precision)
        lost = across * root[:, None, :]
        within = np.eye(k) + root[:, :, None] * inner * root[:, None, :]
        solved = np.linalg.solve(within, lost.transpose(0, 2, 1))
        moved = shift - precision * own
        inward = (
            moved - root * np.linalg.solve(within, (root * (inner @ moved[:, :, None])[:, :, 0])[:, :, None])[:, :, 0]
        )
        return _Readings(
            manners, log_p + log_evidence, mean + (across @ inward[:, :, None])[:, :, 0], cov - lost @ solved
        )

    def _best(self, several: Sequence[_Readings]) -> _Readings:
        """The most probable of several lots of readings."""
        log_p = np.concatenate([each.log_p for each in several])
        top = np.argsort(-log_p, kind="stable")[:READINGS]
        parts = (np.concatenate([getattr(each, name) for each in several])[top] for name in ("manners", "mean", "cov"))
        manners, mean, cov = parts
        return _Readings(manners, log_p[top], mean, cov)


def _learnt(mean: Array, cov: Array, w: Array) -> tuple[Array, Array, Array]:
    """The log probability [R] of k facts, one after another, for scores N(mean [R, k], cov [R, k, k]); and the precisions and
    shifts [R, k] that they add to the scores."""
    mean, cov = mean.copy(), cov.copy()
    total, precision, shift = np.zeros(len(mean)), np.zeros_like(mean), np.zeros_like(mean)
    for at, sharp in enumerate(w):
        before, variance = mean[:, at].copy(), np.maximum(cov[:, at, at], SMALLEST)
        z = np.sqrt(variance)[:, None] * NODES
        weights = WEIGHTS * expit(sharp * (before[:, None] + z))
        each = weights.sum(axis=1)
        total += np.log(each)
        moved = (weights * z).sum(axis=1) / each
        left = np.clip((weights * z**2).sum(axis=1) / each - moved**2, SMALLEST, variance)
        precision[:, at] = 1 / left - 1 / variance
        shift[:, at] = (before + moved) / left - before / variance
        reach = cov[:, :, at] / variance[:, None]
        mean += reach * moved[:, None]
        cov -= (reach * (variance - left)[:, None])[:, :, None] * reach[:, None, :]
    return total, precision, shift
