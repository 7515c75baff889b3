"""What is learnt about a project, and the questions that follow from it: all work of the planner that takes long.

`LocalEngine` does it in the server's process; `app.engine_process` does it in another process, with the same class.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellmore.app.likely import likely_answers
from tellmore.core.habits import Team
from tellmore.core.mixture import Mixture
from tellmore.core.steadiness import Steadiness
from tellmore.data.settings import Settings
from tellmore.learner import Learner
from tellmore.policy.rates import Rate, rates
from tellmore.policy.stopping import Stop
from tellmore.policy.tally import Tally
from tellmore.questions import Question
from tellmore.store.fold import AnswerEffect, Fold, Pairs, Restore, shared_prefix
from tellmore.store.ledger import Asked
from tellmore.store.statistics import TimesSoFar
from tellmore.types import Answer, Array


class Engine(Protocol):
    """Learns answers and chooses questions. Only one thread uses it."""

    @property
    def effects(self) -> Sequence[AnswerEffect]:
        """What each learnt answer changed."""
        ...

    @property
    def settings(self) -> Settings:
        """What the belief began from."""
        ...

    @property
    def seq(self) -> int:
        """Number of the last answer that was learnt, 0 before the first."""
        ...

    def learn(self, pairs: Pairs, initial: Settings, limit: int) -> bool:
        """Update the belief to that after ``initial`` and ``pairs``, learning at most ``limit`` answers; returns whether all are
        learnt."""
        ...

    def outlook(self) -> tuple[Stop, bool]:
        """The result of the stopping rule, and whether every item has a label; `recall` then refers to this moment."""
        ...

    def recall(self) -> Learner:
        """The learner as it was at the last `outlook`."""
        ...

    def packed(self) -> bytes:
        """The contents of a snapshot."""
        ...

    def ask_by(self, settings: Settings) -> None:
        """Ask what ``settings`` allow from now on."""
        ...

    def choose(self, avoid: Collection[str], recent: Collection[str], many: int | None = None) -> list[Question]:
        """What to ask next without the items in ``avoid``: see `choose`."""
        ...

    def likely(self, question: Question, limit: int) -> list[Answer]:
        """The most likely answers to ``question``."""
        ...

    def choose_after(
        self, asked: Asked, answer: Answer, steady: Steadiness, avoid: Collection[str], recent: Collection[str]
    ) -> list[Question]:
        """What to ask the same person after ``answer``, at their current speed."""
        ...

    def refit(self) -> None:
        """Give `auto` the seconds that these people take for each kind and size."""
        ...

    def rates(self, sizes: Sequence[int]) -> tuple[Rate, ...]:
        """Bits per second by kind and size; the same log gives the same table."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


@dataclass(frozen=True)
class Known:
    """The state of an engine at one moment, from which another process can continue. ``asking``: the settings for questions."""

    settings: Settings
    asking: Settings
    pairs: Pairs
    effects: tuple[AnswerEffect, ...]
    mixture: Mixture
    tally: Tally
    team: Team


