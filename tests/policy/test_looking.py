"""The rarer side is looked for first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import tellmore as tm
from tellmore.core.scan import PoolScan
from tellmore.policy.looking import (
    FIFTH,
    MOST_LABELS,
    MOST_PARTS,
    from_new_parts,
    labels_are_few,
    likely_rows,
    rarer_side,
    side_is_missing,
    sought,
)
from tellmore.policy.tally import Tally
from tests.oracles.plain import prior_of, scan_of


def scan_with(mean: list[float]) -> PoolScan:
    X = np.random.default_rng(0).normal(size=(len(mean), 3))
    return replace(scan_of(X, prior_of(X)), mean=np.array(mean))


@pytest.mark.parametrize(
    ("positive", "negative", "short"),
    [(0, 3, True), (4, 4, True), (5, 5, False), (5, 10, False), (5, 11, True), (40, 9, True)],
)
def test_when_labels_of_one_side_are_few(positive: int, negative: int, short: bool) -> None:
    assert labels_are_few(Tally(positive=positive, negative=negative)) is short


@pytest.mark.parametrize(
    ("positive", "negative", "turn", "rows"),
    [
        (0, 2, 0, []),  # information alone at first
        (3, 3, 0, []),  # every second question if neither side is rare
        (3, 3, 1, [2]),  # the likeliest to be positive
        (3, 2, 1, [0]),  # the likeliest to be negative
        (1, 9, 0, [3]),  # rare: the nearest to the boundary
        (1, 9, 1, [2]),
        (6, 60, 1, [3]),  # some were found, still rare
        (6, 12, 1, []),
    ],
)
def test_one_label_goes_to_the_side_that_has_few(positive: int, negative: int, turn: int, rows: list[int]) -> None:
    scan = scan_with([-3.0, 0.5, 2.0, -0.1, -1.0])
    tally = Tally(positive=positive, negative=negative)
    assert sought(scan, tally, 1, turn).tolist() == rows


def test_many_labels_are_shared_out_and_known_items_left_out() -> None:
    scan = scan_with([-3.0, 0.5, 2.0, -0.1, -1.0])
    rare = Tally(positive=1, negative=9)
    assert sought(scan, rare, 4, 0).tolist() == [2, 1, 3, 4]
    assert sought(scan, rare, 2, 0, exclude=[2]).tolist() == [1, 3]


@pytest.mark.parametrize(
    ("positive", "negative", "rarer", "very"),
    [
        (0, 4, 0, 0),
        (0, 5, 1, 1),
        (5, 0, -1, -1),
        (2, 6, 1, 0),
        (2, 5, 0, 0),
        (4, 16, 1, 1),
        (5, 16, 1, 0),
        (20, 6, -1, 0),
    ],
)
def test_which_side_is_rare(positive: int, negative: int, rarer: int, very: int) -> None:
    tally = Tally(positive=positive, negative=negative)
    assert (rarer_side(tally), rarer_side(tally, FIFTH)) == (rarer, very)


@pytest.mark.parametrize("side", [1, -1])
def test_likely_rows_are_the_top_of_the_pool(side: int) -> None:
    rng = np.random.default_rng(2)
    scan = scan_with(rng.permutation(np.linspace(-2, 2, 1000)).tolist())
    falling = np.argsort(-side * scan.mean)
    rows = likely_rows(scan, side, 0.1, 4, rng=rng, exclude=[int(falling[3])])
    assert set(rows.tolist()) == set(falling[:101].tolist()) - {int(falling[3])}
    assert np.all(np.diff(rows) > 0)
    assert len(likely_rows(scan, side, 0.001, 4, rng=rng)) == 40  # ten for each item shown
    assert len(likely_rows(scan, side, 0.1, 4, rng=rng, exclude=range(990))) == 10  # all that are left


def test_of_many_likely_rows_every_second_or_third_is_searched() -> None:
    scan = scan_with(np.linspace(-2, 2, 50_000).tolist())
    found = [
        likely_rows(scan, 1, 0.2, 4, rng=np.random.default_rng(seed), exclude=[49_990, 49_991]) for seed in range(8)
    ]
    for rows in found:
        assert set(np.diff(rows[rows < 49_980])) == {2}
        assert len(rows) == 5_000
        assert 39_990 <= rows.min() < 40_010
        assert rows.max() >= 49_998
        assert not {49_990, 49_991} & set(rows.tolist())
    assert {int(rows[0]) % 2 for rows in found} == {0, 1}


@pytest.mark.parametrize(
    ("positive", "negative", "missing"), [(0, 2, False), (0, 3, True), (7, 0, True), (1, 60, False)]
)
def test_when_a_side_is_missing(positive: int, negative: int, missing: bool) -> None:
    assert side_is_missing(Tally(positive=positive, negative=negative)) is missing


def groups(sizes: list[int]) -> tuple[PoolScan, np.ndarray]:
    """A pool of groups far apart, and the group of each row; the first item of each group is at its centre."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    X = 10 * np.eye(len(sizes))[group] + np.random.default_rng(1).normal(scale=0.5, size=(len(group), len(sizes)))
    X[np.searchsorted(group, range(len(sizes)))] = 10 * np.eye(len(sizes))
    return scan_of(X, prior_of(X)), group


