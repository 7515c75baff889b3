"""The classifier as a scikit-learn LogisticRegression in a skops file, which runs without tellmore and without pickle.

Its probabilities are plug-in: sigmoid(slope w z) at the mean of the belief, not averaged over it. They are more extreme
than those of the ONNX export, and on the same side of one half, except for a few items if there is a start. If the project
scaled embeddings to length 1, the file contains a pipeline that does so first.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.classifier import Classifier
from tellmore.data.tfidf import Tfidf
from tellmore.errors import needs

NOTE = "plug-in probabilities at the mean of the belief; those averaged over the belief are in the ONNX export"


def sklearn_estimator(classifier: Classifier, metadata: dict[str, str]) -> Any:
    """A fitted LogisticRegression, or a pipeline of Normalizer and LogisticRegression; classes 0 and 1 (positive)."""
    with needs("scikit-learn", "sklearn"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import Normalizer
    mean = classifier.slope * classifier.w * np.asarray(classifier.belief.mean, dtype=np.float64)
    estimator = LogisticRegression()
    estimator.coef_ = mean[None, 1:]
    estimator.intercept_ = mean[:1]
    estimator.classes_ = np.array([0, 1])
    estimator.n_features_in_ = classifier.d
    estimator.n_iter_ = np.array([0], dtype=np.int32)
    whole = make_pipeline(Normalizer(), estimator) if classifier.normalised else estimator
    whole.tellmore_ = {**metadata, "note": NOTE}
    return whole


def skops_bytes(classifier: Classifier, metadata: dict[str, str]) -> bytes:
    """``sklearn_estimator`` as the bytes of a skops file."""
    return _skops(sklearn_estimator(classifier, metadata))


def tfidf_skops_bytes(path: Path) -> bytes:
    """The pipeline from texts to embeddings that was fitted on a project's texts, as the bytes of a skops file."""
    return _skops(Tfidf.load(path).pipeline)


def _skops(estimator: Any) -> bytes:
    with needs("skops", "sklearn"):
        import skops.io
    return bytes(skops.io.dumps(estimator, compression=zipfile.ZIP_DEFLATED))
