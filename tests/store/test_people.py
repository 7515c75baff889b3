"""People in words, and leaving somebody's answers out of a project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tellmore import Project, Question, SettingError
from tellmore.cli import app
from tellmore.core.habits import Habits
from tellmore.store.people import agreement_words


def test_the_evidence_is_said_in_numbers() -> None:
    careless = Habits(0.93, 0.95, careless=0.98, answers=40, labels=40, alike=21, by_chance=0.5, own=True)
    assert agreement_words(careless) == (
        "agrees with what the other answers taught on 52 % of 40 labels, and guessing would give 50 %; "
        "about 93 % of 40 answers look like chance"
    )
    reversed_ = Habits(0.97, 0.97, reversed=0.99, answers=12, labels=12, alike=1, by_chance=0.5, own=True)
    assert agreement_words(reversed_).endswith("; 12 answers look like the opposite of what is meant")
    first = Habits(0.4, 0.4, first=0.9, answers=30, own=True)
    assert agreement_words(first) == "about 40 % of 30 answers look like chance, most of them what is shown first"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Ann and Bo label alike, Cy the other way round; Di has just begun."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    z = X @ np.array([3.0, 1.0, 0.0, 0.0])
    made = Project.create(tmp_path / "words", X)
    who = ["Ann", "Bo", "Cy", "Ann", "Bo", "Cy", "Ann", "Bo", "Cy", "Di"]
    for number in range(49):
        name = who[number % 10]
        made.tell(Question("label", [str(number)]), bool((z[number] > 0) != (name == "Cy")), participant=name)
    return made


def test_a_project_names_who_answers_the_other_way_round_and_leaves_them_out(project: Project) -> None:
    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words], env={"COLUMNS": "400"})
        assert done.exit_code == 0, done.output
        return done.output

    folder = str(project.folder)
    assert "Cy seems to answer the other way round: agrees with" in run("status", folder)
    before = project.learner()
    assert not before.people["Di"].own
    assert "Cy: left out." in run("leave-out", folder, "Cy")
    assert "Cy is left out" in run("status", folder)
    without = project.learner()
    assert set(without.told_by) == {"Ann", "Bo", "Di"}
    project.leave_out("Cy", out=False)
    np.testing.assert_array_equal(project.learner().posterior.mean, before.posterior.mean)
    with pytest.raises(SettingError, match="nobody is called 'Eve': Ann"):
        project.leave_out("Eve")
