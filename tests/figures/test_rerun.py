"""Rows that are committed come out again: three of them, rerun on other seeds, agree within their intervals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scipy import stats

from tellmore.figures.baselines import configs
from tellmore.figures.bench import FULL, Bench
from tellmore.figures.claims import from_folder
from tellmore.figures.curves import MARKS_S
from tellmore.rows import column, where
from tellmore.sim.distribute import Workforce
from tellmore.sim.seconds import at_seconds

SEEDS = [50, 51, 52]
MARK_S = MARKS_S[0]
ANSWERS = {"label": 90, "select-4": 60, "rank-4": 24}
"""Enough to last to the first mark."""


@pytest.mark.skipif(not os.environ.get("TELLMORE_DATA"), reason="the pools are not at hand")
@pytest.mark.parametrize(
    ("mode", "setting", "scale"),
    [("as-printed", "rank-4", 2.0), ("as-printed", "select-4", 2.0), ("default", "label", None)],
)
def test_a_row_comes_out_again_on_other_seeds(
    repository: Path, tmp_path: Path, mode: str, setting: str, scale: float | None
) -> None:
    rows = where(from_folder(repository / "docs" / "results")("baselines"), part="methods, trials")
    committed = column(where(rows, mode=mode, setting=setting), f"accuracy_{MARK_S}_s")
    bench = Bench(FULL, tmp_path, Path(os.environ["TELLMORE_DATA"]), Workforce(1))
    config = configs(bench, bench.source("sentiment"))[mode, setting, scale]
    short = bench.config(bench.source("sentiment"), **{**_of(config), "answers": ANSWERS[setting]})
    found = at_seconds(bench.trials([short], SEEDS)[short], [MARK_S])[str(MARK_S)]
    assert found["runs"] == len(SEEDS)
    interval = stats.ttest_ind(found["accuracy"]["each"], committed, equal_var=False).confidence_interval(0.95)
    assert interval.low <= 0 <= interval.high


def _of(config: object) -> dict[str, object]:
    return {name: getattr(config, name) for name in ("question", "size", "acquisition", "mode", "options", "stop_at")}
