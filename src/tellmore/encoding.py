"""Embedders in Python: a function of a list of texts, or a model with such a method named ``encode``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tellmore.errors import SettingError
from tellmore.types import Array


def encoded(embedder: Any, texts: Sequence[str]) -> Array:
    """The vectors [n, d] that ``embedder`` returns for texts; SettingError if it is not an embedder or returns anything else."""
    if isinstance(embedder, str):  # a string has an `encode` method too
        raise SettingError(
            f"the embedder must be a function of a list of texts, not the name {embedder!r}; write "
            f"embedder=tellmore.embedder({embedder!r}, texts)"
        )
    embed = getattr(embedder, "encode", embedder)
    if not callable(embed):
        raise SettingError(f"the embedder must be a function of a list of texts, not {type(embedder).__name__}")
    found = embed(list(texts))
    found = np.asarray(found.toarray() if hasattr(found, "toarray") else found)  # a sparse matrix
    if found.ndim != 2 or len(found) != len(texts):
        raise SettingError(
            f"the embedder gave {list(found.shape)} for {len(texts)} texts; it must give one vector each"
        )
    return found


def text_list(name: str, texts: Any) -> list[str]:
    """Texts as a list; SettingError for a single string, which would be read letter by letter, and for anything but texts."""
    if isinstance(texts, str):
        raise SettingError(f"{name} must be a list of texts, not the single string {texts!r}; write [{texts!r}]")
    if not isinstance(texts, Iterable):
        raise SettingError(f"{name} must be a list of texts, not {texts!r}")
    found = list(texts)
    strange = [text for text in found if not isinstance(text, str)]
    if strange:
        raise SettingError(f"{name} must be texts, and {strange[0]!r} is not one; leave it out or fill it in")
    return [str(text) for text in found]
