"""Learning answers again, once it is known how people answer: the first answers of a person who guesses were learnt like
those of anyone else.

After 12, 16, 21, … answers, everybody's answers are judged together, and each person's are compared with the belief from
everyone else's, which gives the person's habits. If answers count by person and somebody's habits have changed much, all answers
are learnt again from the beginning, and people are compared again. Everything follows from the answers, their order and who
gave them, so that undo and replay give the same result.

If only one person answers, there is no one to compare with, and none of this is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np

from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import ALL_ALIKE, Compared, Habits, Site, Team, agreement, by_sharpness, predicted, team_of
from tellmore.core.label_chain import label_log_probabilities
from tellmore.core.mixture import Mixture
from tellmore.core.together import Facts, Judged, facts_of, joined, judged
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.kinds import Kind, Outcome
from tellmore.policy.tally import NOTHING, Tally
from tellmore.types import Array

FIRST, GROWTH = 12, 1.3
ROUNDS, MANY = 4, 500
"""How often all answers are learnt again, at most, each time people are compared; once, with more than MANY answers."""
MOST = 2000
"""With more answers than this, only the last are compared, with the belief as it is, and none is learnt again: each answer then
has little effect on the belief, and learning all again would take long."""
NEWEST = 120
"""How many answers of each person are compared, at most."""


APART_NATS = 3.0
"""By how much the answers of all doubted people must predict a person's answers better than chance does."""


class Told(NamedTuple):
    """One answer, ready to be learnt: its items [k, d] in the learner's coordinates, its outcome, who gave it, and the labels
    counted ``before`` it."""

    Z: Array
    kind: Kind
    outcome: Outcome
    person: str
    before: Tally = NOTHING

    @property
    def evidence(self) -> Evidence | None:
        """Its labels and choices, if it consists of these."""
        return self.kind.evidence(self.outcome, len(self.Z))

    @property
    def labels_alone(self) -> Array | None:
        """Its labels [k], if it consists of nothing else."""
        evidence = self.evidence
        return None if evidence is None or evidence.chosen.size else evidence.labels

    def facts(self, behaviour: Behaviour, dim: int) -> Facts:
        """Its labels and choices as facts about the ``dim`` weights; none, if it consists of something else."""
        evidence = self.evidence
        if evidence is None:
            return Facts(np.empty((0, dim)), np.empty(0))
        return facts_of(evidence, with_constant(self.Z), self.kind.learnt_with(behaviour))

    def log_likelihood(self, z: Array, behaviour: Behaviour) -> Array:
        """log P(answer | z) of a person with this ``behaviour``."""
        behaviour, evidence = self.kind.learnt_with(behaviour), self.evidence
        if evidence is None:
            return self.kind.log_likelihood(z, self.outcome, behaviour)
        return evidence.log_likelihood(z, behaviour)


Sites: TypeAlias = tuple[Site | None, ...]
"""What one answer added to each belief; empty for a skip."""

Update: TypeAlias = Callable[[Told, Gaussian, Behaviour], tuple[Gaussian, UpdateInfo]]
"""One belief after an answer from a person with this behaviour, and what the update did."""


@lru_cache(maxsize=4096)
def is_due(answers: int) -> bool:
    """Whether people are compared after this many answers.

    >>> [n for n in range(100) if is_due(n)]
    [12, 16, 21, 28, 37, 49, 64, 84]
    """
    return last_due(answers) == answers > 0


