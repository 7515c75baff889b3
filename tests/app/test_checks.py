"""Random questions: uniform, without items that are taken, of a kind that labels every item."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tellmore.app.checks import check_form, random_question, shuffled
from tellmore.data.settings import LearningSettings
from tellmore.pool import Pool
from tellmore.questions import Question

RANK = LearningSettings(question="rank", set_size=3)


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({"question": "rank", "set_size": 5}, ("rank", 5)),
        ({"question": "label"}, ("label", 1)),
        ({"question": "select"}, ("label", 1)),
        ({"question": "tick"}, ("tick", 12)),
        ({"question": "tick", "set_size": 6}, ("tick", 6)),
        ({"question": "auto"}, ("label", 1)),
        ({"question": "auto", "kinds": ("rank", "select_high"), "sizes": (4, 3)}, ("rank", 3)),
    ],
)
def test_the_form_gives_labels_of_random_items(options: dict, form: tuple[str, int]) -> None:
    kind, size = check_form(LearningSettings(**options))
    assert (kind.name, size) == form


def test_items_are_drawn_uniformly_outside_what_is_taken(pool: Pool) -> None:
    rng = np.random.default_rng(0)
    taken = set(pool.ids[:20])
    drawn = Counter(item for _ in range(2000) for item in random_question(pool, RANK, taken, rng).items)
    assert set(drawn) == set(pool.ids[20:])
    expected = 2000 * 3 / 40
    assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 80  # chi-square, 39 degrees: p < 1e-4


def test_where_little_is_left_less_is_asked(pool: Pool) -> None:
    rng = np.random.default_rng(0)
    assert set(random_question(pool, RANK, pool.ids[:57], rng).items) == set(pool.ids[57:])
    assert random_question(pool, RANK, pool.ids[:58], rng).size == 2
    assert random_question(pool, RANK, pool.ids[:59], rng).kind == "label"
    assert random_question(pool, RANK, pool.ids, rng) is None


def test_shuffling_keeps_the_items_and_makes_a_new_question() -> None:
    question = Question("rank", list("abcdef"))
    orders = {shuffled(question, np.random.default_rng(seed)).items for seed in range(20)}
    assert len(orders) > 10
    assert all(sorted(order) == list("abcdef") for order in orders)
    assert shuffled(question, np.random.default_rng(0)).id != question.id
