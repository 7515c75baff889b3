"""Seconds per question: how long an answer takes, by kind and number of items (Section III-C).

Every kind has a time model for use before any times are measured; a `CostModel` replaces some of these, for all people or for
one person. Fitting is in `policy.cost_fit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.core.time_model import TimeModel
from tellmore.errors import InputError
from tellmore.options import whole_number

READING_S = 0.2
"""Every further item takes at least this long to read: five words per second."""


def family_of(kind: str) -> str:
    """The family whose time model a question kind uses; a family stands for itself.

    >>> family_of("select_low")
    'select'
    """
    return kinds.family(kind)[0].family


@dataclass(frozen=True)
class CostModel:
    """Seconds by kind, for everyone and for single annotators.

    models: time models by family ("label", "select", "rank", "tick"); other families use the published ones.
    own: such models by annotator; other annotators use ``models``.

    Parameters of the methods:

    kind: a kind of question, or a family of kinds.
    size: how many items it shows.
    marks: how many of them are marked; None: as many as expected.
    annotator: who answers.
    price: the factor by which the cost of an answer has grown lately, by family; None: not at all.
    rng: the random number generator.

    >>> CostModel().seconds("rank", 4)
    17.32
    """

    models: Mapping[str, TimeModel] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, TimeModel]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [name for name in self.models if name not in kinds.families()]
        if unknown:
            raise InputError(
                f"there is no family of questions {unknown[0]!r}; the families are {', '.join(kinds.families())}"
            )
        object.__setattr__(self, "models", MappingProxyType(dict(self.models)))
        object.__setattr__(self, "own", MappingProxyType(dict(self.own)))

    def __reduce__(self) -> tuple[Any, ...]:
        return CostModel, (dict(self.models), dict(self.own))  # a mapping proxy cannot be pickled

    def of(self, annotator: str, price: Callable[[str], float] | None = None) -> CostModel:
        """The cost model of one annotator; ``price``: the factor by which each family's times have grown lately."""
        own = CostModel({**self.models, **self.own.get(annotator, {})})
        if price is None:
            return own
        return CostModel({family: own.model(family).scaled(price(family)) for family in kinds.families()})

    def model(self, kind: str) -> TimeModel:
        """The time model of a question kind."""
        first = kinds.family(kind)[0]
        return self.models.get(first.family, first.time)

    def seconds(self, kind: str, size: int, *, marks: float | None = None) -> float:
        """Expected seconds of a question of this ``kind`` on ``size`` items, of which ``marks`` are marked: E[c(q, S)]
        in eq. 7. Several items never take less than one item plus the time to read the others."""
        own = self.model(kind).seconds(whole_number("size", size), marks)
        if size == 1:
            return own
        one = self.model(kinds.single().family).seconds(1)
        return max(own, round(one + READING_S * (size - 1), 12))

    def sample(self, kind: str, size: int, rng: np.random.Generator, *, marks: float | None = None) -> float:
        """Random seconds of one answer to a question of this ``kind`` on ``size`` items, of which ``marks`` are marked:
        positive, with the model's mean and spread."""
        return self.model(kind).sample(size, rng, marks)


PAPER_COST = CostModel()
"""The published starting values: the paper's fits (Table V), measured on its interface with its participants; for kinds that the
paper does not have, the times assumed in their files."""
