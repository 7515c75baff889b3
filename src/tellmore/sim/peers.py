"""Methods other than the learner: single labels with logistic regression, or words alone.

A peer has the same interface as a learner, so that a trial treats both alike. It asks for one label at a time, but chooses
several items ahead: the more labels it has, the less one more changes. The strength of its regression is chosen by
cross-validation on its labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tellmore import kinds
from tellmore.errors import SettingError, needs
from tellmore.kinds.label import LabelAnswer
from tellmore.options import one_of
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.sim.config import Config
from tellmore.sim.starting import start_of
from tellmore.sim.truth import Truth
from tellmore.types import Answer, Array

RowNumbers: TypeAlias = NDArray[np.intp]

WORDS_ALONE = "words-alone"
STRENGTHS = np.logspace(-4, 2, 7)
"""Values of the regression's C to choose from."""
OWN_STRENGTH = 1.0
"""scikit-learn's default C, used if nothing is tuned."""
FOLDS, MOST_STEPS = 5, 300
REFIT_GROWTH, TUNE_GROWTH = 1.1, 1.25
"""The regression is fitted again, or its strength chosen again, when the number of labels has grown by this factor."""
COMMITTEE = 5


@dataclass(frozen=True)
class Recipe:
    """A method: ``choose`` returns some rows to label next; ``space`` returns the features of the regression; ``ahead``: how many
    rows may be chosen at once, as a share of the existing labels; ``strength``: a fixed C; None: by cross-validation."""

    title: str
    space: Callable[[Pool], Array]
    choose: Callable[[Peer], RowNumbers]
    ahead: float = REFIT_GROWTH - 1
    strength: float | None = None


class Peer:
    """Labels of single items, chosen by a recipe, each item at most once, and a logistic regression on them."""

    def __init__(self, recipe: Recipe, pool: Pool, seed: int) -> None:
        self.recipe, self.pool, self.seed = recipe, pool, seed
        self.order = np.random.default_rng([seed, 0x9EE]).permutation(len(pool))
        self.features = recipe.space(pool)
        self.labels = np.full(len(pool), np.nan)
        self.strength = OWN_STRENGTH if recipe.strength is None else recipe.strength
        self.tool: Any = None  # what `choose` keeps from one call to the next
        self._mean = np.zeros(len(pool))
        self._next: list[int] = []
        self._fitted = self._tuned = 0

    @property
    def told(self) -> RowNumbers:
        """The rows with a label."""
        return np.flatnonzero(np.isfinite(self.labels))

    @property
    def both(self) -> bool:
        """Whether there are labels of both sides."""
        return len(np.unique(self.labels[self.told])) == 2

    @property
    def open_rows(self) -> RowNumbers:
        """The rows without a label, in a fixed random order."""
        return np.asarray(self.order[np.isnan(self.labels[self.order])])

    @property
    def batch(self) -> int:
        """How many rows may be chosen at once."""
        return min(max(1, int(self.recipe.ahead * len(self.told))), len(self.open_rows))

    def ask(self) -> Question | None:
        """A label question about the next item; None if all have a label."""
        if not self._next:
            with _quiet():
                self._next = [int(row) for row in self.recipe.choose(self)] if self.batch else []
        return Question(kinds.single().name, [self.pool.ids[self._next[0]]]) if self._next else None

    def tell(self, question: Question, answer: Answer, person: str = "") -> None:
        """Learn from a label."""
        assert isinstance(answer, LabelAnswer)
        self._next.pop(0)
        self.labels[self.pool.rows(question.items)] = float(answer.positive)
        if len(self.told) >= REFIT_GROWTH * self._fitted:
            with _quiet():
                self._fit()

    def scores(self) -> tuple[Array, Array]:
        """Scores [n], above 0 for items predicted positive, and variances of 0, because they are not known."""
        return self._mean, np.zeros_like(self._mean)

    def _fit(self) -> None:
        known = self.told
        self._fitted = len(known)
        if not self.both:
            self._mean = np.full(len(self.pool), 1.0 if self.labels[known[0]] else -1.0)
            return
        if self.recipe.strength is None and len(known) >= TUNE_GROWTH * self._tuned:
            self._tuned, self.strength = len(known), tuned_strength(self.features[known], self.labels[known])
        self._mean = (
            regression(self.strength).fit(self.features[known], self.labels[known]).decision_function(self.features)
        )


