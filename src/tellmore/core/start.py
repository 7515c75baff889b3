"""A start: what is known about the classifier before the first answer, as beliefs that the answers then confirm or not.

A few examples, or another model's scores of many items, give a direction theta: the weights of a linear regression with the
pool's prior. It is scaled so that the scores of the pool vary along it as much as scores are expected to. One belief stays close
to theta. A second begins there and may move further, a third further than without a start; two ignore it. As long as
the close one is right, it predicts the answers best and keeps its weight; if not, the others soon predict better.

Answers that contradict a right start are frequent if people hardly agree. Two more beliefs expect that: they learn answers less
sharply, so they take fewer contradictions for evidence against the start.

Without a start there are two beliefs. One is sure that neither side is rare, so that the first answers teach it more than how
many items are positive; it chooses the questions. The other is less sure of that, and learns labels more sharply. Where a side
is rare, or answers are clear, it soon predicts them better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from tellmore.core.coordinates import MAX_ROWS, Rows
from tellmore.core.gaussian import Gaussian
from tellmore.core.mixture import Mixture
from tellmore.errors import SettingError
from tellmore.types import Array

STRENGTHS = 10.0 ** np.arange(-1, 5.5, 0.5)
"""Variances of a score's error that are tried, in units of the prior variance of scores."""
NOTHING = 1e-12
"""A direction along which scores vary by less than this share of their prior variance is only rounding."""


@dataclass(frozen=True)
class Trust:
    """How far a belief trusts a start: mean and standard deviation of the factor on theta, and the standard deviations of the
    ``rest`` of the weights and of the ``bias``, as shares of those without a start. ``sharpness``: how sharply it learns answers,
    as a share of the usual."""

    mean: float
    sd: float
    rest: float
    bias: float
    sharpness: float = 1.0


@dataclass(frozen=True)
class Bank:
    """Beliefs that begin from a start, from close to free for each sharpness, and prior ``odds``: of the beliefs without the
    start together, then of these."""

    trusts: tuple[Trust, ...]
    odds: tuple[float, ...]


OF_EXAMPLES = Bank(
    (Trust(1.0, 0.5, 0.3, 1 / 3), Trust(1.0, 0.5, 1.0, 1.0), Trust(1.0, 0.5, 2.0, 2.0)), (0.3, 20.0, 1.0, 0.1)
)
"""A small variance of the bias keeps the first answers from moving the boundary away from a good start. The last is for pools on
which answers are sharper than usual. A right start is kept through the first answers, which say little, because the closest
belief counts most."""
BLUNT = 0.25
"""How sharply answers are learnt by the beliefs that expect people to agree little, as a share of the usual."""
OF_SCORES = Bank(
    (
        Trust(1.0, 0.25, 0.15, 0.15),
        Trust(1.0, 0.25, 0.6, 0.6),
        Trust(1.0, 0.5, 2.0, 2.0),
        Trust(1.0, 0.25, 0.15, 0.15, BLUNT),
        Trust(1.0, 0.25, 0.6, 0.6, BLUNT),
    ),
    (0.1, 20.0, 1.0, 0.1, 6.0, 0.3),
)
"""Scores of many items say more than a few examples: what they leave open is smaller. With the freedom of OF_EXAMPLES, answers
made a right start worse for half an hour. The factor on theta is surer too: where people hardly agree, a few answers against a
right start made it negative, and with it most predictions wrong."""
NOTHING_KNOWN = Bank((Trust(0.0, 0.0, 1.0, 2.0, 2.0),), (0.6, 0.4))
"""The belief beside the prior if there is no start."""
MANY_SCORES = 100
"""Fewer scores than this are trusted like examples."""


def unstarted(prior: Gaussian) -> Mixture:
    """``prior``, and a belief that is less sure of the bias and learns labels more sharply."""
    return _with(Mixture.of(prior), np.zeros(prior.dim), NOTHING_KNOWN)


def started(unstarted: Mixture, theta: Array, bank: Bank = OF_EXAMPLES) -> Mixture:
    """The beliefs without a start, and those that begin from theta [D], as many as the ``bank`` has."""
    return replace(_with(unstarted, theta, bank), started=len(bank.trusts))


def _with(known: Mixture, theta: Array, bank: Bank) -> Mixture:
    """The beliefs ``known``, and those of the ``bank``, which differ from the first of them."""
    others = (trusting(known.beliefs[0], theta, trust) for trust in bank.trusts)
    return Mixture.of(
        *known.beliefs,
        *others,
        odds=(*(bank.odds[0] * known.weights).tolist(), *bank.odds[1:]),
        sharpness=(*known.sharpness, *(trust.sharpness for trust in bank.trusts)),
    )


