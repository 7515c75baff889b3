"""Studies in which everybody answers the same sizes: there the slope is the mean of people's own slopes, and its clustered
interval that of Student's t test on them. All people and replicates at once, by NumPy alone.

    python tests/oracles/balanced_study.py > docs/results/coverage_balanced.csv
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from tellmore.types import Array

SIZES = np.array([2, 3, 4, 5, 6, 7, 8] * 2 + [5], dtype=float)


@dataclass(frozen=True)
class Balanced:
    """Linear mean times at lognormal speeds, with lognormal answers of one person; residual variance as in Table V."""

    intercept: float
    slope: float
    variance: float
    people: int
    speed_sd: float

    def seconds(self, replicates: int, rng: np.random.Generator) -> Array:
        """Times [replicates, people, answers]."""
        mean, between = self.intercept + self.slope * SIZES, np.expm1(self.speed_sd**2)
        within = max(self.variance / 2, (self.variance - between * np.mean(mean**2)) / (1 + between))
        log_variance = np.log1p(within / mean**2)
        speed = rng.lognormal(-(self.speed_sd**2) / 2, self.speed_sd, (replicates, self.people, 1))
        own = rng.lognormal(
            np.log(mean) - log_variance / 2, np.sqrt(log_variance), (replicates, self.people, len(SIZES))
        )
        return np.asarray(speed * own)

    def covered(self, replicates: int, seed: int = 0) -> dict[str, float]:
        """Share of 95 % intervals that contain the slope, with answers treated as independent and clustered by person."""
        seconds = self.seconds(replicates, np.random.default_rng(seed))
        x = SIZES - SIZES.mean()
        slope, low, high = interval(seconds)
        residual = seconds - seconds.mean(axis=(1, 2), keepdims=True) - slope[:, None, None] * x
        n = self.people * len(SIZES)
        plain = 1.96 * np.sqrt(np.sum(residual**2, axis=(1, 2)) / (n - 2) / (self.people * (x @ x)))
        return {
            "independent": float(np.mean(np.abs(slope - self.slope) < plain)),
            "clustered": float(np.mean((low < self.slope) & (self.slope < high))),
        }


def interval(seconds: Array) -> tuple[Array, Array, Array]:
    """Slope and the ends of its clustered 95 % interval [replicates], for times [replicates, people, answers]."""
    people, n = seconds.shape[1], seconds.shape[1] * seconds.shape[2]
    x = SIZES - SIZES.mean()
    own = seconds @ x / (x @ x)
    slope = own.mean(axis=1)
    se = own.std(axis=1, ddof=1) / np.sqrt(people) * np.sqrt((n - 1) / (n - 2))
    half = stats.t.ppf(0.975, people - 1) * se
    return slope, slope - half, slope + half


KINDS = {"rank": (-0.32, 4.41, 125.44), "select_high": (4.01, 0.63, 11.22)}

if __name__ == "__main__":
    print("kind,people,speed_sd,replicates,independent,clustered")  # noqa: T201
    for kind, model in KINDS.items():
        for people in (40, 63, 101):
            for speed_sd in (0.3, 0.4):
                found = Balanced(*model, people, speed_sd).covered(4000)
                print(f"{kind},{people},{speed_sd},4000,{found['independent']:.4f},{found['clustered']:.4f}")  # noqa: T201
