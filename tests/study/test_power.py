"""The number of participants for a difference of slopes: textbook cases, its own simulation, refusals."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tellmore.cli import app
from tellmore.errors import InputError
from tellmore.study.power import Plan, participants_needed
from tellmore.study.settings import Study


def test_numbers_are_those_of_a_t_test() -> None:
    """A standardised difference of 0.5 needs 64 in each of two groups, or 34 in one, at 80 % and 5 % (Cohen's tables)."""
    assert Plan(0.5).needed(2.0) == 64
    assert Plan(0.5, groups=1).needed(1.0) == 34
    assert Plan(0.5, power=0.9).needed(2.0) == 86


def test_a_study_of_that_size_sees_the_difference(study: Study) -> None:
    needed = participants_needed(study, "select_high", Plan(0.2, groups=1), replicates=100, excluded=0.2)
    assert 0.7 < needed.simulated_power < 0.9
    assert needed.recruited == pytest.approx(needed.analysed_per_group / 0.8, abs=1)
    slower = participants_needed(study, "select_high", Plan(0.2, groups=1), replicates=0, speed_sd=0.6)
    assert slower.analysed_per_group > needed.analysed_per_group


def test_the_command_prints_json() -> None:
    arguments = ["study", "power", "--preset", "grid", "--difference", "1", "--replicates", "0", "--json"]
    rows = json.loads(CliRunner().invoke(app, arguments, catch_exceptions=False).output)["rows"]
    assert [row["kind"] for row in rows] == ["rank", "select_high", "tick"]
    assert all(row["recruited"] == 2 * row["analysed_per_group"] >= 6 for row in rows)
    assert rows[0]["simulated_power"] is None


@pytest.mark.parametrize(
    "wrong", [{"difference": 0.0}, {"difference": 1.0, "groups": 3}, {"difference": 1, "alpha": 0.9}]
)
def test_impossible_plans_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Plan(**wrong)  # type: ignore[arg-type]


def test_kinds_and_shares_are_checked(study: Study) -> None:
    with pytest.raises(InputError, match="its kinds are rank, select_high"):
        participants_needed(study, "tick", Plan(1.0))
    with pytest.raises(InputError, match="excluded"):
        participants_needed(study, "rank", Plan(1.0), excluded=1.0)
    with pytest.raises(InputError, match="more than 100,000"):
        Plan(1e-6).needed(1.0)
