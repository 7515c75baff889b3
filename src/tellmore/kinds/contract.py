"""What a kind of question is: one object with everything that is specific to it.

A kind needs its attributes, its outcomes and their likelihood, and the conversion between answers and outcomes. Everything
else has a default: information gain by enumeration or by bounds, the update by moment matching, simulated people by the
likelihood itself. A kind with a better method overrides the default. An *outcome* is an answer by position among the k items
shown: a hashable value that each kind defines, such as ``y`` = +-1 for a label or ``(i, y)`` for a selection.

`tellmore.contract.check_question_kind` checks all of it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from math import log
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tellmore.core.acquire import Acquired, Effort, Rows, greedy_set
from tellmore.core.evidence import Behaviour, Evidence
from tellmore.core.gain import Gain, contrastive_gain_nats, enumerated_gain_nats, sampled_gain
from tellmore.core.gaussian import Gaussian
from tellmore.core.sampling import normal_points, score_root
from tellmore.core.scan import PoolScan
from tellmore.core.time_model import Form, TimeModel
from tellmore.core.update import Rule, UpdateInfo, learn, learn_likelihood, learn_moments
from tellmore.errors import AnswerError
from tellmore.types import Answer, Array

Outcome: TypeAlias = Any
MAX_ENUMERATED = 256
"""With up to this many outcomes a gain is computed by enumeration; with more, by contrastive bounds."""
BOUND_DRAWS = 2048
"""Draws used for those bounds."""
CERTAIN = 1e3
"""Sharpness at which an answer follows with certainty from what a person perceives."""


@dataclass(frozen=True)
class Words:
    """The project's own words: what is judged ("most positive"), and what the two sides are called."""

    attribute: str = "positive"
    positive: str = "positive"
    negative: str = "negative"

    def put_into(self, text: str) -> str:
        """``text`` with these words. A phrase that is no adjective cannot follow "the most".

        >>> Words("calm").put_into("Choose the most {attribute}"), Words("clearly a dog").put_into("Choose the most {attribute}")
        ('Choose the most calm', 'Choose the one that is most clearly a dog')
        """
        told = text.format(attribute=self.attribute, positive=self.positive, negative=self.negative)
        return re.sub(r"\bthe (most|least) clearly ", r"the one that is \1 clearly ", told)


@dataclass(frozen=True, eq=False)
class Perception:
    """How a person sees k items: how far above the boundary each is, the positions from highest to lowest, and which are
    positive."""

    z: Array  # [k]
    highest_first: NDArray[np.intp]  # [k]
    positive: NDArray[np.bool_]  # [k]


def perceived(z: Array, rng: np.random.Generator) -> Perception:
    """How a person sees items that are z [k] above the boundary; ties, and items on the boundary, are decided at random."""
    coin = rng.random((2, len(z)))
    positive = np.where(z == 0, coin[0] < 0.5, z > 0)
    # Sorted by score, then by label (a tie at the boundary must not split the order), then at random.
    return Perception(z, np.lexsort((coin[1], positive, z))[::-1], positive)


