"""Ways to show a learner that are in layers above it: the package names them here, and a learner imports none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}


def offer_view(name: str, home: str) -> None:
    """Say where the view called ``name`` is made: ``module:function``, imported when it is first wanted."""
    _HOMES[name] = home


class Viewed:
    """Something that can be shown to a person, and asks them."""

    def widget(
        self,
        *,
        attribute: str = "positive",
        positive: str = "positive",
        negative: str = "negative",
        instruction: str = "",
        ties: bool = False,
    ) -> Any:
        """A widget for notebooks that shows this learner's questions and passes the answers to it; needs the extra
        ``notebook``.

        attribute: what is judged, as in "the most positive".
        positive, negative: what the two sides are called.
        instruction: a sentence above every question.
        ties: whether rankings may have ties.
        """
        module, _, function = _HOMES["widget"].partition(":")
        words = {"attribute": attribute, "positive": positive, "negative": negative}
        return getattr(import_module(module), function)(self, words, instruction=instruction, ties=ties)
