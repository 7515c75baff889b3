"""Pools by name: datasets of scikit-learn, thinned and rescaled ones, and a clear one-line error for unknown names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.errors import DataFileError, PoolError
from tellmore.sim.pools import absolute, open_pool
from tests.sim.conftest import write_pool


@pytest.mark.parametrize(
    ("name", "items", "d", "positive"),
    [
        ("digits=8", 1797, 64, 174),
        ("digits<5", 1797, 64, 901),
        ("breast-cancer", 569, 30, 212),
        ("wine=1", 178, 13, 71),
        ("iris=2", 150, 4, 50),
        ("diabetes", 442, 10, 221),
    ],
)
def test_sets_of_scikit_learn(name: str, items: int, d: int, positive: int) -> None:
    pool = open_pool(name)
    assert (len(pool), pool.d, int(pool.scores.labels().sum())) == (items, d, positive)  # type: ignore[union-attr]


def test_only_narrow_columns_of_gaussians_matter() -> None:
    pool = open_pool("gaussian=6")
    correlation = [abs(np.corrcoef(pool.X[:, j], pool.scores.labels())[0, 1]) for j in range(6)]  # type: ignore[union-attr]
    assert pool.X.std(axis=0)[:3].min() > 5 > pool.X.std(axis=0)[3:].max()
    assert max(correlation[:3]) < 0.1 < max(correlation[3:])


@pytest.mark.parametrize("share", [15, 5])
def test_a_thinned_pool_has_so_many_positives_and_nothing_neutral(share: int) -> None:
    pool, whole = open_pool(f"words,{share}%"), open_pool("words")
    assert pool.scores is not None
    assert whole.scores is not None
    assert pool.scores.labels().mean() == pytest.approx(share / 100, abs=0.001)
    assert pool.scores.non_neutral().all()
    assert np.sum(~pool.scores.labels()) == np.sum(~whole.scores.labels() & whole.scores.non_neutral())
    assert len(open_pool(f"words,{share}%", whole=True)) == len(whole)
    assert pool.name == f"words, {share} %"


def test_changes_add_up_and_a_path_may_have_commas(tmp_path: Path) -> None:
    path = write_pool(tmp_path / "one, two.npz", X=np.random.default_rng(0).normal(size=(60, 5)) * [1, 2, 3, 4, 0] + 7)
    pool = open_pool(f"{path},standardised,40")
    assert len(pool) == 40
    assert np.allclose(open_pool(f"{path},standardised").X.std(axis=0), [1, 1, 1, 1, 0], atol=1e-5)
    assert np.allclose(np.linalg.norm(open_pool(f"{path},unit").X, axis=1), 1, atol=1e-5)
    assert absolute("words,5%") == "words,5%"


def test_a_relative_path_means_the_same_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pool(tmp_path / "small.npz")
    monkeypatch.chdir(tmp_path)
    assert absolute("small.npz,50%") == f"{tmp_path / 'small.npz'},50%"


@pytest.mark.parametrize(
    ("name", "problem", "message"),
    [
        ("nowhere", DataFileError, r"bundled: words; .*digits=0…9"),
        ("digits=12", DataFileError, "there is no pool 'digits=12'"),
        ("words,100%", PoolError, "above 0 and below 100 %"),
        ("words,90%", PoolError, "has 1332 positive and 1644 negative items: 90% would need 14796"),
    ],
)
def test_what_is_no_pool_is_one_clear_line(name: str, problem: type[Exception], message: str) -> None:
    with pytest.raises(problem, match=message) as raised:
        open_pool(name)
    assert "\n" not in str(raised.value)


def test_a_few_items_of_a_made_pool_are_far_from_the_others() -> None:
    """In directions that do not matter, or because they are the positive ones."""
    strays, group, tails = (open_pool(name) for name in ("strays=8", "group=8", "tails=8"))
    for pool in (strays, group):
        length = np.linalg.norm(pool.X - np.median(pool.X, axis=0), axis=1)
        far = length > 2.5 * np.median(length)
        assert far.mean() == pytest.approx(0.03, abs=0.01)
    assert strays.scores is not None
    assert group.scores is not None
    assert tails.scores is not None
    assert not np.any(np.linalg.norm(strays.X[:60, :6], axis=1) > 10)
    assert group.scores.labels().sum() == 60
    assert tails.X.min() > 0
    assert 0.3 < tails.scores.labels().mean() < 0.7
