"""Every figure and table has a name, is drawn from rows alone, is written completely, and says how it compares."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from tellmore.errors import SettingError
from tellmore.figures import (
    baselines,
    black_box,
    gumbel,
    information,
    learning,
    methods,
    paper,
    particles,
    scales,
    score_distance,
    stopping,
    table1,
)
from tellmore.figures.bench import FULL, Bench, Source, data_folder
from tellmore.figures.curves import (
    accuracy_at,
    at_least,
    crossing,
    curve_rows,
    lasting_crossing,
    reach_row,
    reach_text,
    time_text,
)
from tellmore.figures.exhibit import Exhibit
from tellmore.figures.registry import EXHIBITS, chosen
from tellmore.figures.report import write_page, write_report
from tellmore.figures.reproduce import SIMULATED, as_csv, produce, produce_all
from tellmore.rows import Rows, column, where
from tellmore.sim.config import Config
from tellmore.sim.rows import Trial
from tests.figures.conftest import fake_curves, fake_trial

NAMES = {"fig1", "fig3", "fig4", "fig5", *(f"fig{n}" for n in range(8, 18)), *(f"table{n}" for n in range(1, 6))} | {
    "theorem1",
    "claims",
    "bbvi",
    "scales",
    "baselines",
    "grid",
}


def exhibit(rows: Rows = ({"x": 1.0},), *, simulated: bool = False) -> Exhibit:
    from tellmore.plotting import new_figure

    def draw(_: Rows) -> Figure:
        return new_figure()[0]

    return Exhibit("fig99", "Fig. 99: nothing", lambda _: rows, draw, lambda _: "It compares.", simulated)


def texts(figure: Figure) -> str:
    words = [axes.get_xlabel() + axes.get_ylabel() + axes.get_title() for axes in figure.axes]
    return " ".join(words)


def test_all_names_are_known_and_unknown_ones_are_answered_with_them() -> None:
    assert set(EXHIBITS) >= NAMES
    assert [e.name for e in chosen(["all"])] == list(EXHIBITS)
    assert [e.name for e in chosen(["fig3", "fig1", "fig3"])] == ["fig3", "fig1"]
    with pytest.raises(SettingError, match=r"unknown name 'fig2'; the known ones are all, fig1.*claims"):
        chosen(["fig2"])


def test_an_exhibit_is_written_whole(bench: Bench, tmp_path: Path) -> None:
    outcome = produce(exhibit(), bench, tmp_path / "out")
    assert outcome.sentence == "It compares."
    assert (tmp_path / "out" / "fig99.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out" / "fig99.svg").read_text()
    assert (tmp_path / "out" / "fig99.csv").read_text() == "x\n1\n"
    assert (tmp_path / "out" / "fig99.txt").read_text() == "It compares.\n"


def test_the_same_rows_give_the_same_svg(bench: Bench, tmp_path: Path) -> None:
    texts = []
    for folder in ("one", "two"):
        produce(exhibit(), bench, tmp_path / folder)
        texts.append((tmp_path / folder / "fig99.svg").read_text())
    assert texts[0] == texts[1]


def test_what_is_simulated_says_so(bench: Bench, tmp_path: Path) -> None:
    outcome = produce(exhibit(simulated=True), bench, tmp_path)
    assert outcome.sentence.startswith(SIMULATED)
    assert "simulated" in (tmp_path / "fig99.svg").read_text()
    assert all(EXHIBITS[name].simulated for name in ("fig8", "fig15", "fig16", "fig17", "table2", "table5"))
    assert not EXHIBITS["fig3"].simulated


def test_the_report_and_the_page_hold_every_exhibit(bench: Bench, tmp_path: Path) -> None:
    announced: list[str] = []
    outcomes = produce_all([exhibit()], bench, tmp_path, announce=lambda e: announced.append(e.name))
    assert announced == ["fig99"]
    report = write_report(outcomes, bench, tmp_path).read_text()
    assert '<img src="fig99.png"' in report
    assert "It compares." in report
    assert "2 seeds (0 to 1)" in report
    (tmp_path / "docs").mkdir()
    write_page(outcomes, bench, tmp_path, tmp_path / "docs" / "results.md")
    page = (tmp_path / "docs" / "results.md").read_text()
    assert "## Fig. 99: nothing" in page
    assert "tellmore reproduce all" in page
    assert (tmp_path / "docs" / "results" / "fig99.csv").exists()


def test_the_page_keeps_of_single_items_only_what_all_share(bench: Bench, tmp_path: Path) -> None:
    outcomes = produce_all([exhibit()], bench, tmp_path)
    (tmp_path / "fig99.csv").write_text("pool,item,score,r2\nwords,calm,1.3,0.5\nwords,sad,-2,0.5\n")
    (tmp_path / "docs").mkdir()
    write_page(outcomes, bench, tmp_path, tmp_path / "docs" / "results.md")
    assert (tmp_path / "docs" / "results" / "fig99.csv").read_text() == "pool,r2\nwords,0.5\n"


def test_rows_are_measured_once(bench: Bench, small_source: Source) -> None:
    calls: list[int] = []

    def measure() -> Rows:
        calls.append(1)
        return [{"value": 0.5}]

    first = bench.remembered("thing", [small_source], measure)
    again = bench.remembered("thing", [small_source], measure)
    assert first == again == [{"value": 0.5}]
    assert len(calls) == 1
    bench.remembered("other", [small_source], measure)
    assert len(calls) == 2


def test_csv_has_every_column_and_no_text_for_what_is_missing() -> None:
    rows = [{"a": 1 / 3, "b": None}, {"a": 2, "c": "x, y"}]
    assert list(csv.DictReader(io.StringIO(as_csv(rows)))) == [
        {"a": "0.333333", "b": "", "c": ""},
        {"a": "2", "b": "", "c": "x, y"},
    ]


def test_pools_at_hand_take_the_parts_and_say_for_whom(bench: Bench, tmp_path: Path) -> None:
    assert bench.source("sentiment").pool == "words"
    assert "stands in for SocialSent" in bench.source("sentiment").caption
    assert not bench.has("images")
    with pytest.raises(SettingError, match=r"images_oasis_valence_efflite2\.npz is not available"):
        bench.source("images")
    bench.data = tmp_path
    (tmp_path / "images_oasis_valence_efflite2.npz").write_bytes(b"")
    assert bench.source("images").matrix == "X_pca128"
    with pytest.raises(SettingError, match="no data folder"):
        data_folder(tmp_path / "missing")


def test_score_against_distance(bench: Bench, small_source: Source) -> None:
    rows = score_distance.score_rows(bench, small_source)
    figure = score_distance.fig1(rows)
    assert "small (stands in for something larger)" in texts(figure)
    model = bench.truth(small_source).model
    assert rows[0]["r2"] == model.r2 > 0.8
    assert 0.7 < rows[0]["r2_cross_validated"] < model.r2
    assert rows[0]["score"] == pytest.approx(model.a * rows[0]["distance"] + model.b, abs=3 * math.pi * model.sigma)


def test_gumbel_diagnostics_know_gumbel_noise(bench: Bench, small_source: Source) -> None:
    rows = gumbel.residual_rows(bench, small_source)
    assert {row["law"] for row in rows} == {"Gumbel-max", "Gumbel-min"}
    assert all(0 < row["ks"] < 0.3 for row in rows)
    assert len(gumbel.fig14(rows).axes) == 3


def test_learning_curves_are_drawn_with_axes_and_legend() -> None:
    rows = fake_curves(rank_4=10)
    figure = learning.fig3(rows)
    assert len(figure.axes) == 6
    assert all(axes.get_xlabel() == "interactions" for axes in figure.axes)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"label", "rank", "rank, random"} <= set(legend)
    sentence = learning.EXHIBITS[0].compare(rows)
    assert "In default mode: label, random not within 40" in sentence
    assert "rank-4, random 10, rank-4 10; mean accuracy in % after 300 / 600 / 1800 s" in sentence
    assert sentence.endswith("rank-4 76.0 / – / –.")


def test_no_curve_is_carried_beyond_its_shortest_trial() -> None:
    rows = curve_rows({Config(): [fake_trial(0, [0.9] * 5), fake_trial(1, [0.6] * 30)]}, pool="p")
    assert [row["answer"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[-1]["accuracy"] == pytest.approx(0.75)


def test_interactions_to_an_accuracy_are_a_lower_bound_where_seeds_fail() -> None:
    config = Config(answers=4)
    trials = [fake_trial(0, [0.5, 0.8, 0.8, 0.8]), fake_trial(1, [0.5, 0.5, 0.5, 0.5])]
    assert at_least(trials, 0.75) == 3.0
    assert reach_text(reach_row(config, trials, 0.75)) == "> 3 (1 of 2)"
    assert reach_text(reach_row(config, trials[:1], 0.75)) == "2"
    assert reach_text(reach_row(config, [trials[0], fake_trial(1, [0.5, 0.5, 0.5, 0.8])], 0.75)) == "3 ± 1"


def test_curves_keep_every_early_answer_and_every_tenth_later() -> None:
    rows = curve_rows({Config(): [fake_trial(0, [0.6] * 123)]}, pool="p")
    answers = [row["answer"] for row in rows]
    assert answers[:50] == list(range(1, 51))
    assert answers[50:] == [60, 70, 80, 90, 100, 110, 120, 123]
    assert rows[0]["accuracy_se"] is None
    assert crossing(rows, "rank-4", 0.6) == 1
    assert crossing(rows, "rank-4", 0.7) is None


def test_table_one_tells_bits_and_reach() -> None:
    rows = []
    for mode in table1.MODES:
        for question, size in (("label", 1), ("select", 4), ("rank", 4)):
            config = Config(question=question, size=size, mode=mode)
            rows.append(table1._row("a pool", config, [fake_trial(0, [0.5, 0.8]), fake_trial(1, [0.5, 0.5])]))
    assert [row["outcomes"] for row in rows[:3]] == [2, 8, 120]
    assert rows[2]["bits_at_most"] == pytest.approx(6.907, abs=1e-3)
    assert rows[2]["seconds_each"] == pytest.approx(17.32)
    assert isinstance(table1.table1(rows), Figure)
    assert "rank-4 > 2 (1 of 2)" in table1.EXHIBITS[0].compare(rows)


def test_information_rates_and_their_best(bench: Bench, small_source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "source", lambda _part: small_source)
    rows = information.rates_by_size(bench)
    assert sum(row["best"] for row in rows) == 4
    assert {row["times"] for row in rows} == {"the paper's fitted times", "synthetic times"}
    figure = information.fig11(rows)
    assert "bits per second" in texts(figure)
    assert "peaks at" in information._compare_fig11(rows)


def test_gains_along_a_run_start_at_the_prior(
    bench: Bench, small_source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "source", lambda _part: small_source)
    rows = information.gains_along(bench)
    assert rows[0]["answer"] == 0
    label = [row for row in rows if row["question"] == "label"]
    assert all(row["ratio"] == 1 for row in label)
    assert label[-1]["bits"] < label[0]["bits"]
    assert len(information.fig9(rows).axes) == 4
    assert "small, mean and standard error of 2 seeds" in information.fig9(rows).get_suptitle()


def test_gains_by_sharpness_leave_labels_alone_where_w_is_fixed(
    bench: Bench, small_source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "source", lambda _part: small_source)
    rows = information.gains_by_sharpness(bench)
    own = where(rows, question="label", mode="default")
    labels = {kept: column(where(own, sharpness=kept), "bits") for kept in (information.FIXED, information.SCALED)}
    assert max(labels[information.FIXED]) == pytest.approx(min(labels[information.FIXED]))
    assert max(labels[information.SCALED]) > 1.2 * min(labels[information.SCALED])
    assert len(information.fig10(rows).axes) == 4
    assert "default mode, w fixed" in information._compare_fig10(rows)


def test_theorem_one_rows_lie_between_the_bounds(bench: Bench) -> None:
    rows = stopping.stopping_rows(bench)
    assert all(row["lower"] <= row["measured"] <= row["upper_corrected"] for row in rows)
    assert {row["question"] for row in rows} == {"label", "select-4", "rank-4"}
    assert isinstance(stopping.theorem1(rows), Figure)


def test_the_exact_posterior_of_the_black_box_comparison_is_the_one_the_methods_near() -> None:
    problem = black_box.make_problem(0, 3)
    row = black_box._method_row("closed", black_box._closed("centred"), [problem], runs=2)
    assert row["spread_over_runs"] == 0
    assert row["mean_error"] < 0.3
    rows = [{**row, "method": name} for name in (black_box.CENTRED, black_box.PAPER, black_box.BLACK_BOX)]
    rows += [black_box._exact_row([problem])]
    assert len(black_box.bbvi(rows).axes) == 4
    assert "with the exact posterior mean" in black_box._compare(rows)


def test_baselines_have_every_printed_count_beside_them_and_every_scale(bench: Bench, small_source: Source) -> None:
    named = baselines.configs(bench, small_source)
    assert {setting for mode, setting, _ in named if mode == "as-printed"} == set(paper.SETTINGS)
    assert ("as-authors", "label", 1.0) not in named
    assert named["as-printed", "rank-4, random", 2.0].acquisition == "random"
    trials = [fake_trial(seed, [0.6] * 20 + [0.8] * 20) for seed in (0, 1)]
    rows = [methods.row_of("methods", key, config, trials, "a pool") for key, config in named.items()]
    rows += [
        methods.row_of("scales", key, config, trials, "a pool")
        for key, config in scales.swept(bench, small_source).items()
    ]
    rank = next(row for row in rows if (row["mode"], row["setting"]) == ("as-printed", "rank-4"))
    assert (rank["interactions"], rank["seconds"], rank["lasting_s"]) == (21.0, 210.0, 210.0)
    assert time_text(rank) == "lasting from 210 s, 80.0% at 300 s"
    assert (rank["accuracy_300_s"], rank["accuracy_600_s"], rank["printed"], rank["scale"]) == (0.8, None, "191", 2.0)
    assert "as-printed (2 seeds): label, random 21" in baselines._compare(rows)
    assert len(baselines.baselines(rows).axes) == 1
    assert "rank-4 as-printed: 1 21 ± 0, 4 21 ± 0" in scales._compare(rows)
    assert len(scales.draw(rows).axes) == 2
    one = methods.trial_row("methods", ("as-printed", "rank-4", 2.0), trials[1], "a pool")
    assert (one["seed"], one["interactions"], one["seconds"], one["longest"], one["mse"]) == (1, 21, 210.0, 40, None)


def test_the_strongest_scale_is_run_on_seeds_that_did_not_choose_it(bench: Bench, small_source: Source) -> None:
    slow, quick = ([fake_trial(0, [0.6] * n + [0.8] * 20)] for n in (20, 5))
    wanted = scales.swept(bench, small_source)
    rows = [
        methods.row_of("scales", key, config, quick if key[2] == 4.0 else slow, "a pool")
        for key, config in wanted.items()
    ]
    best = scales.strongest(bench, small_source, rows)
    assert [key[1:] for key in best] == [("rank-4", 4.0)]
    assert {config.stop_at for config in best.values()} == {None}  # in full, while the sweep stops at the target
    assert {config.stop_at for config in wanted.values()} == {paper.TARGET}
    lucky = [{**row, "seeds": 1 if row["scale"] == 4.0 else 3} for row in rows]  # too few seeds to choose it by
    assert 4.0 not in {scale for _, _, scale in scales.strongest(bench, small_source, lucky)}
    assert not set(scales.SWEEP_SEEDS) & set(FULL.seed_list)


def test_every_scale_is_run_on_every_seed_whatever_it_gives(
    tmp_path: Path, small_source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Bench(replace(FULL, seeds=2), tmp_path)
    monkeypatch.setattr(full, "source", lambda _: small_source)

    def trials(configs: list[Config], seeds: list[int]) -> dict[Config, list[Trial]]:
        given = {config: dict(dict(config.options)["prior_options"])["scale"] for config in configs}
        return {config: [fake_trial(seed, [0.8 if given[config] > 1 else 0.6]) for seed in seeds] for config in configs}

    monkeypatch.setattr(full, "trials", trials)
    rows = where(EXHIBITS["scales"].collect(full), part="scales")
    assert {row["scale"] for row in rows} == set(scales.SCALES)
    assert {row["seeds"] for row in rows} == {len(scales.SWEEP_SEEDS)}


def test_the_strongest_of_the_sweep_so_far_is_run_with_the_methods(bench: Bench, small_source: Source) -> None:
    wanted = scales.swept(bench, small_source)
    for key, config in wanted.items():
        bench.ledger.save(config, fake_trial(scales.SWEEP_SEEDS[0], [0.6] * int(key[2] or 9) + [0.8]))
    found = where(scales.stored(bench, small_source), part="scales")
    assert {(row["scale"], row["interactions"]) for row in found} == {(1.0, 2.0), (4.0, 5.0)}
    assert list(scales.strongest(bench, small_source, found)) == [("as-printed", "rank-4", 1.0)]


def test_particles_and_the_quick_search_are_compared_on_the_same_seeds(bench: Bench) -> None:
    wanted = particles.configs(bench)
    assert {search for _, _, search in wanted} == {"particles", "greedy"}
    assert {mode for mode, _, _ in wanted} == {"as-printed", "as-authors"}
    assert {config.pool for config in wanted.values()} == {"words,300"}
    rows = [
        {"pool": "p", "mode": mode, "setting": "rank-4", "search": search, "seed": seed, "answers": 20, "mse": 1.0, "bits": 1.0,
         "accuracy": 0.5 + 0.1 * seed + (search == "greedy") * more}
        for mode, more in (("as-printed", 0.02), ("as-authors", 0.2)) for seed in (0, 1, 2) for search in ("particles", "greedy")
    ]  # fmt: skip
    said = particles._compare(rows)
    equal = "rank-4, 3 seeds of 20 answers, accuracies equal: accuracy +0.020 (+0.020 to +0.020), MSE +0.000"
    assert f"In as-printed mode: {equal}" in said
    assert "In as-authors mode: rank-4, 3 seeds of 20 answers, accuracies different" in said
    assert len(particles.draw(rows).axes) == 6


def test_trials_of_other_modes_are_left_out(bench: Bench, small_source: Source) -> None:
    ours, theirs = (bench.config(small_source, question="label", answers=2, mode=mode) for mode in ("default", "paper"))
    bench.modes = ("paper",)
    found = bench.trials([ours, theirs])
    assert [len(found[config]) for config in (ours, theirs)] == [0, 2]
    bench.modes, bench.stored = ("default",), True
    assert bench.trials([theirs]) == {theirs: []}


def test_stored_trials_are_shown_and_none_is_run(bench: Bench, small_source: Source) -> None:
    config = bench.config(small_source, question="label", answers=3)
    bench.stored = True
    assert bench.trials([config]) == {config: []}
    bench.ledger.save(config, fake_trial(1, [0.5, 0.8, 0.8]))
    assert [trial.seed for trial in bench.trials([config])[config]] == [1]


def test_a_crossing_that_does_not_last_is_told(repository: Path) -> None:
    rows = [
        {"setting": "label", "answer": n, "accuracy": a, "seconds": 100.0 * n}
        for n, a in enumerate((0.7, 0.8, 0.7, 0.8, 0.9), 1)
    ]
    assert (crossing(rows, "label", 0.75), lasting_crossing(rows, "label", 0.75)) == (2.0, 4.0)
    assert lasting_crossing(rows[:3], "label", 0.75) is None
    assert learning._crossings(rows, ["label"], 0.75) == "label 2 (lasting from 4)"
    assert [accuracy_at(rows, "label", s) for s in (50, 300, 399, 600)] == [None, 0.7, 0.7, None]
