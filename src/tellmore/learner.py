"""The learner: ask a question, tell it the answer, predict. The one stateful object of the library.

Everything it knows follows from its options and the list of answers told: the belief is a fold over them. Questions depend on
the seed, the answers so far and how many questions were asked, on nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tellmore import kinds as question_kinds
from tellmore import saved
from tellmore.core.acquire import particles_set, random_set
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.predict import probability
from tellmore.core.prior import isotropic_prior, pool_prior, seeded_prior
from tellmore.core.scan import PoolScan
from tellmore.core.update import Rule as Learning
from tellmore.core.update import UpdateInfo, with_constant
from tellmore.errors import PoolError, StateError
from tellmore.kinds import Kind, Outcome
from tellmore.options import one_of, positive_number, seed_ids, stopping_rule, whole_number
from tellmore.policy.asking import AUTO, AUTO_SIZES, Asking
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.rates import Policy, Rate, RateTable
from tellmore.policy.stopping import DeterminantRule, Progress, Rule, Stability, Stop
from tellmore.pool import Pool, check_pool
from tellmore.questions import Question, check_answer, check_new
from tellmore.threads import one_at_a_time
from tellmore.types import Answer, Array, Skip

KEPT_STATES = 10  # undo goes back this far at once; beyond it, all answers are told again
KEPT_CHANGES = 50
RECENT_QUESTIONS = 5
FEW_DIMENSIONS = 32  # up to which beliefs soon narrow, and moments are worth their time
ASKING_SHARPNESS = 1.75
"""Items are searched as if answers were this much sharper than they are learnt from: see docs/method.md."""


@dataclass(frozen=True, eq=False)
class State:
    """What the answers so far amount to."""

    belief: Gaussian
    scan: PoolScan
    seconds: float = 0.0
    changed: tuple[float, ...] = ()


class Learner:
    """Learns what a person means from what they tell. Threads may share it.

    pool: the items.
    question: a kind of question, a family of kinds (``select``: the highest or the lowest, at random), or ``auto``, which asks
        whatever yields most bits per second among ``kinds`` and ``sizes``.
    set_size: how many items to show; by default as many as is usual for the kind (4 to select or rank, 12 to tick).
    seed: makes every choice repeatable.
    prior: ``pool`` (directions in which the items vary), ``isotropic``, or a belief.
    bound: how answers are learnt: ``moments`` (mean and covariance of the exact posterior; the default up to 32 dimensions, where
        the belief soon narrows), ``centred`` (a variational bound, the default beyond), or ``paper`` (the paper's bound).
    acquisition: ``greedy``, ``random``, or ``particles`` (Algorithm 5 to the letter).
    w, K: sharpness of labels and of choices; the defaults 9 and 6.75 suit unit-norm embeddings.
    stop: a rule of `tellmore.policy.stopping`.
    cost: seconds per question.
    seeds_positive, seeds_negative: ids known beforehand.
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
        prior: Literal["pool", "isotropic"] | Gaussian = "pool",
        bound: Learning | None = None,
        acquisition: Literal["greedy", "random", "particles"] = "greedy",
        w: float | None = None,
        K: float | None = None,
        stop: Rule | None = None,
        cost: CostModel | None = None,
        seeds_positive: Collection[str] = (),
        seeds_negative: Collection[str] = (),
        kinds: Sequence[str] | None = None,
        sizes: Sequence[int] = AUTO_SIZES,
        exclude_last: int = RECENT_QUESTIONS,
    ) -> None:
        check_pool(pool)
        bound = bound if bound is not None else ("moments" if pool.d <= FEW_DIMENSIONS else "centred")
        one_of("bound", bound, ("moments", "centred", "paper"))
        one_of("acquisition", acquisition, ("greedy", "random", "particles"))
        behaviour = Behaviour()
        self._lock = RLock()
        self.pool = pool
        self.ask_for(question, set_size, kinds, sizes)
        self.seed = whole_number("seed", seed)
        self.bound: Learning = bound
        self.acquisition = acquisition
        self.behaviour = Behaviour(positive_number("w", w, behaviour.w), positive_number("K", K, behaviour.K))
        self.asking = self.behaviour.sharper(ASKING_SHARPNESS)
        self.stop: Rule = stop if stop is not None else DeterminantRule() | Stability()
        stopping_rule(self.stop)
        self.cost = cost if cost is not None else PAPER_COST
        self.exclude_last = whole_number("exclude_last", exclude_last)
        self.seeds = seed_ids(seeds_positive, seeds_negative)
        self.prior = self._with_seeds(self._make_prior(prior))
        self._history: list[tuple[Question, Answer]] = []
        self._asked = 0
        self._open: deque[Question] = deque(maxlen=100)
        self._kept: deque[State] = deque(maxlen=KEPT_STATES)
        self._now = State(self.prior, PoolScan.of(pool.X, self.prior))

    def _make_prior(self, prior: str | Gaussian) -> Gaussian:
        """The belief before anything is known."""
        if isinstance(prior, Gaussian):
            if prior.dim != self.pool.d + 1:
                raise PoolError(f"the prior has {prior.dim - 1} dimensions and the pool {self.pool.d}; they must agree")
            return prior
        one_of("prior", prior, ("pool", "isotropic"))
        return isotropic_prior(self.pool.d) if prior == "isotropic" else pool_prior(self.pool.X)

    def _with_seeds(self, prior: Gaussian) -> Gaussian:
        positive, negative = (self.pool.X[self.pool.rows(ids)] for ids in self.seeds)
        return seeded_prior(prior, positive, negative, self.behaviour)

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
        if kind is None:
            asked, best_size = self._choose_kind(rng, exclude)
            size = size if size is not None else best_size
        else:
            asked = question_kinds.named(kind)
        count = self.allowed.size_of(asked, size if size is not None else self.allowed.set_size)
        rows = self._acquire(asked, count, rng, exclude)
        items = [self.pool.ids[row] for row in rng.permutation(rows)]
        question = Question(asked.name, items, id=rng.bytes(16).hex())
        self._asked += 1
        self._open.append(question)
        return question

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
        return kind.search(now.scan, now.belief, count, self.asking, rng=rng, exclude=exclude).rows

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
        rows = self.pool.rows(question.items)
        check_answer(question, answer)
        check_new(question, self._history)
        after, info = self._learnt(self._now, question, answer, rows)
        self._kept.append(self._now)
        self._now = after
        self._history.append((question, answer))
        self._open = deque((q for q in self._open if q.id != question.id), maxlen=self._open.maxlen)
        return info

    def _learnt(
        self, state: State, question: Question, answer: Answer, rows: NDArray[np.intp]
    ) -> tuple[State, UpdateInfo | None]:
        seconds = state.seconds + self._seconds(question, answer)
        if isinstance(answer, Skip):
            return State(state.belief, state.scan, seconds, state.changed), None
        kind = question_kinds.named(question.kind)
        belief, scan, info = self._update(state, self.pool.X[rows], kind, kind.outcome(question.items, answer))
        changed = float(np.mean((scan.mean > 0) != (state.scan.mean > 0)))
        return State(belief, scan, seconds, (changed, *state.changed)[:KEPT_CHANGES]), info

    def _update(self, state: State, X: Array, kind: Kind, outcome: Outcome) -> tuple[Gaussian, PoolScan, UpdateInfo]:
        """The belief and the scan of the pool after an outcome on items X."""
        belief, info = kind.update(state.belief, X, outcome, self.behaviour, bound=self.bound)
        return belief, state.scan.refreshed(info.steps, belief), info

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
            self._now = State(self.prior, PoolScan.of(self.pool.X, self.prior))
            for question, answer in self._history:
                self._now, _ = self._learnt(self._now, question, answer, self.pool.rows(question.items))
        return last

    @property
    def kept_beliefs(self) -> int:
        """How many answers ``undo`` takes back at once, before it has to tell the others again."""
        return len(self._kept)

    # What is known

    @property
    def history(self) -> tuple[tuple[Question, Answer], ...]:
        """All questions told, with their answers, oldest first."""
        return tuple(self._history)

    @property
    def posterior(self) -> Gaussian:
        """The belief over (bias, weights), in coordinates (1, x) with x as the pool holds it."""
        return self._now.belief

    @property
    def scan(self) -> PoolScan:
        """Mean and variance of every item's score under the belief now."""
        return self._now.scan

    @property
    def coef_(self) -> Array:
        """Mean weights [1, d]."""
        return self._now.belief.mean[None, 1:].copy()

    @property
    def intercept_(self) -> Array:
        """Mean bias [1]."""
        return self._now.belief.mean[:1].copy()

    @property
    def classes_(self) -> NDArray[np.bool_]:
        """The two classes, in the order of predict_proba's columns."""
        return np.array([False, True])

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Bits per second by kind and size as last measured for ``auto``; empty before."""
        return () if self._rates is None else self._rates.rates

    def scores(self) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of the score of every item of the pool; they cannot be written to."""
        mean, variance = self._now.scan.mean.view(), self._now.scan.variance.view()
        mean.flags.writeable = variance.flags.writeable = False
        return mean, variance

    def probabilities(self) -> Array:
        """Probability of positive [n] of every item of the pool, averaged over the belief."""
        return probability(*self.scores(), self.behaviour.w)

    def predict(self, X: Array | None = None) -> NDArray[np.bool_]:
        """Whether embeddings X [n, d] are positive [n], by the sign of their mean score; the pool's items where X is None."""
        return np.asarray((self._now.scan.mean if X is None else self.decision_function(X)) > 0)

    def decision_function(self, X: Array) -> Array:
        """Mean score [n] of embeddings X [n, d]; positive above 0."""
        return self._now.belief.scores(self.pool.checked(X))[0]

    def predict_proba(self, X: Array) -> Array:
        """Probabilities [n, 2] of negative and positive for embeddings X [n, d], averaged over the belief."""
        positive = probability(*self._now.belief.scores(self.pool.checked(X)), self.behaviour.w)
        return np.column_stack([1 - positive, positive])

    def information_gain(self, question: Question) -> float:
        """Expected information of a question, in bits."""
        X = with_constant(self.pool.X[self.pool.rows(question.items)])
        mean, cov, _ = self._now.belief.project(X)
        rng = np.random.default_rng([self.seed, 0x6A1, len(self._history)])
        return question_kinds.named(question.kind).gain(mean, cov, self.behaviour, rng=rng).bits

    def should_stop(self) -> Stop:
        """Whether the stopping rule says to stop, and why; true in a condition when it does."""
        answers = sum(not isinstance(answer, Skip) for _, answer in self._history)
        belief = self._now.belief
        return self.stop.check(
            Progress(belief.dim, belief.logdet, self.prior.logdet, answers, self._now.seconds, self._now.changed)
        )

    # Keeping

    def copy(self) -> Learner:
        """An independent learner in the same state, as by copy.copy; cheap, because states are immutable and shared."""
        return copy(self)

    @one_at_a_time
    def __getstate__(self) -> dict[str, Any]:
        kept = {"_history": self._history.copy(), "_open": self._open.copy(), "_kept": self._kept.copy()}
        return {name: value for name, value in vars(self).items() if name != "_lock"} | kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    def at(self, belief: Gaussian, history: Sequence[tuple[Question, Answer]]) -> Learner:
        """A learner with these options after ``history``, whose ``belief`` is known already: nothing is told again."""
        twin = self.copy()
        twin._history, twin._rates = list(history), None
        twin._open.clear()
        twin._kept.clear()
        twin._now = State(belief, PoolScan.of(self.pool.X, belief), twin._seconds_so_far())
        return twin

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the learner, with its pool and the questions still open, to one .npz file without pickles."""
        now = self._now
        told = tuple(self._history), self._asked, tuple(self._open), now.changed, self._rates
        saved.write(path, saved.Saved(self.pool, self._saved_options(), self.prior, now.belief, now.scan, *told))

    @classmethod
    def load(
        cls, path: str | Path, pool: Pool | None = None, *, stop: Rule | None = None, cost: CostModel | None = None
    ) -> Learner:
        """A learner saved before. ``pool`` replaces the one in the file where both are the same items.

        Rules and cost models are not in the file: give them again where they are not the defaults.
        """
        state = saved.read(path, pool)
        learner = cls(state.pool, prior=state.prior, stop=stop, cost=cost, **state.options)
        learner.prior = state.prior  # as saved: seeds and a random start are in it already
        learner._history, learner._asked, learner._rates = list(state.history), state.asked, state.rates
        learner._open.extend(state.open)
        learner._now = State(state.belief, state.scan, learner._seconds_so_far(), state.changed)
        return learner

    def _seconds_so_far(self) -> float:
        return sum(self._seconds(question, answer) for question, answer in self._history)

    def _saved_options(self) -> dict[str, Any]:
        return {
            "question": self.allowed.question,
            "set_size": self.allowed.set_size,
            "seed": self.seed,
            "bound": self.bound,
            "acquisition": self.acquisition,
            "w": self.behaviour.w,
            "K": self.behaviour.K,
            "kinds": list(self.allowed.kinds),
            "sizes": list(self.allowed.sizes),
            "exclude_last": self.exclude_last,
        }
