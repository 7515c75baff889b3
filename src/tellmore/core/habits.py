"""How people differ, learnt from their answers alone: who guesses, chooses what is shown first, swaps positive and
negative, or judges less precisely.

A person's answers are compared with the belief from everyone else's answers. That belief predicts them one after another, each
also from the person's earlier ones, in several cases: the person means them; the person takes positive for negative; or they
are chance. The whole series is compared, so answers about doubtful items, which say little about a person, count little. A
person has a *type*: a rate of lapses, together with whether a lapse is any answer or what is shown first; or reversed. The
probability of each type follows from the person's answers and from how often the type occurs in the team, which is estimated at
the same time (by EM, with a prior that expects most people to be careful). With few answers, a person gets the team's habits;
with many, their own. Whether a person is careful, guesses or is reversed is judged better from everybody's answers together
(see `together`); this replaces what the comparison says of it, unless there are too many people.

People are not compared with a perfect one. If a belief is based on few answers, or the attribute is not linear, everyone
seems to lapse; how far an answer is trusted is therefore relative to the most reliable person of the team, who is trusted
like a single person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from tellmore.core.evidence import Behaviour
from tellmore.core.moments import fixed_points
from tellmore.core.together import MEANT
from tellmore.types import Array

LogLikelihood = Callable[[Array, Behaviour], Array]
"""log P(answer | z) in nats for scores z [N, k] -> [N]."""

POINTS = 256
LAPSES = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.97])
"""Rates of lapses that people may have; the last is that of a person who never looks."""
EXPECTED = np.array([12.0, 6.0, 3.0, 1.0, 0.5, 0.5, 1.0])
"""Prior odds of each rate."""
TAKES_FIRST = 0.9
"""If a person's lapses prefer what is shown first, this share of the lapses takes it."""
SELDOM = 0.2
"""Prior odds of a type whose lapses prefer what is shown first, relative to other types."""
REVERSED_LAPSE, REVERSED_ODDS = 0.1, 0.5
PRIOR_PEOPLE = 3.0
"""The prior counts as this many people."""
ROUNDS = 20
FACTORS = np.array([0.5, 1.0, 2.0])
"""Sharpness relative to the usual one, for labels and for choices."""
FACTOR_PRIOR_NATS = 2.0
"""Half or double the team's sharpness is less probable beforehand by this many nats."""
CARELESS_LAPSE = 0.5
"""A person with at least this rate of lapses is careless."""
DOUBTED_LAPSE = 0.25
"""Above this rate, the person's answers are checked against each other."""
MOST_LAPSES = 0.97
"""The largest rate with which answers are learnt: even a person who seems never to look may mean an answer."""
SURE = 0.9
"""Probability from which a person is called careless or reversed."""
FEWEST = 8
"""Answers before people get habits of their own; with fewer, they get the team's. LABELS_AN_ANSWER labels count as one."""
LABELS_AN_ANSWER = 3


