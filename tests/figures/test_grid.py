"""What the grid question saves: paired over seeds, with losses as plain as wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellmore.figures import grid
from tellmore.figures.bench import Bench
from tellmore.sim.rows import Quality, Row, Trial


def trial(seed: int, accuracy: list[float], each_s: float, kind: str = "select_high") -> Trial:
    rows = [Row(n, kind, 4, a, 1.0, 1.0, 0.0, 0.5, each_s * n, a, a) for n, a in enumerate(accuracy, start=1)]
    return Trial(seed, Quality(0.5, 0.5, 0.5), tuple(rows))


@pytest.fixture
def trials() -> dict[str, list[Trial]]:
    """Grids of 20 s reach 75 % after one or two of them, everything else after six or ten answers of 10 s."""
    slow = [trial(seed, [0.6] * before + [0.8] * 50, 10.0) for seed, before in enumerate((5, 9))]
    grids = [trial(seed, [0.6] * before + [0.8] * 38, 20.0, "tick") for seed, before in enumerate((0, 1))]
    return {title: grids if title == "tick-12" else slow for title in grid.SETTINGS}


def test_accuracy_at_a_moment_is_known_only_while_the_trial_lasts() -> None:
    one = trial(0, [0.6, 0.7], 10.0)
    assert [grid.accuracy_at(one, moment) for moment in (5, 10, 15, 20, 21)] == [None, 0.6, 0.6, 0.7, None]


def test_seconds_gains_and_the_break_even(trials: dict[str, list[Trial]]) -> None:
    rows = {row["setting"]: row for row in grid.rows_of(trials, pool="words", target=0.75)}
    tick, before = rows["tick-12"], rows[grid.BEFORE]
    assert (before["seconds"], tick["seconds"], tick["answers"]) == (80.0, 30.0, 1.5)
    assert tick["to_before"] == pytest.approx(30 / 80)
    assert (tick["to_label"], tick["promised_to_label"]) == (pytest.approx(30 / 80), None)
    assert tick["quicker_seeds"] == 2
    assert tick["break_even_s"] == pytest.approx(80 / (12 * 1.5))
    assert (before["accuracy_60"], tick["gain_60"]) == (0.7, pytest.approx(0.1))
    assert before["accuracy_600"] is None  # one of its trials is over by then
    assert (before["to_before"], before["gain_60"], before["grid_share"], tick["grid_share"]) == (1.0, 0.0, 0.0, 1.0)


def test_a_loss_is_told_as_a_win_is(trials: dict[str, list[Trial]]) -> None:
    worse = {**trials, "tick-12": trials["label"], "label": trials["tick-12"]}
    sentence = grid._compare(grid.rows_of(worse, pool="words", target=0.75))
    assert "(1.00 ± 0.00 of it, quicker for 0 of 2 seeds)" in sentence
    assert "assumed, not measured" in sentence


def test_savings_are_counted_by_their_intervals(trials: dict[str, list[Trial]]) -> None:
    same = {**trials, "tick-12": trials["label"]}
    rows = [
        row for pool, own in (("quick", trials), ("same", same)) for row in grid.rows_of(own, pool=pool, target=0.75)
    ]
    certain = [{**row, "to_before_se": 0.01} for row in rows]
    assert grid.in_short(certain) == (
        "Compared with `auto without grids`, grids of 12 need less time on 1 of 2 pools (quick), neither clearly less nor more "
        "on 1 of 2 pools (same), by 95 % intervals over 2 paired seeds."
    )


def test_the_picture_has_a_column_a_pool(trials: dict[str, list[Trial]]) -> None:
    rows = [row for pool in ("one", "two") for row in grid.rows_of(trials, pool=pool, target=0.75)]
    figure = grid.grid(rows)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["one", "two"]
    assert "break-even" in figure.axes[2].get_xlabel()


def test_the_bundled_words_are_compared_once(bench: Bench, tmp_path: Path) -> None:
    assert {part: source.pool for part, source in grid.sources(bench).items()} == {"ratings": "words"}
    bench.data = tmp_path
    (tmp_path / "words_warriner_valence_w2v300.npz").write_bytes(b"")
    assert list(grid.sources(bench)) == ["ratings", "valence"]
    without = grid.configs(bench, grid.WORDS)[grid.BEFORE]
    assert "tick" not in dict(without.options)["kinds"]
