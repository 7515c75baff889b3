"""The race: paired differences, losses that show, and nobody favoured by how long a trial lasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellmore.errors import SettingError
from tellmore.figures.bench import Bench, Source
from tellmore.figures.race import Race, compared, earlier_rows, held, sentence, sources_of, verdict, with_earlier_peers
from tellmore.figures.race_table import LOSS, at_mark, cells, in_short, picture, tables
from tellmore.figures.reproduce import as_csv
from tellmore.rows import where
from tellmore.sim.rows import Quality, Row, Trial
from tests.sim.conftest import write_pool


def trial(seed: int, accuracy: list[float], each_s: float = 20.0) -> Trial:
    rows = [Row(n, "label", 1, a, 1.0, 1.0, 0.0, 0.5, each_s * n, a, a / 2) for n, a in enumerate(accuracy, start=1)]
    return Trial(seed, Quality(0.5, 0.4, 0.3), tuple(rows))


@pytest.fixture
def rows() -> list[dict[str, object]]:
    """auto is 0.10 and 0.12 above random at 30 s, and 0.05 and 0.15 below it at 60 s."""
    return compared(
        {
            "auto": [trial(0, [0.7, 0.7, 0.7, 0.7]), trial(1, [0.8, 0.6, 0.6, 0.6])],
            "random": [trial(0, [0.6, 0.6, 0.75, 0.9]), trial(1, [0.68, 0.68, 0.75, 0.9])],
            "words-alone": [Trial(0, Quality(0.55, 0.5, 0.5), ()), Trial(1, Quality(0.55, 0.5, 0.5), ())],
        },
        [30, 60],
        pool="a pool",
        rare=False,
    )


def test_differences_are_paired_over_seeds(rows: list[dict[str, object]]) -> None:
    early, late = where(rows, contender="auto", measure="accuracy")
    assert (early["best_other"], early["best_peer"]) == ("random", "random")
    assert early["to_best_peer"] == pytest.approx(0.11)
    assert early["to_best_peer_se"] == pytest.approx(0.01)
    assert late["to_best_peer"] == pytest.approx(-0.10)
    assert late["to_best_peer_se"] == pytest.approx(0.05)
    assert (verdict(early), verdict(late)) == (1, -1)
    peer = where(rows, contender="random", measure="accuracy", mark_s=30)[0]
    assert (peer["best_other"], peer["best_peer"]) == ("auto", "words-alone")


def test_who_asks_nothing_keeps_what_it_had() -> None:
    assert held(Trial(0, Quality(0.55, 0.5, 0.5), ()), "accuracy", [30, 1800]).tolist() == [0.55, 0.55]
    assert held(trial(0, [0.6, 0.9]), "accuracy", [10, 20, 1800]).tolist() == [0.5, 0.6, 0.9]


def test_losses_show_in_the_table_the_picture_and_the_sentence(rows: list[dict[str, object]]) -> None:
    text = tables(rows)
    assert "| auto | **75.0 ± 5.0** | 🔴 65.0 ± 5.0 |" in text
    assert text.count(LOSS) == 2  # the head's and auto's
    assert "auto is ahead in 1, behind in 1 of 2" in sentence(rows)
    panel = picture(rows).axes[0]
    assert sorted(drawn.get_text() for drawn in panel.texts) == ["+11.0", "-10.0"]
    assert {patch.get_facecolor()[:3] for patch in panel.patches} == {
        (198 / 255, 40 / 255, 40 / 255),
        (0, 114 / 255, 178 / 255),
    }


def test_without_peers_the_learner_races_itself() -> None:
    trials = {
        "auto": [trial(0, [0.6, 0.6]), trial(1, [0.6, 0.6])],
        "auto+words": [trial(0, [0.8, 0.8]), trial(1, [0.7, 0.7])],
    }
    rows = compared(trials, [30], pool="a pool", rare=False)
    assert "whichever other contender" in sentence(rows)
    assert "| auto | 🔴 60.0 ± 0.0 |" in tables(rows)
    assert sorted(text.get_text() for axes in picture(rows).axes for text in axes.texts) == ["+15.0", "-15.0"]


def test_peers_of_an_earlier_race_are_paired_over_the_same_seeds(rows: list[dict[str, object]], tmp_path: Path) -> None:
    (tmp_path / "race.csv").write_text(as_csv(rows))
    again = with_earlier_peers(where(rows, contender="auto"), earlier_rows(tmp_path / "race.csv"))
    assert {row["contender"] for row in again} == {"auto", "random", "words-alone"}
    for now in again:
        then = where(rows, **{name: now[name] for name in ("contender", "measure", "mark_s")})[0]
        for name in ("to_best_peer", "to_best_peer_se", "to_best_other", "to_best_other_se"):
            assert now[name] == pytest.approx(then[name], abs=1e-6)


def test_peers_of_other_seeds_are_compared_without_pairing(rows: list[dict[str, object]]) -> None:
    better = [{**row, "mean": row["mean"] + 0.2, "seeds": 9, "each": None} for row in where(rows, contender="auto")]
    joined = with_earlier_peers(better, rows)
    assert {row["contender"] for row in joined} == {"auto", "random", "words-alone"}
    early = where(joined, contender="auto", measure="accuracy", mark_s=30)[0]
    assert (early["best_peer"], early["seeds"]) == ("random", 9)
    assert early["to_best_peer"] == pytest.approx(0.31)
    assert early["to_best_peer_se"] == pytest.approx((0.05**2 + 0.04**2) ** 0.5)  # not the 0.01 of paired seeds
    with pytest.raises(SettingError, match="no pool and no mark in common"):
        with_earlier_peers(better, [{**row, "pool": "another"} for row in rows])


def test_the_tables_of_the_page_are_computed(rows: list[dict[str, object]]) -> None:
    _, body = at_mark(rows, 60)
    assert body == [["a pool", "75.0 `random`", "🔴 65.0 (-10.0 ± 5.0)"]]
    late = [{**row, "mark_s": 10 * row["mark_s"]} for row in rows]
    assert cells(late)[1] == [["`auto`", "2 (2)", "1 (1)", "1 (1)"]]
    assert (
        "`auto` is ahead of the best of them in 1 of 2 comparisons after 5 and 10 minutes, and behind in 1."
        in in_short(late, "auto")
    )


def test_rare_classes_are_judged_by_f1_and_average_precision(rows: list[dict[str, object]]) -> None:
    text = tables([{**row, "rare": True} for row in rows])
    assert "a pool: F1" in text
    assert "a pool: average precision" in text
    assert "accuracy\n" not in text


def test_pools_are_those_named_and_no_two_look_the_same(bench: Bench, small_source: Source, tmp_path: Path) -> None:
    path = small_source.pool
    assert [source.pool for source in sources_of([path, "digits=8", path], bench)] == [path, "digits=8"]
    with pytest.raises(SettingError, match="two pools have the name 'small'"):
        sources_of([path, str(write_pool(tmp_path / "small.npz"))], bench)


def test_a_race_needs_two_and_half_a_minute(small_source: Source) -> None:
    with pytest.raises(SettingError, match="at least 2 contenders"):
        Race((small_source,), ("auto",), 60.0)
    with pytest.raises(SettingError, match="at least 30 seconds"):
        Race((small_source,), ("auto", "random"), 20.0)