def test_items_are_from_parts_of_which_nothing_was_shown() -> None:
    scan, group = groups([60, 50, 40, 30, 20])
    labelled = np.flatnonzero((group == 0) | (group == 2))[::20]
    found = [from_new_parts(scan, labelled, 2, rng=np.random.default_rng(seed), exclude=labelled) for seed in range(20)]
    assert all(not set(rows.tolist()) & set(labelled.tolist()) for rows in found)
    among = np.bincount(group[np.concatenate(found)], minlength=5)
    assert among[[1, 3, 4]].sum() >= 36
    assert len(np.unique(np.concatenate(found))) >= 25, "any item of a part may be shown"


def test_if_something_of_every_part_was_shown_items_are_random() -> None:
    scan, _ = groups([100, 100, 100])
    labelled = np.arange(MOST_PARTS + 50)
    rows = from_new_parts(scan, labelled, 40, rng=np.random.default_rng(0), exclude=labelled)
    assert len(set(rows.tolist())) == 40
    assert rows.min() >= MOST_PARTS + 50


@pytest.mark.parametrize("kind", ["label", "tick", "select", "rank"])
def test_until_both_sides_have_a_label_new_parts_are_shown(kind: str) -> None:
    """Digits, all negative: soon every digit has been shown, which takes 29 random items on average."""
    X, number = load_digits(return_X_y=True)
    for seed in range(3):
        learner = tm.Learner(X, kind, seed=seed)
        shown: list[int] = []
        while len(set(number[shown])) < 10:
            question = learner.ask()
            shown += list(question.items)
            none = {"label": False, "tick": [], "rank": (list(question.items), 0)}
            learner.tell(question, none.get(question.kind, (question.items[0], False)))
        assert len(shown) <= 28


def test_with_a_start_every_second_item_follows_it() -> None:
    X = np.random.default_rng(3).normal(size=(800, 6))
    pool = tm.Pool(X)
    order = np.argsort(X[:, 0])
    start = tm.Start.of_items(pool, positive=[str(row) for row in order[-5:]], negative=[str(row) for row in order[:5]])
    learner = tm.Learner(pool, "tick", start=start)
    for row in order[5:12]:
        learner.tell(tm.Question("label", [str(row)]), False)
    place = np.argsort(np.argsort(-learner.scores()[0]))
    assert np.sum(place[pool.rows(learner.ask(size=12).items)] < 12) in (3, 4)


def answered(kind: str, positive: int, labels: int = 12) -> tm.Learner:
    """A learner after so many labels, of which this many are positive; items with a high first column are positive."""
    X = np.random.default_rng(3).normal(size=(800, 6))
    learner = tm.Learner(tm.Pool(X), kind)
    order = np.argsort(X[:, 0])
    for row in [*order[-positive:], *order[: labels - positive]] if positive else order[:labels]:
        learner.tell(tm.Question("label", [str(row)]), bool(X[row, 0] > 1))
    return learner


@pytest.mark.parametrize("n", [4, 12])  # the last item is then the start's to choose
def test_with_a_start_the_last_item_of_a_pool_of_one_side_is_asked_about(n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 3))
    learner = tm.Learner(X, "label", start=tm.Start.of_scores(X[:, 0]))
    for _ in range(n + 1):
        learner.tell(learner.ask(), True)
    assert len(learner.labels()) == n


def test_if_a_side_is_rare_selections_are_about_its_likeliest_items() -> None:
    rare, common = answered("select", 2), answered("select", 6)
    for learner, few in ((rare, True), (common, False)):
        place = np.argsort(np.argsort(-learner.scores()[0]))
        shown = [place[learner.pool.rows(learner.ask().items)] for _ in range(5)]
        top = 0.1 * len(learner.pool) + 12 + 16  # items with a label or in open questions are left out
        assert bool(np.max(shown) < top) is few


@pytest.mark.parametrize(("positive", "ends"), [(1, {"select_high"}), (6, {"select_high", "select_low"})])
def test_if_a_side_is_very_rare_its_end_is_selected(positive: int, ends: set[str]) -> None:
    learner = answered("select", positive)
    assert {learner.ask().kind for _ in range(12)} == ends
    only = answered("select_low", positive)
    assert only.ask().kind == "select_low"


