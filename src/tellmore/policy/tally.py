"""What is counted while answers are learnt: seconds, changed predictions, labels of each side, and random checks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellmore.core.calibration import tempered

KEPT_CHANGES = 50


@dataclass(frozen=True)
class Check:
    """A label of an item drawn at random: the ``probability`` of positive before the label, the label ``told``, and the number
    of ``answers`` before. ``calibrated``: the probability as corrected by earlier checks, which is the one stated; None if there
    were none."""

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
    """Counts so far. ``changed``: for each of the last answers, newest first, the share of the pool whose predicted side changed.

    ``positive`` and ``negative``: the numbers of labels, including checks.
    """

    answers: int = 0
    seconds: float = 0.0
    changed: tuple[float, ...] = ()
    positive: int = 0
    negative: int = 0
    checks: tuple[Check, ...] = ()

    @property
    def labels(self) -> int:
        """The number of labels."""
        return self.positive + self.negative

    def later(self, seconds: float) -> Tally:
        """The tally after this many more seconds."""
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
            checks=(*self.checks, *checks) if checks else self.checks,
        )

    def before(self, labels: Collection[bool]) -> Tally:
        """The same tally with the labels counted as before an answer with these."""
        positive = sum(labels)
        return replace(self, positive=self.positive - positive, negative=self.negative - (len(labels) - positive))

    def as_json(self) -> dict[str, Any]:
        """Plain values: the same as ``dataclasses.asdict``, which takes long for many checks."""
        return {**vars(self), "checks": [dict(vars(one)) for one in self.checks]}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Tally:
        """The inverse of `as_json`."""
        checks = tuple(Check(**check) for check in plain["checks"])
        return cls(**{**plain, "changed": tuple(plain["changed"]), "checks": checks})


NOTHING = Tally()
