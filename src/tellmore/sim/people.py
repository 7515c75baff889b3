"""Teams of simulated people, in one line: who answers, and how each of them differs from an attentive person.

    3*good, lapse=0.2+pace=1.5, random

is five people: three attentive ones, one who answers every fifth question at random and takes 1.5 times as long, and one who
always answers at random. Commas separate people, plus signs join the words for one person, and `N*` stands for N such people.

    good              attentive: answers by the pool's human scores
    random            every answer is random
    reversed          swaps positive and negative, highest and lowest
    lapse=0.1         this share of the answers is random
    noise=0.5         noise in every score seen, in standard deviations of the pool's scores: less precise answers
    first=0.2         takes what is shown first in this share of the questions: chooses it, or leaves a ranking as shown
    tiring=0.3        the share of random answers grows by this much per 100 answers, up to all
    drift=0.5         standards move: scores seem this many standard deviations higher per 100 answers
    pace=1.5          takes this many times as long
    slowing=0.5       takes longer by this fraction per 100 answers
    contrast=0.3      is influenced by the question before: its mean score, times this, is subtracted
    camp=0.4          has other views: scores with this correlation with the pool's, the same for everyone in the camp
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tellmore import kinds
from tellmore.core.evidence import Behaviour
from tellmore.errors import SettingError
from tellmore.kinds import perceived
from tellmore.questions import Question, answer_from
from tellmore.types import Answer, Array

MOST = 1000
PER_ANSWERS = 100.0
"""Growth is given per this many answers."""
_COUNTED = re.compile(r"(?P<count>\d+)\s*\*\s*(?P<traits>.+)")


@dataclass(frozen=True)
class Person:
    """How one simulated person differs from an attentive one; the fields are described at the top of this module.

    >>> Person(lapse=0.1, pace=2.0)
    Person(lapse=0.1, noise=0.0, first=0.0, tiring=0.0, drift=0.0, pace=2.0, slowing=0.0, contrast=0.0, camp=1.0, reversed=False)
    """

    lapse: float = 0.0
    noise: float = 0.0
    first: float = 0.0
    tiring: float = 0.0
    drift: float = 0.0
    pace: float = 1.0
    slowing: float = 0.0
    contrast: float = 0.0
    camp: float = 1.0
    reversed: bool = False

    def __post_init__(self) -> None:
        for name in ("lapse", "first"):
            _within(name, getattr(self, name), 0, 1)
        _within("camp", self.camp, -1, 1)
        for name in ("noise", "tiring", "slowing"):
            _within(name, getattr(self, name), 0, math.inf)
        for name in ("contrast", "drift"):
            _within(name, getattr(self, name), -math.inf, math.inf)
        if not 0 < self.pace < math.inf:
            raise SettingError(f"pace is above 0, not {self.pace:g}")

    @property
    def random(self) -> bool:
        """Whether all answers are random."""
        return self.lapse == 1

    @property
    def attentive(self) -> bool:
        """Whether the answers are worth something: at least half of them meant, and not reversed."""
        return self.lapse <= 0.5 and not self.reversed

    def lapse_after(self, answered: int) -> float:
        """The share of random answers after this many answers."""
        return min(self.lapse + self.tiring * answered / PER_ANSWERS, 1.0)

    def slower_after(self, answered: int) -> float:
        """How many times as long as usual an answer takes after this many answers."""
        return self.pace * (1.0 + self.slowing * answered / PER_ANSWERS)

    def answer(
        self,
        question: Question,
        z: Array,
        *,
        unit: float,
        before: float,
        n_answered: int,
        rng: np.random.Generator,
    ) -> Answer:
        """This person's answer if an attentive person sees the items z [k] above the boundary.

        unit: the standard deviation of scores. before: the mean score of the previous question's items, above the boundary.
        """
        moved = self.drift * unit * n_answered / PER_ANSWERS
        seen_z = z + self.noise * unit * rng.standard_normal(len(z)) + moved - self.contrast * before
        seen = perceived(-seen_z if self.reversed else seen_z, rng)
        takes_first, lapses = rng.random(2) < (self.first, self.lapse_after(n_answered))
        chance = by_chance(question, rng)
        if lapses:
            return chance
        if takes_first:
            shown = np.arange(len(z))
            seen = replace(seen, highest_first=shown[::-1] if question.kind in LOWEST else shown)
        return answer_from(question, seen)


LOWEST = ("select_low",)
"""Kinds that ask for the lowest item."""


def by_chance(question: Question, rng: np.random.Generator) -> Answer:
    """The answer of a person who does not look: as if all scores were 0."""
    kind = kinds.named(question.kind)
    return kind.answer(question.names, kind.sample(np.zeros(question.size), Behaviour(1.0, 1.0), rng))


def _within(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        allowed = "a number" if math.isinf(low) else f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"
        raise SettingError(f"{name} is {allowed}, not {value:g}")


GOOD = Person()
_WORDS: dict[str, dict[str, Any]] = {"good": {}, "random": {"lapse": 1.0}, "reversed": {"reversed": True}}
_NUMBERS = tuple(field.name for field in fields(Person) if field.name != "reversed")


def team_of(spec: str) -> tuple[Person, ...]:
    """The people that one line describes; SettingError if it describes none.

    >>> [person.lapse for person in team_of("2*good, lapse=0.2+pace=1.5, random")]
    [0.0, 0.0, 0.2, 1.0]
    """
    team: list[Person] = []
    for one in spec.split(","):
        counted = _COUNTED.fullmatch(one.strip())
        count, traits = (int(counted["count"]), counted["traits"]) if counted else (1, one)
        if not 1 <= count <= MOST - len(team):
            raise SettingError(f"a team has 1 to {MOST} people; {one.strip()!r} would make {len(team) + count}")
        team += [_person(traits)] * count
    return tuple(team)


def _person(traits: str) -> Person:
    person = GOOD
    for trait in (part.strip() for part in traits.split("+")):
        name, _, value = (part.strip() for part in trait.partition("="))
        if name in _WORDS and not value:
            person = replace(person, **_WORDS[name])
        elif name in _NUMBERS and value:
            number: dict[str, Any] = {name: _number(name, value)}
            person = replace(person, **number)
        else:
            known = ", ".join([*_WORDS, *(f"{each}=…" for each in _NUMBERS)])
            raise SettingError(
                f"there is no trait {trait!r}; a person is {known}, joined by +, as in 4*good, lapse=0.1+pace=2"
            )
    return person


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise SettingError(f"{name} takes a number, not {value!r}") from None
