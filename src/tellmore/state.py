"""The state of a learner at one moment: the beliefs, and what follows from them for the items of the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tellmore.core import looks
from tellmore.core.calibration import Calibration
from tellmore.core.coordinates import Rows
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian, Step
from tellmore.core.habits import ALONE, Team
from tellmore.core.mixture import Mixture
from tellmore.core.predict import MANY
from tellmore.core.scan import PoolRows, PoolScan, Scan, followed, refreshed, scans_of, sides_changed, visit
from tellmore.core.update import UpdateInfo
from tellmore.policy.calibration import calibration_of
from tellmore.policy.tally import KEPT_CHANGES, NOTHING, Tally
from tellmore.types import Array

Update: TypeAlias = Callable[[Gaussian, Behaviour], tuple[Gaussian, UpdateInfo]]
"""A belief after an answer of a person with this behaviour, and what the update did."""
SAMPLE = 1_000
"""Items sampled from a larger pool for a number that is needed after every answer."""


@dataclass(frozen=True, eq=False)
class State:
    """What was learnt from the answers so far; the beliefs are over (1, z), with z in the learner's coordinates.

    ``rows``: the items that the beliefs are about. ``known``: the scan of each belief, if already computed. ``team``: the
    habits of the people who answered, with which their answers were learnt.
    """

    mixture: Mixture
    rows: PoolRows
    tally: Tally = NOTHING
    known: tuple[Scan, ...] | None = None
    team: Team = ALONE

    @cached_property
    def scans(self) -> tuple[Scan, ...]:
        """Mean and variance of every item's score under each belief, computed when first needed."""
        return scans_of(self.rows, self.mixture.beliefs) if self.known is None else self.known

    def unscored(self) -> State:
        """The same state without its scans, which take memory."""
        return self.about(self.rows)

    def about(self, rows: PoolRows) -> State:
        """The same beliefs about other items, none of them scored yet."""
        return State(self.mixture, rows, self.tally, team=self.team)

    @property
    def scored(self) -> bool:
        """Whether the scans are already computed."""
        return self.known is not None or "scans" in vars(self)

    def sampled(self) -> State:
        """The same beliefs about a sample of the items, with their scores if they are at hand."""
        some = sample_rows(len(self.rows))
        few = self.rows.take(some)
        if not self.scored or not isinstance(self.rows, Rows):
            return self.about(few)
        known = tuple(PoolScan(few, scan.mean[some], scan.variance[some], scan.refreshes) for scan in self.scans)
        return replace(self, rows=few, known=known)

    @property
    def asking(self) -> int:
        """Which belief chooses questions: before the first answer the one without a start, because its questions best show
        whether the start is right."""
        return self.mixture.asking if self.tally.answers else 0

    @property
    def belief(self) -> Gaussian:
        """The belief with which questions are chosen."""
        return self.mixture.beliefs[self.asking]

    @property
    def scan(self) -> Scan:
        """The scan of that belief."""
        return self.scans[self.asking]

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """Mean [n] and variance [n] of every item's score over all beliefs, read-only."""
        mean, variance = (
            each.view() for each in self.mixture.moments_of([(scan.mean, scan.variance) for scan in self.scans])
        )
        mean.flags.writeable = variance.flags.writeable = False
        return mean, variance

    @cached_property
    def calibration(self) -> Calibration:
        """How the random checks so far correct the probabilities."""
        return calibration_of(self.tally.checks)

    def probabilities(self, w: float) -> Array:
        """Probability of positive of every item, averaged over all beliefs, without the correction by the checks."""
        look = partial(looks.probabilities, mixture=self.mixture.weighing, w=w, of=len(self.rows))
        return np.concatenate(visit(self.rows, self.scans, look))

    @cached_property
    def standing(self) -> tuple[float, float]:
        """The expected share of items on the wrong side of the boundary for lack of answers, and the share predicted
        positive."""
        found = visit(self.rows, self.scans, partial(looks.standing, mixture=self.mixture.weighing))
        doubt, positive = (sum(each) / len(self.rows) for each in zip(*found, strict=True))
        return float(doubt), float(positive)

    def supposing(self, behaviour: Behaviour, update: Update) -> State:
        """The state if an answer has been given but its content is not known: every belief gets the covariance after
        ``update`` and keeps its mean."""
        learnt, infos = self.mixture.updated(behaviour, update)
        beliefs = tuple(one.with_mean(was.mean) for one, was in zip(learnt, self.mixture.beliefs, strict=True))
        steps = [tuple(step.unmoved for step in info.steps) for info in infos]
        scans = refreshed(self.scans, steps, beliefs)
        return replace(self, mixture=replace(self.mixture, beliefs=beliefs), known=scans)

    def told(
        self, behaviour: Behaviour, update: Update, *, scored: bool = True
    ) -> tuple[State, tuple[UpdateInfo, ...]]:
        """The state after every belief has learnt, by ``update``, an answer of a person with this ``behaviour``, ``scored`` or
        not, and what it did to each."""
        beliefs, infos = self.mixture.updated(behaviour, update)
        mixture = self.mixture.told(beliefs, np.array([info.elbo_nats for info in infos]))
        scans = refreshed(self.scans, [info.steps for info in infos], beliefs) if scored else None
        return replace(self, mixture=mixture, known=scans), infos

    def changed_since(self, before: State) -> float:
        """The share of the items whose predicted side differs from that in the state ``before``."""
        look = partial(looks.changed, before=before.mixture.weighing, after=self.mixture.weighing)
        return float(sum(visit(self.rows, (*before.scans, *self.scans), look)) / len(self.rows))

    def after_all(self, start: State, means: Sequence[Array], steps: Sequence[Sequence[Step]] | None) -> State:
        """This state about all items, and with the share of predictions that each of the last answers changed.

        start: the state before the answers, about all items.
        means: those of the mixture before the last answers and after each of them.
        steps: what each belief took since the start, if the scores of all items are to be computed from those at the start.
        """
        rows, sides = start.rows, np.column_stack(means)
        if len(means) == 1:
            known, changed = start.scans if start.scored else None, np.zeros(0, dtype=np.int64)
        elif steps is None:
            known, changed = None, sides_changed(rows, sides)
        else:
            known, changed = followed(start.scans, [tuple(one) for one in steps], self.mixture.beliefs, sides)
        shares = (*(changed / len(rows))[::-1].tolist(), *start.tally.changed)[:KEPT_CHANGES]
        return replace(self, rows=rows, known=known, tally=replace(self.tally, changed=shares))

    def expected_accuracy(self, w: float) -> float:
        """The mean of max(p, 1 - p) over the items, or over a sample if there are many."""
        quickly = partial(looks.probabilities, mixture=self.mixture.weighing, w=w, of=2 * MANY)
        look = partial(quickly, rows=sample_rows(len(self.rows)) if len(self.rows) > SAMPLE else None)
        p = np.concatenate(visit(self.rows, self.scans, look))
        return float(np.mean(np.maximum(p, 1 - p)))


@lru_cache(maxsize=16)
def sample_rows(n: int) -> NDArray[np.int64]:
    """A random sample of n items, the same at each call; all of them if they are few."""
    return np.sort(np.random.default_rng(n).choice(n, SAMPLE, replace=False)) if n > SAMPLE else np.arange(n)
