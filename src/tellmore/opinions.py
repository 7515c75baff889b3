"""How people's views differ: a classifier for each person, the items they disagree on, and whether there are two camps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from tellmore import kinds as question_kinds
from tellmore.core.coordinates import Rows
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.core.offsets import Views, best_share, best_split
from tellmore.core.predict import probability
from tellmore.core.update import UpdateInfo
from tellmore.errors import StateError
from tellmore.predictor import Predictor
from tellmore.questions import Question
from tellmore.types import Answer, Array, Skip

ENOUGH_ANSWERS = 5
"""People with fewer answers get the shared view: their answers say too little about their own."""
FEWEST_IN_CAMP = 2
ALIKE_IN_CAMP = 0.05
"""The share of a view that is a person's own within a camp."""
BEYOND_CHANCE = 2.5
"""Standard errors by which two camps must predict held-out answers better than one shared view."""
LISTED = 10
LOOKED_AT = 200
"""Items with the most different scores; those with the most different probabilities are chosen from these."""

Exchanges = Sequence[tuple[Question, Answer]]


@dataclass(frozen=True)
class Camps:
    """Two groups of people who mean different things. On ``answers`` answers that were not used to find the camps, each camp's
    own view predicts better than one shared view: by ``gain_nats`` per answer on average, with this standard error."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    gain_nats: float
    gain_se: float
    answers: int


@dataclass(frozen=True)
class Disputed:
    """An item and its probability of positive in each person's view; ``gap`` is the largest difference."""

    item: Any
    by_person: dict[str, float]
    gap: float


class Opinions:
    """The views of several people, learnt from their answers.

    people: those who gave at least five answers, in the order of their first answers. few: those who gave fewer, and how many.
    own: the share of a view that is a person's own, chosen to predict everyone's answers best; 0: all mean the same.
    """

    def __init__(self, learner: Predictor, exchanges: Exchanges, people: Sequence[str]) -> None:
        told: dict[str, list[tuple[Question, Answer]]] = {}
        for exchange, person in zip(exchanges, people, strict=True):
            if not isinstance(exchange[1], Skip):
                told.setdefault(person, []).append(exchange)
        self._learner = learner
        begun = learner.begun
        self._prior = begun.moments if begun.started else begun.beliefs[0]
        self._told = {name: each for name, each in told.items() if len(each) >= ENOUGH_ANSWERS}
        self.people = tuple(self._told)
        self.few = {name: len(each) for name, each in told.items() if name not in self._told}
        self.answers = {name: len(each) for name, each in told.items()}
        self._views = Views.of(self._prior, [self._learnt(self._prior, each) for each in self._told.values()])
        self.own = best_share(self._views) if len(self.people) > 1 else 0.0

    def belief(self, name: str) -> Mixture:
        """The beliefs over (1, z) about the view of the person of this ``name``; those from all answers, if people do not
        differ or the person gave few."""
        if name not in self.answers:
            known = ", ".join(self.answers) or "nobody"
            raise StateError(f"{name!r} has given no answer; those who have: {known}")
        if name in self.few or not self.differ:
            return self._learner.beliefs
        return Mixture.of(self._person[self.people.index(name)])

    def disputed(self, n: int = LISTED) -> list[Disputed]:
        """The ``n`` items whose probabilities differ most between people; none if people do not differ."""
        if not self.differ:
            return []
        scores = self._scores
        rows = np.argsort(-np.ptp(scores, axis=1), kind="stable")[:LOOKED_AT]
        Z = self._learner.coordinates.into(self._learner.pool.X[rows])
        by_person = [probability(*belief.scores(Z), self._learner.w) for belief in self._person]
        gaps = np.ptp(by_person, axis=0)
        return [
            Disputed(
                self._learner.pool.ids[rows[at]],
                {name: float(each[at]) for name, each in zip(self.people, by_person, strict=True)},
                float(gaps[at]),
            )
            for at in np.argsort(-gaps, kind="stable")[:n].tolist()
        ]

    def apart(self, some: Sequence[str], others: Sequence[str], n: int = LISTED) -> tuple[list[Any], list[Any]]:
        """The items two groups differ about most: ``n`` that ``some`` find more positive than ``others`` do, and ``n`` less; each
        list begins with the item on which their mean views differ most."""
        sides = [
            np.mean([self._scores[:, self.people.index(name)] for name in group], axis=0) for group in (some, others)
        ]
        order = np.argsort(sides[1] - sides[0], kind="stable")
        ids = self._learner.pool.ids
        return [ids[row] for row in order[:n]], [ids[row] for row in order[::-1][:n]]

    @cached_property
    def camps(self) -> Camps | None:
        """Two camps, if the answers show them beyond chance; None otherwise.

        They are found from every second answer of each person and tested on the others.
        """
        if len(self.people) < 2 * FEWEST_IN_CAMP:
            return None
        found = [each[::2] for each in self._told.values()]
        tried = [each[1::2] for each in self._told.values()]
        views = Views.of(self._prior, [self._learnt(self._prior, each) for each in found])
        split = best_split(views, ALIKE_IN_CAMP)
        if min(map(len, split)) < FEWEST_IN_CAMP:
            return None
        everybody = views.shared(ALIKE_IN_CAMP)
        gains = [
            self._surprise(everybody, exchange) - self._surprise(view, exchange)
            for camp in split
            for view in [views.among(camp).shared(ALIKE_IN_CAMP)]
            for who in camp
            for exchange in tried[who]
        ]
        mean, se = float(np.mean(gains)), float(np.std(gains, ddof=1)) / sqrt(len(gains))
        if mean < BEYOND_CHANCE * se:
            return None
        first, second = (tuple(self.people[who] for who in camp) for camp in split)
        return Camps(first, second, mean, se, len(gains))

    @property
    def differ(self) -> bool:
        """Whether people mean different things, according to their answers."""
        return self.own > 0 or self.camps is not None

    @cached_property
    def _person(self) -> list[Gaussian]:
        """The belief about each person's view: from the answers of their camp if there are two, else from everyone's."""
        if self.camps is None:
            return [self._views.person(self.own, who) for who in range(len(self.people))]
        found: dict[str, Gaussian] = {}
        for camp in (self.camps.first, self.camps.second):
            views = self._views.among([self.people.index(name) for name in camp])
            found |= {name: views.person(ALIKE_IN_CAMP, at) for at, name in enumerate(camp)}
        return [found[name] for name in self.people]

    @cached_property
    def _scores(self) -> Array:
        """Mean score of every item [n, P] in each person's view."""
        means = np.column_stack([belief.mean for belief in self._person])
        rows = Rows(self._learner.pool.X, self._learner.coordinates)
        return np.concatenate([scores for _, scores in rows.times(means)])

    def _learnt(self, belief: Gaussian, exchanges: Exchanges) -> Gaussian:
        for question, answer in exchanges:
            belief, _ = learn(self._learner, belief, question, answer)
        return belief

    def _surprise(self, belief: Gaussian, exchange: tuple[Question, Answer]) -> float:
        """Minus the log evidence of an answer under a belief, in nats."""
        return -learn(self._learner, belief, *exchange)[1].elbo_nats


def learn(learner: Predictor, belief: Gaussian, question: Question, answer: Answer) -> tuple[Gaussian, UpdateInfo]:
    """A belief over (1, z) after an answer, and what the update did; the learner does not change."""
    kind = question_kinds.named(question.kind)
    Z = learner.coordinates.into(learner.pool.X[learner.pool.rows(question.items)])
    return kind.update(belief, Z, kind.outcome(question.names, answer), learner.behaviour, bound=learner.bound)
