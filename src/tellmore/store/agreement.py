"""How far people agree: each person's labels, Krippendorff's alpha, conflicts, and known items.

These are pure functions of the log. Labels of known items, which measure a person, and labels that settle a conflict are
not counted as anybody's opinion, nor are those of people who are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from tellmore.errors import needs
from tellmore.questions import labels_in
from tellmore.store.ledger import KNOWN, SETTLED, Given, Ledger
from tellmore.types import Array

RESAMPLES = 400
SMALLEST_SAMPLE = 8
"""How many labels must be compared before a person is said to answer no better than chance."""
CHANCE = 0.05
OWN_CHOICE = ("direct", SETTLED)
"""Reasons of questions whose item the owner chose: its label counts as known."""


@dataclass(frozen=True)
class Vote:
    """The newest label that one person gave one item; ``seq`` is its event's number."""

    participant: str
    positive: bool
    seq: int


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha (nominal) with its 95 % interval by resampling items; ``alike`` of ``pairs`` pairs of labels of the
    same item are equal. ``alpha`` is None if all labels are the same, ``low`` and ``high`` if there are too few items."""

    alpha: float | None
    low: float | None
    high: float | None
    items: int
    people: int
    pairs: int
    alike: int


@dataclass(frozen=True)
class Conflict:
    """An item that people label differently. ``settled`` is the owner's label, None before that."""

    item: str
    votes: tuple[Vote, ...]
    settled: bool | None


@dataclass(frozen=True)
class Reliability:
    """One person compared with others: ``alike`` of ``shared`` labels agree with most others' labels of the item; ``known_right``
    of ``known`` known items were labelled correctly. ``warning`` says what to look at, if anything."""

    alike: int
    shared: int
    known_right: int
    known: int
    warning: str | None


NOTHING_TO_COMPARE = Reliability(0, 0, 0, 0, None)


def _labels(ledger: Ledger, given: Given) -> dict[str, bool]:
    """The labels in an answer that counts; none otherwise."""
    standing = given.counts and given.question_id in ledger.asked
    return labels_in(ledger.asked[given.question_id].question, given.answer) if standing else {}


def votes(ledger: Ledger, *, everybody: bool = False) -> dict[str, dict[str, Vote]]:
    """The newest label by item and person; of ``everybody``, or without those who are left out."""
    found: dict[str, dict[str, Vote]] = defaultdict(dict)
    for given in ledger.given.values():
        if given.participant in ledger.left_out and not everybody:
            continue
        if given.question_id in ledger.asked and ledger.asked[given.question_id].why not in (KNOWN, SETTLED):
            for item, positive in _labels(ledger, given).items():
                found[item][given.participant] = Vote(given.participant, positive, given.seq)
    return dict(found)


def known_labels(ledger: Ledger, *whys: str) -> dict[str, Vote]:
    """The newest label of each item that an owner chose to label, or settled; ``whys`` limits the result to these reasons."""
    return {
        item: Vote(given.participant, positive, given.seq)
        for given in ledger.given.values()
        if given.question_id in ledger.asked and ledger.asked[given.question_id].why in (whys or OWN_CHOICE)
        for item, positive in _labels(ledger, given).items()
    }


def alpha_of(counts: Array) -> float | None:
    """Krippendorff's alpha from the numbers of positive and negative labels of each item [n, 2]; None if all are the same.

    >>> alpha_of(np.array([[2, 0], [0, 2], [1, 1]])) is not None
    True
    """
    paired = counts[counts.sum(axis=1) > 1]
    if not len(paired) or (paired.sum(axis=0) == 0).any():
        return None
    with needs("krippendorff", "app"):
        from krippendorff import alpha
    return float(alpha(value_counts=paired, level_of_measurement="nominal"))