@dataclass(frozen=True)
class WordsAlone:
    """No answers: an item gets the side whose words are nearer to it, by the difference of mean cosines."""

    mean: Array

    def ask(self) -> Question | None:
        """None: it asks nothing."""
        return None

    def tell(self, question: Question, answer: Answer, person: str = "") -> None:
        """Always an error: it asks nothing."""
        raise SettingError("words alone ask nothing and learn nothing")

    def scores(self) -> tuple[Array, Array]:
        """Scores [n] and variances of 0."""
        return self.mean, np.zeros_like(self.mean)


def make_peer(config: Config, truth: Truth, seed: int) -> Peer | WordsAlone:
    """The peer that ``config`` names."""
    if config.peer == WORDS_ALONE:
        start = start_of(config, truth, seed)
        if start is None or not len(start.positive) or not len(start.negative):
            raise SettingError(f"{WORDS_ALONE} needs words of both sides, like and unlike what is looked for")
        positive, negative = (unit_rows(side).mean(axis=0) for side in (start.positive, start.negative))
        return WordsAlone(unit_rows(truth.pool.X) @ (positive - negative))
    one_of("peer", config.peer, tuple(RECIPES))
    return Peer(RECIPES[config.peer], truth.pool, seed)


def regression(strength: float) -> Any:
    """scikit-learn's logistic regression with this C."""
    with needs("scikit-learn", "race"):
        from sklearn.linear_model import LogisticRegression
    return LogisticRegression(C=strength, max_iter=MOST_STEPS)


def tuned_strength(X: Array, y: Array) -> float:
    """The C with the smallest log loss in cross-validation; scikit-learn's default while a side has a single label."""
    with needs("scikit-learn", "race"):
        from sklearn.linear_model import LogisticRegressionCV
    folds = min(FOLDS, int(y.sum()), int((1 - y).sum()))
    if folds < 2:
        return OWN_STRENGTH
    search = LogisticRegressionCV(
        Cs=STRENGTHS,
        cv=folds,
        scoring="neg_log_loss",
        max_iter=MOST_STEPS,
        l1_ratios=(0,),
        use_legacy_attributes=False,
    )
    return float(search.fit(X, y).C_)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the libraries' warnings about few or easily separated labels, which are normal at the beginning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# Features


def unit_rows(X: Array) -> Array:
    """The rows scaled to length 1."""
    X = np.asarray(X, dtype=float)
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12))


def columns(pool: Pool) -> Array:
    """The columns with mean 0 and variance 1, as from scikit-learn's StandardScaler."""
    X = np.asarray(pool.X, dtype=float)
    sd = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(sd > 0, sd, 1))


def covariance(pool: Pool) -> Array:
    """The principal components, each multiplied by its standard deviation once more, so that a regression expects weights to vary
    as the items do."""
    X = pool.coordinates.into(np.asarray(pool.X, dtype=float))
    values, vectors = np.linalg.eigh(np.cov(X, rowvar=False).reshape(X.shape[1], -1))
    Z = (X - X.mean(axis=0)) @ (vectors * np.sqrt(np.maximum(values, 0)))
    return np.asarray(Z * np.sqrt(X.shape[1] / np.mean(np.sum(Z**2, axis=1))))


# Choosing


def at_random(peer: Peer) -> RowNumbers:
    """Items in a random order."""
    return peer.open_rows[: peer.batch]


