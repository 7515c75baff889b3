"""The belief of an earlier project, in the file from which a new one starts."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tellmore.core.evidence import Behaviour
from tellmore.core.frame import CLASSIC
from tellmore.core.gaussian import Gaussian
from tellmore.errors import DataFileError, NumericalError

PRIOR_FILE = "prior.npz"
NUMBERS = ("w", "K", "threshold", "lapse", "first")
"""The numbers of a behaviour in the order of the file. `Behaviour.across` is not among them: it follows from the answers."""


@dataclass(frozen=True)
class Earlier:
    """A ``belief`` over (1, x), how sharply its project learnt answers, and ``w``, the sharpness of its probabilities."""

    belief: Gaussian
    behaviour: Behaviour
    w: float

    def write(self, path: Path) -> None:
        """Write it to ``path``: mean [D], cov [D, D] and the sharpness, the numbers of the behaviour and then w."""
        sharpness = np.array([*(getattr(self.behaviour, name) for name in NUMBERS), self.w])
        np.savez(path, mean=self.belief.mean, cov=self.belief.cov, sharpness=sharpness)

    @classmethod
    def read(cls, path: Path) -> Earlier:
        """The belief in the file ``path``. Version 0.1 stored no sharpness, and versions since then fewer or more numbers, with
        w always the last: those that are missing have their defaults."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                behaviour, w = CLASSIC, CLASSIC.w
                if "sharpness" in arrays:
                    *numbers, w = arrays["sharpness"].tolist()
                    behaviour = Behaviour(**dict(zip(NUMBERS, numbers, strict=False)))
                return cls(Gaussian.from_moments(arrays["mean"], arrays["cov"]), behaviour, w)
        except FileNotFoundError:
            raise DataFileError(
                f"{path}: no such file, but the settings say to start from an earlier project"
            ) from None
        except KeyError as missing:
            raise DataFileError(f"{path}: no array {missing}; a belief has mean and cov") from None
        except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, NumericalError) as error:
            raise DataFileError(f"{path}: not a readable belief: {error}") from None
