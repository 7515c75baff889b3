"""Krippendorff's alpha from its definition: every pair of labels of one item, and every pair of all labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations


def alpha(units: Sequence[Sequence[bool]]) -> float:
    """1 - observed / expected disagreement, nominal; items with one label are left out."""
    paired = [unit for unit in units if len(unit) > 1]
    values = [value for unit in paired for value in unit]
    observed = sum(
        sum(one != other for one, other in permutations(unit, 2)) / (len(unit) - 1) for unit in paired
    ) / len(values)
    expected = sum(one != other for one, other in permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - observed / expected
