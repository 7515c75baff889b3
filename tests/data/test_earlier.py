"""Files with the belief of an earlier project, as this version and earlier ones wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.core.evidence import Behaviour
from tellmore.core.frame import CLASSIC
from tellmore.core.gaussian import Gaussian
from tellmore.data.earlier import Earlier
from tellmore.errors import DataFileError

BELIEF = Gaussian.from_moments(np.array([0.5, -1.0, 2.0]), np.diag([1.0, 2.0, 3.0]))


def test_it_is_read_back_as_it_was_written(tmp_path: Path):
    behaviour = Behaviour(2.0, 0.7, 0.5, lapse=0.02, first=0.25)
    Earlier(BELIEF, behaviour, 4.0).write(tmp_path / "prior.npz")
    found = Earlier.read(tmp_path / "prior.npz")
    assert (found.behaviour, found.w) == (behaviour, 4.0)
    assert np.allclose(found.belief.mean, BELIEF.mean)
    assert np.allclose(found.belief.cov, BELIEF.cov)


@pytest.mark.parametrize(
    ("numbers", "behaviour", "w"),
    [
        (None, CLASSIC, CLASSIC.w),  # version 0.1
        ([2.0, 0.7, 0.5, 4.0], Behaviour(2.0, 0.7, 0.5), 4.0),
        ([2.0, 0.7, 0.5, 0.02, 4.0], Behaviour(2.0, 0.7, 0.5, 0.02), 4.0),
        ([2.0, 0.7, 0.5, 0.02, 0.25, 4.0], Behaviour(2.0, 0.7, 0.5, 0.02, 0.25), 4.0),
        ([2.0, 0.7, 0.5, 0.02, 0.25, 0.0, 4.0], Behaviour(2.0, 0.7, 0.5, 0.02, 0.25), 4.0),  # with `across`
    ],
    ids=["none", "threshold", "lapse", "first", "across"],
)
def test_files_of_earlier_versions_are_read(
    tmp_path: Path, numbers: list[float] | None, behaviour: Behaviour, w: float
):
    sharpness = {} if numbers is None else {"sharpness": np.array(numbers)}
    np.savez(tmp_path / "prior.npz", mean=BELIEF.mean, cov=BELIEF.cov, **sharpness)
    found = Earlier.read(tmp_path / "prior.npz")
    assert (found.behaviour, found.w) == (behaviour, w)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"mean": BELIEF.mean}, "no array 'cov"),
        ({"mean": BELIEF.mean, "cov": -BELIEF.cov}, "not a readable belief"),
        ({"mean": BELIEF.mean, "cov": BELIEF.cov, "sharpness": np.zeros(0)}, "not a readable belief"),
    ],
)
def test_what_is_no_belief_is_one_line(tmp_path: Path, arrays: dict[str, np.ndarray], said: str):
    np.savez(tmp_path / "prior.npz", **arrays)
    with pytest.raises(DataFileError, match=said):
        Earlier.read(tmp_path / "prior.npz")
