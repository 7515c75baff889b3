"""The protocol of embedders: they turn items into vectors, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from tellmore.types import Array

Media = Literal["text", "image"]
BATCH = 64


@dataclass(frozen=True)
class EmbedItem:
    """What an embedder sees of an item: its text, or the path of its picture."""

    id: str
    text: str | None = None
    image: Path | None = None


class Embedder(Protocol):
    """Turns items into vectors."""

    def embed(self, items: Iterable[EmbedItem]) -> Iterator[Array]:
        """One vector [d] per item, in the same order."""
        ...


@dataclass(frozen=True)
class BatchEmbedder:
    """An embedder made of a function from a batch of items to a matrix [batch, d]."""

    encode: Callable[[Sequence[EmbedItem]], Array]
    batch: int = BATCH

    def embed(self, items: Iterable[EmbedItem]) -> Iterator[Array]:
        rest = iter(items)
        while chunk := list(islice(rest, self.batch)):
            yield from np.asarray(self.encode(chunk), dtype=np.float32)
