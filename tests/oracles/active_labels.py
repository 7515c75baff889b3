"""Labels of random or uncertain items and logistic regression, as one would write it down: a loop, a pipeline, a grid search."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def called_positive(
    X: np.ndarray, truth: np.ndarray, order: list[int], *, uncertain: bool, most: int
) -> list[np.ndarray]:
    """Which items [n] are called positive after 1, 2, … ``most`` labels, by people who are always right."""
    scaler = StandardScaler().fit(X)
    rows: list[int] = []
    waiting: list[int] = []
    decision = np.zeros(len(X))
    fitted = tuned = 0
    C = 1.0
    found = []
    while len(rows) < most:
        if not waiting:
            left = [row for row in order if row not in rows]
            if uncertain and len({bool(truth[row]) for row in rows}) == 2:
                left.sort(key=lambda row: abs(decision[row]))
            waiting = left[: max(1, int((1.1 - 1) * len(rows)))]
        rows.append(waiting.pop(0))
        labels = truth[rows]
        if len(rows) >= 1.1 * fitted:
            fitted = len(rows)
            if labels.all() or not labels.any():
                decision = np.full(len(X), 1.0 if labels[0] else -1.0)
            else:
                ordered = sorted(rows)
                if len(rows) >= 1.25 * tuned:
                    tuned, C = len(rows), _best_strength(scaler.transform(X[ordered]), truth[ordered])
                model = make_pipeline(scaler, LogisticRegression(C=C, max_iter=500))
                model[-1].fit(scaler.transform(X[ordered]), truth[ordered])
                decision = model.decision_function(X)
        found.append(decision > 0)
    return found


def _best_strength(X: np.ndarray, y: np.ndarray) -> float:
    folds = min(5, int(y.sum()), int((~y).sum()))
    if folds < 2:
        return 1.0
    search = GridSearchCV(
        LogisticRegression(max_iter=500), {"C": 10.0 ** np.arange(-4, 3)}, cv=folds, scoring="neg_log_loss"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(search.fit(X, y).best_params_["C"])