@pytest.mark.parametrize(("positive", "few"), [(2, True), (6, False)])
def test_if_a_side_is_rare_rankings_are_about_its_likeliest_and_the_most_doubtful_items(
    positive: int, few: bool
) -> None:
    learner = answered("rank", positive)
    now, known = learner._now, set(learner.labels())
    best = sought(now.scan, now.tally, 4, learner._asked, exclude=learner.pool.rows(known))
    shown = set(learner.ask(size=4).items)
    assert (shown == {learner.pool.ids[row] for row in best}) is few
    assert not few or not shown & known
    dealt = learner.ask(6, quick=True)
    assert len({item for question in dealt for item in question.items}) == 24


@pytest.mark.parametrize(
    ("positive", "labels", "factor", "threshold"), [(2, 12, 1.0, 1.0), (2, 100, 2.0, 1.0), (6, 12, 1.0, 0.54)]
)
def test_if_a_side_is_rare_labels_count_for_more(positive: int, labels: int, factor: float, threshold: float) -> None:
    """The same answer, learnt by a learner whose labels always count this much."""
    learner, other = answered("rank", positive, labels), answered("rank", positive, labels)
    usual = other.behaviour
    rare = threshold == 1.0  # then no order within a side is learnt either
    other.behaviour, other.looks = replace(usual, w=factor * usual.w, threshold=threshold, across=rare), False
    ids = [learner.pool.ids[row] for row in (1, 2, 3, 4)]
    for one in (learner, other):
        one.tell(tm.Question("rank", ids, id="q"), tm.RankAnswer(ids, 1))
    assert np.array_equal(learner.scores()[0], other.scores()[0])
    learner.tell(tm.Question("label", [str(5)]), True)
    learner.undo()
    assert np.array_equal(learner.scores()[0], other.scores()[0])


def test_a_given_sharpness_is_kept_if_a_side_is_rare() -> None:
    X = np.random.default_rng(3).normal(size=(100, 6))
    given, plain = tm.Learner(X, "label", w=2.0), tm.Learner(X, "label", w=2.0)
    plain.looks = False
    for learner in (given, plain):
        for row in range(12):
            learner.tell(tm.Question("label", [row]), row == 0)
    assert np.array_equal(given.scores()[0], plain.scores()[0])


def test_known_items_of_a_rare_side_are_predicted_on_it() -> None:
    """33 of 1,656 digits are an 8: most of those that were found are predicted to be one."""
    digits, number = load_digits(return_X_y=True)
    eights = np.random.default_rng(0).choice(np.flatnonzero(number == 8), 33, replace=False)
    kept = np.concatenate([np.flatnonzero(number != 8), eights])
    learner = tm.Learner(digits[kept], "tick", seed=1)
    for _ in range(25):
        question = learner.ask()
        learner.tell(question, [item for item in question.items if number[kept[item]] == 8])
    found = [item for item, label in learner.labels().items() if label]
    assert len(found) >= 25
    assert learner.predict()[found].mean() > 0.6


@pytest.mark.parametrize("kind", ["label", "tick", "rank"])
def test_every_item_is_shown_and_none_again_and_again(kind: str) -> None:
    """Three items of 100 are positive; a few of the others were shown up to 34 times, and the last eight never."""
    X = np.random.default_rng(0).normal(size=(100, 8))
    learner = tm.Learner(X, kind)
    times = np.zeros(100, dtype=int)
    while times.min() == 0:
        question = learner.ask()
        times[list(question.items)] += 1
        rare = [item for item in question.items if item in (5, 27, 99)]
        other = [item for item in question.items if item not in rare]
        learner.tell(question, {"label": bool(rare), "tick": rare, "rank": ([*rare, *other], len(rare))}[kind])
        assert times.max() <= MOST_LABELS
    assert sum(learner.labels().values()) == 3
    for _ in range(3):
        learner.undo()
    assert len(learner._labelled()[0]) == len(learner.labels())


def test_selections_in_a_pool_with_few_items_left() -> None:
    """Twelve items, all but three labelled, and one side rare: the question falls back on known items."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    learner = tm.Learner(tm.Pool(X), "select", exclude_last=0)
    for row in range(9):
        learner.tell(tm.Question("label", [str(row)]), row == 0)
    assert len(set(learner.ask().items)) == 4


@pytest.mark.parametrize("kind", ["label", "tick", "select", "rank"])
def test_rare_items_are_found(kind: str) -> None:
    """3 % of the items are positive, and lie together: chance alone would find one or two among 40 labels."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20))
    X[:18] += 1.2
    X[:18, 0] += 2.0
    pool = tm.Pool(X)
    learner = tm.Learner(pool, kind)
    while learner.tally.positive + learner.tally.negative < 48:
        question = learner.ask()
        rare = [item for item in question.items if int(item) < 18]
        other = [item for item in question.items if item not in rare]
        high = question.kind == "select_high"
        answers = {
            "label": tm.LabelAnswer(bool(rare)),
            "tick": tm.TickAnswer(rare),
            "rank": tm.RankAnswer([*rare, *other], len(rare)),
            "select": tm.SelectAnswer(
                (rare or other)[0] if high else (other or rare)[0], bool(rare) if high else not other
            ),
        }
        learner.tell(question, answers[kind])
    assert learner.tally.positive >= 5