def agreement(ledger: Ledger, *, resamples: int = RESAMPLES) -> Agreement | None:
    """How far people agree on the items that at least two of them labelled; None if there is none."""
    shared = [list(each.values()) for each in votes(ledger).values() if len(each) > 1]
    if not shared:
        return None
    counts = np.array(
        [[sum(vote.positive for vote in each), sum(not vote.positive for vote in each)] for each in shared]
    )
    rng = np.random.default_rng(0)
    again = (alpha_of(counts[rng.integers(len(counts), size=len(counts))]) for _ in range(resamples))
    resampled = [each for each in again if each is not None]
    enough = len(counts) >= SMALLEST_SAMPLE and len(resampled) > resamples / 2
    low, high = np.quantile(resampled, [0.025, 0.975]).tolist() if enough else (None, None)
    sizes = counts.sum(axis=1)
    return Agreement(
        alpha=alpha_of(counts),
        low=low,
        high=high,
        items=len(counts),
        people=len({vote.participant for each in shared for vote in each}),
        pairs=int((sizes * (sizes - 1)).sum()) // 2,
        alike=int((counts * (counts - 1)).sum()) // 2,
    )


def conflicts(ledger: Ledger) -> list[Conflict]:
    """Items that people label differently: first those to settle, then the settled ones; the newest labels first."""
    settled, found = known_labels(ledger, SETTLED), []
    for item, cast in votes(ledger).items():
        if len({vote.positive for vote in cast.values()}) == 1:
            continue
        newest = max(vote.seq for vote in cast.values())
        last = settled[item].positive if item in settled else None
        found.append((last is not None, -newest, Conflict(item, tuple(cast.values()), last)))
    return [conflict for *_, conflict in sorted(found, key=lambda each: each[:2])]


def reliability(ledger: Ledger) -> dict[str, Reliability]:
    """By participant, for everybody who shares an item with somebody or labelled a known one. Those who are left out are
    compared with the others, but the others not with them."""
    compared, known = _against_others(votes(ledger, everybody=True), ledger.left_out), _on_known(ledger)
    return {
        who: Reliability(
            *compared.get(who, (0, 0))[:2], *known.get(who, (0, 0)), _warning(compared.get(who), known.get(who))
        )
        for who in {**compared, **known}
    }


def _against_others(
    cast: Mapping[str, Mapping[str, Vote]], left_out: Collection[str]
) -> dict[str, tuple[int, int, float]]:
    """For each person: labels that agree with most others', labels compared, and how many would agree by chance."""
    own: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for by_person in cast.values():
        counting = [vote.positive for who, vote in by_person.items() if who not in left_out]
        for who, vote in by_person.items():
            counts = who not in left_out
            others, for_it = len(counting) - counts, sum(counting) - (counts and vote.positive)
            if others and 2 * for_it != others:
                own[who].append((vote.positive, 2 * for_it > others))
    found = {}
    for who, pairs in own.items():
        mine, theirs = np.array(pairs).T
        chance = mine.mean() * theirs.mean() + (1 - mine.mean()) * (1 - theirs.mean())
        found[who] = int((mine == theirs).sum()), len(pairs), float(chance)
    return found


def _on_known(ledger: Ledger) -> dict[str, tuple[int, int]]:
    """For each person: how many known items were labelled correctly, and how many were labelled."""
    truth = known_labels(ledger)
    found: dict[str, tuple[int, int]] = {}
    for given in ledger.given.values():
        if given.question_id in ledger.asked and ledger.asked[given.question_id].why == KNOWN:
            for item, positive in _labels(ledger, given).items():
                if item in truth:
                    right, total = found.get(given.participant, (0, 0))
                    found[given.participant] = right + (positive == truth[item].positive), total + 1
    return found


def _warning(compared: tuple[int, int, float] | None, known: tuple[int, int] | None) -> str | None:
    if known is not None and _no_better(*known, 0.5):
        return "no better than guessing on known items"
    if compared is not None and _no_better(*compared):
        return "agrees with others no more than by chance"
    return None


def _no_better(right: int, total: int, chance: float) -> bool:
    """Whether ``right`` of ``total`` could well be chance."""
    if total < SMALLEST_SAMPLE or chance >= 1:
        return False
    return bool(binomtest(right, total, chance, alternative="greater").pvalue > CHANCE)
