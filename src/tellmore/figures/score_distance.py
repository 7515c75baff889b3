"""Score against distance to the reference classifier: Figs. 1 and 13."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tellmore.figures.bench import Bench, Source
from tellmore.figures.exhibit import Exhibit
from tellmore.plotting import BLUE, VERMILION, new_figure
from tellmore.rows import Row, Rows, column, distinct, where
from tellmore.sim.score_model import fit_score_model
from tellmore.sim.truth import Truth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 600
"""Items shown per panel; the line and R^2 are those of all items."""
FOLDS = 5


def fig1(rows: Rows) -> Figure:
    """Mean score of items against theta'(1, x), with the fitted line, one panel per pool."""
    panels = distinct(rows, "pool")
    figure, grid = new_figure((len(panels) + 1) // 2, min(len(panels), 2), width=4.6, height=3.4)
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        own = where(rows, pool=panel)
        z, score = np.array(column(own, "distance")), np.array(column(own, "score"))
        a, b, r2, cv = (own[0][name] for name in ("a", "b", "r2", "r2_cross_validated"))
        axes.scatter(z, score, s=5, alpha=0.35, color=BLUE, linewidths=0, rasterized=True)
        ends = np.array([z.min(), z.max()])
        axes.plot(
            ends,
            a * ends + b,
            color=VERMILION,
            label=f"a = {a:.2f}, b = {b:.2f}\nR² = {r2:.2f}, cross-validated {cv:.2f}",
        )
        axes.set(title=panel, xlabel="distance to the classifier, θ'(1, x)", ylabel="mean score − threshold")
        axes.legend(loc="upper left")
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    return figure


def score_rows(bench: Bench, source: Source) -> list[Row]:
    """A sample of the items of one pool with their scores and distances, and the line fitted to all items."""
    truth = bench.truth(source)
    model = truth.model
    z = model.theta[0] + truth.pool.X.astype(float) @ model.theta[1:]
    score = truth.scores.mean - truth.scores.threshold
    shown = np.random.default_rng(0).permutation(len(z))[:POINTS]
    cross = {"r2_cross_validated": cross_validated(truth)}
    fitted = {
        "a": model.a,
        "b": model.b,
        "r2": model.r2,
        **cross,
        "sigma": model.sigma,
        "w": model.w,
        "K": model.K,
        "n": len(z),
    }
    return [
        {"pool": source.caption, "item": truth.pool.ids[i], "distance": float(z[i]), "score": float(score[i]), **fitted}
        for i in shown
    ]


def cross_validated(truth: Truth) -> float:
    """R² of scores predicted by a classifier and a line fitted without them, with the items in five parts."""
    X, score = truth.pool.X, truth.scores.mean - truth.scores.threshold
    part = np.random.default_rng(0).permutation(len(score)) % FOLDS
    predicted = np.empty(len(score))
    for fold in range(FOLDS):
        kept = part != fold
        model = fit_score_model(X[kept], truth.scores.mean[kept], truth.scores.threshold, truth.scores.spread()[kept])
        predicted[~kept] = model.b + model.a * (model.theta[0] + X[~kept].astype(float) @ model.theta[1:])
    return float(1 - np.sum((score - predicted) ** 2) / np.sum((score - score.mean()) ** 2))


def _pools(*parts: str) -> Callable[[Bench], Rows]:
    """A function that returns the rows of the pools for these parts, if they are available."""

    def collect(bench: Bench) -> Rows:
        sources = dict.fromkeys(bench.source(part) for part in parts if bench.has(part))
        return [row for source in sources for row in score_rows(bench, source)]

    return collect


_FIG1 = _pools("valence", "sentiment", "images", "faces")
_FIG13 = _pools("ratings")


def _compare(rows: Rows) -> str:
    def text(row: Row) -> str:
        return f"{row['pool']}: R² = {row['r2']:.2f}, {row['r2_cross_validated']:.2f} cross-validated in {FOLDS} parts"

    fits = [text(where(rows, pool=pool)[0]) for pool in distinct(rows, "pool")]
    return f"The paper shows an approximately affine relationship without giving R²; here {'; '.join(fits)}."


def _compare_fig13(rows: Rows) -> str:
    return (
        f"{_compare(rows)} The paper's panels are arousal and dominance of NRC and the adjectives of SocialSent; none of these "
        "scales is available, and valence and SocialSent are in Fig. 1, so VADER's ratings are shown instead."
    )


EXHIBITS = (
    Exhibit("fig1", "Fig. 1: score against distance for words, images and faces", _FIG1, fig1, _compare),
    Exhibit("fig13", "Fig. 13: score against distance, a further scale", _FIG13, fig1, _compare_fig13),
)
