"""The learner: ask a question, tell it the answer, predict. The one stateful object of the library.

Everything it knows follows from its options and the list of answers told: the belief is a fold over them. Questions depend on
the seed, the answers so far and how many questions were asked, on nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tellmore import kinds as question_kinds
from tellmore import saved
from tellmore.core.acquire import particles_set, random_set
from tellmore.core.frame import Frame, frame_of
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.core.update import Rule as Learning
from tellmore.core.update import UpdateInfo
from tellmore.errors import StateError
from tellmore.kinds import Kind, Outcome
from tellmore.options import one_of, share, stopping_rule, whole_number
from tellmore.policy.asking import AUTO, AUTO_SIZES, Asking
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.looking import labels_are_few, sought
from tellmore.policy.rates import Policy, Rate, RateTable
from tellmore.policy.stopping import Progress, Rule, Settled, Stop
from tellmore.policy.tally import Tally
from tellmore.pool import Pool, check_pool
from tellmore.predictor import Predictor, State
from tellmore.questions import Question, check_answer, check_new, labels_in
from tellmore.start import Start, check_start
from tellmore.threads import one_at_a_time
from tellmore.types import Answer, Array, Skip
from tellmore.warnings import warnings_of

KEPT_STATES = 10  # undo goes back this far at once; beyond it, all answers are told again
RECENT_QUESTIONS = 5
FEW_DIMENSIONS = 32  # up to which beliefs soon narrow, and moments are worth their time
ASKING_SHARPNESS = 1.75
"""Items are searched as if answers were this much sharper than they are learnt from: see docs/method.md."""


class Learner(Predictor):
    """Learns what a person means from what they tell. Threads may share it.

    pool: the items.
    question: a kind of question, a family of kinds (``select``: the highest or the lowest, at random), or ``auto``, which asks
        whatever yields most bits per second among ``kinds`` and ``sizes``.
    set_size: how many items to show; by default as many as is usual for the kind (4 to select or rank, 12 to tick).
    seed: makes every choice repeatable.
    prior: ``pool`` (directions in which the items vary), ``isotropic`` (all alike), ``classic`` (as version 0.1 began, for
        unit-norm embeddings), or a belief over (1, x).
    bound: how answers are learnt: ``moments`` (mean and covariance of the exact posterior; the default up to 32 dimensions, where
        the belief soon narrows), ``centred`` (a variational bound, the default beyond), or ``paper`` (the paper's bound).
    acquisition: ``greedy``, ``random``, or ``particles`` (Algorithm 5 to the letter).
    w, K: sharpness of labels and of choices, in units of the scores. A given w is also that of the probabilities,
        P(positive) = sigmoid(w score). By default both follow from how many directions the pool varies in, and probabilities
        are twice as sharp as a label is learnt: see docs/method.md.
    stop: a rule of `tellmore.policy.stopping`; by default `Settled`.
    cost: seconds per question.
    check_share: this share of the questions is on items drawn at random, to measure what was learnt; before it stops, a rule
        may ask for a few more. They have ``check`` set.
    start: what is known beforehand, from words, examples or another model's scores; the answers decide how far it is trusted.
    kinds: the kinds that ``auto`` may ask, all standard ones by default; of a family, the members that are asked.
    sizes: how many items ``auto`` may show; each kind takes those that it can.
    exclude_last: items of this many last questions are not asked again at once.
    """

    def __init__(
        self,
        pool: Pool,
        question: str = "rank",
        set_size: int | None = None,
        *,
        seed: int = 0,
        prior: Literal["pool", "isotropic", "classic"] | Gaussian | Frame = "pool",
        bound: Learning | None = None,
        acquisition: Literal["greedy", "random", "particles"] = "greedy",
        w: float | None = None,
        K: float | None = None,
        stop: Rule | None = None,
        cost: CostModel | None = None,
        check_share: float = 0.0,
        start: Start | None = None,
        kinds: Sequence[str] | None = None,
        sizes: Sequence[int] = AUTO_SIZES,
        exclude_last: int = RECENT_QUESTIONS,
    ) -> None:
        check_pool(pool)
        bound = bound or ("moments" if pool.d <= FEW_DIMENSIONS else "centred")
        one_of("bound", bound, ("moments", "centred", "paper"))
        one_of("acquisition", acquisition, ("greedy", "random", "particles"))
        self._lock = RLock()
        self.pool = pool
        self.ask_for(question, set_size, kinds, sizes)
        self.seed = whole_number("seed", seed)
        self.bound: Learning = bound
        self.acquisition = acquisition
        frame = self._frame(prior).sharpened(w, K)
        self.coordinates, self.behaviour, self.w = frame.coordinates, frame.behaviour, frame.w
        self.asking, self.looks = self.behaviour.sharper(ASKING_SHARPNESS), True
        self.stop: Rule = stop if stop is not None else Settled()
        stopping_rule(self.stop)
        self.cost = cost if cost is not None else PAPER_COST
        self.check_share = share("check_share", check_share)
        self.exclude_last = whole_number("exclude_last", exclude_last)
        self._prior = self._begun(frame.prior, start)
        self._history: list[tuple[Question, Answer]] = []
        self._asked = 0
        self._open: deque[Question] = deque(maxlen=100)
        self._kept: deque[State] = deque(maxlen=KEPT_STATES)
        self._now = self._scanned(self._prior)

    def __repr__(self) -> str:
        told = f"{self.allowed.question!r}, {len(self._history)} answers"
        return f"Learner({self.pool.name!r}, {told}; embeddings are {self.coordinates})"

    def _frame(self, prior: str | Gaussian | Frame) -> Frame:
        return prior if isinstance(prior, Frame) else frame_of(self.pool.moments, prior)

    def _begun(self, prior: Gaussian, start: Start | None) -> Mixture:
        check_start(start)
        if start is None:
            return Mixture.of(prior)
        return start.beliefs(self.pool, self.coordinates, prior)

    # Asking

    @one_at_a_time
    def ask_for(
        self,
        question: str,
        set_size: int | None = None,
        kinds: Sequence[str] | None = None,
        sizes: Sequence[int] = AUTO_SIZES,
    ) -> None:
        """Which questions to ask from now on, as the options of the same names say; what was learnt stays."""
        self.allowed = Asking.checked(question, set_size, kinds, sizes, len(self.pool))
        self._rates: RateTable | None = None

    @one_at_a_time
    def ask(self, *, kind: str | None = None, size: int | None = None, avoid: Collection[str] = ()) -> Question:
        """The next question; ``kind`` and ``size`` override the options, items in ``avoid`` are left out where possible."""
        rng = np.random.default_rng([self.seed, 0xA5C, self._asked])
        exclude = self._excluded(avoid)
        check = kind is None and self._check_is_due(rng)
        if check:
            asked, size = self.allowed.checking(), None
        elif kind is None:
            asked, best_size = self._choose_kind(rng, exclude)
            size = size if size is not None else best_size
        else:
            asked = question_kinds.named(kind)
        count = self.allowed.size_of(asked, size if size is not None else self.allowed.set_size)
        if check:  # any items, also those shown lately: leaving these out would spoil the sample
            rows = random_set(len(self.pool), count, rng=rng, exclude=self.pool.rows(map(str, avoid)))
        else:
            rows = self._acquire(asked, count, rng, exclude)
        items = [self.pool.ids[row] for row in rng.permutation(rows)]
        question = Question(asked.name, items, id=rng.bytes(16).hex(), check=check)
        self._asked += 1
        self._open.append(question)
        return question

    def _check_is_due(self, rng: np.random.Generator) -> bool:
        if self.check_share and rng.random() < self.check_share:
            return True
        # Every other question: the rule is asked again after each, and what was asked meanwhile may settle it.
        return self._now.tally.answers > 0 and self._asked % 2 == 0 and self.should_stop().check

    def _choose_kind(self, rng: np.random.Generator, exclude: NDArray[np.intp]) -> tuple[Kind, int | None]:
        """A kind, at random among the members of its family that are allowed, and a size where that was weighed too."""
        family, size = self.allowed.question, self.allowed.set_size
        if family == AUTO:
            policy = Policy(kinds=self.allowed.families(), sizes=self.allowed.sizes, cost=self.cost)
            family, size, self._rates = policy.choose(
                self._now.scan,
                self._now.belief,
                self.behaviour,
                self._rates,
                answers=len(self._history),
                rng=rng,
                exclude=exclude.tolist(),
            )
        members = self.allowed.of_family(family)
        return members[int(rng.integers(len(members)))], size

    def _acquire(
        self, kind: Kind, count: int, rng: np.random.Generator, exclude: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        now = self._now
        if self.acquisition == "random":
            return random_set(len(self.pool), count, rng=rng, exclude=exclude)
        if self.acquisition == "particles":
            return particles_set(now.scan, now.belief, kind, count, self.asking, rng=rng, exclude=exclude).rows
        look = self.looks and kind.looks_for and labels_are_few(now.tally)
        known = np.union1d(exclude, self.pool.rows(self.labels())) if look else exclude
        if not look or len(self.pool) - len(known) < count:
            return kind.search(now.scan, now.belief, count, self.asking, rng=rng, exclude=exclude).rows
        found = sought(now.scan, now.tally, int(count * kind.looks_for), self._asked, exclude=known)
        if len(found) == count:
            return found
        seen = np.union1d(exclude, found)
        rest = kind.search(now.scan, now.belief, count - len(found), self.asking, rng=rng, exclude=seen)
        return np.concatenate([found, rest.rows])

    def _excluded(self, avoid: Collection[str]) -> NDArray[np.intp]:
        """Rows shown lately, still on show, or to be avoided."""
        recent = self._history[-self.exclude_last :] if self.exclude_last else []
        shown = [item for question, _ in recent for item in question.items]
        if self.exclude_last:
            shown += [item for question in self._open for item in question.items]
        return np.unique(self.pool.rows([*shown, *map(str, avoid)]))

    # Telling

    @one_at_a_time
    def tell(self, question: Question, answer: Answer) -> UpdateInfo | None:
        """Learn from an answer, also to a question that was never asked here; a skip teaches nothing and is remembered.

        Raises QuestionError or AnswerError, with the learner unchanged, where they do not fit.
        """
        Z = self._z(question.items)
        check_answer(question, answer)
        check_new(question, self._history)
        after, info = self._learnt(self._now, question, answer, Z)
        self._kept.append(self._now)
        self._now = after
        self._history.append((question, answer))
        self._open = deque((q for q in self._open if q.id != question.id), maxlen=self._open.maxlen)
        return info

    def _learnt(self, state: State, question: Question, answer: Answer, Z: Array) -> tuple[State, UpdateInfo | None]:
        tally = state.tally.later(self._seconds(question, answer))
        if isinstance(answer, Skip):
            return replace(state, tally=tally), None
        kind = question_kinds.named(question.kind)
        outcome = kind.outcome(question.items, answer)
        after, info = state.told(lambda belief: self._update(belief, Z, kind, outcome))
        changed = float(np.mean((after.scores[0] > 0) != (state.scores[0] > 0)))
        labels = labels_in(question, answer)
        foretold: Sequence[float] = ()
        if question.check and len(labels) == question.size:  # an item that a person chose is not a random one
            foretold = state.probabilities(self.w, self.pool.rows(labels)).tolist()
        return replace(after, tally=tally.told(list(labels.values()), changed, foretold)), info

    def _update(self, belief: Gaussian, Z: Array, kind: Kind, outcome: Outcome) -> tuple[Gaussian, UpdateInfo]:
        """One of the beliefs after an outcome on items Z."""
        return kind.update(belief, Z, outcome, self.behaviour, bound=self.bound)

    def _seconds(self, question: Question, answer: Answer) -> float:
        marks = None if isinstance(answer, Skip) else question_kinds.named(question.kind).marks(answer)
        return self.cost.seconds(question.kind, question.size, marks=marks)

    @one_at_a_time
    def undo(self) -> tuple[Question, Answer]:
        """Forget the last answer, as if it had never been told; returns what was taken back."""
        if not self._history:
            raise StateError("there is no answer to undo")
        last = self._history.pop()
        if self._kept:
            self._now = self._kept.pop()
        else:
            self._now = self._scanned(self._prior)
            for question, answer in self._history:
                self._now, _ = self._learnt(self._now, question, answer, self._z(question.items))
        return last

    @property
    def kept_beliefs(self) -> int:
        """How many answers ``undo`` takes back at once."""
        return len(self._kept)

    @property
    def history(self) -> tuple[tuple[Question, Answer], ...]:
        """All questions told, with their answers, oldest first."""
        return tuple(self._history)

    @property
    def prior(self) -> Gaussian:
        """The belief before the first answer, in coordinates (1, x): the moments, where there are several."""
        return self.coordinates.outward(self._prior.moments)

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Bits per second by kind and size as last measured for ``auto``; empty before."""
        return () if self._rates is None else self._rates.rates

    def warnings(self) -> list[str]:
        """Where a linear classifier of these embeddings cannot work, and what to do; empty where all seems well."""
        return warnings_of(self.pool, self._now.tally, self.labels())

    def labels(self) -> dict[str, bool]:
        """Every item that was labelled, by an answer of any kind, and the last label it got."""
        return {item: told for question, answer in self._history for item, told in labels_in(question, answer).items()}

    def information_gain(self, question: Question) -> float:
        """Expected information of a question, in bits."""
        mean, cov = self.joint_scores(question.items)
        rng = np.random.default_rng([self.seed, 0x6A1, len(self._history)])
        return question_kinds.named(question.kind).gain(mean, cov, self.behaviour, rng=rng).bits

    def should_stop(self) -> Stop:
        """Whether the stopping rule says to stop, and why; true in a condition when it does."""
        return self.stop.check(self.progress)

    @property
    def progress(self) -> Progress:
        """What stopping rules look at."""
        now, n = self._now, len(self.pool)
        logdets = now.belief.logdet, self._prior.beliefs[now.mixture.asking].logdet
        unlabelled = n - len(self.labels()) if now.tally.labels >= n else None
        return Progress(now.belief.dim, *logdets, now.tally, self.undecided(), unlabelled)

    # Keeping

    def copy(self) -> Learner:
        """An independent learner in the same state; cheap, because states are immutable and shared."""
        return copy(self)

    @one_at_a_time
    def __getstate__(self) -> dict[str, Any]:
        kept = {"_history": self._history.copy(), "_open": self._open.copy(), "_kept": self._kept.copy()}
        return {name: value for name, value in vars(self).items() if name != "_lock"} | kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    def at(
        self, mixture: Mixture | None, history: Sequence[tuple[Question, Answer]], tally: Tally | None = None
    ) -> Learner:
        """A learner with these options after ``history``, whose beliefs (over (1, z); None: the prior) and ``tally`` are known
        already: nothing is told again."""
        twin = self.copy()
        twin._history, twin._rates = list(history), None
        twin._open.clear()
        twin._kept.clear()
        mixture = self._prior if mixture is None else mixture
        twin._now = self._scanned(mixture, twin._counted() if tally is None else tally)
        return twin

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the learner, with its pool and the questions still open, to one .npz file without pickles."""
        now, frame = self._now, Frame(self.coordinates, self._prior.beliefs[0], self.behaviour, self.w)
        beliefs = saved.Beliefs(self._prior, now.mixture, now.scans)
        told = tuple(self._history), self._asked, tuple(self._open), now.tally, self._rates
        saved.write(path, saved.Saved(self.pool, self._saved_options(), frame, beliefs, *told))

    @classmethod
    def load(
        cls, path: str | Path, pool: Pool | None = None, *, stop: Rule | None = None, cost: CostModel | None = None
    ) -> Learner:
        """A learner saved before. ``pool`` replaces the one in the file where both are the same items.

        Rules and cost models are not in the file: give them again where they are not the defaults.
        """
        state = saved.read(path, pool)
        learner = cls(state.pool, prior=state.frame, stop=stop, cost=cost, **state.options)
        learner._prior, learner.behaviour, learner.w = state.beliefs.prior, state.frame.behaviour, state.frame.w
        learner._history, learner._asked, learner._rates = list(state.history), state.asked, state.rates
        learner._open.extend(state.open)
        learner._now = State(
            state.beliefs.now, state.beliefs.scans, learner._counted() if state.tally is None else state.tally
        )
        return learner

    def _counted(self) -> Tally:
        """The tally of the history, but for what only telling it again would show."""
        tally = Tally()
        for question, answer in self._history:
            tally = tally.later(self._seconds(question, answer))
            tally = tally if isinstance(answer, Skip) else tally.told(list(labels_in(question, answer).values()), 1.0)
        return tally

    def _saved_options(self) -> dict[str, Any]:
        return {
            "question": self.allowed.question,
            "set_size": self.allowed.set_size,
            "seed": self.seed,
            "bound": self.bound,
            "acquisition": self.acquisition,
            "w": self.behaviour.w,
            "K": self.behaviour.K,
            "check_share": self.check_share,
            "kinds": list(self.allowed.kinds),
            "sizes": list(self.allowed.sizes),
            "exclude_last": self.exclude_last,
        }
