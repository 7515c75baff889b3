"""Events to learner: the belief is a fold over the answers that count, in the order of the log.

It starts from the TOML's settings with the start that was named last. Undo, delete and reset change which answers
count; the learner then takes back its answers down to the last one that is still right, and is told the rest again.
Snapshots in the store only save time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellmore import kinds
from tellmore.core.frame import Frame, classic_frame, frame_of, paper_frame
from tellmore.core.mixture import Mixture
from tellmore.core.prior import seeded_prior
from tellmore.data.settings import Settings
from tellmore.errors import SettingError
from tellmore.learner import Learner
from tellmore.policy.quality import ROUNDING
from tellmore.policy.stopping import Settled
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.questions import labels_in
from tellmore.store.beforehand import NOTHING_KNOWN, Beforehand
from tellmore.store.ledger import Asked, Given, Ledger
from tellmore.types import Answer

DECISION_THRESHOLD = 0.5
"""An item is called positive from this probability on."""


@dataclass(frozen=True)
class AnswerEffect:
    """What one answer did to the belief; everything here follows from the log alone.

    ``bits``: information gained, the fall of the belief's entropy. ``logdet_per_dim``: log|cov|/D after it, relative to the
    prior's, nats. ``expected_accuracy``: mean over the pool of max(p, 1 - p). ``correct`` of ``scored`` labelled items of a
    check question were predicted rightly before the answer was learnt.
    """

    seq: int
    question_id: str
    kind: str
    size: int
    check: bool
    seconds: float
    bits: float
    logdet_per_dim: float
    expected_accuracy: float
    correct: int
    scored: int


class Fold:
    """The learner after the answers that counted when ``catch_up`` was last called, and what each of them did.

    ``settings`` say what the belief starts from: see ``Ledger.initial``.
    """

    def __init__(self, pool: Pool, settings: Settings, *, beforehand: Beforehand = NOTHING_KNOWN) -> None:
        self._pool, self._beforehand = pool, beforehand
        self._asking = settings
        self.start_from(settings)

    @classmethod
    def of(cls, ledger: Ledger, pool: Pool, *, beforehand: Beforehand = NOTHING_KNOWN) -> Fold:
        """The fold after every answer in ``ledger`` that counts; ``beforehand`` is the project's."""
        fold = cls(pool, ledger.initial, beforehand=beforehand)
        fold.catch_up(ledger.counting())
        return fold

    def start_from(self, settings: Settings) -> None:
        """Go back to the prior that ``settings`` mean; ``catch_up`` then has to tell everything again."""
        self.settings = settings
        self.learner = new_learner(self._pool, settings, self._beforehand)
        self.effects: list[AnswerEffect] = []
        self.ask_by(self._asking)

    @property
    def seq(self) -> int:
        """Number of the last answer learnt from, 0 before the first."""
        return self.effects[-1].seq if self.effects else 0

    def catch_up(self, pairs: Sequence[tuple[Asked, Given]], *, limit: int | None = None) -> bool:
        """Make the belief that of ``pairs``, telling at most ``limit`` answers; returns whether it is there."""
        self._go_back(_shared_prefix(self.effects, pairs))
        rest = pairs[len(self.effects) :]
        for asked, given in rest[:limit]:
            self._tell(asked, given)
        return len(self.effects) == len(pairs)

    def adopt(
        self, effects: Sequence[AnswerEffect], mixture: Mixture, tally: Tally, pairs: Sequence[tuple[Asked, Given]]
    ) -> None:
        """Start from saved beliefs and tally: those after ``pairs``, of which ``effects`` say what each did."""
        history = [(asked.question, given.answer) for asked, given in pairs if given.answer is not None]
        self.effects, self.learner = list(effects), self.learner.at(mixture, history, tally)

    def ask_by(self, settings: Settings) -> None:
        """Ask what ``settings`` allow from now on; they never change what was learnt."""
        self._asking = settings
        asking = settings.learning
        self.learner.ask_for(asking.question, asking.set_size, asking.kinds, asking.sizes)

    def _tell(self, asked: Asked, given: Given) -> None:
        answer = given.answer
        if answer is None:
            return
        correct, scored = check_score(self.learner, asked, answer) if asked.check else (0, 0)
        told = self.learner.tell(replace(asked.question, check=asked.check), answer)
        probability, progress = self.learner.probabilities(), self.learner.progress
        self.effects.append(
            AnswerEffect(
                given.seq,
                given.question_id,
                asked.question.kind,
                asked.question.size,
                asked.check,
                given.active_ms / 1000,
                0.0 if told is None else told.logdet_drop_nats / (2 * math.log(2)),
                (progress.logdet - progress.prior_logdet) / progress.dim,
                float(np.mean(np.maximum(probability, 1 - probability))),
                correct,
                scored,
            )
        )

    def _go_back(self, n: int) -> None:
        """Return to the first ``n`` answers, or to none where the learner has not kept enough beliefs for that."""
        if len(self.effects) - n > self.learner.kept_beliefs:
            self.learner = self.learner.at(None, ())
            self.effects.clear()
        while len(self.effects) > n:
            self.learner.undo()
            self.effects.pop()


