"""Whether people still answer as they did before, from the log and the predictions, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from tellmore import kinds
from tellmore.core.steadiness import STEADY, Answered, Seen, Steadiness
from tellmore.policy.cost import PAPER_COST, family_of
from tellmore.store.fold import AnswerEffect
from tellmore.store.ledger import Asked, Given

BREAK_S = 300.0
"""Somebody who gave no answer for this long has had a break."""


class Watching:
    """Everybody's steadiness, from answers as they arrive; each is used once."""

    def __init__(self) -> None:
        self._people: dict[str, Steadiness] = {}
        self._last: dict[str, datetime] = {}
        self._done, self._seq = 0, 0

    def people(self, effects: Sequence[AnswerEffect], pairs: Sequence[tuple[Asked, Given]]) -> Mapping[str, Steadiness]:
        """By participant, after the answers in ``effects``, which are the first of ``pairs``, all answers that count."""
        if self._done > len(effects) or (self._done and effects[self._done - 1].seq != self._seq):
            self._people, self._last, self._done = {}, {}, 0  # an answer was undone
        for effect, (asked, given) in zip(effects[self._done :], pairs[self._done :], strict=False):
            self._look_at(effect, asked, given)
            self._seq = effect.seq
        self._done = len(effects)
        return dict(self._people)

    def _look_at(self, effect: AnswerEffect, asked: Asked, given: Given) -> None:
        who, when = given.participant, datetime.fromisoformat(given.t_utc)
        last = self._last.get(who)
        self._last[who] = when
        one = Answered(
            family_of(effect.kind),
            _log_time(asked, given, effect.seconds),
            effect.surprise,
            effect.spread,
            rested=last is not None and (when - last).total_seconds() - effect.seconds > BREAK_S,
        )
        self._people[who] = self._people.get(who, STEADY).after(one)


def _log_time(asked: Asked, given: Given, seconds: float) -> float | None:
    """Logarithm of the seconds divided by the published time for such an answer; None if there are no times."""
    if seconds <= 0 or given.answer is None:
        return None
    question = asked.question
    marks = kinds.named(question.kind).marks(given.answer)
    return math.log(seconds / PAPER_COST.seconds(question.kind, question.size, marks=marks))


def in_words(seen: Seen) -> str:
    """What the owner reads.

    >>> in_words(Seen("slower", 120, 4.1, 1.52))
    'lately slower: answers take about 1.5 times as long as before (4.1 standard deviations)'
    """
    off = f"({seen.z:.1f} standard deviations)"
    if seen.times is not None:
        return f"lately slower: answers take about {seen.times:.1f} times as long as before {off}"
    return f"lately predicted less well: the newest answers fit this person's earlier ones less than before {off}"


def for_themselves(seen: Seen) -> str:
    """What the person reads: friendly, and without any obligation."""
    if seen.times is not None:
        found = "Your last answers took longer than your earlier ones."
    else:
        found = "Your last answers were a little harder to predict than your earlier ones."
    return f"{found} That happens to everybody. A short break may help; you can also just continue."
