"""What a trial is: an immutable, hashable description, the same for every way of running it."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from tellmore import kinds
from tellmore.errors import SettingError
from tellmore.options import one_of
from tellmore.policy.asking import AUTO
from tellmore.sim.people import team_of

Acquisition = Literal["greedy", "random", "particles"]
Mode = Literal["default", "paper", "as-printed", "as-authors"]
AnnotatorKind = Literal["auto", "gaussian", "histogram", "model"]
Option = str | int | float | tuple[str, ...] | tuple[int, ...] | tuple[tuple[str, float], ...]
"""The value of a Learner's option in hashable form; ``prior_options`` is a tuple of pairs."""

SELDOM = ("like", "unlike", "scores_column", "scores_right", "peer", "team", "sparse")
"""Options that most trials do not use: a start, a peer, a team, fewer measures. Plain values contain them only if they are set,
so that the trials stored by earlier versions are still found."""


@dataclass(frozen=True)
class Config:
    """One setting of an experiment; with a seed it determines a trial.

    pool: a name or a path.
    question: a kind or a family of kinds, or ``auto``.
    size: how many items a question shows; None: the usual number for the kind.
    answers, seconds, stop_at: a trial ends after this many answers, with the first answer that ends after this many
        seconds, or at this accuracy, whichever comes first; ``answers`` may be None if ``seconds`` is given.
    acquisition: ``greedy``, ``random`` or ``particles``.
    mode: ``default``, or the paper's method as ``paper``, ``as-printed`` or ``as-authors``.
    matrix: the key of the pool's embeddings.
    annotator: how people answer; ``auto`` draws scores from the histogram if there is one, else from mean and sd.
    lapse: the share of random answers.
    drift, fatigue: in standard deviations of the pool's mean scores per 100 answers.
    slowing: the fraction by which answers get slower per 100 answers.
    team: several people in one line, who answer in turn, as described in `tellmore.sim.people`: ``3*good,
        lapse=0.2+pace=1.5, random``. ``lapse``, ``drift``, ``fatigue`` and ``slowing`` then apply to everyone.
    like, unlike: items to start from, by id or text.
    scores_column: the array in the pool's file to start from, in place of items.
    scores_right: start from a yes or no for every item, of which this share is right.
    options: options of the Learner, as pairs.
    peer: a method of `tellmore.sim.peers` that chooses labels and learns from them, in place of the learner.
    sparse: measure what takes long (bits, average precision, distances) only after the first 50 answers and then after every
        tenth; it is NaN after the others. Questions and answers are the same.

    >>> Config(question="select", size=3, answers=20).question
    'select'
    """

    pool: str = "words"
    question: str = "rank"
    size: int | None = None
    answers: int | None = 100
    seconds: float | None = None
    acquisition: Acquisition = "greedy"
    mode: Mode = "default"
    matrix: str = "X"
    annotator: AnnotatorKind = "auto"
    lapse: float = 0.0
    drift: float = 0.0
    fatigue: float = 0.0
    slowing: float = 0.0
    stop_at: float | None = None
    like: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    scores_column: str = ""
    scores_right: float | None = None
    peer: str = ""
    team: str = ""
    sparse: bool = False
    options: tuple[tuple[str, Option], ...] = ()

    def __post_init__(self) -> None:
        names = (kind.name for kind in kinds.all_kinds())
        one_of("question", self.question, tuple(dict.fromkeys((*kinds.families(), *names, AUTO))))
        if self.question != AUTO:
            self._check_size(kinds.family(self.question)[0])
        elif self.size is not None:
            raise SettingError(f"auto chooses how many items it shows, so size must be left out, not {self.size}")
        one_of("acquisition", self.acquisition, get_args(Acquisition))
        one_of("mode", self.mode, get_args(Mode))
        one_of("annotator", self.annotator, get_args(AnnotatorKind))
        self._check_budget()
        if not 0 <= self.lapse <= 1:
            raise SettingError(f"lapse is a share from 0 to 1, not {self.lapse}")
        if self.scores_right is not None and not 0 <= self.scores_right <= 1:
            raise SettingError(f"scores_right is a share from 0 to 1, not {self.scores_right:g}")
        if sum(map(bool, (self.like or self.unlike, self.scores_column, self.scores_right is not None))) > 1:
            raise SettingError("a trial starts from examples, from a column or from noisy verdicts: choose one")
        if self.mode == "as-authors" and self.question == kinds.single().name and self.acquisition != "random":
            raise SettingError("the authors' code asks only for labels of random items; add --acquisition random")
        if self.peer and self.question != kinds.single().name:
            raise SettingError(f"the peer {self.peer} asks for labels, not for {self.question}")
        if self.team:
            team_of(self.team)
            if self.annotator == "model":
                raise SettingError("a team answers from the pool's scores; leave the annotator at auto")
        if self.stop_at is not None and not 0.5 < self.stop_at <= 1:
            raise SettingError(f"stop_at is an accuracy above 0.5 and at most 1, not {self.stop_at}")

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = asdict(self)
        seldom = {name: plain.pop(name) for name in SELDOM}
        named = {name: value for name, value in seldom.items() if value or value == 0.0}
        return {**plain, **named, "options": dict(self.options)}

    def digest(self, *salt: str) -> str:
        """A short hash of the setting.

        salt: anything else that the hash depends on.
        """
        text = json.dumps([self.as_dict(), *salt], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _check_budget(self) -> None:
        if self.answers is None and self.seconds is None:
            raise SettingError("the trial would never end: give answers, seconds or both")
        if self.answers is not None and self.answers < 1:
            raise SettingError(f"a trial needs at least 1 answer, not {self.answers}")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise SettingError(f"a trial needs more than 0 seconds, not {self.seconds:g}")

    def _check_size(self, kind: kinds.Kind) -> None:
        if self.size is not None and kind.most > 1 and not kind.fewest <= self.size <= kind.most:
            raise SettingError(f"a {self.question} question shows {kind.fewest} to {kind.most} items, not {self.size}")

    @property
    def shown(self) -> int | None:
        """The number of items that a question shows; None if it varies."""
        if self.question == AUTO:
            return None
        kind = kinds.family(self.question)[0]
        return kind.usual if self.size is None or kind.most == 1 else self.size

    @property
    def title(self) -> str:
        """A name for legends, as in "rank-4, random"."""
        if self.peer:
            return self.peer
        name = self.question if self.shown in (None, 1) else f"{self.question}-{self.shown}"
        return name if self.acquisition == "greedy" else f"{name}, {self.acquisition}"
