"""Ways to show a learner that belong to higher layers: the package registers them here, so that a learner imports none."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}


def offer_view(name: str, home: str) -> None:
    """Register the view ``name`` as ``module:function``, which is imported when first used."""
    _HOMES[name] = home


class Viewed:
    """A learner that can be shown to a person."""

    def widget(
        self,
        *,
        attribute: str = "positive",
        positive: str = "positive",
        negative: str = "negative",
        instruction: str = "",
        ties: bool = False,
    ) -> Any:
        """A widget for notebooks that shows this learner's questions and passes it the answers; needs the extra
        ``notebook``.

        attribute: what is judged, as in "the most positive".
        positive, negative: what the two sides are called.
        instruction: a sentence above every question.
        ties: whether rankings may have ties.
        """
        module, _, function = _HOMES["widget"].partition(":")
        words = {"attribute": attribute, "positive": positive, "negative": negative}
        return getattr(import_module(module), function)(self, words, instruction=instruction, ties=ties)
