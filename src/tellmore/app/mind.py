"""What is learnt of a project, and the questions that follow from it: all work of the planner that takes long.

`Here` does it in the server's own process; `app.apart` has it done in another one, by the same class.
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
from tellmore.types import Answer


class Mind(Protocol):
    """Learns answers and chooses questions. One thread uses it."""

    @property
    def effects(self) -> Sequence[AnswerEffect]:
        """What each answer did that was learnt."""
        ...

    @property
    def settings(self) -> Settings:
        """What the belief began from."""
        ...

    @property
    def seq(self) -> int:
        """Number of the last answer learnt from, 0 before the first."""
        ...

    def learn(self, pairs: Pairs, initial: Settings, limit: int) -> bool:
        """Make the belief that of ``pairs`` on top of ``initial``, telling at most ``limit`` answers; whether it is there."""
        ...

    def outlook(self) -> tuple[Stop, bool]:
        """What the stopping rule says, and whether every item has a label; `recall` is of this moment."""
        ...

    def recall(self) -> Learner:
        """The learner as it was at the last `outlook`."""
        ...

    def packed(self) -> bytes:
        """What a snapshot holds."""
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
        """What to ask the same person if ``answer`` comes, as they answer now."""
        ...

    def refit(self) -> None:
        """Let `auto` weigh kinds and sizes by the seconds that these people take."""
        ...

    def rates(self, sizes: Sequence[int]) -> tuple[Rate, ...]:
        """Bits per second by kind and size; the same log gives the same table."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


@dataclass(frozen=True)
class Known:
    """A mind at one moment, to go on from in another process. ``asking``: the settings that questions are chosen by."""

    settings: Settings
    asking: Settings
    pairs: Pairs
    effects: tuple[AnswerEffect, ...]
    mixture: Mixture
    tally: Tally
    team: Team


class Here:
    """A mind in this process. ``pairs`` are the answers of which ``fold`` has learnt the first."""

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
        """Learn the first ``kept`` answers so far and then ``new`` ones; whether it is there, how many effects are as they
        were, and those after them."""
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

    def seen(self) -> tuple[Mixture, Tally, Team]:
        """What makes the learner of `recall` out of one that has learnt nothing."""
        return self._seen.beliefs, self._seen.tally, self._seen.team

    def known(self) -> Known | None:
        """All of it, for another process; None in the middle of learning something again."""
        learner, effects = self.fold.learner, tuple(self.fold.effects)
        if shared_prefix([effect.seq for effect in effects], self._pairs) < len(effects):
            return None
        told = learner.beliefs, learner.tally, learner.team
        return Known(self.settings, self._asking, self._pairs[: len(effects)], effects, *told)

    def adopt(self, known: Known) -> None:
        """Go on from there; earlier states, which answers taken back would lead to, are forgotten."""
        self._pairs = known.pairs
        self.fold.adopt(known.effects, known.mixture, known.tally, known.team, known.pairs)
        self.ask_by(known.asking)
        self.refit()

    def restore(self, restore: Restore, pairs: Pairs) -> None:
        """Go on from what was saved of ``pairs``, if anything fits."""
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
        """Nothing is held that would have to be given back."""


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
