"""The progress of a project in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellmore.core.kept import Kept, kept
from tellmore.learner import Learner
from tellmore.policy.shares import Share
from tellmore.policy.words import percent
from tellmore.store.beforehand import Example
from tellmore.store.people import people_lines
from tellmore.store.standing import Standing, standing
from tellmore.store.state import State
from tellmore.store.statistics import accuracy, time_left

MEASURES = ("prevalence", "precision", "recall", "f1", "average_precision")
HOLDS = 0.7
"""Answers are said to agree with the start if at least this share of the items would still be predicted as by the start if both
called half of them positive."""
SHOWN_DOUBTS = 5


@dataclass(frozen=True)
class Doubt:
    """An example of the start that is now predicted to be on the other side, the probability of its own side, and its weight:
    how much the start still counts in its score, from 1 before any answer to 0."""

    name: str
    probability: float
    weight: float


@dataclass(frozen=True)
class Status:
    """The progress of a project; ``accuracy`` is measured on random questions and None before the first.

    ``minutes_left``: from and to. ``can_stop``: why the questions may end, None before. ``start_agreement`` and ``start_order``:
    how far the items are still predicted, and ordered, as by the start; see `Kept`.
    """

    items: int
    answers: int
    skipped: int
    taken_back: int
    minutes: float
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    target_accuracy: float
    minutes_left: tuple[float, float] | None
    can_stop: str | None
    expected_accuracy: float | None
    prevalence: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    average_precision: float | None
    start_agreement: float | None
    start_order: float | None
    start_verdict: str | None
    start_doubts: tuple[Doubt, ...]
    embeddings: str
    people: tuple[str, ...]
    warnings: tuple[str, ...]

    def lines(self, words: Standing, positive: str = "positive") -> list[tuple[str, str]]:
        """The status as lines for people; ``words`` are the same sentences as in the app, ``positive`` is the project's word."""
        rows = [
            ("items", str(self.items)),
            ("embeddings", self.embeddings),
            ("answers", f"{self.answers} ({self.skipped} skipped, {self.taken_back} undone)"),
            ("minutes", f"{self.minutes:.1f}"),
            ("accuracy", words.accuracy.removeprefix("accuracy").removeprefix(":").strip()),
            ("target", words.target),
            ("time left", words.left or ("–" if words.end else "not known yet")),
        ]
        if self.prevalence is not None:
            shares = {"precision": self.precision, "recall": self.recall, "F1": self.f1}
            shares |= {"average precision": self.average_precision}
            known = [f"{name} {value:.2f}" for name, value in shares.items() if value is not None]
            rows.append(
                (
                    f"{positive} among random items",
                    f"{percent(self.prevalence)}{''.join(f'; {each}' for each in known)}",
                )
            )
        if self.start_verdict is not None:
            rows.append(("start", self.start_verdict))
        if words.end is not None:
            rows.append(("the end", ": ".join(words.end)))
        rows += [("people", each) for each in self.people]
        return rows + [("warning", each) for each in self.warnings]


def kept_of(learner: Learner) -> Kept | None:
    """What the answers have kept of the learner's start; None without a start."""
    if not learner.begun.started:
        return None
    rows, mixture = learner.scan.rows, learner.beliefs.weighing
    return kept(rows, learner.scans, mean=learner.begun.mean, mixture=mixture)


