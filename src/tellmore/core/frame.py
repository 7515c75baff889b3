"""How a learner begins: its coordinates, its belief before the first answer, and how sharp it expects answers to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tellmore.core.coordinates import Coordinates, Moments
from tellmore.core.evidence import Behaviour
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.core.prior import classic_prior, paper_prior, pool_prior, usual_sharpness
from tellmore.core.start import unstarted
from tellmore.errors import PoolError
from tellmore.options import one_of, positive_number

CLASSIC = Behaviour(9.0, 6.75)
"""The sharpness of version 0.1, for unit-norm embeddings."""
PREDICTING_SHARPNESS = 2.0
"""Probabilities are this many times as sharp as the labels learnt: with labels as sharp, a belief would be sure too soon."""


@dataclass(frozen=True, eq=False)
class Frame:
    """``prior`` is over (1, z), with z the items in ``coordinates``; ``behaviour`` and ``w``, the sharpness of probabilities,
    are in units of the scores that the prior expects. ``paired``: whether a second belief begins beside the prior, see
    `core.start`."""

    coordinates: Coordinates
    prior: Gaussian
    behaviour: Behaviour
    w: float
    paired: bool = False

    @property
    def beliefs(self) -> Mixture:
        """The beliefs before the first answer, if there is no start."""
        return unstarted(self.prior) if self.paired else Mixture.of(self.prior)

    def sharpened(self, w: float | None, K: float | None) -> Frame:
        """The same with a sharpness that the user chose, which all beliefs have; a given w is used for labels, thresholds and
        probabilities alike."""
        usual = self.behaviour
        behaviour = replace(usual, w=positive_number("w", w, usual.w), K=positive_number("K", K, usual.K))
        own = replace(self, behaviour=behaviour, paired=self.paired and w is None and K is None)
        return own if w is None else replace(own, behaviour=replace(behaviour, threshold=1.0), w=behaviour.w)


def frame_of(moments: Moments, prior: str | Gaussian) -> Frame:
    """How a learner begins on a pool with these moments; prior: ``pool``, ``isotropic``, ``classic`` or a belief over (1, x)."""
    if isinstance(prior, Gaussian):
        return given_frame(moments, prior)
    one_of("prior", prior, tuple(FRAMES))
    return FRAMES[prior](moments)


def pool_frame(moments: Moments, **options: float) -> Frame:
    """The default: centred and scaled coordinates, and classifiers along the directions in which the pool varies.

    ``options`` are those of `pool_prior`. The scores of the items then have a standard deviation of about 1, whatever the
    embeddings.
    """
    if moments.constant:
        raise PoolError(
            "all items have the same embedding, or differ only by rounding, so nothing can be learnt; if their numbers are far "
            "from 0, subtract the mean first: X - X.mean(axis=0)"
        )
    coordinates = Coordinates.of(moments)
    C = coordinates.covariance(moments)
    return replace(_usual(coordinates, pool_prior(C, **options), usual_sharpness(C)), paired=True)


def isotropic_frame(moments: Moments) -> Frame:
    """The coordinates of `pool_frame`, with all directions alike."""
    return pool_frame(moments, gamma=0.0)


def classic_frame(moments: Moments) -> Frame:
    """How version 0.1 began: for unit-norm embeddings of a few hundred dimensions and balanced classes."""
    coordinates = Coordinates(moments.mean, np.ones_like(moments.mean))
    return Frame(coordinates, classic_prior(moments.cov), CLASSIC, CLASSIC.w)


def paper_frame(d: int, scale: float = 1.0) -> Frame:
    """How the paper begins: the embeddings as they are, and N(0, scale I / D)."""
    return Frame(Coordinates.plain(d), paper_prior(d, scale=scale), CLASSIC, CLASSIC.w)


def given_frame(moments: Moments, belief: Gaussian) -> Frame:
    """How a learner begins with a given belief over (1, x): the larger its expected scores, the less sharp answers are per
    unit of score."""
    d = len(moments.mean)
    if belief.dim != d + 1:
        raise PoolError(f"the prior has {belief.dim - 1} dimensions and the pool {d}; they must agree")
    coordinates = Coordinates.of(moments)
    prior, C = coordinates.inward(belief), coordinates.covariance(moments)
    second = prior.cov + np.outer(prior.mean, prior.mean)
    typical = float(np.sum(second[1:, 1:] * C) + second[0, 0])
    if moments.constant:
        return Frame(coordinates, prior, CLASSIC, CLASSIC.w)
    return _usual(coordinates, prior, usual_sharpness(C, typical))


def _usual(coordinates: Coordinates, prior: Gaussian, behaviour: Behaviour) -> Frame:
    return Frame(coordinates, prior, behaviour, PREDICTING_SHARPNESS * behaviour.w)


FRAMES: dict[str, Callable[[Moments], Frame]] = {
    "pool": pool_frame,
    "isotropic": isotropic_frame,
    "classic": classic_frame,
}
