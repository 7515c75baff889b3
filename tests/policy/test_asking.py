"""Which questions may be asked, and how large."""

from __future__ import annotations

import numpy as np
import pytest

from tellmore.learner import Learner
from tellmore.pool import Pool


@pytest.mark.parametrize(("kinds", "largest"), [(("label",), 1), (("label", "rank"), 6), (("tick",), 12)])
def test_auto_leaves_out_sizes_that_none_of_its_kinds_shows(kinds: tuple[str, ...], largest: int) -> None:
    learner = Learner(Pool(np.random.default_rng(0).standard_normal((40, 5))), "auto", kinds=kinds)
    question = learner.ask()
    assert question.kind in kinds
    assert question.size <= learner.allowed.largest == largest
