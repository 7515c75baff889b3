"""The learner: ask a question, tell it the answer, predict. The only stateful object of the library.

Its state depends only on its options and the list of answers: the belief is a fold over the answers. Questions depend only
on the seed, the answers so far and the number of questions asked.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from tellmore import saved
from tellmore.choosing import Chooser
from tellmore.core.coordinates import Rows
from tellmore.core.frame import Frame, frame_of
from tellmore.core.gaussian import Gaussian
from tellmore.core.habits import ALONE, Team
from tellmore.core.mixture import Mixture
from tellmore.core.scan import PoolScan
from tellmore.core.update import Rule as Learning
from tellmore.core.update import UpdateInfo
from tellmore.options import cost_model, functions, one_name, one_of, share, stopping_rule, switch, whole_number
from tellmore.policy.asking import AUTO_SIZES, Asking
from tellmore.policy.cost import PAPER_COST, CostModel
from tellmore.policy.rates import Rate, RateTable
from tellmore.policy.stopping import Rule, Settled
from tellmore.policy.tally import Tally
from tellmore.pool import Pool, pool_of
from tellmore.questions import Question, answer_to, labels_in, open_question
from tellmore.rereading import Sites
from tellmore.start import Start, check_start
from tellmore.summary import summary
from tellmore.telling import Earlier, Kept
from tellmore.threads import one_at_a_time
from tellmore.types import Answer, Array, ids_of
from tellmore.views import Viewed
from tellmore.warnings import warnings_of

log = logging.getLogger(__name__)
RECENT_QUESTIONS = 5
FEW_DIMENSIONS = 32  # with up to this many, beliefs soon narrow, and exact moments are worth their time
ASKING_SHARPNESS = 1.75
"""The search for items assumes answers this many times as sharp as the update does: see docs/method.md."""


class How(TypedDict, total=False):
    """Options of one call of ``ask``."""

    kind: str | None
    size: int | None
    avoid: Collection[Any]
    quick: bool


class Learner(Chooser, Viewed):
    """Learns what a person means from their answers. Threads may share it.

    pool: the items: a Pool, embeddings [n, d] as an array or a DataFrame of pandas or polars (ids: its index), or texts.
    question: a kind of question, a family of kinds (``select``: the highest or the lowest, at random unless a side is
        rare), or ``auto``: the kind and size with the most bits per second among ``kinds`` and ``sizes``.
    set_size: how many items to show, unless it is ``auto``; by default the usual number for the kind (4 to select or rank,
        12 to tick).
    seed: makes every choice repeatable.
    prior: ``pool`` (favours the directions in which the items vary), ``isotropic`` (all directions alike), ``classic`` (as
        in version 0.1, for unit-norm embeddings), or a Gaussian over (1, x).
    bound: how answers are learnt: ``moments`` (mean and covariance of the exact posterior; the default up to 32
        dimensions, where a bound is too narrow), ``centred`` (a variational bound, the default above that), or
        ``paper`` (the paper's bound).
    acquisition: ``greedy``, ``random``, or ``particles`` (exactly Algorithm 5).
    w: sharpness of labels, in units of the scores. A given w is also used for the probabilities, P(positive) = sigmoid(w
        score), averaged over the belief. By default it depends on the number of directions in which the pool varies,
        and probabilities are twice as sharp as the labels that are learnt: see docs/method.md.
    K: sharpness of choices, in units of the scores; by default it depends on these directions too.
    calibrate: whether random checks correct the probabilities, by one slope on their log odds: see docs/calibration.md.
    stop: when to stop: a rule such as ``AnswerBudget(200)``; by default ``Settled()``.
    cost: seconds per question.
    check_share: this share of the questions is about items drawn at random, to measure the accuracy; a stopping rule
        may need a few more. These questions have ``check`` set.
    by_person: in a team, whether to learn less from people who seem to guess or to swap positive and negative. `people`
        names them in any case.
    start: words, examples or another model's scores to start from; how much it counts depends on the answers.
    kinds: the kinds that ``auto`` may ask, all standard ones by default; for a family, the members that may be asked.
    sizes: how many items ``auto`` may show; each kind uses those that it allows.
    exclude_last: items shown in this many of the last questions are not asked about again.
    embedder: turns texts into vectors, if ``pool`` is a list or a column of texts: a function of a list of texts, or a
        model with such a method named ``encode``.
    callbacks: functions called with the learner, the question and the answer after each answer that was learnt.

    >>> learner = Learner([[0.0, 1.0], [1.0, 0.5], [1.0, 0.0]], question="label")
    >>> learner.tell(learner.ask(), True) is not None
    True
    """

    def __init__(
        self,
        pool: Pool | ArrayLike | Sequence[str] | Any,
        question: str = "rank",
        set_size: int | None = None,
        *,
        seed: int = 0,
        prior: Literal["pool", "isotropic", "classic"] | Gaussian | Frame = "pool",
        bound: Learning | None = None,
        acquisition: Literal["greedy", "random", "particles"] = "greedy",
        w: float | None = None,
        K: float | None = None,
        calibrate: bool = True,
        stop: Rule | None = None,
        cost: CostModel | None = None,
        check_share: float = 0.0,
        by_person: bool = True,
        start: Start | None = None,
        kinds: Sequence[str] | None = None,
        sizes: Sequence[int] = AUTO_SIZES,
        exclude_last: int = RECENT_QUESTIONS,
        embedder: Any = None,
        callbacks: Sequence[Callable[[Learner, Question, Answer], object]] = (),
    ) -> None:
        pool = pool_of(pool, embedder)
        bound = bound or ("moments" if pool.d <= FEW_DIMENSIONS else "centred")
        one_of("bound", bound, ("moments", "centred", "paper"))
        one_of("acquisition", acquisition, ("greedy", "random", "particles"))
        self._lock = RLock()
        self.pool = pool
        self.callbacks = functions("callbacks", callbacks)
        self.ask_for(question, set_size, kinds, sizes)
        self.seed = whole_number("seed", seed)
        self.bound: Learning = bound
        self.acquisition = acquisition
        frame = self._frame(prior).sharpened(w, K)
        if bound == "paper":
            frame = replace(frame, paired=False)
        self.coordinates, self.behaviour, self.w = frame.coordinates, frame.behaviour, frame.w
        self.calibrate = switch("calibrate", calibrate)
        self.asking, self.looks = self.behaviour.sharper(ASKING_SHARPNESS), True
        self.stop: Rule = stop if stop is not None else Settled()
        stopping_rule(self.stop)
        self.cost = cost_model(cost, PAPER_COST)
        self.check_share = share("check_share", check_share)
        self.exclude_last = whole_number("exclude_last", exclude_last)
        self._prior = self._begun(frame, start)
        self._history: list[tuple[Question, Answer]] = []
        self._asked = 0
        self._open: deque[Question] = deque(maxlen=100)
        self._told: set[str] = set()
        self._people: list[str] = []
        self._sites: list[Sites] = []
        self.judges, self.by_person = True, switch("by_person", by_person)
        self._kept = Kept()
        self._now = self._about_pool(self._prior)

    def __repr__(self) -> str:
        told = f"{self.allowed.question!r}, {len(self._history)} answers"
        return f"Learner({self.pool.name!r}, {told}; embeddings are {self.coordinates})"

    def _repr_html_(self) -> str:
        return summary(self, self.allowed.question)

    def _frame(self, prior: str | Gaussian | Frame) -> Frame:
        if isinstance(prior, Frame):
            return prior
        classic = isinstance(prior, str) and prior == "classic"
        return frame_of(self.pool.plain_moments if classic else self.pool.moments, prior)

    def _begun(self, frame: Frame, start: Start | None) -> Mixture:
        check_start(start)
        return frame.beliefs if start is None else start.beliefs(self.pool, self.coordinates, frame.beliefs)

    # Asking

    @one_at_a_time
    def ask_for(
        self,
        question: str,
        set_size: int | None = None,
        kinds: Sequence[str] | None = None,
        sizes: Sequence[int] = AUTO_SIZES,
    ) -> None:
        """Set which questions to ask from now on: ``question``, ``set_size``, ``kinds`` and ``sizes`` are as for a new
        learner. What was learnt is kept."""
        self.allowed = Asking.checked(question, set_size, kinds, sizes, len(self.pool))
        self._rates: RateTable | None = None

    @overload
    def ask(self, n: None = None, **how: Unpack[How]) -> Question: ...

    @overload
    def ask(self, n: int, **how: Unpack[How]) -> list[Question]: ...

    def ask(
        self,
        n: int | None = None,
        *,
        kind: str | None = None,
        size: int | None = None,
        avoid: Collection[Any] = (),
        quick: bool = False,
    ) -> Any:
        """The next question.

        n: how many questions, returned as a list of those that are most informative together; without it, one question.
        kind: the kind of question, in place of the learner's ``question``.
        size: how many items it shows, in place of the learner's ``set_size``.
        avoid: items that are left out if possible.
        quick: whether to take all ``n`` from one search, on different items, for many people at once: each is a little less
            informative and takes much less time to find. There are fewer if there are not enough items.
        """
        avoid = ids_of(avoid, "avoid")
        with self._lock:
            if n is None:
                return self._ask(kind, size, avoid)
            if switch("quick", quick):
                return self._deal(whole_number("n", n, 1), kind, size, avoid)
            twin, asked = self.copy(), []
            for _ in range(whole_number("n", n, 1)):
                asked.append(twin._ask(kind, size, avoid))
                twin._now = twin._supposing(asked[-1])
            self._asked, self._open, self._rates = twin._asked, twin._open, twin._rates
            return asked

    # Telling

    @one_at_a_time
    def tell(self, question: Question | str, answer: Answer | Any, person: str = "") -> UpdateInfo | None:
        """Learn from an answer. A skip teaches nothing, but is added to the history.

        question: one that was asked, or its id, or a Question of your own.
        answer: an Answer or a plain value: True or False to a label, an id to a selection (or with its label, ``(id, True)``),
            a list of ids, highest first, to a ranking (or with how many are positive, ``(ids, 2)``), a list of ids to a grid.
        person: who answered, if there are several people. Their answers are compared: see `people`. Answers of people who
            guess, or swap positive and negative, count little with ``by_person``.

        Raises QuestionError or AnswerError, and leaves the learner unchanged, if question or answer is not valid.
        """
        question = self._shown(open_question(question, self._open, self._told))
        answer = answer_to(question, answer)
        infos: list[UpdateInfo | None] = []
        self.tell_all(
            [(question, answer)], lambda _before, _after, info: infos.append(info), [one_name("person", person)]
        )
        log.info("told %d answers; %s on %s: %s", len(self._history), question.kind, question.items, answer)
        for callback in self.callbacks:
            callback(self, question, answer)
        return infos[0]

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Bits per second by kind and size, as last measured for ``auto``; empty before."""
        return () if self._rates is None else self._rates.rates

    def warnings(self) -> list[str]:
        """Signs that a linear classifier on these embeddings cannot work, and what to do; empty if there are none."""
        now = self._now
        told = [(who, labels_in(*each)) for each, who in zip(self._history, self._people, strict=True)]
        return warnings_of(
            self.pool, now.tally, told, lambda items: now.mixture.probability(self._z(items), self.w), self._tails
        )

    # Keeping

    def copy(self) -> Learner:
        """An independent learner in the same state; cheap, because states are immutable and shared."""
        return copy(self)

    @one_at_a_time
    def __getstate__(self) -> dict[str, Any]:
        own = {name: vars(self)[name].copy() for name in ("_history", "_people", "_sites", "_open", "_kept", "_told")}
        return {name: value for name, value in vars(self).items() if name != "_lock"} | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    def at(
        self,
        mixture: Mixture | None,
        history: Sequence[tuple[Question, Answer]],
        tally: Tally | None = None,
        people: Sequence[str] | None = None,
        team: Team = ALONE,
        scores: Sequence[tuple[Array, Array]] | None = None,
        earlier: Sequence[Earlier] = (),
    ) -> Learner:
        """A learner with these options after answers whose effect is already known: nothing is learnt again.

        mixture: the beliefs, over (1, z); None: the prior.
        history: the questions with their answers.
        tally: the counts; by default they are counted again.
        people: who gave each answer; by default unknown.
        team: how these people answer.
        scores: mean and variance of every item's score under each belief; by default they are computed when needed.
        earlier: states to which answers can be taken back without learning all others again.
        """
        twin = self.copy()
        twin._history, twin._rates = list(history), None
        twin._people = [""] * len(twin._history) if people is None else list(people)
        twin._told, twin._kept, twin._sites = {question.id for question, _ in history}, Kept(), []
        twin._uncompared = range(0)
        twin._asked = max(self._asked, len(history))  # so that no question gets the id of an earlier one
        twin._open.clear()
        mixture = self._prior if mixture is None else mixture
        twin._now = self._about_pool(mixture, twin._counted() if tally is None else tally, team)
        if scores is not None and isinstance(twin._now.rows, Rows):
            twin._now = replace(twin._now, known=tuple(PoolScan(twin._now.rows, *each) for each in scores))
        for told, beliefs, counts, habits in earlier:
            twin._kept.add(told, self._about_pool(beliefs, counts, habits))
        return twin

    def person(self, name: str) -> Learner:
        """A learner for one person's own view; the shared one if people do not differ.

        name: the person's name, as given to `tell`.
        """
        return self.at(self.opinions().belief(name), self._history, self.tally, self._people, self.team)

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the learner, with its pool and its open questions, to one .npz file without pickles.

        path: the file.
        """
        now, frame = self._now, Frame(self.coordinates, self._prior.beliefs[0], self.behaviour, self.w)
        beliefs = saved.Beliefs(self._prior, now.mixture, now.scans)
        told = (
            tuple(self._history),
            self._asked,
            tuple(self._open),
            now.tally,
            self._rates,
            tuple(self._people),
            now.team,
        )
        saved.write(path, saved.Saved(self.pool, self._saved_options(), frame, beliefs, *told))

    @classmethod
    def load(
        cls,
        path: str | Path,
        pool: Pool | ArrayLike | Any = None,
        *,
        stop: Rule | None = None,
        cost: CostModel | None = None,
    ) -> Learner:
        """Read a saved learner.

        path: the file.
        pool: replaces the pool in the file; it must have the same items.
        stop, cost: the stopping rule and the cost model, which are not in the file; give them again if they are not the
            defaults.
        """
        state = saved.read(path, None if pool is None else pool_of(pool))
        threshold = state.options.pop("threshold", None)  # not in files of earlier versions
        learner = cls(state.pool, prior=state.frame, stop=stop, cost=cost, **state.options)
        learner.threshold = threshold
        learner._prior, learner.behaviour, learner.w = state.beliefs.prior, state.frame.behaviour, state.frame.w
        learner._history = [(learner._shown(question), answer) for question, answer in state.history]
        learner._asked, learner._rates, learner._people = state.asked, state.rates, list(state.people)
        learner._open.extend(map(learner._shown, state.open))
        learner._told = {question.id for question, _ in state.history}
        tally = learner._counted() if state.tally is None else state.tally
        learner._now = replace(learner._about_pool(state.beliefs.now, tally, state.team), known=state.beliefs.scans)
        return learner

    def _saved_options(self) -> dict[str, Any]:
        threshold = None if self.threshold is None else float(self.threshold)
        sharp = {"w": self.behaviour.w, "K": self.behaviour.K}
        return {
            **self.allowed.options(),
            **sharp,
            "threshold": threshold,
            **{name: getattr(self, name) for name in saved.OPTIONS},
        }
