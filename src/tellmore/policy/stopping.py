"""When to stop asking: rules that combine with ``|`` (either) and ``&`` (both) and say in words why they stopped.

>>> rule = DeterminantRule(0.5) | AnswerBudget(200)
>>> str(rule)
'uncertainty per dimension at most 0.5 of the prior or 200 answers'
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Protocol

from tellmore.errors import SettingError

RELATIVE_EPSILON = 0.5


@dataclass(frozen=True)
class Progress:
    """What the rules look at. ``logdet`` of the belief and of the prior in nats; ``changed``: for each of the last answers,
    newest first, the share of the pool whose predicted label has changed since before it."""

    dim: int
    logdet: float
    prior_logdet: float
    answers: int
    seconds: float = 0.0
    changed: tuple[float, ...] = ()


@dataclass(frozen=True)
class Stop:
    """Whether to stop, and why; true in a condition when it says to stop."""

    stopped: bool
    reason: str

    def __bool__(self) -> bool:
        return self.stopped


class Rule(Protocol):
    """A stopping rule."""

    def check(self, progress: Progress) -> Stop:
        """Whether to stop now."""


class _Combinable:
    def __or__(self, other: Rule) -> Either:
        return Either(self, other)  # type: ignore[arg-type]

    def __and__(self, other: Rule) -> Both:
        return Both(self, other)  # type: ignore[arg-type]


@dataclass(frozen=True)
class DeterminantRule(_Combinable):
    """Algorithm 1: |cov|^(1/D) <= epsilon, of the prior's |cov|^(1/D) when ``relative``, else absolute as in the paper."""

    epsilon: float = RELATIVE_EPSILON
    relative: bool = True

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise SettingError(f"epsilon must be above 0, not {self.epsilon}")

    def check(self, progress: Progress) -> Stop:
        """Compare the geometric mean of the belief's eigenvalues with epsilon."""
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
    """Stop after a number of answers."""

    answers: int

    def check(self, progress: Progress) -> Stop:
        """Count the answers."""
        return Stop(progress.answers >= self.answers, f"{progress.answers} of {self.answers} answers given")

    def __str__(self) -> str:
        return f"{self.answers} answers"


@dataclass(frozen=True)
class TimeBudget(_Combinable):
    """Stop after so many seconds of the person's time."""

    seconds: float

    def check(self, progress: Progress) -> Stop:
        """Add up the seconds."""
        return Stop(progress.seconds >= self.seconds, f"{progress.seconds:.0f} of {self.seconds:.0f} seconds spent")

    def __str__(self) -> str:
        return f"{self.seconds:g} seconds"


@dataclass(frozen=True)
class Stability(_Combinable):
    """Stop when none of the last ``window`` answers changed more than ``tolerance`` of the pool's predicted labels."""

    window: int = 20
    tolerance: float = 0.005

    def check(self, progress: Progress) -> Stop:
        """Look at the changes of the last answers."""
        recent = progress.changed[: self.window]
        largest = max(recent, default=1.0)
        stable = len(recent) >= self.window and largest <= self.tolerance
        return Stop(stable, f"the last {len(recent)} answers each changed at most {largest:.1%} of the predictions")

    def __str__(self) -> str:
        return f"predictions stable to {self.tolerance:.1%} over {self.window} answers"


@dataclass(frozen=True)
class Either(_Combinable):
    """Stop when one of two rules says so."""

    first: Rule
    second: Rule

    def check(self, progress: Progress) -> Stop:
        """The first that stops gives the reason."""
        a, b = self.first.check(progress), self.second.check(progress)
        if a or b:
            return a if a else b
        return Stop(False, f"{a.reason}; {b.reason}")

    def __str__(self) -> str:
        return f"{self.first} or {self.second}"


@dataclass(frozen=True)
class Both(_Combinable):
    """Stop when two rules agree."""

    first: Rule
    second: Rule

    def check(self, progress: Progress) -> Stop:
        """Both reasons are given."""
        a, b = self.first.check(progress), self.second.check(progress)
        return Stop(bool(a and b), f"{a.reason}; {b.reason}")

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"
