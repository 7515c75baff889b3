"""Learning answers and taking them back. The belief is a fold over the answers. Some earlier states are stored, so that
answers can be taken back without learning all the others again. Several answers can be learnt at once without scoring a
large pool after each of them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import RLock
from typing import TypeAlias

import numpy as np

from tellmore import kinds as question_kinds
from tellmore.answer_probability import AnswerProbability, answer_probability
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.habits import Habits, Team
from tellmore.core.mixture import Mixture
from tellmore.core.scan import refreshed_in_turn
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.errors import StateError
from tellmore.opinions import Opinions
from tellmore.policy.looking import MANY, SURELY, rarer_side
from tellmore.policy.tally import KEPT_CHANGES, Tally
from tellmore.predictor import Predictor
from tellmore.questions import Question, check_answer, check_new, labels_in
from tellmore.rereading import MOST, Reader, Sites, Told, is_due, last_due
from tellmore.state import SAMPLE, State
from tellmore.threads import one_at_a_time
from tellmore.types import Answer, Array, Skip

TOGETHER = 32
"""With several answers at once, the scores of a sample of a large pool are computed after this many, for all of them."""
NEAR = 10
"""The states after this many of the last answers are all stored; of older ones, two for every doubling of the distance."""
KEPT_NUMBERS = 50_000_000
"""The covariances of all stored states hold at most this many numbers (400 MB); the oldest are dropped first."""
KEPT_SCORES = 1_000_000
"""The stored states hold the scores of at most this many items in all; other scores are computed when needed."""
Heard = Callable[[State, State, UpdateInfo | None], object]
"""Called with the states before and after an answer, and what the update did (None for a skip)."""


Earlier: TypeAlias = tuple[int, Mixture, Tally, Team]
"""What was learnt from the first answers: their number, the beliefs, the counts and people's habits."""