def start_verdict(found: Kept, doubts: Sequence[Doubt] = (), positive: str = "positive") -> str:
    """How far the answers agree with the start, in words; ``positive`` is the project's word.

    The verdict depends on the order of the items: a start does not know how many of them are positive.

    >>> start_verdict(Kept(0.43, order=0.4, before=0.5, now=0.5))
    'your answers disagree with the start: only 43 % of the items are still predicted as it predicted them'
    >>> start_verdict(Kept(0.55, order=0.9, before=0.5, now=0.05), positive="urgent").partition(": ")[0]
    'your answers agree with the start, but fewer items are urgent than it assumed'
    >>> cold, damp = Doubt("cold", 0.002, 0.03), Doubt("damp", 0.3, 0.4)
    >>> start_verdict(Kept(0.9, 0.9, 0.5, 0.5), [cold]).rpartition("; ")[2]
    'they disagree with "cold": its weight is now 3 %'
    >>> start_verdict(Kept(0.9, 0.9, 0.5, 0.5), [cold, damp]).rpartition("; ")[2]
    'they disagree with "cold" and "damp": their weights are now 3 % and 40 %'
    >>> start_verdict(Kept(0.0, 0.1, 0.5, 0.5))
    'your answers disagree with the start: none of the items is still predicted as it predicted them'
    """
    few = found.agreement < HOLDS
    if found.order < HOLDS:
        verdict = "your answers disagree with the start" + ("" if few else " on the order of the items")
    elif few:
        changed = "fewer" if found.now < found.before else "more"
        verdict = f"your answers agree with the start, but {changed} items are {positive} than it assumed"
    else:
        verdict = "your answers agree with the start"
    only = "only " if few else ""
    share = f"{only}{percent(found.agreement)} of the items are" if found.agreement > 0 else "none of the items is"
    said = f"{verdict}: {share} still predicted as it predicted them"
    if not doubts:
        return said
    shown = doubts[:SHOWN_DOUBTS]
    names, weights = _and([f'"{each.name}"' for each in shown]), _and([percent(each.weight) for each in shown])
    return f"{said}; they disagree with {names}: {'its weight is' if len(shown) == 1 else 'their weights are'} now {weights}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def doubts_of(learner: Learner, examples: Sequence[Example]) -> tuple[Doubt, ...]:
    """The examples that are now predicted to be on the other side, the least probable first."""
    if not examples:
        return ()
    vectors = np.array([example.vector for example in examples])
    positive = learner.predict_proba(vectors)[:, 1].tolist()
    left = learner.beliefs.start_left(learner.begun, learner.coordinates.into(vectors)).tolist()
    doubts = [
        Doubt(example.name, p if example.positive else 1 - p, weight)
        for example, p, weight in zip(examples, positive, left, strict=True)
    ]
    return tuple(sorted((doubt for doubt in doubts if doubt.probability < 0.5), key=lambda doubt: doubt.probability))


def words_of(state: State) -> Standing:
    """The status in sentences."""
    return standing(state.ledger, state.effects, len(state.pool))


def status_of(state: State) -> Status:
    """The status of a project's state."""
    given = list(state.ledger.given.values())
    measured, found = accuracy(state.effects), state.learner.quality()
    target, positive = state.ledger.settings.learning.target_accuracy, state.ledger.settings.project.positive
    start = kept_of(state.learner) if state.effects else None
    doubts = doubts_of(state.learner, state.examples) if state.effects else ()
    return Status(
        items=len(state.pool),
        answers=len(state.effects),
        skipped=sum(not each.void and each.answer is not None and not each.counts for each in given),
        taken_back=sum(bool(each.void) for each in given),
        minutes=sum(each.seconds for each in state.effects) / 60,
        accuracy=None if measured is None else measured.estimate,
        accuracy_low=None if measured is None else measured.low,
        accuracy_high=None if measured is None else measured.high,
        target_accuracy=target,
        minutes_left=time_left(state.effects, target, len(state.pool)),
        can_stop=None if state.ledger.end is None else state.ledger.end.why,
        expected_accuracy=state.effects[-1].expected_accuracy if state.effects else None,
        **{name: _estimate(getattr(found, name, None)) for name in MEASURES},
        start_agreement=None if start is None else start.agreement,
        start_order=None if start is None else start.order,
        start_verdict=None if start is None else start_verdict(start, doubts, positive),
        start_doubts=doubts,
        embeddings=str(state.learner.coordinates),
        people=people_lines(state.ledger, state.learner),
        warnings=tuple(state.learner.warnings()),
    )


def _estimate(share: Share | None) -> float | None:
    return None if share is None else share.estimate
