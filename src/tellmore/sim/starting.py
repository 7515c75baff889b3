"""What the learner of a trial starts from: examples that are named, or another model's scores."""

from __future__ import annotations

import zipfile

import numpy as np

from tellmore.errors import DataFileError, SettingError
from tellmore.sim.config import Config
from tellmore.sim.truth import Truth
from tellmore.start import Start
from tellmore.types import Array


def start_of(config: Config, truth: Truth, seed: int) -> Start | None:
    """The start that ``config`` names; None: from nothing."""
    if config.scores_right is not None:
        return Start.of_scores(noisy_scores(truth, config.scores_right, np.random.default_rng([seed, 0x5C0])))
    if config.scores_column:
        return Start.of_scores(_column(config))
    if config.like or config.unlike:
        return Start.of_items(
            truth.pool, *([_id_of(truth, name) for name in side] for side in (config.like, config.unlike))
        )
    return None


def noisy_scores(truth: Truth, right: float, rng: np.random.Generator) -> Array:
    """A model's verdicts [n], 1 or 0, of which this share is right."""
    labels = truth.labels
    return np.where(rng.random(labels.size) < right, labels, ~labels).astype(float)


def _id_of(truth: Truth, name: str) -> str:
    row = truth.pool.find(name)
    if row is None:
        raise SettingError(
            f"no item of {truth.pool.name!r} has the id or the text {name!r}; ids look like {truth.pool.ids[0]!r}"
        )
    return truth.pool.ids[row]


def _column(config: Config) -> Array:
    try:
        with np.load(config.pool, allow_pickle=False) as arrays:
            return np.asarray(arrays[config.scores_column], dtype=float)
    except KeyError:
        raise SettingError(
            f"{config.pool} has no array {config.scores_column!r}; name one with a number per item"
        ) from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataFileError(f"--scores-column needs a pool in an .npz file with such an array: {error}") from None
