"""Whether somebody answers as they did before, seen from how long answers take and how well they were foretold.

Of every answer two things are known beforehand: how long such a question takes, and how probable each answer to it is. The
newest answers, the last about 20 to 30 by weight, are compared with the same person's own earlier ones: those at least LAG
answers ago, so that somebody who tires slowly is not compared with somebody tired. Nobody is compared with others, and a pace
or a manner of one's own is no finding.

    slower  log times above this person's own mean for that kind of question, exponentially weighted
    worse   log scores below expectation, weighted by what the question could show: an answer to a question that could as well be
            answered either way says little

Both are in standard deviations, and the limits are set so that in an hour of steady answering fewer than one person in 20 is told
anything: see docs/people.md. After a rest, everything starts again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import exp, sqrt
from typing import Literal

Change = Literal["slower", "worse"]
LAG = 30
"""Answers that are not old enough to be compared with."""
ENOUGH = 8
"""Times of a kind before one of it is compared; SCORED: earlier answers before a score is."""
SCORED = 20
NEWEST_TIME, KEPT_SCORE = 0.05, 0.97
"""The weight of the newest time; what is kept of the weight of scores with every answer."""
USUAL_SD, USUAL_TIMES = 0.6, 4.0
"""The standard deviation of log times beforehand, and how many times it counts as."""
USUAL_NATS = 4.0
"""That somebody is as sharp as expected counts like so many squared nats of answers."""
FARTHEST_TIME, FARTHEST_SCORE = 2.5, 3.0
"""Further away, in standard deviations, is an interruption or a slip, and counts as that much."""
LIMITS: Mapping[Change, float] = {"slower": 4.0, "worse": 3.8}
NOTICED = 2.0
"""From here on, what is asked goes by it."""
QUIET = 60
"""Answers after something was seen before anything is said again."""
LASTING = 30
"""Answers for which it is said."""
LEAST_SHARE = 0.25
"""An answer is taken to tell at least this share of what it should."""
USUAL_OFF = 3.0
"""That somebody takes as long as before counts like so many answers."""


@dataclass(frozen=True)
class Answered:
    """One answer. ``log_time``: of its seconds over those that such a question takes; None if no time was taken. ``surprise``:
    its log probability less the expected one, in nats, and ``spread``, the standard deviation of that. ``rested``: after a
    break."""

    kind: str
    log_time: float | None
    surprise: float
    spread: float
    rested: bool = False


@dataclass(frozen=True)
class Times:
    """Log times: how many, their mean, and the sum of squares around it."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def with_one(self, value: float) -> Times:
        """One time more."""
        n, off = self.n + 1, value - self.mean
        mean = self.mean + off / n
        return Times(n, mean, self.squares + off * (value - mean))


@dataclass(frozen=True)
class Scores:
    """Surprises and squared spreads, summed: ``total`` over ``nats`` is how far somebody is sharper than expected."""

    total: float = 0.0
    nats: float = 0.0

    def with_one(self, surprise: float, variance: float, kept: float = 1.0) -> Scores:
        """One answer more, of which earlier ones keep a part of their weight."""
        return Scores(kept * self.total + surprise, kept * self.nats + variance)

    @property
    def slope(self) -> float:
        """Surprise by squared spread, shrunk towards none."""
        return self.total / (self.nats + USUAL_NATS)


@dataclass(frozen=True)
class Lately:
    """The newest answers of one kind by weight: log times off, how many, and scores off."""

    off: float = 0.0
    n: float = 0.0
    scores: Scores = Scores()


@dataclass(frozen=True)
class Recent:
    """The newest answers by weight, beside what came before them: the mean log time off, its weights squared, the error of what
    it is compared with; surprises and their variance; and the same by kind."""

    off: float = 0.0
    weights: float = 0.0
    error: float = 0.0
    scores: Scores = Scores()
    variance: float = 0.0
    by_kind: Mapping[str, Lately] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """What was seen after so many ``answers``, ``z`` standard deviations from this person's own; ``times``: how many times as
    long answers took, or None."""

    change: Change
    answers: int
    z: float
    times: float | None