def test_labels_avoid_the_oddest_item_of_a_large_pool() -> None:
    """The label of an odd item is the most informative of all, but only the best of 300 random items is asked for."""
    X = np.random.default_rng(0).normal(size=(3_000, 8))
    X[7] *= 2.4 * np.median(np.linalg.norm(X, axis=1)) / np.linalg.norm(X[7])
    pool = tm.Pool(X)
    labels = [tm.Learner(pool, "label", seed=seed).ask().items for seed in range(10)]
    assert sum(7 in items for items in labels) <= 4
    assert len({items[0] for items in labels}) >= 6
    whole = [tm.Learner(pool, "rank", seed=seed).ask().items for seed in range(3)]
    assert all(7 in items for items in whole)


@pytest.mark.parametrize("kind", ["label", "select", "rank", "tick", "auto"])
def test_items_far_from_all_others_are_asked_in_every_fourth_question_at_most(kind: str) -> None:
    """Their answers look the most informative; but where hardly any other item is left, they are asked."""
    X = np.random.default_rng(1).normal(size=(200, 6))
    X[:5] *= 30
    far = {str(number) for number in range(5)}
    learner = tm.Learner(tm.Pool(X), kind, exclude_last=0)
    with_far = []
    for turn in range(9):
        question = learner.ask()
        with_far += [turn] if far & set(question.items) else []
        learner.tell(question, some_answer(question, turn))
    assert set(with_far) <= {3, 7}
    small = tm.Learner(tm.Pool(X[:8]), kind if kind != "auto" else "label", None if kind in ("label", "auto") else 6)
    asked: set[str] = set()
    while asked != set(small.pool.ids):
        question = small.ask()
        asked |= set(question.items)
        small.tell(question, some_answer(question, len(asked)))


@pytest.mark.parametrize("kind", ["select", "rank"])
def test_a_far_group_that_is_the_rare_class_stays_known(kind: str) -> None:
    """If its items were never asked about, answers about the others would slowly move it to the other side."""
    rng = np.random.default_rng(5)
    X, rare = rng.normal(size=(600, 8)), np.arange(600) < 18
    X[rare] = 0.3 * X[rare] + 12 * np.eye(8)[0]
    learner = tm.Learner(tm.Pool(X), kind, seed=1)
    for turn in range(60):
        question = learner.ask()
        items = list(rng.permutation(list(question.items)))
        order = sorted(items, key=lambda item: -int(item) if not rare[int(item)] else 1000, reverse=True)
        if question.kind == "label":  # a random check
            learner.tell(question, bool(rare[int(items[0])]))
        elif question.kind == "rank":
            learner.tell(question, tm.RankAnswer(order, sum(bool(rare[int(item)]) for item in order)))
        else:
            chosen = order[0] if question.kind == "select_high" else order[-1]
            learner.tell(question, tm.SelectAnswer(chosen, bool(rare[int(chosen)])))
        if turn in (19, 39, 59):
            assert np.mean(learner.predict()[rare]) > 0.9, turn


def some_answer(question: tm.Question, turn: int) -> tm.Answer:
    """An answer that puts items of both sides into turns."""
    items = list(question.items)
    if question.kind == "label":
        return tm.LabelAnswer(turn % 2 == 0)
    if question.kind == "rank":
        return tm.RankAnswer(items, len(items) // 2)
    if question.kind == "tick":
        return tm.TickAnswer(items[::2])
    return tm.SelectAnswer(items[0], turn % 2 == 0)


@pytest.mark.parametrize(("kind", "most"), [("label", 60), ("tick", 72)])
def test_few_positive_items_among_others_like_them_are_found(kind: str, most: int) -> None:
    """Of 1,656 digits 33 are an 8, hardly ever the most typical of those around it; random labels need 49 on average."""
    X, number = load_digits(return_X_y=True)
    rows = np.sort(np.concatenate([np.flatnonzero(number != 8), np.flatnonzero(number == 8)[:33]]))
    X, number = X[rows], number[rows]
    needed = []
    for seed in range(5):
        learner = tm.Learner(X, kind, seed=seed)
        shown: list[int] = []
        while 8 not in number[shown]:
            question = learner.ask()
            learner.tell(question, [] if kind == "tick" else False)
            shown += question.items
        needed.append(len(shown))
    assert np.mean(needed) <= most
