"""The contenders of a race, by name: kinds of question, with or without a start, and peers.

label, select-4, rank-4, tick-12, auto      the learner, asking one kind of question or the most efficient kind
auto+words, auto+words-6, auto+reversed     starting from three (or six) words per side, or with the sides swapped
auto+verdicts-70, auto+junk                 starting from verdicts of which 70 % are right; from six random items
random, bald, words-alone, …                other methods, in `tellmore.sim.peers`
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.errors import SettingError
from tellmore.policy.asking import AUTO
from tellmore.policy.rates import table_kinds
from tellmore.sim.config import Config
from tellmore.sim.peers import RECIPES, WORDS_ALONE
from tellmore.sim.pools import open_pool


def _usual(kind: kinds.Kind) -> str:
    """The name of the contender that asks a kind at its usual size."""
    return kind.family if kind.most == 1 else f"{kind.family}-{kind.usual}"


OWN = (*(_usual(kinds.family(family)[0]) for family in table_kinds()), AUTO, f"{AUTO}+words")
"""The learner, asking one of the kinds that ``auto`` may choose, at its usual size, or the most efficient kind."""
PEERS = (WORDS_ALONE, *RECIPES)
STARTS = ("words", "words-N", "reversed", "junk", "verdicts-P")
LIKE = ("good", "happy", "excellent", "love", "beautiful", "wonderful")
UNLIKE = ("bad", "sad", "terrible", "hate", "ugly", "awful")
A_SIDE = 3
"""The number of words, or of random items, per side, unless a name says otherwise."""


def is_peer(name: str) -> bool:
    """Whether this contender is a peer and not the learner."""
    return name in PEERS


def config_of(name: str, base: Config, seed: int) -> Config | None:
    """The trial of a contender; None if the pool has no words to start from. SettingError lists the names."""
    if is_peer(name):
        start = _words(base, A_SIDE) if name == WORDS_ALONE else {}
        return None if start is None else replace(base, question=kinds.single().name, size=None, peer=name, **start)
    what, _, begun = name.partition("+")
    asked, _, size = what.partition("-")
    found = _start(begun, base, seed) if begun else {}
    if size and (not size.isdigit() or asked == AUTO):
        raise SettingError(f"there is no contender {name!r}; there are {', '.join((*OWN, *PEERS))}")
    try:
        return None if found is None else replace(base, question=asked, size=int(size) if size else None, **found)
    except SettingError as problem:
        raise SettingError(f"contender {name!r}: {problem}; there are also {', '.join(PEERS)}") from None


def _start(begun: str, base: Config, seed: int) -> dict[str, Any] | None:
    named = re.fullmatch(r"(words|reversed|junk|verdicts)(?:-(\d+))?", begun)
    if named is None or named[2] == "0" or (named[1] == "verdicts" and not named[2]):
        raise SettingError(f"there is no start {begun!r}; the starts are {', '.join(STARTS)}")
    if named[1] == "verdicts":
        return {"scores_right": int(named[2]) / 100}
    count = int(named[2] or A_SIDE)
    if named[1] == "junk":
        ids = open_pool(base.pool, base.matrix).ids
        if len(ids) < 2 * count:
            raise SettingError(f"{begun} takes {2 * count} items, and this pool has {len(ids)}")
        drawn = np.random.default_rng([seed, 0x1C]).choice(ids, 2 * count, replace=False).tolist()
        return {"like": tuple(drawn[:count]), "unlike": tuple(drawn[count:])}
    words = _words(base, count)
    if words is None or named[1] == "words":
        return words
    return {"like": words["unlike"], "unlike": words["like"]}


def _words(base: Config, count: int) -> dict[str, Any] | None:
    """The first words of each side that the pool has; None if it lacks a side."""
    whole = open_pool(base.pool, base.matrix, whole=True)
    sides = [tuple(word for word in side if whole.find(word) is not None)[:count] for side in (LIKE, UNLIKE)]
    return {"like": sides[0], "unlike": sides[1]} if all(sides) else None
