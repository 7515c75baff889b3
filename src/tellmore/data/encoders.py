"""Embedders of texts by name, for Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tellmore.data.embedder import EmbedItem
from tellmore.data.tfidf import TFIDF, Tfidf
from tellmore.encoding import text_list
from tellmore.errors import SettingError, needs
from tellmore.types import Array


def embedder(name: str, texts: Sequence[str] | None = None) -> Callable[[Sequence[str]], Array]:
    """A function that turns a list of texts into vectors [n, d].

    name: as for ``tellmore init --embed``: ``tfidf``, ``model2vec:MODEL``, ``sentence-transformers:MODEL``,
        ``onnx:MODEL.onnx`` or ``exec:COMMAND``.
    texts: the texts that ``tfidf`` is fitted on; the others need none.

    >>> texts = ["warm and kind", "cold and rude", "kind but cold"]
    >>> embedder("tfidf", texts)(["a warm day"]).shape
    (1, 2)
    """
    if name == TFIDF:
        if texts is None:
            raise SettingError("tfidf is fitted on your own texts; write embedder('tfidf', texts)")
        return Tfidf.fit(text_list("texts", texts)).encode
    with needs("pydantic", "app"):
        from tellmore.data.embed import open_embedder
    model = open_embedder(name, "text")

    def encode(some: Sequence[str]) -> Array:
        return np.array(list(model.embed(EmbedItem(text, text) for text in text_list("texts", some))), dtype=np.float32)

    return encode
