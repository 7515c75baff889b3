"""A bench with a small pool and rows that need no trials."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tellmore.figures.bench import Bench, Plan, Source
from tellmore.figures.curves import curve_rows
from tellmore.rows import Row
from tellmore.sim.config import Config
from tellmore.sim.distribute import Workforce
from tellmore.sim.rows import Quality, Trial
from tellmore.sim.rows import Row as TrialRow
from tests.sim.conftest import write_pool

TINY = Plan(seeds=2, answers=4, stop_at=None, quick=True)


def fake_trial(seed: int, accuracy: list[float], mse: float = 1.0) -> Trial:
    rows = [
        TrialRow(t, "rank", 4, a, mse / t, mse / t, -float(t), 0.5, 10.0 * t, a, a)
        for t, a in enumerate(accuracy, start=1)
    ]
    return Trial(seed, Quality(0.5, 0.5, 0.5), tuple(rows))


def fake_curves(**reached: int) -> list[Row]:
    """Curves of 40 answers in both modes; a setting named in ``reached`` (label, select_4, rank_4) is at 75 % from there on."""
    runs = {}
    for mode in ("as-printed", "default"):
        for question, size in (("label", 1), ("select", 2), ("rank", 2), ("select", 4), ("rank", 4)):
            for acquisition in ("greedy", "random"):
                config = Config(question=question, size=size, mode=mode, acquisition=acquisition)
                at = reached.get(f"{question}_{size}" if size > 1 else question, 99)
                accuracy = [0.76 if t >= at else 0.6 for t in range(1, 41)]
                mse = {"label": 1.5, "select": 1.2, "rank": 1.0}[question] + (acquisition == "random") * 0.6
                runs[config] = [fake_trial(seed, accuracy, mse) for seed in (0, 1)]
    return curve_rows(runs, pool="a pool")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(TINY, tmp_path / "cache", workforce=Workforce(1))


@pytest.fixture(scope="session")
def small_source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    path = write_pool(tmp_path_factory.mktemp("pools") / "small.npz", n=300)
    return Source("small", str(path), "X", "something larger")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
