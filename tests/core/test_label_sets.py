"""Items to label together: what the shortlist gives up, what the bits are, and that many items cost little more than few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tellmore.core import label_sets
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.label_sets import label_set
from tellmore.data.bundled import demo_pool
from tellmore.errors import SettingError
from tellmore.kinds.tick import TICK
from tests.oracles import label_sets as oracle
from tests.oracles.plain import prior_of, scan_of

BEHAVIOUR = Behaviour().sharper(1.75)


def random_pool(seed: int, n: int = 1500, d: int = 20) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(2, 0.3, d)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def after_answers(X: np.ndarray, answers: int, seed: int) -> Gaussian:
    """The belief after grids of twelve on random items."""
    rng = np.random.default_rng(seed)
    belief = prior_of(X)
    theta = belief.sample(1, rng)[0]
    for _ in range(answers):
        rows = rng.choice(len(X), size=12, replace=False)
        outcome = TICK.sample(theta[0] + X[rows] @ theta[1:], Behaviour(), rng)
        belief, _ = TICK.update(belief, X[rows], outcome, Behaviour())
    return belief


def situations() -> Iterator[tuple[np.ndarray, Gaussian]]:
    words = demo_pool().X
    yield from ((words, after_answers(words, answers, 0)) for answers in (0, 20))
    for seed in range(2):
        X = random_pool(seed)
        yield from ((X, after_answers(X, answers, seed)) for answers in (0, 20))


@pytest.mark.parametrize("size", [4, 12, 24])
def test_a_shortlist_gives_up_little_of_what_a_search_of_the_whole_pool_finds(size: int) -> None:
    """Both sets measured alike. At least 98 % on average, 95 % at worst, on the bundled words and on random pools."""
    shares = []
    for X, belief in situations():
        found = label_set(scan_of(X, belief), belief, size, BEHAVIOUR, rng=np.random.default_rng(1)).rows
        whole = oracle.greedy_labels(X, belief.mean, belief.cov, size, BEHAVIOUR.w)
        bits = []
        for rows in (found, whole):
            mean, cov, _ = belief.project(np.column_stack([np.ones(size), X[rows]]).astype(float))
            bits.append(TICK.gain(mean, cov, BEHAVIOUR, rng=np.random.default_rng(2)).bits)
        shares.append(bits[0] / bits[1])
    assert np.mean(shares) >= 0.98
    assert np.min(shares) >= 0.95


def test_the_set_tells_more_than_random_ones() -> None:
    X = random_pool(0)
    belief = prior_of(X)
    rng = np.random.default_rng(0)

    def bits(rows: np.ndarray) -> float:
        mean, cov, _ = belief.project(np.column_stack([np.ones(len(rows)), X[rows]]))
        return TICK.gain(mean, cov, BEHAVIOUR, rng=np.random.default_rng(2)).bits

    found = bits(label_set(scan_of(X, belief), belief, 12, BEHAVIOUR, rng=rng).rows)
    assert found > max(bits(rng.choice(len(X), 12, replace=False)) for _ in range(10))


def test_the_bits_of_nested_sets_are_near_those_measured() -> None:
    X = random_pool(3)
    belief = prior_of(X)
    found = label_set(scan_of(X, belief), belief, 12, BEHAVIOUR, rng=np.random.default_rng(0))
    assert (np.diff(found.bits) > 0).all()
    for k in (1, 2, 4, 8, 12):
        mean, cov, _ = belief.project(np.column_stack([np.ones(k), X[found.rows[:k]]]))
        measured = TICK.gain(mean, cov, BEHAVIOUR, rng=np.random.default_rng(2))
        assert found.bits[k - 1] == pytest.approx(measured.bits, rel=0.15)


def test_copies_are_not_all_shown_where_others_tell_more() -> None:
    X = random_pool(1, n=200)
    X[:50] = X[0]
    belief = prior_of(X)
    rows = label_set(scan_of(X, belief), belief, 12, BEHAVIOUR, rng=np.random.default_rng(0)).rows
    assert len(set(rows.tolist())) == 12
    assert (rows < 50).sum() <= 3


def test_excluded_items_stay_out_and_a_pool_may_be_too_small() -> None:
    X = random_pool(2, n=40)
    belief = prior_of(X)
    scan = scan_of(X, belief)
    rows = label_set(scan, belief, 24, BEHAVIOUR, rng=np.random.default_rng(0), exclude=range(10)).rows
    assert rows.min() >= 10
    assert len(set(rows.tolist())) == 24
    with pytest.raises(SettingError, match="at least 41"):
        label_set(scan, belief, 41, BEHAVIOUR, rng=np.random.default_rng(0))


def test_24_items_cost_little_more_than_4(monkeypatch: pytest.MonkeyPatch) -> None:
    """Covariances are computed once, among the shortlist, whatever the size; each item then costs a few label gains."""
    X = random_pool(0)
    belief = prior_of(X)
    scan = scan_of(X, belief)
    projected: list[int] = []
    integrated: list[int] = []
    project, gain = Gaussian.project, label_sets.label_gain_bits
    monkeypatch.setattr(Gaussian, "project", lambda self, A: projected.append(len(A)) or project(self, A))
    monkeypatch.setattr(label_sets, "label_gain_bits", lambda m, v, b: integrated.append(len(m)) or gain(m, v, b))
    for size in (4, 24):
        label_set(scan, belief, size, BEHAVIOUR, rng=np.random.default_rng(0))
    assert projected == [label_sets.BEST + label_sets.AT_RANDOM] * 2
    assert integrated == [label_sets.FINALISTS] * (4 + 24)