@dataclass(frozen=True)
class Steadiness:
    """One person's answers so far. ``after`` gives the next state; ``now`` says whether something has changed, and what."""

    answers: int = 0
    times: Mapping[str, Times] = field(default_factory=dict)
    scores: Scores = Scores()
    recent: Recent = Recent()
    waiting: tuple[Answered, ...] = ()
    seen: Seen | None = None

    @property
    def now(self) -> Seen | None:
        """What was seen lately; None if somebody answers as before, or has rested since."""
        return self.seen if self.seen is not None and self.answers - self.seen.answers < LASTING else None

    @property
    def slower_z(self) -> float:
        """How far the newest times are above one's own, in standard deviations."""
        spread = self._sd * sqrt(self.recent.weights + self.recent.error)
        return self.recent.off / spread if spread else 0.0

    @property
    def worse_z(self) -> float:
        """How far the newest log scores are below one's own, in standard deviations."""
        recent, before = self.recent, self.scores
        variance = recent.variance + recent.scores.nats**2 / (before.nats + USUAL_NATS)
        return -recent.scores.total / sqrt(variance) if variance > 0 else 0.0

    def price(self, kind: str) -> float:
        """How many times as many seconds as before this person now spends on what an answer of a kind tells: longer, or telling
        less. 1 if nothing seems to have changed."""
        known = self.recent.by_kind.get(kind)
        if known is None or (self.now is None and max(self.slower_z, self.worse_z) < NOTICED):
            return 1.0
        told = min(max(1.0 + known.scores.slope, LEAST_SHARE), 1.0)
        return exp(known.off / (known.n + USUAL_OFF)) / told

    def after(self, one: Answered) -> Steadiness:
        """The state after one more answer."""
        state = replace(self, recent=Recent(), seen=None) if one.rested else self
        state = replace(state, recent=state._compared(one), answers=state.answers + 1)
        return state._told()._remembering(one)

    @property
    def _sd(self) -> float:
        n = sum(each.n - 1 for each in self.times.values())
        squares = sum(each.squares for each in self.times.values())
        return sqrt((USUAL_TIMES * USUAL_SD**2 + squares) / (USUAL_TIMES + n))

    def _compared(self, one: Answered) -> Recent:
        """The newest answers with this one, as it compares with the earlier ones."""
        recent, own = self.recent, self.times.get(one.kind)
        known = recent.by_kind.get(one.kind, Lately())
        if one.log_time is not None and own is not None and own.n >= ENOUGH:
            kept, sd = 1 - NEWEST_TIME, self._sd
            off = min(max(one.log_time - own.mean, -FARTHEST_TIME * sd), FARTHEST_TIME * sd)
            recent = replace(
                recent,
                off=kept * recent.off + NEWEST_TIME * off,
                weights=kept**2 * recent.weights + NEWEST_TIME**2,
                error=kept * recent.error + NEWEST_TIME / own.n,
            )
            known = replace(known, off=kept * known.off + off, n=kept * known.n + 1)
        if self.answers - len(self.waiting) < SCORED:
            return replace(recent, by_kind={**recent.by_kind, one.kind: known})
        variance = one.spread**2
        off = _bounded(one) - self.scores.slope * variance
        known = replace(known, scores=known.scores.with_one(off, variance, KEPT_SCORE))
        return replace(
            recent,
            scores=recent.scores.with_one(off, variance, KEPT_SCORE),
            variance=KEPT_SCORE**2 * recent.variance + variance,
            by_kind={**recent.by_kind, one.kind: known},
        )

    def _told(self) -> Steadiness:
        """With what is to be said now, and the newest answers forgotten once it is."""
        found: dict[Change, float] = {"slower": self.slower_z, "worse": self.worse_z}
        change: Change = max(found, key=lambda each: found[each] - LIMITS[each])
        quiet = self.seen is not None and self.answers - self.seen.answers < QUIET
        if quiet or found[change] < LIMITS[change]:
            return self
        total = 1 - (1 - NEWEST_TIME) ** self.answers
        times = exp(self.recent.off / total) if change == "slower" else None
        by_kind = self.recent.by_kind  # what is asked still goes by it
        return replace(self, recent=Recent(by_kind=by_kind), seen=Seen(change, self.answers, found[change], times))

    def _remembering(self, one: Answered) -> Steadiness:
        """With this answer waiting to be compared with, and the oldest that waited counted."""
        waiting = (*self.waiting, one)
        if len(waiting) <= LAG:
            return replace(self, waiting=waiting)
        old = waiting[0]
        scores = self.scores.with_one(_bounded(old), old.spread**2)
        times = self.times
        if old.log_time is not None:
            times = {**times, old.kind: times.get(old.kind, Times()).with_one(old.log_time)}
        return replace(self, waiting=waiting[1:], scores=scores, times=times)


def _bounded(one: Answered) -> float:
    return max(one.surprise, -FARTHEST_SCORE * one.spread)


STEADY = Steadiness()
"""Before any answer."""
