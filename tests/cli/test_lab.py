"""`tellmore simulate` and `tellmore reproduce`: JSON, tables, one-line errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tellmore.cli import main
from tests.sim.conftest import write_pool


@pytest.fixture
def pool(tmp_path: Path) -> str:
    return str(write_pool(tmp_path / "small.npz"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def simulate(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    return run(capsys, "simulate", *arguments, "--jobs", "1", "--cache", str(tmp_path / "cache"))


def test_simulate_prints_the_promised_json(capsys: pytest.CaptureFixture[str], tmp_path: Path, pool: str) -> None:
    arguments = ("--pool", pool, "--question", "select", "--size", "3", "--answers", "4", "--seeds", "2", "--json")
    code, out, _ = simulate(capsys, tmp_path, *arguments)
    assert code == 0
    summary = json.loads(out)
    assert summary["seeds"] == [0, 1]
    assert summary["pool"]["items"] == 60
    assert summary["config"]["question"] == "select"
    for curve in ("accuracy", "mse", "logdet", "bits", "seconds"):
        assert [len(seed) for seed in summary["curves"][curve]] == [4, 4]
    assert set(summary["to_accuracy"]) == {"0.70", "0.75", "0.80"}
    assert len(list((tmp_path / "cache").glob("*.json"))) == 2
    assert simulate(capsys, tmp_path, *arguments)[1] == out


def test_simulate_for_some_seconds_tells_the_marks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, pool: str
) -> None:
    arguments = ("--pool", pool, "--seconds", "60", "--seeds", "2", "--target", "0.9", "--target", "0.625")
    summary = json.loads(simulate(capsys, tmp_path, *arguments, "--json")[1])
    assert summary["config"]["answers"] is None
    assert set(summary["lasting"]) == set(summary["to_accuracy"]) == {"0.625", "0.90"}
    assert [summary["at_seconds"][mark]["runs"] for mark in ("0", "30", "60", "300")] == [2, 2, 2, 0]
    assert summary["at_seconds"]["0"]["accuracy"]["mean"] == pytest.approx(0.5)
    out = simulate(capsys, tmp_path, *arguments)[1]
    assert "62.5%" in out
    assert "2 of 2" in out
    assert "0 of 2" in out
    assert "--seconds 1800 lets every trial last" in out
    stopped = simulate(capsys, tmp_path, *arguments, "--stop-at", "0.6")[1]
    assert "later means are of the worse ones" in stopped


def test_simulate_prints_a_table_and_what_paper_mode_fitted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, pool: str
) -> None:
    code, out, _ = simulate(capsys, tmp_path, "--pool", pool, "--mode", "paper", "--answers", "2", "--seeds", "1")
    assert code == 0
    assert "fitted from the scores: w = " in out
    assert "75%" in out


def test_simulate_says_where_scores_are_certain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write_pool(tmp_path / "certain.npz", sd=None)
    _, out, _ = simulate(capsys, tmp_path, "--pool", str(path), "--answers", "1", "--seeds", "1")
    assert "no spread is known: scores are certain, all count" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "--pool", "nowhere"), "there is no pool 'nowhere'"),
        (("simulate", "--seeds", "0"), "at least 1 seed"),
        (("simulate", "--seconds", "-1"), "more than 0 seconds"),
        (("simulate", "--target", "75"), "above 0 and at most 1, not 75"),
        (("simulate", "--dask", "elsewhere"), "tcp://host:port"),
        (("reproduce", "fig2", "--out", "x"), "unknown name 'fig2'; the known ones are all, fig1"),
        (("reproduce", "fig1", "--out", "x", "--data", "nowhere"), "there is no data folder nowhere"),
        (("reproduce", "fig3", "--out", "x", "--mode", "printed"), "mode must be one of"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, _, err = run(capsys, *arguments)
    assert code == 1
    assert message in err
    assert err.count("\n") == 1


def test_a_pool_without_scores_and_an_unwritable_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bare = write_pool(tmp_path / "bare.npz", mean=None, sd=None, threshold=None)
    code, _, err = simulate(capsys, tmp_path, "--pool", str(bare))
    assert (code, err.count("\n")) == (1, 1)
    assert "no human scores" in err
    code, _, err = run(capsys, "reproduce", "fig1", "--quick", "--out", str(bare / "below"))
    assert (code, err.count("\n")) == (1, 1)
    assert "cannot write into" in err


def test_reproduce_writes_pictures_rows_sentences_and_a_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TELLMORE_DATA", raising=False)
    out = tmp_path / "out"
    code, printed, _ = run(capsys, "reproduce", "fig14", "fig1", "--quick", "--jobs", "1", "--out", str(out), "--json")
    assert code == 0
    assert [outcome["name"] for outcome in json.loads(printed)] == ["fig14", "fig1"]
    for name in ("fig1", "fig14"):
        assert all((out / f"{name}.{kind}").exists() for kind in ("png", "svg", "csv", "txt"))
    assert "fig14.png" in (out / "index.html").read_text()
