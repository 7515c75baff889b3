"""Choosing the next question: its kind, size and items, for one question or for many at once.

Questions depend only on the seed, the answers so far and the number of questions asked.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellmore import kinds as question_kinds
from tellmore.core.acquire import particles_set, random_set
from tellmore.core.candidates import Candidates, Searching, candidates
from tellmore.core.evidence import Behaviour
from tellmore.core.far import far_rows, share_in_tails
from tellmore.core.label_sets import Several
from tellmore.kinds import Kind
from tellmore.policy.asking import AUTO, Asking
from tellmore.policy.looking import (
    FIFTH,
    MOST_LABELS,
    from_new_parts,
    labels_are_few,
    likely_rows,
    rarer_side,
    side_is_missing,
    sought,
)
from tellmore.policy.rates import Policy, Rate, RateTable, best_rate, longest_rate
from tellmore.questions import Question, labels_in
from tellmore.telling import Taught

log = logging.getLogger(__name__)
NONE = np.empty(0, dtype=np.int64)
FAR_EVERY = 4
"""One question in so many may be about items far from the others. If none were, what is learnt about them could not be corrected;
if all were, hardly any others would be asked about."""
DEALT_ITEMS = 256  # most items of one quick search for several questions; beyond, its time grows faster than linearly


class Chooser(Taught):
    """A predictor that learns answers and chooses what to ask next. ``asking``: how sharp the search assumes answers to be;
    ``looks``: whether items are also chosen by other rules than information over the whole pool, to find the rarer side and to
    avoid odd items (and whether labels of a rare side are learnt more sharply); ``unit_particles``: whether a search by
    particles scales them to length 1."""

    allowed: Asking
    acquisition: str
    asking: Behaviour
    unit_particles = False
    check_share: float
    exclude_last: int
    _asked: int
    _open: deque[Question]
    _rates: RateTable | None
    _known: tuple[int, object, NDArray[np.intp]] = (0, None, NONE)
    """How many answers were looked at, the last of them, and the rows that they label."""

    def _ask(self, kind: str | None, size: int | None, avoid: Collection[Any]) -> Question:
        rng = np.random.default_rng([self.seed, 0xA5C, self._asked])
        exclude = self._excluded(avoid)
        if kind is None and self._check_is_due(rng):
            return self._check(avoid, rng)
        asked, count = self._what(kind, size, rng, exclude)
        return self._issued(asked, self._acquire(asked, count, rng, exclude, asked), rng)

    def _deal(self, n: int, kind: str | None, size: int | None, avoid: Collection[Any]) -> list[Question]:
        """Several questions that share the items of one search: each gets one of the best, then one of the next best, etc."""
        rng = np.random.default_rng([self.seed, 0xDEA1, self._asked])
        checks = rng.binomial(n, max(self.check_share, 0.5 * self._wants_checks())) if kind is None else 0
        questions = [self._check(avoid, rng) for _ in range(checks)]
        exclude = self._excluded([*avoid, *(item for question in questions for item in question.items)])
        asked, count = self._what(kind, size, rng, exclude, pick=longest_rate)
        dealt = min(n - checks, max(DEALT_ITEMS // count, 1), (len(self.pool) - len(exclude)) // count)
        if dealt > 0:
            rows = self._acquire(asked, count * dealt, rng, exclude, Several())
            questions += [self._issued(asked, rows[at::dealt], rng) for at in range(dealt)]
        return questions or [self._ask(kind, size, avoid)]

    def _what(
        self,
        kind: str | None,
        size: int | None,
        rng: np.random.Generator,
        exclude: NDArray[np.intp],
        pick: Callable[[Sequence[Rate]], Rate] = best_rate,
    ) -> tuple[Kind, int]:
        """The kind to ask, and the number of items."""
        if kind is None:
            asked, best_size = self._choose_kind(rng, exclude, pick)
            size = size if size is not None else best_size
        else:
            asked = question_kinds.named(kind)
        return asked, self.allowed.size_of(asked, size if size is not None else self.allowed.set_size)

    def _check(self, avoid: Collection[Any], rng: np.random.Generator) -> Question:
        """A random check, on any items, even those shown recently: leaving these out would bias the sample."""
        asked = self.allowed.checking()
        count = self.allowed.size_of(asked, self.allowed.set_size)
        rows = random_set(len(self.pool), count, rng=rng, exclude=self.pool.rows(avoid))
        return self._issued(asked, rows, rng, check=True)

    def _issued(self, kind: Kind, rows: NDArray[np.int64], rng: np.random.Generator, check: bool = False) -> Question:
        items = [self.pool.ids[row] for row in rng.permutation(rows)]
        question = self._shown(Question(kind.name, items, id=rng.bytes(16).hex(), check=check))
        self._asked += 1
        self._open.append(question)
        log.debug("asked %s on %s", question.kind, question.items)
        return question

    def _check_is_due(self, rng: np.random.Generator) -> bool:
        if self.check_share and rng.random() < self.check_share:
            return True
        # Only every other question: the rule is checked again after each, and the questions between may settle it.
        return self._asked % 2 == 0 and self._wants_checks()

    def _wants_checks(self) -> bool:
        return self._now.tally.answers > 0 and self.should_stop().check

    def _choose_kind(
        self, rng: np.random.Generator, exclude: NDArray[np.intp], pick: Callable[[Sequence[Rate]], Rate]
    ) -> tuple[Kind, int | None]:
        """A kind, drawn from the allowed members of its family, and a size if the policy chose one."""
        family, size = self.allowed.question, self.allowed.set_size
        if family == AUTO:
            policy = Policy(kinds=self.allowed.families(), sizes=self.allowed.sizes, cost=self.cost)
            exclude = self._and_far(exclude, exclude, self.allowed.largest) if self.looks else exclude
            family, size, self._rates = policy.choose(
                self._now.scan,
                self._now.belief,
                self.behaviour,
                self._rates,
                answers=len(self._history),
                rng=rng,
                exclude=exclude.tolist(),
                as_asked=self.looks,
                pick=pick,
            )
        members = self.allowed.of_family(family)
        if self.looks:  # a selection at the end where rare items are finds more of them
            side = rarer_side(self._now.tally, FIFTH)
            members = [kind for kind in members if kind.end == side] or members
        return members[int(rng.integers(len(members)))], size

    def _acquire(
        self, kind: Kind, count: int, rng: np.random.Generator, exclude: NDArray[np.intp], by: Searching
    ) -> NDArray[np.int64]:
        """``count`` rows, for one question or for several of a kind; ``by`` is the kind itself or another search rule."""
        now, looks_for = self._now, kind.looks_for
        if self.looks and kind.if_rare is not None:
            if rarer_side(now.tally):
                like = question_kinds.named(kind.if_rare)
                kind, by = like, like if by is kind else by
            else:
                looks_for = 0.0
        if self.acquisition == "random":
            return random_set(len(self.pool), count, rng=rng, exclude=exclude)
        if self.acquisition == "particles":
            scan, unit = now.scan.whole(), self.unit_particles
            return particles_set(scan, now.belief, kind, count, self.asking, rng=rng, exclude=exclude, unit=unit).rows
        if not self.looks:
            return self._search(kind, count, rng, exclude, by)
        labelled, times = self._labelled()
        known = np.union1d(exclude, labelled)
        often = self._and_far(np.union1d(exclude, labelled[times >= MOST_LABELS]), known, count)
        if len(self.pool) - len(known) < count:  # the last items without a label, and known ones again
            found = np.setdiff1d(np.arange(len(self.pool)), known)
        elif side_is_missing(now.tally):
            found = self._in_new_parts(count, rng, known)
        else:
            found = self._looked_for(kind, int(count * looks_for), rng, known, by)
        if len(found) == count:
            return found
        rest = count - len(found)
        out = next(
            out for out in (np.union1d(often, found), np.union1d(exclude, found), found) if self._leaves(out, rest)
        )
        return np.concatenate([found, self._search(kind, rest, rng, out, by)])

    @cached_property
    def _far(self) -> NDArray[np.int64]:
        """Rows of the items far from the others."""
        return far_rows(self._now.rows)

    @cached_property
    def _tails(self) -> float:
        """The share of items in long tails."""
        return share_in_tails(self._now.rows)

    def _and_far(self, out: NDArray[np.intp], known: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """The rows ``out`` and those far from the others, except in every fourth question, and unless hardly any others are left
        that are not ``known``."""
        if self._asked % FAR_EVERY == FAR_EVERY - 1 or not self._leaves(np.union1d(known, self._far), count):
            return out
        return np.union1d(out, self._far)

    def _leaves(self, rows: NDArray[np.intp], count: int) -> bool:
        """Whether the pool has this many items outside of ``rows``."""
        return len(self.pool) - len(rows) >= count

    def _labelled(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of the items that have a label, in order, and how many each has; only new answers are looked at."""
        told, last, rows = self._known
        if told > len(self._history) or (told and self._history[told - 1] is not last):  # answers were taken back
            told, rows = 0, NONE
        if told < len(self._history):
            items = [item for question, answer in self._history[told:] for item in labels_in(question, answer)]
            rows = np.concatenate([rows, self.pool.rows(items)])
            self._known = (len(self._history), self._history[-1], rows)
        return np.unique(rows, return_counts=True)

    def _looked_for(
        self, kind: Kind, wanted: int, rng: np.random.Generator, known: NDArray[np.intp], by: Searching
    ) -> NDArray[np.int64]:
        """At most ``wanted`` rows that are chosen because there are few labels of one side; none is in ``known``."""
        now, side = self._now, rarer_side(self._now.tally)
        if not wanted or not (labels_are_few(now.tally) if kind.likely is None else side):
            return NONE
        if kind.likely is None:
            return sought(now.scan, now.tally, wanted, self._asked, exclude=known)
        rows = likely_rows(now.scan, side, kind.likely, wanted, rng=rng, exclude=known)
        among = Candidates(now.scan, now.scan.take(rows), rows)
        return among.search(by, now.belief, wanted, self.asking, rng=rng).rows

    def _in_new_parts(self, count: int, rng: np.random.Generator, known: NDArray[np.intp]) -> NDArray[np.int64]:
        """``count`` rows chosen because one side has no label; none is in ``known``. A start says where to look for that side,
        but may be wrong, so half of them follow it."""
        now, guided = self._now, self._asked % 2 + count if self._now.mixture.started else 0
        likely = sought(now.scan, now.tally, guided // 2, self._asked, exclude=known)
        shown = np.unique(self.pool.rows([item for question, _ in self._history for item in question.items]))
        new = from_new_parts(now.scan, shown, count - len(likely), rng=rng, exclude=np.union1d(known, likely))
        return np.concatenate([likely, new])

    def _search(
        self, kind: Kind, count: int, rng: np.random.Generator, exclude: NDArray[np.intp], by: Searching
    ) -> NDArray[np.int64]:
        scan, belief = self._now.scan, self._now.belief
        drawn = kind.searched * count if self.looks and kind.searched is not None else None
        among = candidates(scan, count, self.asking, rng=rng, exclude=exclude, belief=belief, drawn=drawn)
        return among.search(by, belief, count, self.asking, rng=rng).rows

    def _excluded(self, avoid: Collection[Any]) -> NDArray[np.intp]:
        """Rows that were shown recently, are still open, or are to be avoided."""
        recent = self._history[-self.exclude_last :] if self.exclude_last else []
        shown = [item for question, _ in recent for item in question.items]
        if self.exclude_last:
            shown += [item for question in self._open for item in question.items]
        return np.unique(self.pool.rows([*shown, *avoid]))
