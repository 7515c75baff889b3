"""Rankings beyond the sizes that are asked."""

from __future__ import annotations

import numpy as np
import pytest

import tellmore as tm
from tellmore.kinds.rank import RANK


def test_a_long_ranking_counts_as_choices_among_neighbours() -> None:
    short, long = (RANK.evidence((tuple(range(k)), 1), k) for k in (10, 40))
    assert short.candidates.sum(axis=1).tolist() == list(range(10, 1, -1))
    assert long.candidates.sum(axis=1).tolist() == [10] * 31 + list(range(9, 1, -1))
    assert all(row[at] and not row[:at].any() for at, row in enumerate(long.candidates))
    X = np.random.default_rng(0).normal(size=(200, 8))
    learner, order = tm.Learner(X, "rank"), np.argsort(-X[:40, 0]).tolist()
    learner.tell(tm.Question("rank", list(range(40))), tm.RankAnswer(order, int((X[:40, 0] > 0).sum())))
    assert (learner.predict() == (X[:, 0] > 0)).mean() > 0.9


def test_a_ranking_that_would_take_all_memory_is_refused() -> None:
    ids = list(range(300))
    learner = tm.Learner(np.random.default_rng(0).normal(size=(300, 4)), "rank")
    with pytest.raises(tm.AnswerError, match="at most 200 items, not 300; split it"):
        learner.tell(tm.Question("rank", ids), tm.RankAnswer(ids, 1))
