"""Pools: what they accept, refuse and keep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from tellmore.errors import PoolError, QuestionError
from tellmore.kinds.rank import RankAnswer
from tellmore.learner import Learner
from tellmore.pool import Pool
from tellmore.ratings import Scores


@pytest.fixture
def matrix() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((5, 4)).astype(np.float32)


def test_keeps_rows_as_they_are(matrix: np.ndarray) -> None:
    pool = Pool(matrix * 7, ids=list("abcde"), text=["A", "B", "C", "D", "E"])
    np.testing.assert_array_equal(pool.X, matrix * 7)
    assert pool.X.dtype == np.float32
    assert (len(pool), pool.d, pool.ids, pool.text) == (5, 4, tuple("abcde"), ("A", "B", "C", "D", "E"))


def test_ids_default_to_row_numbers_and_keep_their_type(matrix: np.ndarray) -> None:
    assert Pool(matrix).ids == (0, 1, 2, 3, 4)
    assert Pool(matrix, ids=range(10, 15)).ids == (10, 11, 12, 13, 14)
    assert Pool(matrix, ids=range(10, 15)).names == ("10", "11", "12", "13", "14")


def test_embeddings_cannot_be_written_through_the_pool(matrix: np.ndarray) -> None:
    pool = Pool(matrix)
    with pytest.raises(ValueError, match="read-only"):
        pool.X[0, 0] = 1.0
    matrix[0, 0] = 1.0  # the caller's own array stays writable


def test_a_memory_map_stays_one(tmp_path, matrix: np.ndarray) -> None:
    np.save(tmp_path / "X.npy", matrix)
    pool = Pool(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert isinstance(pool.X, np.memmap)
    assert pool.fingerprint == Pool(matrix).fingerprint


def test_rows_follow_the_order_asked(matrix: np.ndarray) -> None:
    pool = Pool(matrix, ids=list("abcde"))
    assert pool.rows(["d", "a"]).tolist() == [3, 0]
    assert pool.rows([]).shape == (0,)
    with pytest.raises(QuestionError, match="'zebra' is not an item"):
        pool.rows(["a", "zebra"])


def test_fingerprint_depends_on_ids_order_and_values(matrix: np.ndarray) -> None:
    prints = {
        Pool(matrix).fingerprint,
        Pool(matrix, ids=list("abcde")).fingerprint,
        Pool(matrix[::-1]).fingerprint,
        Pool(matrix + np.float32(1e-3)).fingerprint,
        Pool(matrix.reshape(4, 5), ids=list("abcd")).fingerprint,
    }
    assert len(prints) == 5
    assert Pool(matrix.astype(np.float64)).fingerprint == Pool(matrix).fingerprint


@pytest.mark.parametrize(
    ("X", "ids", "message"),
    [
        ([1.0, 2.0], None, "matrix"),
        ([[1.0, 2.0]], None, "at least 2 items"),
        ([[], []], None, "matrix"),
        ([["a"], ["b"]], None, "numbers"),
        ([[1.0], [2.0, 3.0]], None, "numbers"),
        ([[1.0], [np.nan]], None, "row 1 .* NaN"),
        ([[np.inf], [1.0]], None, "row 0"),
        ([[1.0], [2.0]], ["a"], "2 rows of embeddings but 1 ids"),
        ([[1.0], [2.0], [3.0]], ["a", "b", "a"], "'a' occurs more than once"),
        ([[1.0], [2.0]], "ab", "single string"),
    ],
)
def test_refuses_unusable_pools(X, ids, message: str) -> None:
    with pytest.raises(PoolError, match=message):
        Pool(X, ids=ids)


def test_numbers_beyond_single_precision_are_refused() -> None:
    with pytest.raises(PoolError, match="beyond float32"):
        Pool(np.array([[1e300], [1.0]]))


def test_texts_images_and_scores_must_fit(matrix: np.ndarray) -> None:
    with pytest.raises(PoolError, match="text must hold 5"):
        Pool(matrix, text=["one"])
    with pytest.raises(PoolError, match="images must hold 5"):
        Pool(matrix, images="abcde")
    with pytest.raises(PoolError, match="5 items but 2 scores"):
        Pool(matrix, scores=Scores(np.zeros(2)))


def test_subset_by_mask_and_by_rows(matrix: np.ndarray) -> None:
    scores = Scores(np.arange(5.0), sd=np.ones(5), threshold=2.0)
    pool = Pool(matrix, ids=list("abcde"), text=list("ABCDE"), images=list("vwxyz"), scores=scores)
    part = pool.subset(np.array([False, True, False, True, True]))
    assert (part.ids, part.text, part.images) == (tuple("bde"), tuple("BDE"), tuple("wyz"))
    np.testing.assert_array_equal(part.X, matrix[[1, 3, 4]])
    assert part.scores is not None
    assert part.scores.mean.tolist() == [1.0, 3.0, 4.0]
    assert pool.subset([4, 0]).ids == ("e", "a")


@pytest.mark.parametrize("rows", [[0, 5], [], ["a"], [0.5], np.ones(4, dtype=bool)])
def test_a_subset_of_no_such_rows_is_refused(matrix: np.ndarray, rows: object) -> None:
    with pytest.raises(PoolError, match="row numbers from 0 to 4, or a mask"):
        Pool(matrix, list("abcde")).subset(rows)  # type: ignore[arg-type]


def test_probability_positive_is_the_normal_tail() -> None:
    scores = Scores(np.array([1.0, -2.0, 0.5]), sd=np.array([2.0, 1.0, 0.0]), threshold=0.5)
    np.testing.assert_allclose(scores.probability_positive()[:2], norm.sf(0.5, [1.0, -2.0], [2.0, 1.0]))
    assert scores.probability_positive()[2] == 0.5
    assert scores.labels().tolist() == [True, False, False]


def test_non_neutral_leaves_out_what_people_are_split_on() -> None:
    scores = Scores(np.array([0.0, 0.2, 0.3, -1.0]), sd=np.ones(4))
    assert scores.non_neutral().tolist() == [False, False, True, True]


def test_without_a_spread_every_item_counts() -> None:
    scores = Scores(np.array([0.0, 1.0]))
    assert not scores.has_spread
    assert scores.non_neutral().all()
    assert scores.probability_positive().tolist() == [0.5, 1.0]


def test_a_histogram_gives_the_spread_where_sd_is_unknown() -> None:
    counts = np.array([[5, 0, 5], [0, 4, 0]])
    scores = Scores(np.array([0.0, 0.0]), histogram=counts, histogram_values=np.array([-1, 0, 1]))
    np.testing.assert_allclose(scores.spread(), [1.0, 0.0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"mean": np.array([0.0, np.nan])},
        {"mean": np.zeros((2, 1))},
        {"mean": ["good", "bad"]},
        {"mean": np.zeros(2), "threshold": "high"},
        {"mean": np.zeros(2), "sd": np.array([1.0, -1.0])},
        {"mean": np.zeros(2), "sd": np.ones(3)},
        {"mean": np.zeros(2), "histogram": np.ones((2, 3))},
        {"mean": np.zeros(2), "histogram": np.ones((2, 3)), "histogram_values": np.arange(2)},
        {"mean": np.zeros(2), "histogram": np.array([[1, 1], [0, 0]]), "histogram_values": np.arange(2)},
        {"mean": np.zeros(2), "threshold": np.inf},
    ],
)
def test_refuses_unusable_scores(wrong: dict) -> None:
    with pytest.raises(PoolError):
        Scores(**wrong)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_mapped_matrix_stays_on_disk_and_is_asked_about_as_one_in_memory(tmp_path: Path, dtype: type) -> None:
    """In float16 too: the file may be larger than memory, and only parts of it are ever read."""
    X = np.random.default_rng(0).standard_normal((6_000, 12)).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    pool = Pool(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert isinstance(pool.X.base, np.memmap)
    assert pool.X.dtype == dtype
    mapped, whole = (Learner(each, "rank", seed=3) for each in (pool, Pool(X.astype(np.float32))))
    for _ in range(3):
        asked = [learner.ask() for learner in (mapped, whole)]
        assert asked[0] == asked[1]
        for learner, question in zip((mapped, whole), asked, strict=True):
            learner.tell(question, RankAnswer(question.items, 2))
    np.testing.assert_allclose(mapped.probabilities(), whole.probabilities(), atol=1e-6)
