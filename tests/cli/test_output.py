"""Shared printing: JSON that any parser reads, tables, progress."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tellmore.cli.output import print_json, print_table, progress


def test_json_takes_numpy_and_turns_nan_into_null(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": np.float32(0.5), 3: np.array([1.0, np.nan]), "b": (np.int64(2), float("inf"), True, None, "é")})
    assert json.loads(capsys.readouterr().out) == {"a": 0.5, "3": [1.0, None], "b": [2, None, True, None, "é"]}


def test_table_shows_every_cell_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["kind", "bits"], [["[bold]rank", 1.23456], ["select", None]], title="Rates")
    out = capsys.readouterr().out
    assert all(part in out for part in ("Rates", "kind", "[bold]rank", "1.235", "–"))


@pytest.mark.parametrize("forced", [False, True], ids=["a pipe", "a notebook"])
def test_progress_is_silent_where_there_is_no_terminal(
    forced: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if forced:
        monkeypatch.setenv("FORCE_COLOR", "1")
    with progress("trials", 3) as advance:
        advance()
        advance(2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.strip()) == ("", "")
