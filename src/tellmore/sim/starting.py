"""What the learner of a trial starts from: named examples, or another model's scores.

Examples are looked up in the whole pool, even if a trial has only some of its items: people also know words that are not items.
"""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np

from tellmore.errors import DataFileError, SettingError
from tellmore.pool import Pool
from tellmore.sim.config import Config
from tellmore.sim.pools import open_pool
from tellmore.sim.truth import Truth
from tellmore.start import Start
from tellmore.types import Array


def start_of(config: Config, truth: Truth, seed: int) -> Start | None:
    """The start that ``config`` names; None if there is none."""
    if config.scores_right is not None:
        return Start.of_scores(noisy_scores(truth, config.scores_right, np.random.default_rng([seed, 0x5C0])))
    if config.scores_column:
        return Start.of_scores(_column(config))
    if config.like or config.unlike:
        whole = open_pool(config.pool, config.matrix, whole=True)
        return Start.of_items(whole, *([_id_of(whole, name) for name in side] for side in (config.like, config.unlike)))
    return None


def noisy_scores(truth: Truth, right: float, rng: np.random.Generator) -> Array:
    """Verdicts [n] of a model, 1 or 0, of which this share is right."""
    labels = truth.labels
    return np.where(rng.random(labels.size) < right, labels, ~labels).astype(float)


def _id_of(pool: Pool, name: str) -> Any:
    row = pool.find(name)
    if row is None:
        raise SettingError(f"no item of {pool.name!r} has the id or the text {name!r}; ids look like {pool.ids[0]!r}")
    return pool.ids[row]


def _column(config: Config) -> Array:
    try:
        with np.load(config.pool, allow_pickle=False) as arrays:
            scores = arrays[config.scores_column]
    except KeyError:
        raise SettingError(
            f"{config.pool} has no array {config.scores_column!r}; name one with a number per item"
        ) from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataFileError(f"--scores-column needs a pool in an .npz file with such an array: {error}") from None
    try:
        return np.asarray(scores, dtype=float)
    except ValueError as problem:
        raise DataFileError(
            f"{config.pool}, array {config.scores_column!r}: give a number per item: {problem}"
        ) from None
