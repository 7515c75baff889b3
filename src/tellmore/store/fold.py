"""Computes the learner from events: the belief is a fold over the answers that count, in the order of the log.

It starts from the settings in the TOML file and the latest start. Undo, delete, reset and leaving somebody out change which
answers count. The learner then undoes its answers back to the last one that is still valid, and learns the rest again.
Snapshots in the store only save time.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from tellmore import kinds
from tellmore.core.frame import Frame, classic_frame, frame_of, paper_frame
from tellmore.core.habits import Team
from tellmore.core.mixture import Mixture
from tellmore.core.prior import seeded_prior
from tellmore.core.update import UpdateInfo
from tellmore.data.settings import Settings
from tellmore.errors import SettingError
from tellmore.learner import Learner
from tellmore.policy.quality import ROUNDING
from tellmore.policy.stopping import Settled
from tellmore.policy.tally import Tally
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.state import State
from tellmore.store.beforehand import NOTHING_KNOWN, Beforehand
from tellmore.store.ledger import Asked, Given, Ledger
from tellmore.telling import NEAR, Earlier
from tellmore.types import Answer, Array

DECISION_THRESHOLD = 0.5
"""An item is called positive if its probability is at least this."""

UNDONE_SHARE = 0.02
"""A saved state comes with one that has this share of the answers less."""


@dataclass(frozen=True)
class AnswerEffect:
    """How one answer changed the belief; everything here follows from the log alone.

    ``bits``: information gained, the decrease of the belief's entropy. ``logdet_per_dim``: log|cov|/D after it, relative to
    the prior, in nats. ``expected_accuracy``: mean of max(p, 1 - p) over the pool, or over a sample of 1,000 items. ``correct``
    of ``scored`` labelled items of a check question were predicted correctly before the answer was learnt. ``surprise``: its
    log probability before, in nats, minus the expected one; ``spread`` is the standard deviation of that.
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
    surprise: float = 0.0
    spread: float = 0.0


FIELDS = tuple(each.name for each in fields(AnswerEffect))
VALUES = attrgetter(*FIELDS)

Pairs: TypeAlias = Sequence[tuple[Asked, Given]]
"""Answers that count, in the order of the log, each with its question."""


Restore: TypeAlias = "Callable[[Fold, Pairs], bool]"
"""Restores the saved state of the first answers into a fold; returns whether it could."""


def nothing_saved(_fold: Fold, _pairs: Pairs) -> bool:
    """Restore nothing: all answers are learnt."""
    return False


