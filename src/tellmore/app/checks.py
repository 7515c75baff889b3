"""Random questions: they measure the accuracy, and are asked when nothing else is ready.

Items are drawn uniformly from those that nobody has open, so their labels are a random sample of the pool. The item chosen
in a selection is not random, so random questions are of a kind that labels every item shown.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tellmore import kinds
from tellmore.data.settings import LearningSettings
from tellmore.kinds import Kind
from tellmore.policy.asking import AUTO
from tellmore.pool import Pool
from tellmore.questions import Question


def check_form(learning: LearningSettings) -> tuple[Kind, int]:
    """Kind and size of random questions under these settings: the smallest that labels every item shown.

    >>> check_form(LearningSettings(question="select"))[0].name
    'label'
    """
    asked = learning.kinds if learning.question == AUTO else [kind.name for kind in kinds.family(learning.question)]
    fit = [kind for kind in map(kinds.named, asked) if kind.labels_all] or [kinds.single()]
    kind = min(fit, key=lambda one: one.fewest)
    if kind.most == 1:
        return kind, 1
    wanted = learning.set_size if learning.question != AUTO else min(learning.sizes)
    return kind, min(max(wanted or kind.usual, kind.fewest), kind.most)


def random_question(
    pool: Pool, learning: LearningSettings, taken: Collection[str], rng: np.random.Generator
) -> Question | None:
    """A question on random items outside ``taken``; None if too few are left."""
    kind, size = check_form(learning)
    items = _draw(pool, size, set(taken), rng)
    if len(items) < kind.fewest:
        kind = kinds.single()
    return Question(kind.name, items[: kind.most]) if items else None


def _draw(pool: Pool, size: int, taken: set[str], rng: np.random.Generator) -> list[str]:
    """Up to ``size`` different random ids: by rejection, which is quick if few are taken, else from those left."""
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
    """``size`` random ids, to show examples of the items; always the same ones."""
    return _draw(pool, min(size, len(pool)), set(), np.random.default_rng(0))


def shuffled(question: Question, rng: np.random.Generator) -> Question:
    """A new question on the same items in random order: the order in which they are first shown must not be informative."""
    order = rng.permutation(question.size)
    return Question(question.kind, [question.items[i] for i in order])