class Kept:
    """Stored states by the number of answers before them, so that going back n answers learns at most about n again."""

    def __init__(self) -> None:
        self._states: dict[int, State] = {}

    def add(self, told: int, state: State) -> None:
        """Store the state after ``told`` answers, the most so far, and thin out the older ones."""
        beliefs = state.mixture.beliefs
        spaced = [at for at in self._states if told - at < NEAR or at % (1 << (told - at).bit_length() - 2) == 0]
        earlier = spaced[-(KEPT_NUMBERS // sum(belief.cov.size for belief in beliefs)) :]
        scored = max(KEPT_SCORES // (len(state.rows) * len(beliefs)), 1)
        plain = set(earlier[: max(len(earlier) + 1 - scored, 0)])
        kept = {at: self._states[at].unscored() if at in plain else self._states[at] for at in earlier}
        self._states = kept | {told: state}

    def back(self, told: int) -> tuple[int, State] | None:
        """The last state stored at or before ``told`` answers, and its number of answers; later ones are dropped."""
        self._states = {at: state for at, state in self._states.items() if at <= told}
        return max(self._states.items(), key=lambda kept: kept[0], default=None)

    def beliefs(self) -> list[Earlier]:
        """What was learnt by each stored state, without its items."""
        return [(told, state.mixture, state.tally, state.team) for told, state in self._states.items()]

    def copy(self) -> Kept:
        """An independent copy with the same states."""
        twin = Kept()
        twin._states = self._states.copy()
        return twin


class Waiting:
    """Answers that are learnt at once, and share their passes over a large pool.

    Their effect on the scores of a sample is computed for many of them together, and ``each`` is then called for every one.
    All items are scored after the last. ``start`` is the state before the first.
    """

    def __init__(self, start: State, each: Heard) -> None:
        self._start, self._each = start, each
        self._state = self.first = start.sampled()
        self._told: list[tuple[State, tuple[UpdateInfo, ...], UpdateInfo | None]] = []
        self._means = deque([start.mixture.mean], maxlen=KEPT_CHANGES + 1)
        self._steps: Sequence[list[Step]] = [[] for _ in start.mixture.beliefs]
        self._traced = start.scored  # whether the steps lead from the scores before to those after

    def add(self, after: State, infos: tuple[UpdateInfo, ...], info: UpdateInfo | None) -> None:
        """One more answer: the state after it, and what it did to all beliefs and to the one that asks."""
        if len(self._told) == TOGETHER:
            self._compute()
        self._told.append((after, infos, info))
        if infos:
            self._means.append(after.mixture.mean)
            self._trace(infos)

    def correct(self, after: State) -> None:
        """Replace the state after the last answer."""
        learnt, infos, info = self._told.pop()
        if after.mixture is learnt.mixture:
            self._told.append((after, infos, info))
            return
        self._compute()
        before, self._state = self._state, after
        self._means[-1], self._traced = after.mixture.mean, False
        self._each(before, after, info)

    def finished(self, *, scored: bool) -> State:
        """The state after the last answer, about the whole pool, after ``each`` was called for every answer. ``scored``: with the
        scores of all items, if one pass can bring them up to date."""
        self._compute()
        return self._state.after_all(self._start, self._means, self._steps if scored and self._traced else None)

    def _trace(self, infos: tuple[UpdateInfo, ...]) -> None:
        for taken, info in zip(self._steps, infos, strict=True):
            taken.extend(info.steps)
        directions = max(sum(step.moved.size for step in taken) for taken in self._steps)
        if not self._traced or directions >= self._state.belief.dim:  # then scoring all items anew is no slower
            self._steps, self._traced = [[] for _ in self._steps], False

    def _compute(self) -> None:
        told, self._told = self._told, []
        learnt = [(after, infos) for after, infos, _ in told if infos]
        scans = refreshed_in_turn(
            [scan.whole() for scan in self._state.scans],
            [[info.steps for info in infos] for _, infos in learnt],
            [after.mixture.beliefs for after, _ in learnt],
        )
        scores = iter(scans)
        for after, infos, info in told:
            before, known = self._state, next(scores) if infos else self._state.scans
            self._state = replace(after, known=known)
            self._each(before, self._state, info)


class Taught(Predictor):
    """A predictor that learns answers and can take them back. ``looks``: whether what is asked, and how sharply labels are
    learnt, depends on how rare one side is."""

    looks: bool
    _lock: RLock
    _told: set[str]
    _open: deque[Question]
    _kept: Kept
    _people: list[str]
    _sites: list[Sites]  # what the first answers of the history added to the belief: all of them, or MOST
    _uncompared: range = range(0)  # in states after so many answers, people's habits are older than they should be
    judges: bool
    by_person: bool
    own_sharpness = False

    @one_at_a_time
    def tell_all(
        self,
        exchanges: Sequence[tuple[Question, Answer]],
        each: Heard = lambda *_: None,
        people: Sequence[str] | None = None,
        coming: int = 0,
    ) -> None:
        """Learn from several answers, in this order.

        exchanges: the questions with their answers.
        each: called after each answer with the state before it, the state after it, and what the update did.
        people: who gave each answer; by default unknown.
        coming: how many answers follow at once in further calls. If people will be compared again on the way, and nothing
            that is learnt depends on it, they are not compared before.

        With several answers and a large pool, the states passed to ``each`` are about a sample of the pool, and the pool itself
        is scored once, after the last answer or when its scores are next needed. Raises QuestionError or AnswerError as `tell`
        does; the answers before the one at fault are learnt.
        """
        start, rows = self._now, self._now.rows
        waiting = Waiting(start, each) if len(exchanges) > 1 and len(rows) > SAMPLE else None
        state = start if waiting is None else waiting.first
        given = sum(not isinstance(answer, Skip) for _, answer in exchanges)
        last = last_due(start.tally.answers + given + coming) if waiting is not None and not self.by_person else 0
        try:
            for (question, answer), person in zip(exchanges, people or [""] * len(exchanges), strict=True):
                before, (state, infos) = state, self._learnt(state, question, answer, person, scored=waiting is None)
                info = infos[before.asking] if infos else None
                self._kept.add(len(self._history), before if waiting is None else before.about(rows))
                self._history.append((question, answer))
                self._people.append(person)
                if len(self._sites) + 1 == len(self._history) <= MOST:
                    self._sites.append(tuple(each.site for each in infos))
                self._told.add(question.id)
                if waiting is not None:
                    waiting.add(state, infos, info)
                if info is not None and is_due(state.tally.answers):
                    state = self._compared(state, now=state.tally.answers >= last)
                    if waiting is not None:
                        waiting.correct(state)
                if waiting is None:
                    each(before, state, info)
        finally:
            self._now = state if waiting is None else waiting.finished(scored=not coming)
            self._open = deque((q for q in self._open if q.id not in self._told), maxlen=self._open.maxlen)

    def _learnt(
        self, state: State, question: Question, answer: Answer, person: str, *, scored: bool
    ) -> tuple[State, tuple[UpdateInfo, ...]]:
        """The state after an answer, and what it did to each belief; ``scored``: with the items' scores, and how many
        predictions changed."""
        Z = self._z(question.items)
        check_answer(question, answer)
        check_new(question, self._told)
        tally = state.tally.later(self._seconds(question, answer))
        if isinstance(answer, Skip):
            return replace(state, tally=tally), ()
        kind = question_kinds.named(question.kind)
        outcome = kind.outcome(question.names, answer)
        behaviour = state.team.behaviour(person, self.behaviour, sharpness=self.own_sharpness)
        behaviour = self._about_rare(behaviour, state.tally)
        after, infos = state.told(
            behaviour, lambda belief, own: self._update(belief, Z, kind, outcome, own), scored=scored
        )
        changed = after.changed_since(state) if scored else 0.0
        labels = labels_in(question, answer)
        predicted: Sequence[float] = ()
        if question.check and kind.labels_all and labels:  # an item that a person chose is not a random one
            predicted = state.mixture.probability(self._z(labels), self.w).tolist()
        slope = self.calibration_at(state).slope if predicted else 1.0
        return replace(after, tally=tally.told(list(labels.values()), changed, predicted, slope)), infos

    def _about_rare(self, behaviour: Behaviour, before: Tally) -> Behaviour:
        """The ``behaviour`` with which an answer is learnt, given the labels ``before`` it: they may show a rare side."""
        rare = self.looks and before.labels >= SURELY and rarer_side(before) != 0
        return behaviour.about_rare(many=before.labels >= MANY) if rare else behaviour

    def answer_probability(
        self,
        question: Question,
        answer: Answer,
        before: State | None = None,
        seen: tuple[Array, Array] | None = None,
    ) -> AnswerProbability:
        """How probable ``answer`` was in the state ``before`` it, if the person answers as people usually do.

        question: what was asked.
        answer: what was answered.
        before: the learner's state before the answer; by default its present one.
        seen: mean and covariance of the scores of its items in that state, if they are known.
        """
        before = self._now if before is None else before
        kind = question_kinds.named(question.kind)
        outcome = kind.outcome(question.names, answer)
        rng = np.random.default_rng([self.seed, 0xF0E, before.tally.answers])
        mean, cov = seen or before.belief.project(with_constant(self._z(question.items)))[:2]
        return answer_probability(mean, cov, kind, outcome, self._predicting, rng=rng)

    @property
    def _predicting(self) -> Behaviour:
        """How sharp answers are assumed to be when they are predicted."""
        return self.behaviour.sharper(self.w / self.behaviour.w)

    @property
    def people(self) -> dict[str, Habits]:
        """How each person answers, by name; empty until people are first compared, which is after 12, 16, 21, … answers."""
        return dict(self._now.team.people)

    @property
    def team(self) -> Team:
        """How each person answers, and how a new person is expected to answer."""
        return self._now.team

    @property
    def earlier(self) -> list[Earlier]:
        """The states that are stored for undo and in which people's habits are up to date, without the scores of items."""
        return [state for state in self._kept.beliefs() if state[0] not in self._uncompared]

    @property
    def told_by(self) -> tuple[str, ...]:
        """Who gave each answer of the `history`; an empty name if unknown."""
        return tuple(self._people)

    def opinions(self) -> Opinions:
        """How people's views differ: a classifier for each person, disputed items, and whether there are two camps.
        Computed from all answers at each call."""
        return Opinions(self, self.history, self.told_by)

    def _compared(self, state: State, *, now: bool) -> State:
        """The state after people are compared ``now``, or later."""
        told, first = len(self._history), self._uncompared.start if self._uncompared else len(self._history)
        self._uncompared = range(first, told if now else sys.maxsize)
        return self._read_again(state) if now else state

    def _read_again(self, state: State) -> State:
        """The state after all answers are learnt again with the habits of the people who gave them."""
        if not self.judges or self.bound == "paper" or not self.behaviour.lapse or len(self._answering()) < 2:
            return state

        def update(told: Told, belief: Gaussian, behaviour: Behaviour) -> tuple[Gaussian, UpdateInfo]:
            return self._update(belief, told.Z, told.kind, told.outcome, self._about_rare(behaviour, told.before))

        reader = Reader(self._prior, self.behaviour, self._predicting, update, self.own_sharpness)
        answers = self._last_told(state.tally)
        sites = self._sites_of(reader, state.team, answers)
        if not self.by_person:
            return replace(state, team=reader.compared(state.mixture, state.team, answers, sites))
        mixture, team, added = reader.read(state.mixture, state.team, answers, sites)
        if mixture is state.mixture:
            return replace(state, team=team)
        self._store_sites(added)
        return replace(state, mixture=mixture, team=team, known=None)

    def _sites_of(self, reader: Reader, team: Team, answers: Sequence[Told]) -> Sequence[Sites]:
        """What each answer added to the belief; if that is not stored, all answers are learnt again, once. Empty for many."""
        if len(answers) > MOST:
            return ()
        if len(self._sites) != len(self._history):
            self._store_sites(reader.sites(team, answers))
        return [sites for sites in self._sites if sites]

    def _store_sites(self, added: Sequence[Sites]) -> None:
        found = iter(added)
        self._sites = [() if isinstance(answer, Skip) else next(found) for _, answer in self._history]

    def _answering(self) -> set[str]:
        """The people who gave answers, not only skips."""
        exchanges = zip(self._history, self._people, strict=True)
        return {person for (_, answer), person in exchanges if not isinstance(answer, Skip)}

    def _last_told(self, tally: Tally) -> list[Told]:
        """The answers that are compared, in order: all, or with more than MOST of them the last MOST and one more; ``tally``: the
        counts after the last."""
        told: list[Told] = []
        for (question, answer), person in zip(reversed(self._history), reversed(self._people), strict=True):
            if not isinstance(answer, Skip):
                kind = question_kinds.named(question.kind)
                tally, outcome = (
                    tally.before(labels_in(question, answer).values()),
                    kind.outcome(question.names, answer),
                )
                told.append(Told(self._z(question.items), kind, outcome, person, tally))
                if len(told) > MOST:
                    break
        return told[::-1]

    @one_at_a_time
    def undo(self) -> tuple[Question, Answer]:
        """Take back the last answer, as if it had never been given, and return it with its question."""
        if not self._history:
            raise StateError("there is no answer to undo")
        (*rest, last), people = self._history, self._people[:-1]
        kept = self.back_to(len(rest))
        self.tell_all(rest[kept:], people=people[kept:])
        return last

    @one_at_a_time
    def back_to(self, answers: int) -> int:
        """Take back answers and skips until at most ``answers`` are left, and return how many are left.

        answers: the most that may be left; the learner returns to the last stored state with at most this many.
        """
        told, self._now = self._kept.back(answers) or (0, self._about_pool(self._prior))
        self._told.difference_update(question.id for question, _ in self._history[told:])
        del self._history[told:], self._people[told:]
        self._sites = self._sites[:told] if not self.by_person else []  # they may have been learnt again since
        if told in self._uncompared:
            self._now = self._compared(self._now, now=True)
        return told

    def _seconds(self, question: Question, answer: Answer) -> float:
        marks = None if isinstance(answer, Skip) else question_kinds.named(question.kind).marks(answer)
        return self.cost.seconds(question.kind, question.size, marks=marks)

    def _counted(self) -> Tally:
        """The tally of the history, without what could be counted only by learning it again."""
        tally = Tally()
        for question, answer in self._history:
            tally = tally.later(self._seconds(question, answer))
            tally = tally if isinstance(answer, Skip) else tally.told(list(labels_in(question, answer).values()), 1.0)
        return tally
