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
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tellmore import saved
from tellmore.core.acquire import greedy_set, particles_set, random_set
from tellmore.core.evidence import Behaviour
from tellmore.core.gain import information_gain
from tellmore.core.gaussian import Gaussian
from tellmore.core.predict import probability
from tellmore.core.prior import isotropic_prior, pool_prior, seeded_prior
from tellmore.core.scan import PoolScan
from tellmore.core.update import UpdateInfo, update, with_constant
from tellmore.core.variational import Bound
from tellmore.errors import PoolError, StateError
from tellmore.kinds import KINDS_BY_NAME
from tellmore.options import checked_size, one_of, positive_number
from tellmore.policy.cost import PAPER_COST, CostModel, family_of
from tellmore.policy.rates import Policy, Rate, RateTable
from tellmore.policy.stopping import DeterminantRule, Progress, Rule, Stability, Stop
from tellmore.pool import Pool
from tellmore.types import KINDS, Answer, Array, Kind, Question, Skip, check_answer

QuestionOption = Literal["label", "select", "rank", "auto"]
KEPT_STATES = 10  # undo goes back this far at once; beyond it, all answers are told again
KEPT_CHANGES = 50
RECENT_QUESTIONS = 5
ASKING_SHARPNESS = 1.75
"""Items are searched as if answers were this much sharper than they are learnt from: see docs/method.md."""


@dataclass(frozen=True, eq=False)
class _State:
    """What the answers so far amount to."""

    belief: Gaussian
    scan: PoolScan
    seconds: float = 0.0
    changed: tuple[float, ...] = ()


