"""`tellmore race`: one table and one picture, the trials of `tellmore simulate`, one-line errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.test_lab import run
from tests.sim.conftest import write_pool


def test_a_race_is_what_simulate_measures_and_is_not_run_twice(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pool, cache, out = str(write_pool(tmp_path / "small.npz")), tmp_path / "cache", tmp_path / "out"
    contenders = ("--contender", "rank-3", "--contender", "random")
    arguments = ("race", "--pool", pool, *contenders, "--seeds", "2", "--seconds", "60", "--jobs", "1")
    code, printed, problem = run(capsys, *arguments, "--cache", str(cache), "--out", str(out))
    assert (code, problem) == (0, "")
    assert "rank-3 is" in printed
    assert {path.name for path in out.iterdir()} >= {"race.csv", "race.png", "tables.md"}
    stored = {path: path.stat().st_mtime_ns for path in (cache / "trials").iterdir()}
    assert len(stored) == 4

    asked = ("--question", "rank", "--size", "3", "--seconds", "60", "--seeds", "2")
    _, printed, _ = run(
        capsys, "simulate", "--pool", pool, *asked, "--jobs", "1", "--cache", str(cache / "trials"), "--json"
    )
    marks = json.loads(printed)["at_seconds"]
    rows = [
        row
        for row in csv.DictReader((out / "race.csv").read_text(encoding="utf-8").splitlines())
        if row["contender"] == "rank-3"
    ]
    assert len(rows) == 6
    for row in rows:
        found = marks[row["mark_s"]][row["measure"]]
        assert [float(row["mean"]), float(row["se"])] == pytest.approx([found["mean"], found["se"]], rel=1e-5)
    again = ("--contender", "rank-3", "--contender", "label", "--peers", str(out / "race.csv"))
    code, printed, _ = run(
        capsys, *arguments[:3], *again, *arguments[-6:], "--cache", str(cache), "--out", str(tmp_path / "again")
    )
    assert (code, "label is" in printed, "rank-3 is" in printed) == (0, True, True)
    assert "random" in (tmp_path / "again" / "race.csv").read_text(encoding="utf-8")
    assert stored.items() <= {path: path.stat().st_mtime_ns for path in (cache / "trials").iterdir()}.items()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pool", "nowhere"), "there is no pool 'nowhere'"),
        (("--pool", "words,0%"), "above 0 and below 100 %"),
        (("--pool", "words", "--contender", "auto", "--contender", "svm"), "there are also words-alone, random"),
        (("--pool", "words", "--contender", "auto"), "at least 2 contenders"),
        (("--pool", "words", "--seconds", "10"), "at least 30 seconds"),
        (("--seeds", "0"), "at least 1 seed"),
        (("--peers", "nowhere.csv"), "no rows of a race in nowhere.csv"),
        (("--peers", __file__), "--peers takes the race.csv"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run(
        capsys, "race", *arguments, "--jobs", "1", "--cache", str(tmp_path), "--out", str(tmp_path / "out")
    )
    assert code == 1
    assert message in err
    assert err.count("\n") == 1
