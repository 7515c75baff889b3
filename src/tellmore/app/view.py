"""What the pages show about the learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellmore.core.steadiness import Steadiness
from tellmore.learner import Learner
from tellmore.policy.stopping import Stop
from tellmore.store.fold import AnswerEffect
from tellmore.types import Array


@dataclass(frozen=True, eq=False)
class View:
    """What is known after answer ``seq``: what each answer changed, and the result of the stopping rule.

    ``labelled``: whether every item has a label. ``steady``: whether each person answers as they did before.
    """

    seq: int
    effects: tuple[AnswerEffect, ...]
    stop: Stop
    labelled: bool
    steady: Mapping[str, Steadiness]


@dataclass(frozen=True, eq=False)
class FullView(View):
    """The same, with the learner; its predictions for every item are computed, or fetched from Dask workers, if somebody looks
    at them."""

    learner: Learner

    @classmethod
    def of(cls, view: View, learner: Learner) -> FullView:
        """``view`` with the learner of that moment."""
        return cls(view.seq, view.effects, view.stop, view.labelled, view.steady, learner)

    @property
    def mean(self) -> Array:
        """Mean of each item's score [n]."""
        return self.learner.scores()[0]

    @cached_property
    def sd(self) -> Array:
        """Standard deviation of each item's score [n]."""
        return np.sqrt(self.learner.scores()[1])

    @cached_property
    def probability(self) -> Array:
        """Probability of positive of each item [n]."""
        return self.learner.probabilities()
