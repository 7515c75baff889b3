"""What a project starts with before the first answer, in addition to its settings: an earlier belief, words, another
model's scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import shorten

import numpy as np

from tellmore.classifier import Classifier
from tellmore.core.frame import Frame
from tellmore.data.project import Project
from tellmore.data.scores import start_scores
from tellmore.data.settings import Settings, StartSettings
from tellmore.data.words import NO_TEXT_SIDE, KeptWords, kept_words
from tellmore.errors import SettingError
from tellmore.pool import Pool
from tellmore.start import Start
from tellmore.types import Array

EMPTY_EXAMPLE = "an example is empty; give words, texts or ids, with commas between them"

LONGEST_NAME = 60


@dataclass(frozen=True, eq=False)
class Example:
    """What a start is made of: an item or a word, its side and its vector [d]. ``name`` is what people call it."""

    name: str
    positive: bool
    vector: Array


@dataclass(frozen=True)
class Beforehand:
    """``prior`` is the belief of an earlier project, used as the prior. ``earlier`` is its classifier, as a start. ``words``
    gives vectors of words, ``scores`` those of a kept column [n]."""

    prior: Frame | None = None
    earlier: Classifier | None = None
    words: KeptWords | None = None
    scores: Callable[[StartSettings], Array] | None = None

    def start(self, settings: Settings, pool: Pool) -> Start | None:
        """What learning starts from, according to ``settings``; None for no start."""
        chosen = settings.start
        like, unlike = (chosen.like, chosen.unlike) if settings.classic else settings.examples
        check_names(like, unlike, chosen.scores_column)
        if chosen.scores_column:
            if self.scores is None:
                raise SettingError(
                    f"start.scores_column = {chosen.scores_column!r} needs a project that keeps the column"
                )
            return Start.of_scores(self.scores(chosen))
        if not like and not unlike:
            return Start.of_classifier(self.earlier) if chosen.earlier and self.earlier is not None else None
        return Start(self._vectors(pool, like), self._vectors(pool, unlike))

    def examples(self, settings: Settings, pool: Pool) -> list[Example]:
        """The items and words that learning starts from, according to ``settings``."""
        return [
            Example(_called(pool, name), positive, vector)
            for positive, names in zip((True, False), settings.examples, strict=True)
            for name, vector in zip(names, self._vectors(pool, names), strict=True)
        ]

    def _vectors(self, pool: Pool, names: Sequence[str]) -> Array:
        """One vector per name: of the item with this id or full text, or else of the word. Items with the same text as an
        example may have been added since it was named; it is still the first of them."""
        rows = [pool.find(name, first=True) for name in names]
        words = [name for name, row in zip(names, rows, strict=True) if row is None]
        new = [word for word in words if self.words is None or word not in self.words]
        why = self.no_words if new else None
        if why is not None:
            raise SettingError(f"no item has the id or the text {new[0]!r}, and it cannot be used as a word: {why}")
        vectors = iter(self.words(words) if words and self.words is not None else ())
        return np.array([next(vectors) if row is None else pool.X[row] for row in rows], dtype=np.float64)

    @property
    def no_words(self) -> str | None:
        """Why new words cannot be used; None if they can."""
        return NO_TEXT_SIDE if self.words is None else self.words.refusal

    def keep_words(self, settings: Settings, pool: Pool) -> None:
        """Store the vectors of the words in the start of ``settings``, so that they are available without the embedder."""
        words = [name for side in settings.examples for name in side if pool.find(name, first=True) is None]
        if words and self.words is not None:
            self.words.keep(words)


NOTHING_KNOWN = Beforehand()


def _called(pool: Pool, name: str) -> str:
    """The beginning of an item's text, because people do not know its id; an item without text and a word as they are named."""
    row = pool.find(name, first=True)
    text = "" if row is None or pool.text is None else pool.text[row]
    return shorten(text, LONGEST_NAME, placeholder=" …") or name


def check_names(like: Sequence[str], unlike: Sequence[str], scores_column: str) -> None:
    """Raise SettingError if a start is impossible, as far as this shows without items and embedder."""
    if scores_column and (like or unlike):
        raise SettingError("a start is from examples or from scores_column, not from both; remove one")
    both = next((name for name in like if name in unlike), None)
    if both is not None:
        raise SettingError(f"{both!r} is named both as like and as unlike; choose one")
    if not all(name.strip() for name in (*like, *unlike)):
        raise SettingError(EMPTY_EXAMPLE)


def beforehand_of(project: Project, embed: str | None = None) -> Beforehand:
    """What ``project`` starts with; ``embed`` names its embedder, as on the command line, for new words."""
    return Beforehand(
        project.prior,
        project.earlier,
        kept_words(project, embed),
        lambda chosen: start_scores(project, chosen.scores_column, chosen.positive_value),
    )


def named_examples(pool: Pool, given: Sequence[str]) -> list[str]:
    """The names in ``given``, each once: an item, by its id or full text, or else the parts between commas."""
    parts = [part.strip() for name in given for part in ([name] if pool.find(name) is not None else name.split(","))]
    if not all(parts):
        raise SettingError(EMPTY_EXAMPLE)
    return list(dict.fromkeys(parts))
