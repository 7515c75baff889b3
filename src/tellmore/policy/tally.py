"""What is counted while answers are told: seconds, changed predictions, labels of each side, and random checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellmore.core.calibration import tempered

KEPT_CHANGES = 50


@dataclass(frozen=True)
class Check:
    """A label of an item drawn at random: the ``probability`` of positive before it was told, what it was ``told`` to be, and
    how many ``answers`` had been told before. ``calibrated``: that probability as earlier checks corrected it, which is what was
    stated; None if nothing did."""

    probability: float
    told: bool
    answers: int
    calibrated: float | None = None

    @property
    def stated(self) -> float:
        """The probability that was stated."""
        return self.probability if self.calibrated is None else self.calibrated


@dataclass(frozen=True)
class Tally:
    """``changed``: for each of the last answers, newest first, the share of the pool whose predicted side changed by it.

    ``positive`` and ``negative``: labels told, checks among them.
    """

    answers: int = 0
    seconds: float = 0.0
    changed: tuple[float, ...] = ()
    positive: int = 0
    negative: int = 0
    checks: tuple[Check, ...] = ()

    @property
    def labels(self) -> int:
        """How many labels were told."""
        return self.positive + self.negative

    def later(self, seconds: float) -> Tally:
        """After so much more time."""
        return replace(self, seconds=self.seconds + seconds)

    def told(
        self, labels: Sequence[bool], changed: float, predicted: Sequence[float] = (), slope: float = 1.0
    ) -> Tally:
        """The tally after an answer with these labels. For a random check, ``predicted``: their probabilities before it;
        ``slope``: the factor by which earlier checks correct the log odds."""
        stated = tempered(np.array(predicted), slope).tolist()
        known = zip(predicted, labels, stated, strict=False)
        checks = [Check(p, told, self.answers, calibrated) for p, told, calibrated in known]
        return replace(
            self,
            answers=self.answers + 1,
            changed=(changed, *self.changed)[:KEPT_CHANGES],
            positive=self.positive + sum(labels),
            negative=self.negative + len(labels) - sum(labels),
            checks=(*self.checks, *checks),
        )

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Tally:
        """The inverse of ``dataclasses.asdict``."""
        checks = tuple(Check(**check) for check in plain["checks"])
        return cls(**{**plain, "changed": tuple(plain["changed"]), "checks": checks})


NOTHING = Tally()
