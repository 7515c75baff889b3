"""What the learner of a trial starts from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.errors import InputError, SettingError
from tellmore.sim.config import Config
from tellmore.sim.experiment import make_learner, trial
from tellmore.sim.starting import noisy_scores, start_of
from tellmore.sim.truth import load_truth


def test_items_and_scores_are_starts_and_count_from_the_first_second(small_pool: str, tmp_path: Path) -> None:
    truth = load_truth(small_pool, "X")
    order = np.argsort(truth.scores.mean)
    like, unlike = (tuple(truth.pool.ids[row] for row in rows) for rows in (order[-4:], order[:4]))
    with np.load(small_pool) as arrays:
        np.savez(tmp_path / "judged.npz", **arrays, llm=truth.scores.mean)
    configs = [
        Config(pool=small_pool, answers=2, like=like, unlike=unlike),
        Config(pool=small_pool, answers=2, scores_right=0.9),
        Config(pool=str(tmp_path / "judged.npz"), answers=2, scores_column="llm"),
    ]
    plain = trial(Config(pool=small_pool, answers=2), 0)
    assert plain.start.accuracy == 0.5
    for config in configs:
        learner, _ = make_learner(config, load_truth(config.pool, "X"), 0)
        assert learner.start_weight is not None
        assert trial(config, 0).start.accuracy > 0.65


def test_so_many_verdicts_are_right(small_pool: str) -> None:
    truth = load_truth(small_pool, "X")
    verdicts = np.array([noisy_scores(truth, 0.7, np.random.default_rng(seed)) for seed in range(200)])
    assert set(np.unique(verdicts)) == {0.0, 1.0}
    assert np.mean(verdicts == truth.labels) == pytest.approx(0.7, abs=0.02)
    one, two = (start_of(Config(pool=small_pool, scores_right=0.7), truth, seed) for seed in (1, 2))
    assert repr(one) == repr(two) == "Start(scores of 60 items)"
    assert (one.scores != two.scores).any()  # type: ignore[union-attr]


def test_a_config_without_a_start_is_what_it_was(small_pool: str) -> None:
    """Trials stored before starts existed are found again."""
    assert not {"like", "unlike", "scores_column", "scores_right"} & set(Config(pool=small_pool).as_dict())
    assert Config(pool=small_pool, scores_right=0.7).as_dict()["scores_right"] == 0.7
    assert Config(pool=small_pool, like=("a",)).digest() != Config(pool=small_pool).digest()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scores_right": 1.5}, "a share from 0 to 1, not 1.5"),
        ({"scores_right": 0.7, "like": ("a",)}, "choose one"),
        ({"like": ("nobody",)}, "has the id or the text 'nobody'"),
        ({"scores_column": "nowhere"}, "has no array 'nowhere'"),
        ({"scores_column": "ids"}, "array 'ids': give a number per item"),
    ],
)
def test_impossible_starts_are_refused(small_pool: str, options: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        start_of(Config(pool=small_pool, **options), load_truth(small_pool, "X"), 0)
    with pytest.raises((SettingError, InputError)):
        trial(Config(pool=small_pool, answers=1, **options), 0)
