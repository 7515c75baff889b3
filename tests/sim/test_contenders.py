"""Who takes part in a race, by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tellmore.errors import SettingError
from tellmore.sim.config import Config
from tellmore.sim.contenders import OWN, PEERS, config_of
from tellmore.sim.starting import start_of
from tellmore.sim.truth import load_truth

BASE = Config(pool="words", answers=None, seconds=60.0)


def test_names_say_what_is_asked_and_from_what() -> None:
    found = {name: config_of(name, BASE, 0) for name in (*OWN, *PEERS)}
    assert [(config.question, config.size) for name, config in found.items() if name in OWN and config] == [
        ("label", None), ("select", 4), ("rank", 4), ("tick", 12), ("auto", None), ("auto", None)
    ]  # fmt: skip
    assert [config.peer for name, config in found.items() if name in PEERS and config] == list(PEERS)
    begun = {name for name, config in found.items() if config and config.like}
    assert begun == {"auto+words", "words-alone"}


def test_starts() -> None:
    words, reversed_, verdicts = (
        config_of(f"tick-12+{start}", BASE, 0) for start in ("words-2", "reversed-2", "verdicts-70")
    )
    assert words is not None
    assert reversed_ is not None
    assert verdicts is not None
    assert (words.like, words.unlike) == (("good", "happy"), ("bad", "sad"))
    assert (reversed_.like, reversed_.unlike) == (words.unlike, words.like)
    assert verdicts.scores_right == 0.7
    junk = [config_of("auto+junk", BASE, seed) for seed in (0, 0, 1)]
    assert junk[0] == junk[1] != junk[2]
    assert len({*junk[0].like, *junk[0].unlike}) == 6  # type: ignore[union-attr]


def test_random_items_are_a_start_where_ids_are_numbers() -> None:
    config = config_of("auto+junk", replace(BASE, pool="wine=1"), 0)
    assert config is not None
    assert start_of(config, load_truth(config.pool, config.matrix), 0) is not None


def test_words_that_a_thinned_pool_lacks_are_known_all_the_same() -> None:
    thinned = Config(pool="words,5%", answers=None, seconds=60.0)
    config = config_of("auto+words", thinned, 0)
    assert config is not None
    assert config.like == ("good", "happy", "excellent")
    assert any(load_truth(thinned.pool, "X").pool.find(word) is None for word in config.like)


def test_a_pool_without_words_leaves_them_out() -> None:
    numbers = Config(pool="breast-cancer", answers=None, seconds=60.0)
    assert config_of("auto+words", numbers, 0) is None
    assert config_of("words-alone", numbers, 0) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("svm", "contender 'svm': question must be one of .*; there are also words-alone, random"),
        ("rank-four", "there is no contender 'rank-four'; there are label, "),
        ("rank-40", "contender 'rank-40': a rank question shows 2 to 10 items, not 40"),
        ("auto+luck", "there is no start 'luck'; the starts are words, "),
        ("auto+verdicts", "there is no start 'verdicts'"),
        ("auto+words-0", "there is no start 'words-0'"),
        ("auto+junk-4000", "takes 8000 items, and this pool has 3062"),
        ("auto-4", "there is no contender 'auto-4'"),
    ],
)
def test_an_unknown_contender_is_one_clear_line(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        config_of(name, BASE, 0)
