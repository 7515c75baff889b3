"""Pools by name and by path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tellmore.data.bundled import demo_pool, load_pool
from tellmore.errors import DataFileError, PoolError


def write(path: Path, **arrays) -> Path:
    content = {"ids": np.array(["a", "b", "c"]), "X": np.eye(3, dtype=np.float32)} | arrays
    np.savez(path, **{key: value for key, value in content.items() if value is not None})
    return path


def test_words_are_unit_norm_and_scored() -> None:
    pool = load_pool("words")
    assert (len(pool), pool.d, pool.name) == (3062, 300, "words")
    assert pool.X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(pool.X, axis=1), 1.0, atol=1e-6)
    assert pool.scores is not None
    assert pool.scores.histogram is not None
    assert (pool.scores.histogram.sum(axis=1) == 10).all()
    assert pool.scores.labels()[pool.rows(["happy", "awful"])].tolist() == [True, False]


def test_ratings_agree_with_their_histogram() -> None:
    scores = load_pool("words").scores
    assert scores is not None
    np.testing.assert_allclose(scores.histogram @ scores.histogram_values / 10, scores.mean, atol=1e-6)


def test_similar_words_lie_close() -> None:
    pool = load_pool("words")
    glad, happy, corpse = pool.X[pool.rows(["glad", "happy", "corpse"])]
    assert glad @ happy > 0.5 > glad @ corpse


def test_the_demo_hides_what_the_list_names(repository: Path) -> None:
    lines = (repository / "scripts" / "hidden_words.txt").read_text(encoding="utf-8").splitlines()
    named = {line for line in lines if line and not line.startswith("#")}
    assert set(load_pool("words").ids) - set(demo_pool().ids) == named
    assert len(named) > 20


def test_words_agree_with_an_independent_build(data_dir: Path) -> None:
    bundled, other = load_pool("words"), load_pool(data_dir / "words_vader_w2v300.npz")
    assert bundled.ids == other.ids
    np.testing.assert_allclose(bundled.X, other.X, atol=2e-4)
    assert bundled.scores is not None
    assert other.scores is not None
    np.testing.assert_array_equal(bundled.scores.histogram, other.scores.histogram)
    np.testing.assert_allclose(bundled.scores.sd, other.scores.sd)


def test_loads_within_half_a_second() -> None:
    code = (
        "import time, tellmore.data as d; t = time.perf_counter(); d.load_pool('words'); print(time.perf_counter() - t)"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert float(done.stdout) < 0.5


def test_a_file_with_any_keys_of_its_own(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.npz", mean=np.array([1.0, 2.0, 3.0]), threshold=np.float32(1.5), X_pca=np.eye(3)[:, :2]
    )
    pool = load_pool(path)
    assert (pool.name, pool.ids, pool.text) == ("mine", ("a", "b", "c"), None)
    assert pool.scores is not None
    assert pool.scores.labels().tolist() == [False, True, True]
    assert load_pool(str(path), matrix="X_pca").d == 2


def test_an_unknown_matrix_names_the_known_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.npz", X_pca=np.eye(3))
    with pytest.raises(DataFileError, match="no matrix 'Y'; it has X, X_pca"):
        load_pool(path, matrix="Y")


def test_an_unknown_name_lists_what_is_bundled() -> None:
    with pytest.raises(DataFileError, match="no pool 'wrods'; bundled: words"):
        load_pool("wrods")


@pytest.mark.parametrize("content", [b"", b"not an archive at all", b"PK\x03\x04 cut off"])
def test_damaged_files_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"bad\.npz cannot be read as a pool"):
        load_pool(path)


def test_pickles_are_never_read(tmp_path: Path) -> None:
    path = write(tmp_path / "evil.npz", ids=np.array(["a", "b", object()], dtype=object))
    with pytest.raises(DataFileError, match="without pickles"):
        load_pool(path)


def test_a_single_array_is_not_a_pool(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.eye(3))
    with pytest.raises(DataFileError, match=r"not a complete \.npz file; a pool is"):
        load_pool(tmp_path / "X.npy")


def test_faults_name_the_pool(tmp_path: Path) -> None:
    with pytest.raises(PoolError, match="the pool 'twice': the id 'a' occurs"):
        load_pool(write(tmp_path / "twice.npz", ids=np.array(["a", "a", "c"])))
    with pytest.raises(PoolError, match="threshold"):
        load_pool(write(tmp_path / "half.npz", mean=np.zeros(3)))
