"""What people use instead of the learner: compared with a plain loop, and the rules for every peer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.errors import SettingError
from tellmore.sim.config import Config
from tellmore.sim.experiment import trial
from tellmore.sim.peers import RECIPES, WORDS_ALONE, covariance, make_peer, unit_rows
from tellmore.sim.truth import load_truth
from tests.oracles.active_labels import called_positive
from tests.sim.conftest import write_pool

pytest.importorskip("skactiveml")


@pytest.fixture(scope="module")
def certain_pool(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_pool(tmp_path_factory.mktemp("pools") / "certain.npz", n=30, sd=None))


@pytest.mark.parametrize("peer", ["random", "uncertain"])
def test_regression_on_labels_is_that_of_a_plain_loop(certain_pool: str, peer: str) -> None:
    truth = load_truth(certain_pool, "X")
    found = trial(Config(pool=certain_pool, question="label", peer=peer, answers=20), seed=2)
    order = np.random.default_rng([2, 0x9EE]).permutation(len(truth.pool)).tolist()
    X = np.asarray(truth.pool.X, dtype=float)
    called = called_positive(X, truth.labels, order, uncertain=peer == "uncertain", most=20)
    assert [row.accuracy for row in found.rows] == pytest.approx([np.mean(one == truth.labels) for one in called])


@pytest.mark.parametrize("peer", RECIPES)
def test_a_peer_asks_every_item_once_and_learns(certain_pool: str, peer: str) -> None:
    truth = load_truth(certain_pool, "X")
    found = trial(Config(pool=certain_pool, question="label", peer=peer, answers=None, seconds=10_000.0), seed=0)
    assert len(found.rows) == len(truth.pool)
    assert found.rows[-1].accuracy > 0.9
    assert {row.kind for row in found.rows} == {"label"}
    assert np.isnan(found.rows[0].bits)


def test_the_seed_decides_what_a_peer_asks(certain_pool: str) -> None:
    config = Config(pool=certain_pool, question="label", peer="bald", answers=5)
    first, again, other = (trial(config, seed).column("accuracy") for seed in (0, 0, 1))
    assert first == again != other


def test_the_covariance_makes_wide_directions_matter_more() -> None:
    from tellmore.pool import Pool

    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)) * [3.0, 1.0, 0.5] @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    pool = Pool(X)
    Z, C = covariance(pool), np.cov(np.asarray(pool.X, dtype=float), rowvar=False)
    centred = np.asarray(pool.X, dtype=float) - pool.X.mean(axis=0)
    kernel = centred @ C @ centred.T  # of a regression whose weights are N(0, C)
    assert np.allclose(Z @ Z.T / np.trace(Z @ Z.T), kernel / np.trace(kernel), atol=1e-6)


def test_words_alone_call_items_by_the_nearer_side_and_ask_nothing(small_pool: str) -> None:
    config = Config(pool=small_pool, question="label", peer=WORDS_ALONE, like=("item0",), unlike=("item1", "item2"))
    truth = load_truth(small_pool, "X")
    found, rows = trial(config, 0), unit_rows(truth.pool.X)
    nearer = rows @ rows[0] > (rows @ rows[1:3].T).mean(axis=1)
    assert found.rows == ()
    assert found.start.accuracy == pytest.approx(np.mean(nearer[truth.counted] == truth.labels[truth.counted]))
    with pytest.raises(SettingError, match="words of both sides"):
        make_peer(Config(pool=small_pool, question="label", peer=WORDS_ALONE, like=("item0",)), truth, 0)


def test_an_unknown_peer_is_named_and_peers_ask_labels_only(tmp_path: Path, small_pool: str) -> None:
    with pytest.raises(SettingError, match=r"peer must be one of random-plain, .*not 'svm'"):
        trial(Config(pool=small_pool, question="label", peer="svm"), 0)
    with pytest.raises(SettingError, match="asks for labels, not for rank"):
        Config(pool=small_pool, question="rank", peer="random")
