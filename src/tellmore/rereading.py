"""Learning answers again, once it is known how people answer: the first answers of a person who guesses were learnt like
those of anyone else.

After 12, 16, 21, … answers, each answer is compared with the belief from all others, which gives each person's habits. If
answers count by person, all of them are first learnt again from the beginning with the habits known so far, and once more if
the habits have then changed much. Everything follows from the answers, their order and who gave them, so that undo and replay
give the same result.

If only one person answers, there is no one to compare with, and none of this is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import Compared, Habits, Site, Team, compared, team_of
from tellmore.core.mixture import Mixture
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.kinds import Kind, Outcome
from tellmore.types import Array

FIRST, GROWTH = 12, 1.3
ROUNDS = 2
"""How often habits are estimated again, at most, each time after everything is learnt with the latest ones."""
MOST = 2000
"""With more answers than this, only the last are compared, with the belief as it is, and none is learnt again: each answer then
has little effect on the belief, and learning all again would take long."""


APART_NATS = 3.0
"""By how much the answers of all doubted people must predict a person's answers better than chance does."""


class Told(NamedTuple):
    """One answer, ready to be learnt: its items [k, d] in the learner's coordinates, its outcome, and who gave it."""

    Z: Array
    kind: Kind
    outcome: Outcome
    person: str


Sites: TypeAlias = tuple[Site | None, ...]
"""What one answer added to each belief; empty for a skip."""

Update: TypeAlias = Callable[[Gaussian, Told, Behaviour], tuple[Gaussian, UpdateInfo]]
"""One belief after an answer from a person with this behaviour, and what the update did."""


@lru_cache(maxsize=4096)
def is_due(answers: int) -> bool:
    """Whether people are compared after this many answers.

    >>> [n for n in range(100) if is_due(n)]
    [12, 16, 21, 28, 37, 49, 64, 84]
    """
    due = FIRST
    while due < answers:
        due = ceil(due * GROWTH)
    return due == answers


@dataclass(frozen=True, eq=False)
class Reader:
    """Compares people and learns answers again. ``start``: the beliefs before any answer. ``usual``: how answers of a single
    person are learnt. ``predicting``: how sharp answers are assumed to be when they are predicted. ``sharpness``: whether each
    person's own sharpness is estimated, and used to learn."""

    start: Mixture
    usual: Behaviour
    predicting: Behaviour
    update: Update
    sharpness: bool = False

    def compared(self, now: Mixture, team: Team, answers: Sequence[Told], sites: Sequence[Sites]) -> Team:
        """The habits of people if all ``answers`` are learnt alike; ``sites``: what each added to the belief; ``team``: the
        habits before."""
        team = self._begun(team)
        if len(answers) > MOST:
            answers, sites = answers[-MOST:], [()] * MOST
        return team.described_as(self._team(now, answers, sites))

    def sites(self, answers: Sequence[Told]) -> list[Sites]:
        """What each of ``answers`` adds to the belief if all are learnt alike."""
        return self._learnt(Team(), answers)[1]

    def read(self, now: Mixture, team: Team, answers: Sequence[Told]) -> tuple[Mixture, Team]:
        """Beliefs and habits after learning ``answers`` again; ``now`` and ``team``: the beliefs and habits before."""
        team = self._begun(team)
        if len(answers) > MOST:
            return now, self._team(now, answers[-MOST:], [()] * MOST)
        for at in range(ROUNDS):
            mixture, sites = self._learnt(team, answers)
            found = self._team(mixture, answers, sites)
            if found.near(team):
                # The habits that are reported stay up to date; those used to learn changed too little to learn all again.
                return (mixture if at else now), team.described_as(found)
            team = found
        return self._learnt(team, answers)[0], team

    def _begun(self, team: Team) -> Team:
        return Team({}, Habits(self.usual.lapse, self.usual.lapse)) if team.usual is None else team

    def _learnt(self, team: Team, answers: Sequence[Told]) -> tuple[Mixture, list[Sites]]:
        """The beliefs after all answers, and what each answer added to each belief."""
        mixture, sites = self.start, []
        for told in answers:
            behaviour = team.behaviour(told.person, self.usual, sharpness=self.sharpness)
            beliefs, infos = zip(*(self.update(belief, told, behaviour) for belief in mixture.beliefs), strict=True)
            mixture = mixture.told(beliefs, np.array([info.elbo_nats for info in infos]))
            sites.append(tuple(info.site for info in infos))
        return mixture, sites

    def _team(self, mixture: Mixture, answers: Sequence[Told], sites: Sequence[Sites]) -> Team:
        found: dict[str, list[Compared]] = defaultdict(list)
        for told, taught in zip(answers, sites, strict=True):
            site = taught[mixture.asking] if taught else None
            found[told.person].append(self._compared(mixture.beliefs[mixture.asking], told, site))
        return self._fair(team_of(found, self.usual.lapse), answers)

    def _fair(self, team: Team, answers: Sequence[Told]) -> Team:
        """The team without doubts about people who mean something else: answers that fit the others badly but each other well
        are not guesses. Of people who guess, at most one in 20 gives answers that fit each other by APART_NATS."""
        doubted = {name for name, own in team.people.items() if own.doubted}
        theirs = [told for told in answers if told.person in doubted]
        if not theirs:
            return team
        mixture, sites = self._learnt(Team(), theirs)
        gains: dict[str, float] = defaultdict(float)
        for told, taught in zip(theirs, sites, strict=True):
            one = self._compared(mixture.beliefs[mixture.asking], told, taught[mixture.asking])
            gains[told.person] += one.meant - one.chance
        apart = {name: team.people[name].trusted(self.usual.lapse) for name in doubted if gains[name] > APART_NATS}
        return Team({**team.people, **apart}, team.usual)

    def _compared(self, belief: Gaussian, told: Told, site: Site | None) -> Compared:
        mean, cov, _ = belief.project(with_constant(told.Z))
        if site is not None:
            mean, cov = site.left_out(mean, cov)
        kind, evidence = told.kind, told.kind.evidence(told.outcome, len(told.Z))
        if evidence is None:
            return compared(
                mean,
                cov,
                lambda z, behaviour: kind.log_likelihood(z, told.outcome, kind.learnt_with(behaviour)),
                self.predicting,
                np.zeros(len(mean)),
                None,
                sharpness=self.sharpness,
            )
        return compared(
            mean,
            cov,
            lambda z, behaviour: evidence.log_likelihood(z, kind.learnt_with(behaviour)),
            self.predicting,
            evidence.labels,
            evidence.log_first(),
            sharpness=self.sharpness,
        )
