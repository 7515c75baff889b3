"""Parts of a pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellmore.core.parts import parts_of


def test_groups_far_apart_are_parts() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 50)
    Z = 8 * np.eye(4)[group] + rng.normal(scale=0.3, size=(200, 4))
    apart = 0
    for seed in range(20):
        part = parts_of(Z, 8, rng=np.random.default_rng(seed))
        apart += all(len(set(group[part == one])) <= 1 for one in range(8))
    assert apart >= 12  # with random centres, a group may get none


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 40))
def test_every_row_is_nearest_to_its_own_centre(seed: int, d: int, n: int) -> None:
    """Slow and obvious: the centres of the parts, normalised, by a loop over rows after the same number of rounds."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    count = int(rng.integers(1, n + 1))
    part = parts_of(Z, count, rng=np.random.default_rng(seed))
    unit = [row / np.sqrt(sum(value**2 for value in row)) for row in Z]
    centres = [unit[row] for row in np.random.default_rng(seed).choice(n, count, replace=False)]
    for _ in range(8):
        own = [max(range(count), key=lambda at, row=row: sum(row * centres[at])) for row in unit]
        for at in range(count):
            members = [unit[row] for row in range(n) if own[row] == at]
            if members and np.linalg.norm(sum(members)) > 0:
                centres[at] = sum(members) / np.linalg.norm(sum(members))
    for row, one in zip(unit, part, strict=True):
        assert sum(row * centres[one]) >= max(sum(row * centre) for centre in centres) - 1e-9


@pytest.mark.parametrize("Z", [np.zeros((6, 3)), np.ones((6, 3)), np.zeros((1, 1))])
def test_equal_rows_are_one_part(Z: np.ndarray) -> None:
    part = parts_of(Z, min(len(Z), 3), rng=np.random.default_rng(0))
    assert len(set(part.tolist())) == 1
