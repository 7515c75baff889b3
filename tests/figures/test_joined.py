"""A run continued from an earlier one: whole settings, from whichever has more of their seeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tellmore.errors import SettingError
from tellmore.figures import baselines
from tellmore.figures.bench import FULL, Bench, Source
from tellmore.figures.joined import earlier_rows, joined, seeds_by_setting
from tellmore.figures.methods import rows_of
from tellmore.figures.reproduce import as_csv
from tellmore.rows import Row, where
from tellmore.sim.config import Config
from tellmore.sim.rows import Trial
from tests.figures.conftest import fake_trial


def table(seeds: int, mode: str = "default", accuracy: float = 0.8) -> list[Row]:
    row = {"part": "methods", "mode": mode, "setting": "label", "scale": None, "seeds": seeds, "accuracy": accuracy}
    trials = [{**row, "part": "methods, trials", "seeds": 1, "seed": seed} for seed in range(seeds)]
    return [row, *trials]


def test_a_setting_comes_whole_from_the_run_with_more_seeds() -> None:
    fresh, earlier = (
        table(3, accuracy=0.9) + table(5, "as-printed"),
        table(4) + table(4, "as-printed") + table(1, "paper"),
    )
    found = joined(fresh, earlier)
    assert {row["mode"]: row["seeds"] for row in where(found, part="methods")} == {
        "as-printed": 5,
        "default": 4,
        "paper": 1,
    }
    assert len(where(found, part="methods, trials", mode="default")) == 4
    assert {row["accuracy"] for row in where(found, mode="default")} == {0.8}  # none of the fresh ones between them


def test_rows_are_found_again_in_a_folder(tmp_path: Path, bench: Bench) -> None:
    (tmp_path / "baselines.csv").write_text(as_csv(table(3)))
    (tmp_path / "fig1.csv").write_text("x\n1\n")
    continued = replace(bench, earlier=tmp_path)
    assert seeds_by_setting(earlier_rows(continued, "baselines")) == {("methods", "default", "label", None, None): 3}
    assert earlier_rows(continued, "fig3") == earlier_rows(bench, "baselines") == []
    with pytest.raises(SettingError, match="its rows are not by settings and seeds; leave --earlier out"):
        earlier_rows(continued, "fig1")


def test_what_an_earlier_run_has_is_not_run(
    tmp_path: Path, small_source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(replace(FULL, seeds=2), tmp_path / "cache")
    key = ("as-printed", "label", 2.0)
    config = baselines.configs(bench, small_source)[key]
    bench.ledger.save(config, fake_trial(0, [0.8]))
    bench.ledger.save(config, fake_trial(1, [0.8]))
    known = rows_of(replace(bench, stored=True), "methods", {key: config}, [0, 1], "small")
    (tmp_path / "baselines.csv").write_text(as_csv(known))
    run: set[tuple[str, str]] = set()

    def trials(configs: list[Config], seeds: list[int]) -> dict[Config, list[Trial]]:
        run.update((config.mode, config.title) for config in configs)
        return {config: [] for config in configs}

    continued = replace(bench, earlier=tmp_path)
    monkeypatch.setattr(continued, "source", lambda _: small_source)
    monkeypatch.setattr(continued, "trials", trials)
    baselines.EXHIBITS[0].collect(continued)
    assert ("as-printed", "label") not in run
    assert {("as-printed", "rank-4"), ("as-authors", "label, random"), ("default", "label")} <= run
