"""Turns texts into vectors without a downloaded model: TF-IDF and truncated SVD by scikit-learn, fitted on the items' texts.

The fitted model is stored as plain arrays, never as pickled objects, because a project may come from somebody unknown.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tellmore.errors import DataFileError, MissingExtraError, SettingError
from tellmore.types import Array

TFIDF = "tfidf"
TFIDF_FILE = "tfidf.npz"
MOST_DIMENSIONS = 300
MOST_TERMS = 20_000
RANK_TOLERANCE = 1e-5
"""Directions whose variation is less than this fraction of the largest are rounding errors, and are left out: along them,
words would be far outside the texts."""
LARGE = 200
"""From this many texts on, a term that occurs in only one of them is left out: it says nothing about the others."""
OPTIONS: dict[str, Any] = {
    "lowercase": True,
    "token_pattern": r"(?u)\b\w+\b",
    "ngram_range": (1, 2),
    "sublinear_tf": True,
}


@dataclass(frozen=True)
class Tfidf:
    """The terms, words and pairs of words [V], the weight of each [V], and the directions [d, V]."""

    terms: tuple[str, ...]
    idf: Array
    components: Array

    @classmethod
    def fit(cls, texts: Sequence[str]) -> Tfidf:
        """Fit the model on ``texts``; raises SettingError if they cannot be compared by their words."""
        filled = [text for text in texts if text.strip()]
        if not filled:
            raise SettingError(f"--embed {TFIDF}: every text is empty; name the column with the texts by --text-column")
        distinct = len(set(filled))
        if distinct == 1:
            raise SettingError(f"--embed {TFIDF}: all texts are the same, so nothing tells the items apart")
        vectoriser, weighted = _weighted(filled)
        dimensions = max(1, min(MOST_DIMENSIONS, distinct - 1, weighted.shape[1] - 1))
        reduced = _sklearn().svd(n_components=dimensions, random_state=0).fit(weighted)
        varies = reduced.singular_values_ > RANK_TOLERANCE * reduced.singular_values_[0]
        return cls(
            tuple(map(str, vectoriser.get_feature_names_out())),
            np.asarray(vectoriser.idf_, dtype=np.float64),
            np.asarray(reduced.components_[varies], dtype=np.float32),
        )

    @cached_property
    def pipeline(self) -> Any:
        """The scikit-learn pipeline from texts to vectors [n, d]."""
        classes = _sklearn()
        vectoriser = classes.vectoriser(**OPTIONS, vocabulary=list(self.terms))
        vectoriser.idf_ = self.idf
        reduced = classes.svd(n_components=len(self.components))
        reduced.components_ = self.components
        reduced.n_features_in_ = self.components.shape[1]
        return classes.pipeline([("tfidf", vectoriser), ("svd", reduced)])

    def encode(self, texts: Sequence[str]) -> Array:
        """Vectors [n, d] of ``texts``; a text with only unknown words has length zero."""
        weighted = self.pipeline.named_steps["tfidf"].transform(texts)
        return np.asarray(weighted @ self.components.T.astype(np.float64), dtype=np.float32)

    def save(self, path: Path) -> None:
        """Write an .npz file: ``terms`` as UTF-8 bytes, one per line, ``idf`` [V] and ``components`` [d, V]."""
        joined = np.frombuffer("\n".join(self.terms).encode(), dtype=np.uint8)
        with path.open("wb") as file:
            np.savez_compressed(file, terms=joined, idf=self.idf, components=self.components)

    @classmethod
    def load(cls, path: Path) -> Tfidf:
        """What ``save`` wrote."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                terms = tuple(bytes(arrays["terms"]).decode().split("\n"))
                idf, components = np.asarray(arrays["idf"], dtype=np.float64), arrays["components"]
        except FileNotFoundError:
            raise DataFileError(
                f"{path}: no such file; `tellmore init --embed {TFIDF}` makes one in a project"
            ) from None
        except KeyError as missing:
            raise DataFileError(f"{path}: no array {missing}; terms, idf and components are expected") from None
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise DataFileError(f"{path}: not a readable TF-IDF model: {error}") from None
        if idf.shape != (len(terms),) or components.ndim != 2 or components.shape[1] != len(terms):
            raise DataFileError(
                f"{path}: {len(terms)} terms, but idf has shape {list(idf.shape)} and components {list(components.shape)}"
            )
        return cls(terms, idf, components)


def _weighted(texts: Sequence[str]) -> tuple[Any, Any]:
    """A fitted vectoriser and the weights [n, V] of its terms."""
    least = 2 if len(texts) >= LARGE else 1
    vectoriser = _sklearn().vectoriser(**OPTIONS, max_features=MOST_TERMS, min_df=least)
    try:
        weighted = vectoriser.fit_transform(texts)
    except ValueError:  # no term is left
        weighted = None
    if weighted is None or (np.diff(weighted.tocsc().indptr) < 2).all():
        raise SettingError(
            f"--embed {TFIDF}: no word occurs in two texts, so they cannot be compared by their words; "
            "use another embedder, such as model2vec:NAME"
        )
    return vectoriser, weighted


@dataclass(frozen=True)
class _Classes:
    vectoriser: Any
    svd: Any
    pipeline: Any


def _sklearn() -> _Classes:
    try:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import Pipeline
    except ImportError:
        raise MissingExtraError("scikit-learn", "sklearn") from None
    return _Classes(TfidfVectorizer, TruncatedSVD, Pipeline)