class Learner:
    """Learns what a person means from labels, selections and rankings.

    pool: the items. question: ``label``, ``select`` (highest or lowest, at random), ``rank``, or ``auto``, which asks whatever
    yields most bits per second among ``kinds`` and ``sizes``. set_size: items shown, for select and rank.

    seed: makes every choice repeatable. prior: ``pool`` (directions in which the items vary), ``isotropic``, or a belief.
    bound: ``centred`` or ``paper``. mode: ``default``, or ``paper`` for the paper's statistics: isotropic prior, paper's bound,
    random unit start, renormalised mean, one factor after another. acquisition: ``greedy``, ``random``, or ``particles``
    (Algorithm 5 to the letter). w, K: sharpness of labels and of choices; the defaults 9 and 6.75 suit unit-norm embeddings.
    stop: a rule of `tellmore.policy.stopping`. seeds_positive, seeds_negative: ids known beforehand. cost: seconds per question.
    exclude_last: items of this many last questions are not asked again at once.
    """

    def __init__(
        self,
        pool: Pool,
        question: QuestionOption = "rank",
        set_size: int = 4,
        *,
        seed: int = 0,
        prior: Literal["pool", "isotropic"] | Gaussian = "pool",
        bound: Bound = "centred",
        mode: Literal["default", "paper"] = "default",
        acquisition: Literal["greedy", "random", "particles"] = "greedy",
        w: float | None = None,
        K: float | None = None,
        stop: Rule | None = None,
        seeds_positive: Collection[str] = (),
        seeds_negative: Collection[str] = (),
        cost: CostModel | None = None,
        kinds: Sequence[Kind] = KINDS,
        sizes: Sequence[int] = (2, 3, 4, 5, 6),
        exclude_last: int | None = None,
        prior_options: dict[str, float] | None = None,
        paper_parts: Collection[str] = (),
    ) -> None:
        one_of("bound", bound, ("centred", "paper"))
        one_of("mode", mode, ("default", "paper"))
        one_of("acquisition", acquisition, ("greedy", "random", "particles"))
        behaviour = Behaviour()
        self.pool = pool
        self.ask_for(question, set_size, kinds, sizes)
        self.seed = int(seed)
        self.mode = mode
        self.paper_parts = frozenset(PAPER_PARTS if mode == "paper" else paper_parts)
        for part in self.paper_parts:
            one_of("paper_parts", part, PAPER_PARTS)
        self.bound: Bound = "paper" if "bound" in self.paper_parts else bound
        self.acquisition = acquisition
        self.behaviour = Behaviour(positive_number("w", w, behaviour.w), positive_number("K", K, behaviour.K))
        self.asking = self.behaviour.sharper(1.0 if "asking" in self.paper_parts else ASKING_SHARPNESS)
        self.stop: Rule = stop if stop is not None else DeterminantRule() | Stability()
        self.cost = cost if cost is not None else PAPER_COST
        self.exclude_last = (0 if mode == "paper" else RECENT_QUESTIONS) if exclude_last is None else int(exclude_last)
        self.seeds = tuple(seeds_positive), tuple(seeds_negative)
        self.prior = self._make_prior(prior, prior_options or {})
        self._history: list[tuple[Question, Answer]] = []
        self._asked = 0
        self._open: deque[Question] = deque(maxlen=100)
        self._kept: deque[_State] = deque(maxlen=KEPT_STATES)
        self._now = _State(self.prior, PoolScan.of(pool.X, self.prior))

    def _make_prior(self, prior: str | Gaussian, options: dict[str, float]) -> Gaussian:
        if isinstance(prior, Gaussian):
            if prior.dim != self.pool.d + 1:
                raise PoolError(f"the prior has {prior.dim - 1} dimensions and the pool {self.pool.d}; they must agree")
            belief = prior
        else:
            one_of("prior", prior, ("pool", "isotropic"))
            isotropic = prior == "isotropic" or "prior" in self.paper_parts
            belief = isotropic_prior(self.pool.d, **options) if isotropic else pool_prior(self.pool.X, **options)
        positive, negative = (self.pool.X[self.pool.rows(map(str, ids))] for ids in self.seeds)
        belief = seeded_prior(belief, positive, negative, self.behaviour)
        if "start" in self.paper_parts:
            direction = np.random.default_rng([self.seed, 0xBE6]).standard_normal(belief.dim)
            belief = belief.with_mean(direction / np.linalg.norm(direction))
        return belief

    # Asking

    def ask_for(self, question: QuestionOption, set_size: int, kinds: Sequence[Kind], sizes: Sequence[int]) -> None:
        """Which questions to ask from now on; what was learnt stays."""
        one_of("question", question, ("label", "select", "rank", "auto"))
        for kind in kinds:
            one_of("kinds", kind, KINDS)
        self.question: QuestionOption = question
        self.set_size = 1 if question == "label" else checked_size(set_size, len(self.pool))
        self.kinds, self.sizes = (
            tuple(kinds),
            tuple(checked_size(size, len(self.pool)) for size in sizes if size <= len(self.pool)),
        )
        self._rates: RateTable | None = None

    def ask(self, *, kind: Kind | None = None, size: int | None = None, avoid: Collection[str] = ()) -> Question:
        """The next question; ``kind`` and ``size`` override the options, items in ``avoid`` are left out where possible."""
        rng = np.random.default_rng([self.seed, 0xA5C, self._asked])
        exclude = self._excluded(avoid)
        if kind is None:
            kind, best_size = self._choose_kind(rng, exclude)
            size = size if size is not None else best_size
        one_of("kind", kind, KINDS)
        count = (
            1 if kind == "label" else checked_size(size if size is not None else max(self.set_size, 2), len(self.pool))
        )
        rows = self._acquire(kind, count, rng, exclude)
        items = [self.pool.ids[row] for row in rng.permutation(rows)]
        question = Question(kind, items, id=rng.bytes(16).hex())
        self._asked += 1
        self._open.append(question)
        return question

    def _choose_kind(self, rng: np.random.Generator, exclude: NDArray[np.intp]) -> tuple[Kind, int]:
        if self.question == "auto":
            families = tuple(dict.fromkeys(family_of(kind) for kind in self.kinds))
            policy = Policy(kinds=families, sizes=self.sizes, cost=self.cost)
            family, size, self._rates = policy.choose(
                self._now.scan,
                self._now.belief,
                self.behaviour,
                self._rates,
                answers=len(self._history),
                rng=rng,
                exclude=exclude.tolist(),
            )
        else:
            family, size = self.question, self.set_size
        if family != "select":
            return ("rank" if family == "rank" else "label"), size
        ends: list[Kind] = [kind for kind in self.kinds if family_of(kind) == "select"] or ["select_high", "select_low"]
        return ends[int(rng.integers(len(ends)))], size

    def _acquire(
        self, kind: Kind, count: int, rng: np.random.Generator, exclude: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        if self.acquisition == "random":
            return random_set(len(self.pool), count, rng=rng, exclude=exclude)
        search = particles_set if self.acquisition == "particles" else greedy_set
        return search(self._now.scan, self._now.belief, kind, count, self.asking, rng=rng, exclude=exclude).rows

    def _excluded(self, avoid: Collection[str]) -> NDArray[np.intp]:
        """Rows shown lately, still on show, or to be avoided."""
        recent = self._history[-self.exclude_last :] if self.exclude_last else []
        shown = [item for question, _ in recent for item in question.items]
        if self.exclude_last:
            shown += [item for question in self._open for item in question.items]
        return np.unique(self.pool.rows([*shown, *map(str, avoid)]))

    # Telling

    def tell(self, question: Question, answer: Answer) -> UpdateInfo | None:
        """Learn from an answer, also to a question that was never asked here; a skip teaches nothing and is remembered.

        Raises QuestionError or AnswerError, with the learner unchanged, where they do not fit.
        """
        rows = self.pool.rows(question.items)
        check_answer(question, answer)
        after, info = self._learnt(self._now, question, answer, rows)
        self._kept.append(self._now)
        self._now = after
        self._history.append((question, answer))
        self._open = deque((q for q in self._open if q.id != question.id), maxlen=self._open.maxlen)
        return info

    def _learnt(
        self, state: _State, question: Question, answer: Answer, rows: NDArray[np.intp]
    ) -> tuple[_State, UpdateInfo | None]:
        seconds = state.seconds + self.cost.seconds(question.kind, question.size)
        if isinstance(answer, Skip):
            return _State(state.belief, state.scan, seconds, state.changed), None
        outcome = KINDS_BY_NAME[question.kind].outcome(question, answer)
        joint = "factors" not in self.paper_parts
        belief, info = update(
            state.belief, self.pool.X[rows], question.kind, outcome, self.behaviour, bound=self.bound, joint=joint
        )
        scan = state.scan.refreshed(info.steps, belief)
        if "norm" in self.paper_parts:
            shrink = 1 / float(np.linalg.norm(belief.mean))
            belief, scan = belief.with_mean(belief.mean * shrink), scan.scaled(shrink)
        changed = float(np.mean((scan.mean > 0) != (state.scan.mean > 0)))
        return _State(belief, scan, seconds, (changed, *state.changed)[:KEPT_CHANGES]), info

    def undo(self) -> tuple[Question, Answer]:
        """Forget the last answer, as if it had never been told; returns what was taken back."""
        if not self._history:
            raise StateError("there is no answer to undo")
        last = self._history.pop()
        if self._kept:
            self._now = self._kept.pop()
        else:
            self._now = _State(self.prior, PoolScan.of(self.pool.X, self.prior))
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
        return self._now.belief.mean[None, 1:]

    @property
    def intercept_(self) -> Array:
        """Mean bias [1]."""
        return self._now.belief.mean[:1]

    @property
    def classes_(self) -> NDArray[np.bool_]:
        """The two classes, in the order of predict_proba's columns."""
        return np.array([False, True])

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Bits per second by kind and size as last measured for ``auto``; empty before."""
        return () if self._rates is None else self._rates.rates

    def scores(self) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of the score of every item of the pool."""
        return self._now.scan.mean, self._now.scan.variance

    def probabilities(self) -> Array:
        """Probability of positive [n] of every item of the pool, averaged over the belief."""
        return probability(*self.scores(), self.behaviour.w)

    def decision_function(self, X: Array) -> Array:
        """Mean score [n] of embeddings X [n, d]; positive above 0."""
        return self._now.belief.scores(self._checked(X))[0]

    def predict_proba(self, X: Array) -> Array:
        """Probabilities [n, 2] of negative and positive for embeddings X [n, d], averaged over the belief."""
        positive = probability(*self._now.belief.scores(self._checked(X)), self.behaviour.w)
        return np.column_stack([1 - positive, positive])

    def information_gain(self, question: Question) -> float:
        """Expected information of a question, in bits."""
        X = with_constant(self.pool.X[self.pool.rows(question.items)])
        mean, cov, _ = self._now.belief.project(X)
        rng = np.random.default_rng([self.seed, 0x6A1, len(self._history)])
        return information_gain(mean, cov, question.kind, self.behaviour, rng=rng).bits

    def should_stop(self) -> Stop:
        """Whether the stopping rule says to stop, and why; true in a condition when it does."""
        answers = sum(not isinstance(answer, Skip) for _, answer in self._history)
        belief = self._now.belief
        return self.stop.check(
            Progress(belief.dim, belief.logdet, self.prior.logdet, answers, self._now.seconds, self._now.changed)
        )

    # Keeping

    def copy(self) -> Learner:
        """An independent learner in the same state; cheap, because states are immutable and shared."""
        twin = copy(self)
        twin._history, twin._open, twin._kept = list(self._history), self._open.copy(), self._kept.copy()
        return twin

    def at(self, belief: Gaussian, history: Sequence[tuple[Question, Answer]]) -> Learner:
        """A learner with these options after ``history``, whose ``belief`` is known already: nothing is told again."""
        twin = self.copy()
        twin._history, twin._rates = list(history), None
        twin._open.clear()
        twin._kept.clear()
        twin._now = _State(belief, PoolScan.of(self.pool.X, belief), twin._seconds_so_far())
        return twin

    def save(self, path: str | Path) -> None:
        """Write the learner, with its pool, to one .npz file without pickles."""
        changed = list(self._now.changed)
        saved.write(
            path, self.pool, self._saved_options(), self.prior, self._now.belief, self._history, self._asked, changed
        )

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
        learner._history, learner._asked = list(state.history), state.asked
        learner._now = _State(
            state.belief, PoolScan.of(state.pool.X, state.belief), learner._seconds_so_far(), state.changed
        )
        return learner

    def _seconds_so_far(self) -> float:
        return sum(self.cost.seconds(question.kind, question.size) for question, _ in self._history)

    def _saved_options(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "set_size": self.set_size,
            "seed": self.seed,
            "bound": self.bound,
            "mode": self.mode,
            "paper_parts": sorted(self.paper_parts),
            "acquisition": self.acquisition,
            "w": self.behaviour.w,
            "K": self.behaviour.K,
            "kinds": list(self.kinds),
            "sizes": list(self.sizes),
            "exclude_last": self.exclude_last,
        }

    def _checked(self, X: Array) -> Array:
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.pool.d:
            raise PoolError(f"embeddings must have the shape (n, {self.pool.d}), as the pool's, not {X.shape}")
        if not np.isfinite(X).all():
            raise PoolError("embeddings must be finite; remove the rows with NaN or infinity")
        return X


PAPER_PARTS = ("prior", "bound", "start", "norm", "factors", "asking")
"""What paper mode switches, each also alone by ``paper_parts``: isotropic prior, paper's bound, random unit start,
renormalised mean, one factor after another, and items searched as sharply as answers are learnt from."""