@lru_cache(maxsize=4096)
def last_due(answers: int) -> int:
    """After how many of these answers people are compared for the last time; 0 if never.

    >>> [last_due(n) for n in (11, 12, 15, 16, 100, 50_000)]
    [0, 12, 12, 16, 84, 46222]
    """
    found, due = 0, FIRST
    while due <= answers:
        found, due = due, ceil(due * GROWTH)
    return found


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
        return self._begun(team).described_as(self._team(self._judged(answers), now, answers, sites))

    def sites(self, team: Team, answers: Sequence[Told]) -> list[Sites]:
        """What each of ``answers`` adds to the belief if they are learnt with the habits of this ``team``."""
        return self._learnt(team, answers)[1]

    def read(
        self, now: Mixture, team: Team, answers: Sequence[Told], sites: Sequence[Sites]
    ) -> tuple[Mixture, Team, Sequence[Sites]]:
        """Beliefs, habits and what each of ``answers`` added, once they are learnt with the habits found; ``now``, ``team`` and
        ``sites``: the same before."""
        team, judged = self._begun(team), self._judged(answers)
        for _ in range(ROUNDS if len(answers) <= MANY else 1):
            found = self._team(judged, now, answers, sites)
            if found.near(team):
                # The habits that are reported stay up to date; those used to learn changed too little to learn all again.
                return now, team.described_as(found), sites
            team = found
            if len(answers) <= MOST:
                now, sites = self._learnt(team, answers)
        return now, team, sites

    def _begun(self, team: Team) -> Team:
        return Team({}, Habits(self.usual.lapse, self.usual.lapse)) if team.usual is None else team

    def _learnt(self, team: Team, answers: Sequence[Told]) -> tuple[Mixture, list[Sites]]:
        """The beliefs after all answers, and what each answer added to each belief."""
        mixture, sites = self.start, []
        for told in answers:
            behaviour = team.behaviour(told.person, self.usual, sharpness=self.sharpness)
            beliefs, infos = mixture.updated(behaviour, partial(self.update, told))
            mixture = mixture.told(beliefs, np.array([info.elbo_nats for info in infos]))
            sites.append(tuple(info.site for info in infos))
        return mixture, sites

    def _judged(self, answers: Sequence[Told]) -> Judged:
        """How everybody answers, by their answers alone."""
        belief, told = self.start.beliefs[self.start.asking], defaultdict(list)
        for one in answers[-MOST:]:
            told[one.person].append(one.facts(self.predicting, belief.dim))
        return judged(belief.mean, belief.cov, {name: joined(each) for name, each in told.items()})

    def _team(self, judged: Judged, mixture: Mixture, answers: Sequence[Told], sites: Sequence[Sites]) -> Team:
        answers = answers if sites else answers[-MOST:]
        own = self._without_own(mixture, answers, sites)
        reader = replace(self, predicting=self.predicting.sharper(judged.sharpness))
        found = {name: reader._compared(*each, one_by_one=bool(sites)) for name, each in own.items()}
        team = team_of(found, self.usual.lapse, judged.manners)
        return reader._fair(team, team_of(found, self.usual.lapse), answers, found)

    def _fair(
        self, team: Team, beside: Team, answers: Sequence[Told], compared: Mapping[str, Sequence[Compared]]
    ) -> Team:
        """The team without doubts about people who mean something else. Who is doubted only ``beside`` the others' belief is
        learnt from like anybody anyway, and can be named for it too."""
        doubted, differing = ({name for name, own in one.people.items() if own.doubted} for one in (team, beside))
        trusted = {
            name: team.people[name].trusted(self.usual.lapse) for name in self._apart(doubted, answers, compared)
        }
        found = self._apart(doubted | differing, answers, compared) - doubted if differing - doubted else set()
        named = {name: replace(team.people[name], apart=True) for name in found}
        return Team({**team.people, **trusted, **named}, team.usual)

    def _apart(
        self, doubted: AbstractSet[str], answers: Sequence[Told], compared: Mapping[str, Sequence[Compared]]
    ) -> set[str]:
        """Those of the ``doubted`` who mean something else: answers that fit the others badly but each other well are not
        guesses, nor swapped sides if they fit each other better than that. Of people who guess, at most one in 20 gives
        answers that fit each other by APART_NATS."""
        theirs = [told for told in answers if told.person in doubted]
        found = set()
        for name, (scores, told) in self._without_own(*self._mixed(theirs)).items() if theirs else ():
            fit, by_chance = sum(self._predicted(scores, told)), sum(self._chances(told))
            if fit > max(by_chance + APART_NATS, sum(one.reversed for one in compared[name])):
                found.add(name)
        return found

    def _mixed(self, answers: Sequence[Told]) -> tuple[Mixture, Sequence[Told], list[Sites]]:
        mixture, sites = self._learnt(Team(), answers)
        return mixture, answers, sites

    def _without_own(
        self, mixture: Mixture, answers: Sequence[Told], sites: Sequence[Sites]
    ) -> dict[str, tuple[Gaussian, list[Told]]]:
        """Each person's newest answers with the belief from everyone else's, both in terms of the scores of the items shown."""
        belief, found = mixture.beliefs[mixture.asking], defaultdict(list)
        for told, added in zip(answers, sites or [()] * len(answers), strict=True):
            found[told.person].append((told, added[mixture.asking] if added else None))
        return {name: _scores_without(belief, given[-NEWEST:]) for name, given in found.items()}

    def _compared(self, scores: Gaussian, answers: Sequence[Told], *, one_by_one: bool) -> list[Compared]:
        """Compare one person's answers with the belief from everyone else's about the ``scores`` of their items."""
        predict = self._predicted if one_by_one else self._predicted_apart
        meant, chance = predict(scores, answers), self._chances(answers)
        turned = [-np.inf] * len(answers)
        if sum(meant) < sum(chance):  # otherwise swapped sides are out of the question
            turned = predict(scores.with_mean(-scores.mean), answers)
        found = []
        for told, as_meant, as_opposite, as_chance in zip(answers, meant, turned, chance, strict=True):
            mean, cov, _ = scores.project(with_constant(told.Z))
            sharpness = (ALL_ALIKE, ALL_ALIKE)
            if self.sharpness:
                sharpness = by_sharpness(mean, cov, told.log_likelihood, self.predicting)
            evidence = told.evidence
            first = as_chance if evidence is None else evidence.log_first()
            labels = np.zeros(len(mean)) if evidence is None else evidence.labels
            found.append(Compared(as_meant, as_opposite, as_chance, first, *sharpness, *agreement(labels, mean)))
        return found

    def _predicted_apart(self, scores: Gaussian, answers: Sequence[Told]) -> list[float]:
        """log P of each answer, given the belief in its scores alone."""
        found = []
        for told in answers:
            mean, cov, _ = scores.project(with_constant(told.Z))
            found += predicted(mean, cov, told.log_likelihood, [self.predicting])
        return found

    def _predicted(self, scores: Gaussian, answers: Sequence[Told]) -> list[float]:
        """log P of each answer, given the belief in its scores and the answers before it."""
        labels = [own for told in answers if (own := told.labels_alone) is not None]
        if len(labels) == len(answers):
            sizes = [len(one) for one in labels]
            sharp = np.repeat([told.kind.learnt_with(self.predicting).w for told in answers], sizes)
            each = label_log_probabilities(scores.mean[1:], scores.cov[1:, 1:], np.concatenate(labels), sharp)
            return [float(part.sum()) for part in np.split(each, np.cumsum(sizes)[:-1])]
        found = []
        for told in answers:
            scores, info = self.update(told, scores, self.predicting)
            found.append(info.elbo_nats)
        return found

    def _chances(self, answers: Sequence[Told]) -> list[float]:
        """log P of each answer by a person who does not look."""
        return [float(told.log_likelihood(np.zeros((1, len(told.Z))), self.predicting)[0]) for told in answers]


def _scores_without(belief: Gaussian, given: Sequence[tuple[Told, Site | None]]) -> tuple[Gaussian, list[Told]]:
    """The belief about the scores of all items in some answers, without what these answers added to it: a Gaussian over
    (1, score, score, …); and the same answers with rows of it in place of items."""
    mean, cov, _ = belief.project(with_constant(np.vstack([told.Z for told, _ in given])))
    precision, shift, at, told = np.zeros_like(cov), np.zeros_like(mean), 0, []
    rows = np.eye(len(mean))
    for one, site in given:
        part = slice(at, at + len(one.Z))
        if site is not None:
            precision[part, part], shift[part] = site.precision, site.shift
        told.append(one._replace(Z=rows[part]))
        at = part.stop
    if any(site is not None for _, site in given):
        mean, cov = Site(precision, shift).left_out(mean, cov)
    whole = np.zeros((len(mean) + 1,) * 2)
    whole[1:, 1:] = cov
    return Gaussian(np.append(0.0, mean), whole, 0.0), told