class LocalEngine:
    """An engine in this process. ``pairs`` are the answers; ``fold`` has learnt the first of them."""

    def __init__(self, fold: Fold, pairs: Pairs, asking: Settings) -> None:
        self.fold, self._pairs, self._asking = fold, pairs, asking
        self._times = TimesSoFar()
        self._seen = fold.learner
        fold.ask_by(asking)

    @property
    def effects(self) -> list[AnswerEffect]:
        return self.fold.effects

    @property
    def settings(self) -> Settings:
        return self.fold.settings

    @property
    def seq(self) -> int:
        return self.fold.seq

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.fold.learner.pool)

    @property
    def largest(self) -> int:
        """How many items a question may show."""
        return self.fold.learner.allowed.largest

    def learn(self, pairs: Pairs, initial: Settings, limit: int) -> bool:
        if self.fold.settings != initial:
            self.fold.start_from(initial)
        self._pairs = pairs
        return self.fold.catch_up(pairs, limit=limit)

    def grow(self, kept: int, new: Pairs, limit: int) -> tuple[bool, int, list[AnswerEffect]]:
        """Learn the first ``kept`` answers so far and then the ``new`` ones; returns whether all are learnt, how many effects are
        unchanged, and those after them."""
        was = list(self.fold.effects)
        done = self.learn([*self._pairs[:kept], *new], self.fold.settings, limit)
        now = self.fold.effects
        same = next(
            (at for at, (old, one) in enumerate(zip(was, now, strict=False)) if old is not one), min(len(was), len(now))
        )
        return done, same, now[same:]

    def outlook(self) -> tuple[Stop, bool]:
        self._seen = self.fold.learner.copy()
        progress = self._seen.progress
        return self._seen.stop.check(progress), progress.unlabelled == 0

    def recall(self) -> Learner:
        return self._seen

    def seen(self) -> tuple[Mixture, Tally, Team, list[tuple[Array, Array]]]:
        """What turns a learner that has learnt nothing into that of `recall`."""
        scores = [(scan.mean, scan.variance) for scan in self._seen.scans]
        return self._seen.beliefs, self._seen.tally, self._seen.team, scores

    def known(self) -> Known | None:
        """The whole state, for another process; None while something is being learnt again."""
        learner, effects = self.fold.learner, tuple(self.fold.effects)
        if shared_prefix([effect.seq for effect in effects], self._pairs) < len(effects):
            return None
        told = learner.beliefs, learner.tally, learner.team
        return Known(self.settings, self._asking, self._pairs[: len(effects)], effects, *told)

    def adopt(self, known: Known) -> None:
        """Continue from there; earlier states, which undone answers would need, are dropped."""
        self._pairs = known.pairs
        self.fold.adopt(known.effects, known.mixture, known.tally, known.team, known.pairs)
        self.ask_by(known.asking)
        self.refit()

    def restore(self, restore: Restore, pairs: Pairs) -> None:
        """Continue from a saved state of ``pairs``, if one fits."""
        if restore(self.fold, pairs):
            self._pairs = pairs
            self.refit()

    def packed(self) -> bytes:
        return self.fold.packed()

    def ask_by(self, settings: Settings) -> None:
        self._asking = settings
        self.fold.ask_by(settings)

    def choose(self, avoid: Collection[str], recent: Collection[str], many: int | None = None) -> list[Question]:
        return choose(self.fold.learner, avoid, recent, many)

    def likely(self, question: Question, limit: int) -> list[Answer]:
        return likely_answers(self.fold.learner, question, limit=limit)

    def choose_after(
        self, asked: Asked, answer: Answer, steady: Steadiness, avoid: Collection[str], recent: Collection[str]
    ) -> list[Question]:
        imagined = self.fold.learner.copy()
        imagined.cost = imagined.cost.of(asked.participant, steady.price)
        imagined.judges = False  # nobody has answered yet, and comparing all answers again would take long
        imagined.tell(asked.question, answer, asked.participant)
        return choose(imagined, avoid, recent)

    def refit(self) -> None:
        self.fold.learner.cost = self._times.cost(self._pairs)

    def rates(self, sizes: Sequence[int]) -> tuple[Rate, ...]:
        learner, cost = self.fold.learner, self._times.cost(self._pairs)
        rng = np.random.default_rng([learner.seed, len(self.effects)])
        shown = sorted(size for size in sizes if size <= len(learner.pool))
        return rates(
            learner.scan, learner.belief, learner.behaviour, sizes=shown or (2,), cost=cost, rng=rng, repeats=2
        )

    def close(self) -> None:
        """Nothing to release."""


def choose(
    learner: Learner, avoid: Collection[str], recent: Collection[str] = (), many: int | None = None
) -> list[Question]:
    """What the learner asks next without the items in ``avoid`` and, if enough others are left, without the ``recent`` ones:
    one question, or up to ``many`` found by one search. The list is empty if too few items are left."""
    left = len(learner.pool) - len(set(avoid) | set(recent))
    wanted = learner.allowed.largest
    avoided = {*avoid, *recent} if left >= 2 * wanted else avoid
    questions = [learner.ask(avoid=avoided)] if many is None else learner.ask(many, quick=True, avoid=avoided)
    return [question for question in questions if not set(question.items) & set(avoid)]
