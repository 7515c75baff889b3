"""Whether a person answers as before, judged by how long answers take and how well they are predicted.

Before every answer, two things are known: how long such a question takes, and how probable each answer to it is. A person's
newest answers, about the last 20 to 30 by weight, are compared with their own earlier ones: those at least LAG answers ago, so
that a person who tires slowly is not compared with answers already given when tired. People are not compared with each other,
so a pace or manner of their own does not count as a change.

    slower  log times above the person's own mean for that kind of question, exponentially weighted
    worse   log scores below expectation, weighted by what the question could show: if both answers to a question are about
            equally probable, its answer says little

Both are in standard deviations. The limits are set so that in an hour of steady answering fewer than one person in 20 gets a
message: see docs/people.md. After a rest, the comparison starts again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import exp, sqrt
from typing import Literal

Change = Literal["slower", "worse"]
LAG = 30
"""The newest answers are not part of the earlier ones until this many more have been given."""
ENOUGH = 8
"""Earlier times of a kind that are needed before a time is compared."""
SCORED = 20
"""Earlier answers that are needed before a score is compared."""
NEWEST_TIME, KEPT_SCORE = 0.05, 0.97
"""The weight of the newest time; the factor on the weight of earlier scores with every answer."""
USUAL_SD, USUAL_TIMES = 0.6, 4.0
"""The prior standard deviation of log times, and the number of times it counts as."""
USUAL_NATS = 4.0
"""The prior that a person is as sharp as expected counts as this many squared nats of answers."""
FARTHEST_TIME, FARTHEST_SCORE = 2.5, 3.0
"""Deviations are cut off at this many standard deviations: beyond are interruptions and slips."""
LIMITS: Mapping[Change, float] = {"slower": 4.0, "worse": 3.8}
NOTICED = 2.0
"""From this many standard deviations on, the choice of questions takes the change into account."""
QUIET = 60
"""Answers after a message before there can be another."""
LASTING = 30
"""Answers for which a message is shown."""
LEAST_SHARE = 0.25
"""An answer is assumed to carry at least this share of the information that it should."""
USUAL_OFF = 3.0
"""The prior that a person takes as long as before counts as this many answers."""


@dataclass(frozen=True)
class Answered:
    """One answer. ``log_time``: log of its seconds divided by the expected seconds; None if it was not timed. ``surprise``: its
    log probability minus the expected one, in nats, and ``spread``, its standard deviation. ``rested``: whether it came after a
    break."""

    kind: str
    log_time: float | None
    surprise: float
    spread: float
    rested: bool = False


@dataclass(frozen=True)
class Times:
    """Log times: their number, mean, and sum of squared deviations from the mean."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def with_one(self, value: float) -> Times:
        """The statistics with one more time."""
        n, off = self.n + 1, value - self.mean
        mean = self.mean + off / n
        return Times(n, mean, self.squares + off * (value - mean))


@dataclass(frozen=True)
class Scores:
    """Sums of surprises and of squared spreads: ``total`` / ``nats`` is how much sharper than expected a person is."""

    total: float = 0.0
    nats: float = 0.0

    def with_one(self, surprise: float, variance: float, kept: float = 1.0) -> Scores:
        """The sums with one more answer; earlier ones are weighted by ``kept``."""
        return Scores(kept * self.total + surprise, kept * self.nats + variance)

    @property
    def slope(self) -> float:
        """Surprise per squared spread, shrunk towards 0."""
        return self.total / (self.nats + USUAL_NATS)


@dataclass(frozen=True)
class Lately:
    """The newest answers of one kind by weight: deviations of log times, their number, and deviations of scores."""

    off: float = 0.0
    n: float = 0.0
    scores: Scores = Scores()


@dataclass(frozen=True)
class Recent:
    """The newest answers by weight, compared with earlier ones: the mean deviation of log times, the sum of its squared
    weights, the error of the mean it is compared with; surprises and their variance; and the same by kind."""

    off: float = 0.0
    weights: float = 0.0
    error: float = 0.0
    scores: Scores = Scores()
    variance: float = 0.0
    by_kind: Mapping[str, Lately] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """A change seen after ``answers`` answers, ``z`` standard deviations from the person's own earlier ones; ``times``: how many
    times as long answers took, or None."""

    change: Change
    answers: int
    z: float
    times: float | None


@dataclass(frozen=True)
class Steadiness:
    """One person's answers so far. ``after`` returns the next state; ``now`` is the current change, if any."""

    answers: int = 0
    times: Mapping[str, Times] = field(default_factory=dict)
    scores: Scores = Scores()
    recent: Recent = Recent()
    waiting: tuple[Answered, ...] = ()
    seen: Seen | None = None

    @property
    def now(self) -> Seen | None:
        """The change seen lately; None if the person answers as before, or has rested since."""
        return self.seen if self.seen is not None and self.answers - self.seen.answers < LASTING else None

    @property
    def slower_z(self) -> float:
        """How far the newest times are above the person's earlier ones, in standard deviations."""
        spread = self._sd * sqrt(self.recent.weights + self.recent.error)
        return self.recent.off / spread if spread else 0.0

    @property
    def worse_z(self) -> float:
        """How far the newest log scores are below the person's earlier ones, in standard deviations."""
        recent, before = self.recent, self.scores
        variance = recent.variance + recent.scores.nats**2 / (before.nats + USUAL_NATS)
        return -recent.scores.total / sqrt(variance) if variance > 0 else 0.0

    def price(self, kind: str) -> float:
        """The factor by which the seconds that this person needs per unit of information have grown for a kind, because
        answers take longer or carry less information; 1 if nothing seems to have changed."""
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
        """The newest answers, including this one compared with the earlier ones."""
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
        """The state with a change if one is seen now; the newest answers then start again."""
        found: dict[Change, float] = {"slower": self.slower_z, "worse": self.worse_z}
        change: Change = max(found, key=lambda each: found[each] - LIMITS[each])
        quiet = self.seen is not None and self.answers - self.seen.answers < QUIET
        if quiet or found[change] < LIMITS[change]:
            return self
        total = 1 - (1 - NEWEST_TIME) ** self.answers
        times = exp(self.recent.off / total) if change == "slower" else None
        by_kind = self.recent.by_kind  # the choice of questions still uses it
        return replace(self, recent=Recent(by_kind=by_kind), seen=Seen(change, self.answers, found[change], times))

    def _remembering(self, one: Answered) -> Steadiness:
        """The state with this answer in the queue; if it is full, the oldest answer joins the earlier ones."""
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
