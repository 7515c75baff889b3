"""The result of a trial: its quality before any answer, and one row after each answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

DENSE = 50
"""Curves have every answer up to here, then every tenth: small files, and no visible difference."""


def on_curves(answer: int) -> bool:
    """Whether curves show the state after this answer.

    >>> [answer for answer in range(48, 71) if on_curves(answer)]
    [48, 49, 50, 60, 70]
    """
    return answer <= DENSE or answer % 10 == 0


@dataclass(frozen=True)
class Quality:
    """How well the counted items are separated."""

    accuracy: float
    f1: float
    average_precision: float


@dataclass(frozen=True)
class Row:
    """The state after an answer. ``bits``: the expected information gain of the question; ``seconds``: all so far. What was not
    measured is NaN."""

    answer: int
    kind: str
    size: int
    accuracy: float
    mse: float
    mse_scores: float
    logdet: float
    bits: float
    seconds: float
    f1: float
    average_precision: float


@dataclass(frozen=True)
class Trial:
    """The rows of one seed, its quality before any answer, and what was fitted for it (w and K in paper mode).
    ``people``: what was seen of each person in a team, as reported by `tellmore.sim.watched`."""

    seed: int
    start: Quality
    rows: tuple[Row, ...]
    notes: dict[str, float] = field(default_factory=dict)
    people: tuple[dict[str, Any], ...] = ()

    def column(self, name: str) -> list[Any]:
        """One column of the rows."""
        return [getattr(row, name) for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [list(asdict(row).values()) for row in self.rows]
        people = {"people": list(self.people)} if self.people else {}
        return {"seed": self.seed, "notes": self.notes, "start": asdict(self.start), "rows": rows, **people}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Trial:
        """The inverse of ``as_dict``."""
        rows = tuple(Row(*row) for row in plain["rows"])
        return cls(
            int(plain["seed"]), Quality(**plain["start"]), rows, dict(plain["notes"]), tuple(plain.get("people", ()))
        )