@dataclass(frozen=True)
class Habits:
    """How one person answers, as estimated so far.

    lapse: the share of answers given by chance. first: the share of these that take what is shown first.
    learnt_lapse: the rate of lapses with which answers are learnt, relative to the most reliable person of the team.
    careless, reversed: probability that at least half of the answers are chance, or that positive and negative are swapped.
    apart: whether these answers fit the others badly but each other well: the person means something else.
    label_sharpness, choice_sharpness: how sharp labels and choices are, relative to the team's.
    answers: how many were compared. alike: how many of the ``labels`` in them agree with the prediction from all other
        answers; by_chance: the share that would agree if the person guessed.
    own: whether these are the person's own habits, or the team's for lack of answers.
    """

    lapse: float
    learnt_lapse: float
    first: float = 0.0
    careless: float = 0.0
    reversed: float = 0.0
    label_sharpness: float = 1.0
    choice_sharpness: float = 1.0
    answers: int = 0
    labels: int = 0
    alike: int = 0
    by_chance: float = 0.0
    own: bool = False
    apart: bool = False

    def of(self, usual: Behaviour, *, sharpness: bool = False) -> Behaviour:
        """How this person's answers are learnt, given the ``usual`` behaviour; ``sharpness``: with the person's own sharpness."""
        sharp = (self.label_sharpness, self.choice_sharpness) if sharpness else (1.0, 1.0)
        return replace(
            usual,
            w=usual.w * sharp[0],
            K=usual.K * sharp[1],
            lapse=max(self.learnt_lapse, usual.lapse),
            first=self.first,
        )

    @property
    def doubted(self) -> bool:
        """Whether many of these answers look like chance or like swapped sides."""
        return self.own and self.learnt_lapse > DOUBTED_LAPSE

    def trusted(self, usual_lapse: float) -> Habits:
        """The habits of a person who means something else: answers are learnt with the usual rate of lapses."""
        return replace(self, learnt_lapse=usual_lapse, first=0.0, careless=0.0, reversed=0.0, apart=True)

    def near(self, other: Habits, tolerance: float) -> bool:
        """Whether answers are learnt in about the same way with both."""
        return (
            abs(self.learnt_lapse - other.learnt_lapse) <= tolerance
            and self.learnt_lapse * abs(self.first - other.first) <= tolerance
        )

    @property
    def verdict(self) -> str | None:
        """``careless``, ``reversed``, ``apart`` or None."""
        if self.own and self.apart:
            return "apart"
        if self.own and self.reversed >= SURE:
            return "reversed"
        return "careless" if self.own and self.careless >= SURE else None


LEARNT_WITH = ("learnt_lapse", "first", "label_sharpness", "choice_sharpness")
"""The habits that affect how answers are learnt."""


@dataclass(frozen=True)
class Team:
    """The latest estimate of everyone's habits, and ``usual``, the team's, for new people. ``usual`` is None until people have
    been compared; until then, answers are learnt like those of a single person."""

    people: Mapping[str, Habits] = field(default_factory=dict)
    usual: Habits | None = None

    def behaviour(self, name: str, usual: Behaviour, *, sharpness: bool = False) -> Behaviour:
        """How the answers of this person are learnt."""
        habits = self.people.get(name, self.usual)
        return usual if habits is None else habits.of(usual, sharpness=sharpness)

    def near(self, other: Team, tolerance: float = 0.1) -> bool:
        """Whether everyone's answers are learnt in about the same way with the ``other`` team."""
        if self.usual is None or other.usual is None:
            return self.usual is other.usual
        return all(own.near(other.people.get(name, other.usual), tolerance) for name, own in self.people.items())

    def described_as(self, found: Team) -> Team:
        """The same team as far as learning is concerned, with everything else about its people taken from ``found``."""
        if self.usual is None:
            return self
        kept = {}
        for name, new in found.people.items():
            old = self.people.get(name, self.usual)
            kept[name] = replace(new, **{each: getattr(old, each) for each in LEARNT_WITH})
        return Team(kept, self.usual)

    def as_json(self) -> dict[str, Any] | None:
        """Plain values; None before people have been compared."""
        return None if self.usual is None else asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any] | None) -> Team:
        """The inverse of `as_json`."""
        if plain is None:
            return ALONE
        return cls({name: Habits(**one) for name, one in plain["people"].items()}, Habits(**plain["usual"]))


ALONE = Team()


@dataclass(frozen=True, eq=False)
class Site:
    """The Gaussian factor by which an answer updates the scores of its k items: exp(-z' precision z / 2 + shift' z), up to a
    constant."""

    precision: Array
    shift: Array

    def left_out(self, mean: Array, cov: Array) -> tuple[Array, Array]:
        """Mean [k] and covariance [k, k] of the scores without this answer, given those with it."""
        rest = np.eye(len(mean)) - cov @ self.precision
        try:
            solved = np.linalg.solve(rest, np.column_stack([mean - cov @ self.shift, cov]))
        except np.linalg.LinAlgError:
            return mean, cov
        before = (solved[:, 1:] + solved[:, 1:].T) / 2
        return (solved[:, 0], before) if (np.linalg.eigvalsh(before) >= -1e-9).all() else (mean, cov)


