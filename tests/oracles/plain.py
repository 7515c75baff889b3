"""Priors and scans over embeddings as they are, for tests that need some belief and no particular coordinates."""

from __future__ import annotations

import numpy as np

from tellmore.core.coordinates import Coordinates, Moments, Rows
from tellmore.core.frame import classic_frame
from tellmore.core.gaussian import Gaussian
from tellmore.core.scan import PoolScan


def prior_of(X: np.ndarray) -> Gaussian:
    """A prior over (1, x) shaped by the rows, with weights of norm about 1."""
    frame = classic_frame(Moments.of(X))
    return frame.coordinates.outward(frame.prior)


def scan_of(X: np.ndarray, belief: Gaussian) -> PoolScan:
    """The scan of a belief over (1, x)."""
    return PoolScan.of(Rows(X, Coordinates.plain(X.shape[1])), belief)
