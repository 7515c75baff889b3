"""What a trial leaves behind: one row after each answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """State after an answer. ``bits`` is the information gain expected of the question; ``seconds`` are all so far."""

    answer: int
    kind: str
    size: int
    accuracy: float
    mse: float
    mse_scores: float
    logdet: float
    bits: float
    seconds: float


@dataclass(frozen=True)
class Trial:
    """The rows of one seed, and what was fitted for it (w and K in paper mode)."""

    seed: int
    rows: tuple[Row, ...]
    notes: dict[str, float] = field(default_factory=dict)

    def column(self, name: str) -> list[Any]:
        """One column of the rows."""
        return [getattr(row, name) for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"seed": self.seed, "notes": self.notes, "rows": [list(asdict(row).values()) for row in self.rows]}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Trial:
        """The inverse of ``as_dict``."""
        return cls(int(plain["seed"]), tuple(Row(*row) for row in plain["rows"]), dict(plain["notes"]))