@dataclass(frozen=True, eq=False)
class Compared:
    """Log probabilities of one answer in nats, predicted from everyone else's answers and the person's earlier ones: if it was
    ``meant``; if sides were ``reversed``; by ``chance``; and if the person took what is shown ``first``.

    by_label, by_choice: if it was meant, at each of FACTORS for labels and for choices, from everyone else's answers alone.
    labels: how many it has; alike: how many agree with the prediction from everyone else's answers; positive, expected: how
        many are positive, and how many were predicted positive.
    """

    meant: float
    reversed: float
    chance: float
    first: float
    by_label: Array
    by_choice: Array
    labels: int
    alike: int
    positive: int
    expected: int


ALL_ALIKE: Array = np.zeros(len(FACTORS))
"""If sharpness is not estimated."""


def predicted(mean: Array, cov: Array, log_likelihood: LogLikelihood, behaviours: Sequence[Behaviour]) -> list[float]:
    """log P(answer) of people with each of these behaviours, on items whose scores are N(mean [k], cov [k, k])."""
    values, vectors = np.linalg.eigh(cov)
    z = mean + fixed_points(len(mean), POINTS) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    found = []
    for behaviour in behaviours:
        each = log_likelihood(z, behaviour)
        top = each.max()  # SciPy's logsumexp takes ten times as long for so few numbers
        found.append(float(top + np.log(np.exp(each - top).mean())))
    return found


def by_sharpness(mean: Array, cov: Array, log_likelihood: LogLikelihood, usual: Behaviour) -> tuple[Array, Array]:
    """log P(answer) at each of FACTORS for labels and for choices, on items whose scores are N(mean [k], cov [k, k])."""
    by_label = [replace(usual, w=usual.w * factor) for factor in FACTORS]
    by_choice = [replace(usual, K=usual.K * factor) for factor in FACTORS]
    found = np.array(predicted(mean, cov, log_likelihood, by_label + by_choice))
    return found[: len(FACTORS)], found[len(FACTORS) :]


def agreement(labels: Array, mean: Array) -> tuple[int, int, int, int]:
    """Of an answer's labels [k] (+1, -1, 0: none) on items with these predicted scores [k], the four counts of `Compared`."""
    told, called, known = labels > 0, mean > 0, labels != 0
    return int(known.sum()), int((told == called)[known].sum()), int(told[known].sum()), int(called[known].sum())


def team_of(
    answers: Mapping[str, Sequence[Compared]], usual_lapse: float, manners: Mapping[str, Array] | None = None
) -> Team:
    """The habits of everyone whose answers were compared, and the team's, for people with too few answers. ``manners``: the
    probability of each person's manner, if everybody's answers were judged together."""
    names = list(answers)
    evidence = np.array([_type_evidence(answers[name]) for name in names]).reshape(len(names), -1)
    shares, types = _fitted(evidence)
    lapse, takes_first, careless, turned = _TRAITS
    enough = np.array([_enough(answers[name]) for name in names], dtype=bool)
    most = float(np.append(1 - types[enough] @ lapse, 1 - shares @ lapse).max())

    def described(probable: Array) -> Habits:
        rate = float(probable @ lapse)
        trusted = min((1 - rate) / most, 1.0) * (1 - usual_lapse)
        absent = probable * lapse
        first = float(absent @ takes_first / absent.sum())
        return Habits(rate, min(1 - trusted, MOST_LAPSES), first, float(probable @ careless), float(probable @ turned))

    team = described(shares)
    label, choice = (_sharpness([[getattr(one, name) for one in answers[who]] for who in names]) for name in _FACTORED)
    found = {}
    for at, name in enumerate(names):
        found[name] = replace(
            described(types[at]) if enough[at] else team,
            label_sharpness=label[at],
            choice_sharpness=choice[at],
            own=bool(enough[at]),
            **_counted(answers[name]),
        )
    return Team(_with_manners(found, manners, usual_lapse) if manners else found, team)


