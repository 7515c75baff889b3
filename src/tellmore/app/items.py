"""Searching, sorting, filtering and inspecting the items of a project, fast even with a million items.

Orders and searches are kept until the belief changes: a request then only slices arrays.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tellmore.app import wire_board as board
from tellmore.app.dashboard import item_out
from tellmore.app.view import FullView
from tellmore.app.wire_team import NoteOut
from tellmore.pool import Pool
from tellmore.store.fold import DECISION_THRESHOLD
from tellmore.store.ledger import Note
from tellmore.stored import StoredColumn
from tellmore.types import Array

Sort = Literal["pool", "likely", "unlikely", "unsure", "random"]
"""``random`` is always the same order."""
Show = Literal["all", "answered", "unanswered", "disagreeing", "noted"]
NEAREST = 6

Rows = NDArray[np.intp]
Notes = Mapping[str, Sequence[Note]]
"""Comments and flags by item."""


class ItemFinder:
    """Finds items of a pool. Threads may share it."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._turn = threading.Lock()
        self._searched: tuple[str, Rows] | None = None
        self._orders: dict[Sort, Rows] = {}
        self._of: FullView | None = None

    def page(
        self,
        view: FullView,
        notes: Notes,
        *,
        search: str,
        sort: Sort,
        show: Show,
        low: float,
        high: float,
        limit: int,
        offset: int,
    ) -> board.ItemsOut:
        """One page of the items whose text or id contains ``search``, with a probability from ``low`` to ``high``."""
        labels = view.learner.labels()
        with self._turn:
            order = self._order(view, sort)
            keep = np.ones(len(self.pool), bool)
            if search.strip():
                keep[:] = False
                keep[self._search(search.strip().casefold())] = True
        if show == "noted":
            noted = np.zeros(len(self.pool), bool)
            noted[self.pool.rows(list(notes))] = True
            keep &= noted
        elif show != "all":
            keep &= self._shown(view, labels, show)
        if low > 0 or high < 1:
            keep &= (view.probability >= low) & (view.probability <= high)
        found = order[keep[order]]
        rows = [self.row(view, labels, int(row), notes) for row in found[offset : offset + limit]]
        return board.ItemsOut(rows=rows, total=len(found))

    def row(
        self, view: FullView, labels: dict[str, bool], row: int, notes: Notes = MappingProxyType({})
    ) -> board.ItemRow:
        """One item, with its prediction and its answers."""
        item = self.pool.ids[row]
        return board.ItemRow(
            **item_out(self.pool, item).model_dump(),
            probability=float(view.probability[row]),
            score=float(view.mean[row]),
            score_sd=float(view.sd[row]),
            label=labels.get(item),
            notes=len(notes.get(item, ())),
            flagged=any(note.flag for note in notes.get(item, ())),
        )

    def why(self, view: FullView, item: str, notes: list[NoteOut]) -> board.WhyOut:
        """An item, its ``notes``, and the answered items most similar to it, by the distance between embeddings as the learner
        scales them."""
        labels = view.learner.labels()
        row, known = int(self.pool.rows([item])[0]), self.pool.rows([one for one in labels if one != item])
        into = view.learner.coordinates.into
        gap = into(self.pool.X[known]) - into(self.pool.X[[row]]) if len(known) else np.zeros((0, 1))
        nearest = known[np.argsort(np.linalg.norm(gap, axis=1), kind="stable")[:NEAREST]]
        rows = [self.row(view, labels, int(one)) for one in nearest]
        return board.WhyOut(item=self.row(view, labels, row), nearest=rows, notes=notes)

    def _order(self, view: FullView, sort: Sort) -> Rows:
        if self._of is not view:
            self._of, self._orders = view, {}
        if sort not in self._orders:
            self._orders[sort] = _ordered(view.probability, sort)
        return self._orders[sort]

    def _search(self, wanted: str) -> Rows:
        if self._searched is None or self._searched[0] != wanted:
            self._searched = (
                wanted,
                np.array([row for row, text in enumerate(self._texts()) if wanted in text], np.intp),
            )
        return self._searched[1]

    def _texts(self) -> Iterable[str]:
        """The texts to search: the text of each item, or its id if it has none."""
        return self._read_texts() if isinstance(self.pool.ids, StoredColumn) else self._kept_texts

    @cached_property
    def _kept_texts(self) -> list[str]:
        return list(self._read_texts())

    def _read_texts(self) -> Iterator[str]:
        ids, texts = self.pool.ids, self.pool.text or self.pool.ids
        return ((text or item).casefold() for item, text in zip(ids, texts, strict=True))

    def _shown(self, view: FullView, labels: dict[str, bool], show: Show) -> NDArray[np.bool_]:
        answered, rows = np.zeros(len(self.pool), bool), self.pool.rows(list(labels))
        answered[rows] = True
        if show == "unanswered":
            return ~answered
        if show == "disagreeing":
            told = np.array(list(labels.values()), bool)
            answered[rows] = (view.probability[rows] >= DECISION_THRESHOLD) != told
        return answered


def _ordered(p: Array, sort: Sort) -> Rows:
    """The rows of the pool, whose probabilities are ``p``, in the order ``sort``."""
    if sort == "pool":
        return np.arange(len(p))
    if sort == "random":
        return np.random.default_rng(0).permutation(len(p))
    return np.argsort({"likely": -p, "unlikely": p, "unsure": np.abs(p - 0.5)}[sort], kind="stable")