class Kind(ABC):
    """One kind of question. Scores z are theta'(1, x) of the items shown; behaviours and rng are explicit.

    name: its name in questions, settings and the log.
    family: kinds of one family share a time model and a row in tables of rates, and a question of the family is one of
        them, drawn at random.
    title: its name in tables, two words at most.
    ask, help: the headline, and how to answer; they may contain {attribute}, {positive} and {negative}.
    fewest, most, usual: how many items it may show, and how many by default.
    standard: whether ``auto`` may choose it by default.
    laboratory: whether it is for experiments, so that the app's settings do not offer it.
    labels_all: whether an answer labels every item shown.
    looks_for: the share of its items that may be chosen because there are few labels of one side.
    likely: if labels of one side are rare, its items are searched among this share of the pool, those most likely to be on that
        side; None: the likeliest and those nearest to the boundary are taken.
    if_rare: if labels of one side are rare, its items are chosen as those of this kind are, and only then does it look for that
        side; None: they are not.
    end: +1 if the highest item shown is labelled, -1 if the lowest is, 0 if neither or all are.
    searched: for each item shown, how many items, drawn at random, are compared; None: all. With an index of the pool's, those
        that it finds are compared.
    time: the time model before there are measured times.
    time_forms: the two forms of time models that a study compares.
    answer_type: the class of its answers.
    noun: its name in a study ("Ranking"); by default the title.
    script: a JavaScript module that shows it in the browser, for kinds that are not part of tellmore.

    Parameters of the methods:

    items: the ids shown.
    answer: an answer of its type.
    value: a plain value.
    outcome: an answer by position.
    k, size: the number of items.
    z: their scores, [k] or with more dimensions before that.
    X: their embeddings [k, d], without the constant column.
    mean, cov: of the scores of k items, [k] and [k, k].
    behaviour: how sharply the person answers.
    prior, belief: a Gaussian over classifiers.
    bound: ``centred`` or ``paper``, or ``moments`` for the mean and covariance of the exact posterior instead of a bound.
    joint: whether to learn all labels and choices of the answer at once, at the exact optimum; otherwise one factor after
        another, as in the paper's Algorithm 4.
    scan: the scores of the pool under a belief.
    exclude: rows of the pool that are left out.
    seen: how a person sees the items.
    rng: the random number generator.
    draws: the number of random draws.
    own, candidates: draws of the scores of the items already chosen, and of those that may join them.
    words: the project's words.
    ties: whether the project allows ties.
    show: returns an item's name as people saw it.

    >>> from tellmore.kinds import named
    >>> named("rank").n_outcomes(3)  # 6 orders, each with 4 dividers
    24
    """

    name: str
    family: str
    title: str
    ask: str
    help: str
    fewest: ClassVar[int] = 2
    most: ClassVar[int] = 10
    usual: ClassVar[int] = 4
    standard: ClassVar[bool] = False
    laboratory: ClassVar[bool] = False
    labels_all: ClassVar[bool] = False
    looks_for: ClassVar[float] = 0.0
    likely: ClassVar[float | None] = None
    if_rare: ClassVar[str | None] = None
    end: int = 0
    searched: ClassVar[int | None] = None
    time: TimeModel
    time_forms: ClassVar[tuple[Form, Form]] = ("linear", "logarithmic")
    answer_type: type[Answer]
    noun: str = ""
    script: ClassVar[Path | None] = None

    # What can be answered

    @abstractmethod
    def n_outcomes(self, k: int) -> int:
        """The number of different answers to a question on k items."""

    @abstractmethod
    def outcomes(self, k: int) -> Iterator[Outcome]:
        """All possible outcomes, one at a time."""

    @abstractmethod
    def log_likelihood(self, z: Array, outcome: Outcome, behaviour: Behaviour) -> Array:
        """log P(outcome | z) in nats, z [..., k] -> [...]; the probabilities sum to one over the outcomes (eqs. 1-6)."""

    @abstractmethod
    def outcome(self, items: Sequence[str], answer: Any) -> Outcome:
        """The outcome of an answer: the same by position instead of by id."""

    @abstractmethod
    def answer(self, items: Sequence[str], outcome: Outcome) -> Answer:
        """The answer of an outcome: the same by id instead of by position."""

    def from_plain(self, value: Any) -> Answer:
        """The answer that a plain value stands for: the value of its only field, or a tuple of all its fields. AnswerError
        if it stands for none."""
        names = [each.name for each in fields(self.answer_type)]  # type: ignore[arg-type]
        values = value if len(names) > 1 and isinstance(value, tuple) else (value,)
        if len(values) > len(names):
            raise AnswerError(f"a {self.name} question is answered by {', '.join(names)}, not by {value!r}")
        return self.answer_type.from_json(dict(zip(names, values, strict=False)))

    def check(self, items: tuple[str, ...], answer: Any) -> None:
        """Raise AnswerError unless ``answer`` is possible for a question on ``items``."""
        answer.check(items)

    def refusal(self, answer: Any, *, ties: bool) -> str | None:
        """Why the app refuses an answer that is possible in principle, or None; ``ties``: whether the project allows ties."""
        return None

    # Learning

    def evidence(self, outcome: Outcome, k: int) -> Evidence | None:
        """The labels and choices for the exact variational update; None if the answer must be learnt by moment matching."""
        return None

    def learnt_with(self, behaviour: Behaviour) -> Behaviour:
        """How sharp answers of this kind are assumed to be when they are learnt."""
        return behaviour

    def update(
        self,
        prior: Gaussian,
        X: Array,
        outcome: Outcome,
        behaviour: Behaviour,
        *,
        bound: Rule = "centred",
        joint: bool = True,
    ) -> tuple[Gaussian, UpdateInfo]:
        """The belief after ``outcome`` on items X [k, d]."""
        behaviour, evidence = self.learnt_with(behaviour), self.evidence(outcome, len(X))
        if evidence is None:
            return learn_likelihood(
                prior, X, lambda z: self.log_likelihood(z, outcome, behaviour), lapse=behaviour.lapse
            )
        if behaviour.consistent and joint and bound != "paper":
            evidence = evidence.completed()
            evidence = evidence.across_sides() if behaviour.across else evidence
        if bound == "moments" and joint:
            return learn_moments(prior, X, evidence, behaviour)
        parts = [evidence] if joint else evidence.factors()
        return learn(prior, X, parts, behaviour, bound="centred" if bound == "moments" else bound)

    # Asking

    def gain_nats(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> tuple[Array, Array]:
        """Information gain of B sets from N joint draws of their scores z [B, N, k]: gains [B] and their errors [B]."""
        k = z.shape[-1]
        if self.n_outcomes(k) <= MAX_ENUMERATED:
            log_pmf = np.stack([self.log_likelihood(z, outcome, behaviour) for outcome in self.outcomes(k)], axis=-1)
            gains = enumerated_gain_nats(log_pmf)
            return gains, np.zeros_like(gains)
        bounds = np.array([contrastive_gain_nats(self.pairwise(one, behaviour, rng)) for one in z])
        return bounds[:, 0], bounds[:, 1]

    def gains_with(self, own: Array, candidates: Array, behaviour: Behaviour, rng: np.random.Generator) -> Array:
        """Information gain [B] of one set with each of B candidates, from joint draws: own [k - 1, N], candidates [B, N]."""
        z = np.empty((len(own) + 1, *candidates.shape))
        z[:-1], z[-1] = own[:, None], candidates
        return self.gain_nats(np.moveaxis(z, 0, -1), behaviour, rng)[0]

    def pairwise(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> Array:
        """log p(o_i | z_j) [N, N] for scores z [N, k], with each outcome o_i drawn from its own z_i."""
        drawn = [self.sample(one, behaviour, rng) for one in z]
        return np.stack([self.log_likelihood(z, outcome, behaviour) for outcome in drawn])

    def gain(
        self, mean: Array, cov: Array, behaviour: Behaviour, *, rng: np.random.Generator, draws: int | None = None
    ) -> Gain:
        """Expected information gain of a question whose items' scores are N(mean [k], cov [k, k])."""
        if self.n_outcomes(len(mean)) > MAX_ENUMERATED:
            z = mean + normal_points(draws or BOUND_DRAWS, len(mean), rng) @ score_root(cov).T
            nats, errors = self.gain_nats(z[None], behaviour, rng)
            return Gain(max(float(nats[0]), 0.0) / log(2), float(errors[0]) / log(2))
        return sampled_gain(lambda z: self.gain_nats(z, behaviour, rng)[0], mean, cov, rng=rng, draws=draws)

    def effort(self, k: int) -> Effort:
        """How much the search scores when choosing the k-th item."""
        return Effort(96, 256, finalists=8) if self.n_outcomes(k) <= MAX_ENUMERATED else Effort(8, 128)

    def search(
        self,
        scan: PoolScan,
        belief: Gaussian,
        size: int,
        behaviour: Behaviour,
        *,
        rng: np.random.Generator,
        exclude: Rows | Sequence[int] = (),
    ) -> Acquired:
        """The items to ask about, and the bits of the nested sets of size 1 to ``size``."""
        return greedy_set(scan, belief, self, size, behaviour, rng=rng, exclude=exclude)

    def search_is_rough(self, k: int) -> bool:
        """Whether the search only approximates the bits for k items, so that they must be computed again to compare them."""
        return self.n_outcomes(k) > MAX_ENUMERATED

    # People

    def sample(self, z: Array, behaviour: Behaviour, rng: np.random.Generator) -> Outcome:
        """A random answer of a person whose scores are z [k]."""
        outcomes = list(self.outcomes(len(z)))
        p = np.exp([float(self.log_likelihood(z, outcome, behaviour)) for outcome in outcomes])
        return outcomes[int(rng.choice(len(outcomes), p=p / p.sum()))]

    def respond(self, seen: Perception) -> Outcome:
        """The answer of a person who sees the items like this and has no doubt."""
        surely = Behaviour(CERTAIN, CERTAIN)
        return max(self.outcomes(len(seen.z)), key=lambda one: float(self.log_likelihood(seen.z, one, surely)))

    def labels(self, items: Sequence[str], answer: Any) -> dict[str, bool]:
        """All labels that an answer contains, by item."""
        return {}

    def marks(self, answer: Any) -> int:
        """The number of marks in an answer, if its time depends on them."""
        return 0

    # Words

    def headline(self, words: Words) -> str:
        """What is asked, in the project's words."""
        return words.put_into(self.ask)

    def instructions(self, words: Words, *, ties: bool = False) -> str:
        """How to answer, in the project's words; ``ties``: whether it allows ties."""
        return words.put_into(self.help)

    def described(self, words: Words, *, ties: bool = False) -> dict[str, Any]:
        """What the browser needs to know about it, in the project's words; the server adds the address of its script."""
        return {
            "name": self.name,
            "family": self.family,
            "title": self.title,
            "ask": self.headline(words),
            "help": self.instructions(words, ties=ties),
            "sizes": (self.fewest, self.most),
            "standard": self.standard,
            "laboratory": self.laboratory,
        }

    def tell(self, items: Sequence[str], answer: Any, show: Callable[[str], str], words: Words) -> str:
        """An answer in one line, for a log; ``show`` names an item as people saw it."""
        values = (f"{name} {value}" for name, value in answer.as_json().items() if name != "type")
        return f"{', '.join(values)} of {', '.join(map(show, items))}"


def side(positive: bool, words: Words) -> str:
    """What the project calls this side."""
    return words.positive if positive else words.negative