def _with_manners(people: Mapping[str, Habits], manners: Mapping[str, Array], usual_lapse: float) -> dict[str, Habits]:
    """The habits with the manner in which people answer, as judged together; trust is relative to the most careful person."""
    enough = [name for name, own in people.items() if own.own]
    most = max((float(manners[name][MEANT]) for name in enough), default=1.0)
    found = dict(people)
    for name in enough:
        meant, chance, turned = manners[name].tolist()
        learnt_lapse = min(1 - meant / most * (1 - usual_lapse), MOST_LAPSES)
        found[name] = replace(people[name], learnt_lapse=learnt_lapse, careless=chance, reversed=turned)
    return found


_FACTORED = ("by_label", "by_choice")


def _traits() -> tuple[Array, Array, Array, Array]:
    """For every type: the rate of lapses, the share of these that take what is shown first, whether it is careless, and
    whether it is reversed."""
    n = len(LAPSES)
    lapse = np.concatenate([LAPSES, LAPSES, [1.0]])
    first = np.concatenate([np.zeros(n), np.full(n, TAKES_FIRST), [0.0]])
    careless = np.concatenate([LAPSES >= CARELESS_LAPSE] * 2 + [[False]]).astype(float)
    turned = np.zeros(2 * n + 1)
    turned[-1] = 1.0
    return lapse, first, careless, turned


_TRAITS = _traits()
_ODDS = np.concatenate([EXPECTED, SELDOM * EXPECTED, [REVERSED_ODDS]])


def _type_evidence(answers: Sequence[Compared]) -> Array:
    """log P(answers | type) for every type."""
    meant, turned, chance, first = np.array([[one.meant, one.reversed, one.chance, one.first] for one in answers]).T[
        :, :, None
    ]
    habit = np.logaddexp(np.log1p(-TAKES_FIRST) + chance, np.log(TAKES_FIRST) + first)
    return np.concatenate(
        [
            np.logaddexp(np.log1p(-LAPSES) + meant, np.log(LAPSES) + chance).sum(axis=0),
            np.logaddexp(np.log1p(-LAPSES) + meant, np.log(LAPSES) + habit).sum(axis=0),
            np.logaddexp(np.log1p(-REVERSED_LAPSE) + turned, np.log(REVERSED_LAPSE) + chance).sum(axis=0),
        ]
    )


def _fitted(evidence: Array) -> tuple[Array, Array]:
    """How often each type occurs [T], and its probability for each person [P, T], given log evidence [P, T]."""
    expected = _ODDS / _ODDS.sum()
    shares, types = expected, np.empty_like(evidence)
    for _ in range(ROUNDS):
        log_types = np.log(shares) + evidence
        types = np.exp(log_types - logsumexp(log_types, axis=1, keepdims=True))
        shares = (PRIOR_PEOPLE * expected + types.sum(axis=0)) / (PRIOR_PEOPLE + len(evidence))
    return shares, types


def _sharpness(evidence: Sequence[Sequence[Array]]) -> list[float]:
    """Each person's sharpness relative to the team's: posterior means of its logarithm, minus their mean weighted by answers."""
    logs = np.log(FACTORS)
    prior = -FACTOR_PRIOR_NATS * np.abs(logs) / np.log(2)
    log_p = prior + np.array([np.sum(one, axis=0) for one in evidence]).reshape(len(evidence), -1)
    found = np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True)) @ logs
    counts = np.array([len(one) for one in evidence], dtype=float)
    centre = float(counts @ found / counts.sum()) if counts.sum() else 0.0
    return [float(each) for each in np.exp(found - centre)]


def _enough(answers: Sequence[Compared]) -> bool:
    return max(len(answers), sum(one.labels for one in answers) // LABELS_AN_ANSWER) >= FEWEST


def _counted(answers: Sequence[Compared]) -> dict[str, Any]:
    labels, alike = sum(one.labels for one in answers), sum(one.alike for one in answers)
    told, called = (sum(getattr(one, name) for one in answers) / max(labels, 1) for name in ("positive", "expected"))
    guessed = told * called + (1 - told) * (1 - called)
    return {"answers": len(answers), "labels": labels, "alike": alike, "by_chance": guessed}