def least_sure(peer: Peer) -> RowNumbers:
    """The items nearest to probability 1/2; at random until both sides have a label."""
    if not peer.both:
        return at_random(peer)
    rows = peer.open_rows
    return rows[np.argsort(np.abs(peer.scores()[0][rows]), kind="stable")[: peer.batch]]


def typical(peer: Peer) -> RowNumbers:
    """scikit-activeml's TypiClust: the most typical item of each of the largest clusters without a label."""
    with needs("scikit-activeml", "race"):
        from skactiveml.pool import TypiClust
    chooser = TypiClust(random_state=peer.seed, cluster_algo_dict={"n_init": 1, "max_iter": 20})
    return _chosen(peer, chooser.query(_directions(peer), peer.labels, batch_size=peer.batch))


def covering(peer: Peer) -> RowNumbers:
    """scikit-activeml's ProbCover: the items with the most neighbours that are not near any labelled item."""
    with needs("scikit-activeml", "race"):
        from skactiveml.pool import ProbCover
    if peer.tool is None:
        peer.tool = ProbCover(n_classes=2, deltas=np.linspace(0.05, 1.5, 30), random_state=peer.seed)
    return _chosen(peer, peer.tool.query(_directions(peer), peer.labels, batch_size=peer.batch))


def disputed(peer: Peer) -> RowNumbers:
    """scikit-activeml's BALD: the items on which a committee of regressions, each fitted on other labels, disagrees most."""
    with needs("scikit-activeml", "race"):
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import GreedyBALD
    if not peer.both:
        return at_random(peer)
    rng, known = np.random.default_rng([peer.seed, len(peer.told)]), peer.told
    drawn = [rng.choice(known, len(known)) for _ in range(COMMITTEE)]
    sides = [known[np.flatnonzero(peer.labels[known] == side)[0]] for side in (0, 1)]
    committee = [
        SklearnClassifier(regression(peer.strength), classes=[0, 1]).fit(peer.features[rows], peer.labels[rows])
        for rows in (np.append(own, sides) for own in drawn)
    ]
    chooser = GreedyBALD(random_state=peer.seed)
    found = chooser.query(peer.features, peer.labels, ensemble=committee, fit_ensemble=False, batch_size=peer.batch)
    return _chosen(peer, found)


def _directions(peer: Peer) -> Array:
    """The embeddings scaled to length 1, for which the two coverage methods were designed."""
    return unit_rows(peer.pool.coordinates.into(np.asarray(peer.pool.X, dtype=float)))


def _chosen(peer: Peer, rows: RowNumbers) -> RowNumbers:
    """The rows without a label, each once; at random if the method names none."""
    found = [row for row in dict.fromkeys(int(row) for row in rows) if np.isnan(peer.labels[row])]
    return np.array(found) if found else at_random(peer)


RECIPES = {
    "random-plain": Recipe(
        "random labels, logistic regression with default settings", columns, at_random, strength=OWN_STRENGTH
    ),
    "uncertain-plain": Recipe(
        "uncertain labels, logistic regression with default settings", columns, least_sure, strength=OWN_STRENGTH
    ),
    "uncertain-covariance-plain": Recipe(
        "uncertain labels, regression on the covariance, C = 1", covariance, least_sure, strength=OWN_STRENGTH
    ),
    "random": Recipe("random labels, logistic regression", columns, at_random),
    "uncertain": Recipe("uncertain labels, logistic regression", columns, least_sure),
    "random-covariance": Recipe("random labels, regression on the covariance", covariance, at_random),
    "uncertain-covariance": Recipe("uncertain labels, regression on the covariance", covariance, least_sure),
    "typiclust": Recipe("TypiClust, regression on the covariance", covariance, typical, ahead=0.5),
    "probcover": Recipe("ProbCover, regression on the covariance", covariance, covering, ahead=0.5),
    "bald": Recipe("BALD, regression on the covariance", covariance, disputed, ahead=0.2),
}