class Fold:
    """The learner after the answers that counted when ``catch_up`` was last called, and what each of them changed.

    ``settings`` determine what the belief starts from: see ``Ledger.initial``.
    """

    def __init__(self, pool: Pool, settings: Settings, *, beforehand: Beforehand = NOTHING_KNOWN) -> None:
        self._pool, self._beforehand = pool, beforehand
        self._asking = settings
        self.start_from(settings)

    @classmethod
    def of(
        cls,
        ledger: Ledger,
        pool: Pool,
        *,
        beforehand: Beforehand = NOTHING_KNOWN,
        restore: Restore = nothing_saved,
    ) -> Fold:
        """The fold after every answer in ``ledger`` that counts; ``beforehand`` is the project's, ``restore`` may restore a saved
        state of the first of them."""
        fold, pairs = cls(pool, ledger.initial, beforehand=beforehand), ledger.counting()
        restore(fold, pairs)
        fold.catch_up(pairs)
        return fold

    def start_from(self, settings: Settings) -> None:
        """Go back to the prior of ``settings``; ``catch_up`` then has to learn everything again."""
        self.settings = settings
        self.learner = new_learner(self._pool, settings, self._beforehand)
        self._begun = self.learner.beliefs
        self.effects: list[AnswerEffect] = []
        self.ask_by(self._asking)

    @property
    def seq(self) -> int:
        """Number of the last answer that was learnt, 0 before the first."""
        return self.effects[-1].seq if self.effects else 0

    def catch_up(self, pairs: Pairs, *, limit: int | None = None) -> bool:
        """Update the belief to that after ``pairs``, learning at most ``limit`` answers; returns whether all are learnt."""
        same = shared_prefix([effect.seq for effect in self.effects], pairs)
        if same < len(self.effects):
            del self.effects[self.learner.back_to(same) :]
        new = pairs[len(self.effects) :]
        some = new[:limit]
        self._tell(some, len(new) - len(some))
        return len(self.effects) == len(pairs)

    def adopt(
        self,
        effects: Sequence[AnswerEffect],
        mixture: Mixture,
        tally: Tally,
        team: Team,
        pairs: Pairs,
        earlier: Sequence[Earlier] = (),
    ) -> None:
        """Start from saved beliefs, tally and habits: those after ``pairs``, of which ``effects`` say what each did."""
        self.effects, self.learner = list(effects), retold(self.learner, pairs, mixture, tally, team, None, earlier)

    def packed(self) -> bytes:
        """All of it as bytes: a checksum, then what each answer did, a column a field, and the beliefs' arrays, now and some
        answers earlier. No pickles."""
        columns = zip(*map(VALUES, self.effects), strict=True) if self.effects else ((),) * len(FIELDS)
        told = {f"told_{name}": np.array(column) for name, column in zip(FIELDS, columns, strict=True)}
        learner = self.learner
        states = [(len(learner.history), learner.beliefs, learner.tally, learner.team), *self._earlier()]
        arrays: dict[str, Any] = {**told, "states": np.array(len(states))}
        for number, (answers, beliefs, tally, team) in enumerate(states):
            notes = {"answers": answers, "tally": tally.as_json(), "team": team.as_json()}
            arrays |= beliefs.arrays(f"{number}_")
            arrays |= {f"{number}_{name}": np.array(json.dumps(value)) for name, value in notes.items()}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return sha256(buffer.getvalue()).digest() + buffer.getvalue()

    def _earlier(self) -> list[Earlier]:
        """An earlier state to be saved with the present one, so that after a restart an undone answer does not mean learning all
        answers again: the newest with at least this share of the answers after it."""
        answers = len(self.learner.history)
        far = answers - max(NEAR, round(UNDONE_SHARE * answers))
        return [state for state in self.learner.earlier if state[0] <= far][-1:]

    def ask_by(self, settings: Settings) -> None:
        """Ask what ``settings`` allow from now on; this never changes what was learnt."""
        self._asking = settings
        asking = settings.learning
        self.learner.ask_for(asking.question, asking.shown(len(self.learner.pool)), asking.kinds, asking.sizes)

    def _tell(self, pairs: Pairs, coming: int) -> None:
        to_tell = iter(pairs)

        def heard(before: State, after: State, info: UpdateInfo | None) -> None:
            self.effects.append(self._effect(*next(to_tell), before, after, info))

        self.learner.tell_all(_exchanges(pairs), heard, _people(pairs), coming)

    def _effect(self, asked: Asked, given: Given, before: State, after: State, info: UpdateInfo | None) -> AnswerEffect:
        checks = after.tally.checks[len(before.tally.checks) :] if kinds.named(asked.question.kind).labels_all else ()
        prior = self._begun.beliefs[after.asking]
        surprise = spread = 0.0
        if info is not None and given.answer is not None:
            known = self.learner.answer_probability(asked.question, given.answer, before, info.seen)
            surprise, spread = known.log_score - known.expected, known.spread
        return AnswerEffect(
            given.seq,
            given.question_id,
            asked.question.kind,
            asked.question.size,
            asked.check,
            given.active_ms / 1000,
            0.0 if info is None else info.logdet_drop_nats / (2 * math.log(2)),
            (after.belief.logdet - prior.logdet) / prior.dim,
            after.expected_accuracy(self.learner.w),
            sum((one.probability >= DECISION_THRESHOLD - ROUNDING) == one.told for one in checks),
            len(checks),
            surprise,
            spread,
        )


