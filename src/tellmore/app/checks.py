"""Random questions: the honest yardstick of accuracy, and the answer to "nothing is ready".

Items are drawn uniformly from what is not out with somebody else, so that the labels they get are a random sample of the
pool. A selected item is not a random one; therefore the random question is a ranking where rankings are asked, and a
label otherwise.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tellmore.data.settings import LearningSettings
from tellmore.pool import Pool
from tellmore.questions import Question


def check_form(learning: LearningSettings) -> tuple[str, int]:
    """Kind and size of random questions under these settings.

    >>> check_form(LearningSettings(question="select"))
    ('label', 1)
    """
    if learning.question == "rank":
        return "rank", learning.set_size
    if learning.question == "auto" and "label" not in learning.kinds and "rank" in learning.kinds:
        return "rank", min(learning.sizes)
    return "label", 1


def random_question(
    pool: Pool, learning: LearningSettings, taken: Collection[str], rng: np.random.Generator
) -> Question | None:
    """A question on random items outside ``taken``; None where not even one item is left."""
    kind, size = check_form(learning)
    items = _draw(pool, size, set(taken), rng)
    if kind == "rank" and len(items) >= 2:
        return Question("rank", items)
    return Question("label", items[:1]) if items else None


def _draw(pool: Pool, size: int, taken: set[str], rng: np.random.Generator) -> list[str]:
    """Up to ``size`` different random ids: by rejection, which is quick while little is taken, else from what is left."""
    drawn: list[str] = []
    for row in rng.integers(len(pool), size=20 * size):
        item = pool.ids[row]
        if item not in taken and item not in drawn:
            drawn.append(item)
            if len(drawn) == size:
                return drawn
    left = [item for item in pool.ids if item not in taken]
    return [left[row] for row in rng.permutation(len(left))[:size]]


def random_items(pool: Pool, size: int) -> list[str]:
    """``size`` random ids, for a look at the project; always the same ones."""
    return _draw(pool, min(size, len(pool)), set(), np.random.default_rng(0))


def shuffled(question: Question, rng: np.random.Generator) -> Question:
    """A question of its own on the same items in random order: the first order shown must carry no information."""
    order = rng.permutation(question.size)
    return Question(question.kind, [question.items[i] for i in order])