def check_score(learner: Learner, asked: Asked, answer: Answer) -> tuple[int, int]:
    """(correct, scored): how many items of a check question the belief predicts as the answer labels them.

    Only where every item shown is labelled: an item that a person chose is not a random one.
    """
    labels = labels_in(asked.question, answer) if kinds.named(asked.question.kind).labels_all else {}
    if not labels:
        return 0, 0
    rows = learner.pool.rows(list(labels))
    predicted = learner.probabilities()[rows] >= DECISION_THRESHOLD - ROUNDING
    return int(np.sum(predicted == np.array(list(labels.values())))), len(labels)


def _shared_prefix(effects: Sequence[AnswerEffect], pairs: Sequence[tuple[Asked, Given]]) -> int:
    for position, (done, (_, given)) in enumerate(zip(effects, pairs, strict=False)):
        if done.seq != given.seq:
            return position
    return min(len(effects), len(pairs))


def new_learner(pool: Pool, settings: Settings, beforehand: Beforehand = NOTHING_KNOWN) -> Learner:
    """The learner before any answer, as the settings say."""
    chosen = settings.learning
    return Learner(
        pool,
        question=chosen.question,
        set_size=chosen.set_size,
        seed=chosen.seed,
        prior=first_frame(pool, settings, beforehand),
        bound=chosen.bound or ("centred" if settings.classic else None),
        w=chosen.w,
        K=chosen.K,
        start=beforehand.start(settings, pool),
        stop=None
        if chosen.check_share
        else Settled(checks=0),  # who wants no random questions gets none before the end either
        kinds=chosen.kinds,
        sizes=chosen.sizes,
        exclude_last=0,  # whoever asks says what to avoid: several people's questions are out at once
    )


def beginning(pool: Pool, settings: Settings, beforehand: Beforehand = NOTHING_KNOWN) -> tuple[Frame, Mixture]:
    """What `new_learner` begins from: its frame, and the beliefs with the start and without. No item is scored for it."""
    frame = first_frame(pool, settings, beforehand).sharpened(settings.learning.w, settings.learning.K)
    start = beforehand.start(settings, pool)
    if start is None:
        return frame, Mixture.of(frame.prior)
    return frame, start.beliefs(pool, frame.coordinates, frame.prior)


def first_frame(pool: Pool, settings: Settings, beforehand: Beforehand = NOTHING_KNOWN) -> Frame:
    """What a learner has before the start and any answer, as the settings say."""
    chosen, earlier = settings.learning.prior, beforehand.prior
    if chosen == "earlier" and earlier is None:
        raise SettingError('learning.prior = "earlier" needs the belief in prior.npz of the project\'s folder')
    if settings.classic:
        return _classic(settings, earlier if chosen == "earlier" else None, pool)
    return earlier if chosen == "earlier" and earlier is not None else frame_of(pool.moments, chosen)


def _classic(settings: Settings, earlier: Frame | None, pool: Pool) -> Frame:
    """As version 0.1 began, with its seeds, each of which counts as one label."""
    chosen = settings.learning
    frame = earlier or (classic_frame(pool.moments) if chosen.prior == "pool" else paper_frame(pool.d))
    behaviour = frame.sharpened(chosen.w, chosen.K).behaviour
    positive, negative = (
        frame.coordinates.into(pool.X[pool.rows(ids)]) for ids in (chosen.seeds_positive, chosen.seeds_negative)
    )
    return replace(frame, prior=seeded_prior(frame.prior, positive, negative, behaviour))
