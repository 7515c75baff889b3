"""When to stop asking: rules that combine with ``|`` (either) and ``&`` (both) and give the reason in words.

>>> rule = DeterminantRule(0.5) | AnswerBudget(200)
>>> str(rule)
'uncertainty per dimension at most 0.5 of the prior or 200 answers'
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Protocol

from tellmore.options import positive_number, share, stopping_rule, whole_number
from tellmore.policy.tally import NOTHING, Check, Tally
from tellmore.policy.words import exact_percent

RELATIVE_EPSILON = 0.5


@dataclass(frozen=True)
class Progress:
    """The numbers that the rules use. ``logdet`` of the belief and of the prior in nats; ``tally``: the counts so far;
    ``undecided``: the expected share of the pool on the wrong side of the boundary for lack of answers; ``unlabelled``: the
    number of items without a label, if known; ``smaller``: the share of the pool on the side that is predicted less often;
    ``items``: the number of items."""

    dim: int
    logdet: float
    prior_logdet: float
    tally: Tally = NOTHING
    undecided: float = 1.0
    unlabelled: int | None = None
    smaller: float = 0.5
    items: int = 1000

    @property
    def answers(self) -> int:
        """The number of answers, without skips."""
        return self.tally.answers


@dataclass(frozen=True)
class Stop:
    """Whether to stop, and why; true in an ``if`` when it says to stop.

    stopped: whether to stop.
    reason: why, in words.
    check: whether a label of a random item would help to decide.

    >>> if Stop(True, "enough was asked"):
    ...     print("stop")
    stop
    """

    stopped: bool
    reason: str
    check: bool = False

    def __bool__(self) -> bool:
        return self.stopped


class Rule(Protocol):
    """A stopping rule."""

    def check(self, progress: Progress) -> Stop:
        """Whether to stop now."""


class _Combinable:
    """A rule that combines with others.

    progress: the progress of a learner, from ``learner.progress``.
    """

    def __or__(self, other: Rule) -> Either:
        stopping_rule(other)
        return Either(self, other)  # type: ignore[arg-type]

    def __and__(self, other: Rule) -> Both:
        stopping_rule(other)
        return Both(self, other)  # type: ignore[arg-type]


@dataclass(frozen=True)
class DeterminantRule(_Combinable):
    """The paper's Algorithm 1: stop when |cov|^(1/D) <= epsilon.

    epsilon: how far the geometric mean of the belief's eigenvalues has to fall.
    relative: whether epsilon is in units of the prior's, or absolute as in the paper.

    >>> DeterminantRule(0.5) | AnswerBudget(10)
    Either(first=DeterminantRule(epsilon=0.5, relative=True), second=AnswerBudget(answers=10))
    """

    epsilon: float = RELATIVE_EPSILON
    relative: bool = True

    def __post_init__(self) -> None:
        positive_number("epsilon", self.epsilon)

    def check(self, progress: Progress) -> Stop:
        """Compare the geometric mean of the eigenvalues of the belief in ``progress`` with epsilon."""
        start = progress.prior_logdet if self.relative else 0.0
        level = (progress.logdet - start) / progress.dim
        now = exp(level)
        verb = "has reached" if level <= log(self.epsilon) else "is above"
        return Stop(
            level <= log(self.epsilon),
            f"uncertainty per dimension is {now:.3g}{self._of()}, which {verb} {self.epsilon:g}",
        )

    def _of(self) -> str:
        return " of the prior's" if self.relative else ""

    def __str__(self) -> str:
        return f"uncertainty per dimension at most {self.epsilon:g}" + (" of the prior" if self.relative else "")


@dataclass(frozen=True)
class AnswerBudget(_Combinable):
    """Stop after a number of answers. Rules combine with ``|`` and ``&``.

    answers: how many.

    >>> AnswerBudget(200) | TimeBudget(600)
    Either(first=AnswerBudget(answers=200), second=TimeBudget(seconds=600))
    """

    answers: int

    def __post_init__(self) -> None:
        whole_number("answers", self.answers)

    def check(self, progress: Progress) -> Stop:
        """Count the answers in ``progress``."""
        return Stop(progress.answers >= self.answers, f"{progress.answers} of {self.answers} answers given")

    def __str__(self) -> str:
        return f"{self.answers} answers"


@dataclass(frozen=True)
class TimeBudget(_Combinable):
    """Stop after this much of the person's time.

    seconds: how much.

    >>> TimeBudget(seconds=600).seconds
    600
    """

    seconds: float

    def __post_init__(self) -> None:
        positive_number("seconds", self.seconds)

    def check(self, progress: Progress) -> Stop:
        """Add up the seconds in ``progress``."""
        return Stop(
            progress.tally.seconds >= self.seconds, f"{progress.tally.seconds:.0f} of {self.seconds:.0f} seconds spent"
        )

    def __str__(self) -> str:
        return f"{self.seconds:g} seconds"


@dataclass(frozen=True)
class Stability(_Combinable):
    """Stop when the last answers hardly changed the predictions.

    window: how many of the last answers are considered.
    tolerance: the largest share of the pool whose predicted label one of them may have changed.

    >>> Stability(window=10, tolerance=0.01) & AnswerBudget(50)
    Both(first=Stability(window=10, tolerance=0.01), second=AnswerBudget(answers=50))
    """

    window: int = 20
    tolerance: float = 0.005

    def __post_init__(self) -> None:
        whole_number("window", self.window, 1)
        share("tolerance", self.tolerance)

    def check(self, progress: Progress) -> Stop:
        """Check what the last answers in ``progress`` changed."""
        recent = progress.tally.changed[: self.window]
        largest = max(recent, default=1.0)
        stable = len(recent) >= self.window and largest <= self.tolerance
        return Stop(
            stable, f"the last {len(recent)} answers each changed at most {exact_percent(largest)} of the predictions"
        )

    def __str__(self) -> str:
        return f"predictions stable to {exact_percent(self.tolerance)} over {self.window} answers"


@dataclass(frozen=True)
class Settled(_Combinable):
    """Stop when the predictions have settled and random labels agree with them.

    answers: at least this many answers.
    each: at least this many labels of each side.
    gain, further: stop only if ``further`` more answers are expected to correct at most this share of the pool. The limit is for
        two sides of equal size. It shrinks with the square of the smaller side: F1 weights mistakes by that side, and if it is
        rare, the belief was found to be too sure (docs/pools.md).
    window, tolerance: stop only if none of the last ``window`` answers changed more than this share of the predictions; one
        item may change. This limit shrinks in proportion to the smaller side: if 5 % are positive, half of these could be
        wrong although 97 % of the pool is right.
    checks: at least this many labels of random items among the last ``recent`` answers. A belief can be sure and wrong if the
        attribute is not linear in the embeddings, and only random checks show this. If these, or the ``remembered`` ones
        before them, were right much less often than predicted, the rule does not stop. Older ones count too: otherwise, some
        ten later checks would be right by luck.
    recent: how many of the last answers are searched for checks.
    remembered: how many older checks count as evidence against stopping.

    >>> Settled(checks=0).answers  # no questions on random items
    20
    """

    answers: int = 20
    each: int = 5
    gain: float = 0.025
    further: int = 200
    window: int = 20
    tolerance: float = 0.01
    checks: int = 10
    recent: int = 60
    remembered: int = 50

    def __post_init__(self) -> None:
        for name in ("answers", "each", "further", "window", "checks", "recent", "remembered"):
            whole_number(name, getattr(self, name))
        for name in ("gain", "tolerance"):
            share(name, getattr(self, name))

    def check(self, progress: Progress) -> Stop:
        """The first reason in ``progress`` to continue, or all reasons to stop."""
        if progress.unlabelled == 0:
            return Stop(True, "every item has a label")
        early = self._early(progress.tally) or self._unsettled(progress)
        if early:
            return Stop(False, early)
        checks = [one for one in progress.tally.checks if one.answers >= progress.answers - self.recent]
        if len(checks) < self.checks:
            return Stop(False, f"predictions have settled; {len(checks)} of {self.checks} random labels checked", True)
        known = list(progress.tally.checks[-self.remembered :])
        right, expected = agreement(known)
        told = f"{right} of {len(known)} random labels were as predicted"
        if disagree(checks) or disagree(known):
            return Stop(False, f"predictions have settled, but {told}, and {expected:.1f} were expected")
        return Stop(
            True,
            f"{self.further} more answers would correct about {exact_percent(self._expected(progress))} of the predictions, "
            f"the last {self.window} answers each changed at most {exact_percent(self._tolerance(progress))} of them, and {told}",
        )

    def _early(self, tally: Tally) -> str | None:
        if tally.answers < self.answers:
            return f"{tally.answers} of at least {self.answers} answers given"
        fewer = min(tally.positive, tally.negative)
        if fewer < self.each:
            side = "positive" if tally.positive <= tally.negative else "negative"
            return f"{fewer} {side} items found so far, and at least {self.each} are needed"
        return None

    def _unsettled(self, progress: Progress) -> str | None:
        expected, few_enough = self._expected(progress), self.gain * (2 * progress.smaller) ** 2
        if expected > few_enough:
            return (
                f"{self.further} more answers may correct {exact_percent(expected)} of the predictions, and at most "
                f"{exact_percent(few_enough)} is allowed if {exact_percent(progress.smaller)} are on the rarer side"
            )
        recent = progress.tally.changed[: self.window]
        if len(recent) < self.window or max(recent) > self._tolerance(progress):
            return f"one of the last {len(recent)} answers changed {exact_percent(max(recent, default=1.0))} of the predictions"
        return None

    def _expected(self, progress: Progress) -> float:
        """The share of the pool that ``further`` more answers correct, if the undecided share falls with the square root of the
        number of answers. With few answers it falls more slowly, so this is rather too much."""
        return progress.undecided * (1 - 1 / sqrt(1 + self.further / max(progress.answers, 1)))

    def _tolerance(self, progress: Progress) -> float:
        return max(self.tolerance * 2 * progress.smaller, 1 / progress.items)

    def __str__(self) -> str:
        return (
            f"at most {exact_percent(self.gain)} to gain by {self.further} more answers, "
            f"{self.checks} random labels in agreement"
        )


def agreement(checks: list[Check]) -> tuple[int, float]:
    """How many checks were as predicted, and the expected number."""
    right = sum((one.probability > 0.5) == one.told for one in checks)
    return right, sum(max(one.probability, 1 - one.probability) for one in checks)


def disagree(checks: list[Check]) -> bool:
    """Whether fewer checks were right than chance explains: by 2.5 standard deviations, with half a check for rounding."""
    right, expected = agreement(checks)
    sd = sqrt(sum(one.probability * (1 - one.probability) for one in checks))
    return right + 0.5 < expected - 2.5 * max(sd, 0.5)


@dataclass(frozen=True)
class Either(_Combinable):
    """Stop when one of two rules stops."""

    first: Rule
    second: Rule

    def check(self, progress: Progress) -> Stop:
        """Whether either rule stops, with the reason of the first that does."""
        a, b = self.first.check(progress), self.second.check(progress)
        if a or b:
            return a if a else b
        return Stop(False, f"{a.reason}; {b.reason}", a.check or b.check)

    def __str__(self) -> str:
        return f"{self.first} or {self.second}"


@dataclass(frozen=True)
class Both(_Combinable):
    """Stop when both rules stop."""

    first: Rule
    second: Rule

    def check(self, progress: Progress) -> Stop:
        """Whether both rules stop, with both reasons."""
        a, b = self.first.check(progress), self.second.check(progress)
        return Stop(bool(a and b), f"{a.reason}; {b.reason}", a.check or b.check)

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"
