"""What the pages show about the learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    """The same, with the learner and its predictions for every item."""

    learner: Learner
    mean: Array  # [n]
    sd: Array  # [n]
    probability: Array  # [n]

    @classmethod
    def of(cls, view: View, learner: Learner) -> FullView:
        """``view`` with the learner of that moment."""
        mean, variance = learner.scores()
        known = view.seq, view.effects, view.stop, view.labelled, view.steady
        return cls(*known, learner, mean, np.sqrt(variance), learner.probabilities())