def trusting(prior: Gaussian, theta: Array, trust: Trust) -> Gaussian:
    """The belief that trusts theta this far."""
    part = np.full(prior.dim, trust.rest)
    part[0] = trust.bias
    cov = prior.cov * np.outer(part, part) + trust.sd**2 * np.outer(theta, theta)
    return Gaussian.from_moments(prior.mean + trust.mean * theta, (cov + cov.T) / 2)


def direction_of_examples(Z: Array, sides: Array, prior: Gaussian, C: Array) -> Array:
    """theta [D] from examples Z [m, d] with sides [m] of +1 and -1; the items have covariance C.

    Both sides have the same weight, however many examples they have, and one example counts as much as the prior.
    """
    weights = prior.cov[1:, 1:]
    share = np.where(sides > 0, np.mean(sides > 0), np.mean(sides < 0))
    noise = _typical(weights, C) * np.where(np.ptp(sides) > 0, 2 * share, 1.0)
    reach = weights @ Z.T
    return _scaled(reach @ np.linalg.solve(Z @ reach + np.diag(noise), sides), prior, C)


def direction_of_scores(rows: Rows, scores: Array, prior: Gaussian, C: Array, border: float | None = None) -> Array:
    """theta [D] from another model's scores [n] of the items, NaN for an item without one. Generalised cross-validation
    chooses the strength of the regression. ``border``: the score above which an item is positive, if it is known."""
    known = np.flatnonzero(np.isfinite(scores))
    used = known[:: -(-known.size // MAX_ROWS)]
    y = scores[used] - scores[used].mean()
    root = np.linalg.cholesky(prior.cov[1:, 1:])
    gram, pull = np.zeros_like(root), np.zeros(len(root))
    for part in np.array_split(used, -(-used.size // 4096)):
        features = rows[part] @ root
        gram += features.T @ features
        pull += features.T @ (scores[part] - scores[used].mean())
    values, vectors = np.linalg.eigh(gram)
    along = vectors.T @ pull
    best = min(STRENGTHS, key=lambda noise: _cross_validated(values, along, float(y @ y), used.size, noise))
    weights = along / (values + best)
    theta = _scaled(root @ (vectors @ weights), prior, C)
    predicted_sd = float(np.sqrt(np.sum(values * weights**2) / used.size))
    theta[0] = np.sqrt(_typical(prior.cov[1:, 1:], C)) * _level(scores[known], predicted_sd, border)
    return theta


def _cross_validated(values: Array, along: Array, total: float, n: int, noise: float) -> float:
    """The generalised cross-validation error of a ridge regression, from the eigenvalues of its Gram matrix."""
    kept = values / (values + noise)
    residual = total - float(np.sum(along**2 * (2 - kept) / (values + noise)))
    return n * residual / (n - float(kept.sum())) ** 2 if n > kept.sum() else np.inf


def _level(scores: Array, predicted_sd: float, border: float | None) -> float:
    """How many standard deviations of the scores the boundary lies below the average item: the middle of two estimates.

    Noisy verdicts on a rare class call too many items positive: if 10 % are positive and 70 % of the verdicts right, 34 %.
    What the regression predicts varies less than the verdicts do (``predicted_sd``), so it calls too few items positive. Without
    a ``border``, it is 1/2 if all scores are between 0 and 1, 0 if both signs occur, and their mean otherwise.
    """
    if border is None and scores.min() >= 0 and scores.max() <= 1:
        border = 0.5
    elif border is None:
        border = 0.0 if scores.min() < 0 < scores.max() else float(scores.mean())
    called = ndtri((np.sum(scores > border) + 0.5) / (scores.size + 1))
    most = -ndtri(0.5 / (scores.size + 1))
    predicted = np.clip((scores.mean() - border) / max(predicted_sd, 1e-300), -most, most)
    return float(called + predicted) / 2


def _typical(weights: Array, C: Array) -> float:
    """The prior variance of the scores of the items."""
    return float(np.sum(weights * C))


def _scaled(u: Array, prior: Gaussian, C: Array) -> Array:
    """(0, u), scaled so that the scores of the items vary along it by their prior variance."""
    varies = float(u @ C @ u)
    if not varies > NOTHING * _typical(prior.cov[1:, 1:], C):
        raise SettingError(
            "the start says nothing about the embeddings: its two sides are the same, or its scores are unrelated; choose others"
        )
    return np.concatenate([[0.0], u * np.sqrt(_typical(prior.cov[1:, 1:], C) / varies)])
