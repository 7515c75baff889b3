"""Learning answers again, once it is known how people answer: the first ones of somebody who guesses were learnt like
anybody's.

Now and then, after 12, 16, 21, … answers, each is compared with what the others taught, and habits follow from that. Where
answers count by person, all of them are first learnt again from the start with the habits known so far, and once more where these
have then changed much. All of it follows from the answers, their order and who gave them, so that undo and replay give the same.

Where one person alone answers there is nobody to compare with, and nothing of this is done.
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
"""Habits are looked at again so often after everything was learnt with new ones."""
MOST = 2000
"""Beyond so many answers only the last are compared, with the belief as it is, and none is learnt again: an answer's own share in
the belief is small then, and reading all again would take long."""


APART_NATS = 3.0
"""How much better than by chance somebody's answers must be predicted by those of the people who are doubted with them."""


class Told(NamedTuple):
    """One answer, ready to be learnt: its items [k, d] in the learner's coordinates, its outcome, and who gave it."""

    Z: Array
    kind: Kind
    outcome: Outcome
    person: str


Sites: TypeAlias = tuple[Site | None, ...]
"""What one answer taught to each belief; none for a skip."""

Update: TypeAlias = Callable[[Gaussian, Told, Behaviour], tuple[Gaussian, UpdateInfo]]
"""One belief after an answer of somebody who behaves so."""


@lru_cache(maxsize=4096)
def is_due(answers: int) -> bool:
    """Whether answers are read again after so many.

    >>> [n for n in range(100) if is_due(n)]
    [12, 16, 21, 28, 37, 49, 64, 84]
    """
    due = FIRST
    while due < answers:
        due = ceil(due * GROWTH)
    return due == answers


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads answers again. ``start``: the beliefs before any answer. ``usual``: how the answers of one person alone are learnt.
    ``predicting``: how sharp answers are expected to be where they are predicted.
    ``sharpness``: whether everybody's own is estimated, and learnt with."""

    start: Mixture
    usual: Behaviour
    predicting: Behaviour
    update: Update
    sharpness: bool = False

    def compared(self, now: Mixture, team: Team, answers: Sequence[Told], sites: Sequence[Sites]) -> Team:
        """The habits of people whose ``answers``, which taught ``sites``, are all learnt as ever; ``team``: those before."""
        team = self._begun(team)
        if len(answers) > MOST:
            answers, sites = answers[-MOST:], [()] * MOST
        return team.described_as(self._team(now, answers, sites))

    def sites(self, answers: Sequence[Told]) -> list[Sites]:
        """What each of ``answers`` taught, where all are learnt as ever."""
        return self._learnt(Team(), answers)[1]

    def read(self, now: Mixture, team: Team, answers: Sequence[Told]) -> tuple[Mixture, Team]:
        """Beliefs and habits after these ``answers``, where they are ``now`` and ``team`` before anything is read again."""
        team = self._begun(team)
        if len(answers) > MOST:
            return now, self._team(now, answers[-MOST:], [()] * MOST)
        for at in range(ROUNDS):
            mixture, sites = self._learnt(team, answers)
            found = self._team(mixture, answers, sites)
            if found.near(team):
                # What is read out of them is kept up to date; what is learnt with them is not worth another reading.
                return (mixture if at else now), team.described_as(found)
            team = found
        return self._learnt(team, answers)[0], team

    def _begun(self, team: Team) -> Team:
        return Team({}, Habits(self.usual.lapse, self.usual.lapse)) if team.usual is None else team

    def _learnt(self, team: Team, answers: Sequence[Told]) -> tuple[Mixture, list[Sites]]:
        """The beliefs after all answers, and what each of them taught to each belief."""
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
        """Answers that fit badly are no guesses where they fit each other: whoever gave them means something else, and counts
        like anybody. Of guesses, no more than one person's in 20 fit each other by APART_NATS."""
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