def _exchanges(pairs: Pairs) -> list[tuple[Question, Answer]]:
    return [
        (replace(asked.question, check=asked.check), given.answer) for asked, given in pairs if given.answer is not None
    ]


def _people(pairs: Pairs) -> list[str]:
    return [given.participant for _, given in pairs if given.answer is not None]


def shared_prefix(seqs: Sequence[int], pairs: Pairs) -> int:
    """How many answers at the beginning are the same; both are in the order of the log."""
    both = enumerate(zip(seqs, pairs, strict=False))
    return next((at for at, (seq, pair) in both if seq != pair[1].seq), min(len(seqs), len(pairs)))


def retold(
    learner: Learner,
    pairs: Pairs,
    mixture: Mixture,
    tally: Tally,
    team: Team,
    scores: Sequence[tuple[Array, Array]] | None = None,
    earlier: Sequence[Earlier] = (),
) -> Learner:
    """The learner after ``pairs``, whose effect is known: beliefs, tally and habits, and perhaps the scores of the items and
    earlier states."""
    return learner.at(mixture, _exchanges(pairs), tally, _people(pairs), team, scores, earlier)


def new_learner(pool: Pool, settings: Settings, beforehand: Beforehand = NOTHING_KNOWN) -> Learner:
    """The learner before any answer, according to the settings."""
    chosen = settings.learning
    return Learner(
        pool,
        question=chosen.question,
        set_size=chosen.shown(len(pool)),
        seed=chosen.seed,
        prior=first_frame(pool, settings, beforehand),
        bound=chosen.bound or ("centred" if settings.classic else None),
        by_person=chosen.by_person,
        w=chosen.w,
        K=chosen.K,
        calibrate=not settings.classic,
        start=beforehand.start(settings, pool),
        stop=None
        if chosen.check_share
        else Settled(checks=0),  # without random questions there are none before the end either
        kinds=chosen.kinds,
        sizes=chosen.sizes,
        exclude_last=0,  # the caller says what to avoid, because several people have open questions
    )


def beginning(pool: Pool, settings: Settings, beforehand: Beforehand = NOTHING_KNOWN) -> tuple[Frame, Mixture]:
    """What `new_learner` begins from: its frame, and the beliefs with and without the start. No item is scored for this."""
    frame = first_frame(pool, settings, beforehand).sharpened(settings.learning.w, settings.learning.K)
    start = beforehand.start(settings, pool)
    return frame, frame.beliefs if start is None else start.beliefs(pool, frame.coordinates, frame.beliefs)


def first_frame(pool: Pool, settings: Settings, beforehand: Beforehand = NOTHING_KNOWN) -> Frame:
    """The learner's frame before the start and any answer, according to the settings."""
    chosen, earlier = settings.learning.prior, beforehand.prior
    if chosen == "earlier" and earlier is None:
        raise SettingError('learning.prior = "earlier" needs the belief in prior.npz of the project\'s folder')
    if settings.classic:
        return _classic(settings, earlier if chosen == "earlier" else None, pool)
    return earlier if chosen == "earlier" and earlier is not None else frame_of(pool.moments, chosen)


def _classic(settings: Settings, earlier: Frame | None, pool: Pool) -> Frame:
    """The frame as in version 0.1, whose seeds count as one label each."""
    chosen = settings.learning
    frame = earlier or (classic_frame(pool.plain_moments) if chosen.prior == "pool" else paper_frame(pool.d))
    behaviour = frame.sharpened(chosen.w, chosen.K).behaviour
    positive, negative = (
        frame.coordinates.into(pool.X[pool.rows(ids)]) for ids in (chosen.seeds_positive, chosen.seeds_negative)
    )
    return replace(frame, prior=seeded_prior(frame.prior, positive, negative, behaviour))
