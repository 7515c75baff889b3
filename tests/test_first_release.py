"""Files of version 0.1.0 open and predict as they did: a saved learner, a project, its log."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tellmore as tm
from tellmore import cli
from tellmore.data.changes import Change, changes_since
from tellmore.data.project import create_project, open_project
from tellmore.store.fold import Fold
from tellmore.store.ledger import Ledger
from tellmore.store.repository import Event, Repository
from tellmore.store.state import load_state

HERE = Path(__file__).parent / "first_release"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HERE / "project", tmp_path / "project"))


LEARNS_AS_BEFORE = (
    "This project was made by tellmore 0.1.0; since then: new projects learn from embeddings of any scale and from rare "
    'classes; this one learns as before; to retrain it on its answers, set version = "0.2.0" under [data] in tellmore.toml'
)


def scores_then() -> np.ndarray:
    with (HERE / "project-scores.csv").open(encoding="utf-8") as file:
        return np.array([float(row["probability"]) for row in csv.DictReader(file)])


def test_a_saved_learner_predicts_asks_and_undoes_as_it_did(tmp_path: Path) -> None:
    learner = tm.Learner.load(HERE / "learner.npz")
    then = json.loads((HERE / "learner.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(learner.probabilities(), np.load(HERE / "learner-probabilities.npy"), atol=1e-6)
    assert learner.posterior.logdet == pytest.approx(then["logdet"])
    assert {type(answer).__name__ for _, answer in learner.history} == {
        "LabelAnswer",
        "SelectAnswer",
        "RankAnswer",
        "Skip",
    }
    assert learner.threshold is None
    question = learner.ask(kind="rank", size=3)
    assert {"kind": question.kind, "items": list(question.items)} == then["next"]
    told = tm.Learner(learner.pool, prior=learner.prior, bound=learner.bound, w=9.0, K=6.75)
    told.behaviour = replace(told.behaviour, lapse=0.0)  # 0.1 took every answer as meant
    for asked, answer in learner.history:
        told.tell(asked, answer)
    np.testing.assert_allclose(told.probabilities(), learner.probabilities(), atol=1e-5)
    learner.save(tmp_path / "again.npz")
    assert tm.Learner.load(tmp_path / "again.npz").history == learner.history


def test_a_project_opens_with_the_settings_it_had_and_predicts_as_it_did(project: Path) -> None:
    opened = open_project(project)
    assert opened.settings.learning.kinds == ("label", "select_high", "select_low", "rank")
    assert opened.settings.learning.set_size == 4
    state = load_state(opened)
    np.testing.assert_allclose(state.learner.probabilities(), scores_then(), atol=1e-6)
    assert len(state.effects) == 23


def without(project: Path, key: str) -> Path:
    """The project after somebody has removed a key from its settings."""
    file = project / "tellmore.toml"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith(f"{key} = ")), encoding="utf-8")
    return project


def test_a_project_that_names_its_kinds_is_told_of_no_change(project: Path) -> None:
    shown = CliRunner().invoke(cli.app, ["status", str(project)])
    assert shown.exit_code == 0
    assert shown.stderr == LEARNS_AS_BEFORE + ".\n"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_project_that_leaves_its_kinds_open_is_told_once_that_grids_are_asked(
    project: Path, options: list[str]
) -> None:
    shown = CliRunner().invoke(cli.app, ["status", str(without(project, "kinds")), *options])
    assert shown.exit_code == 0
    assert shown.stderr == (
        f"{LEARNS_AS_BEFORE}; auto may ask grids of 12 items; to choose, name kinds in tellmore.toml.\n"
    )
    assert "grids" not in shown.stdout


def test_serving_tells_it_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tellmore.app.server.serve_project", lambda *_args, **_options: None)
    assert CliRunner().invoke(cli.app, ["serve", str(project)]).stderr == LEARNS_AS_BEFORE + ".\n"
    assert "auto may ask grids" in CliRunner().invoke(cli.app, ["serve", str(without(project, "kinds"))]).stderr


def test_the_owner_may_let_its_answers_be_learnt_anew(project: Path) -> None:
    file = project / "tellmore.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("[data]", '[data]\nversion = "0.2.0"'), encoding="utf-8")
    opened = open_project(project)
    assert changes_since(opened.settings) is None
    anew = load_state(opened).learner
    assert np.abs(anew.probabilities() - scores_then()).max() > 0.01
    told = tm.Learner(opened.pool)
    for question, answer in anew.history:
        told.tell(question, answer)
    assert told.behaviour == anew.behaviour


def test_a_new_project_says_which_version_made_it_and_is_told_of_later_changes_only(tmp_path: Path) -> None:
    made = create_project(tmp_path / "new", tm.Pool(np.eye(3)))
    assert made.settings.data.version == tm.__version__
    assert changes_since(open_project(without(tmp_path / "new", "kinds")).settings) is None
    later = Change("0.10.0", "the prior is wider", lambda settings: settings.learning.prior == "pool")
    other = Change("0.11.0", "nothing that concerns it", lambda settings: settings.learning.prior == "isotropic")
    line = changes_since(made.settings, [later, other])
    assert line == f"This project was made by tellmore {tm.__version__}; since then: the prior is wider."


def test_its_log_folds_from_nothing_to_the_same_belief(project: Path) -> None:
    opened = open_project(project)
    repository = Repository(opened.database_url)
    events = list(repository.since(0))
    repository.close()
    lines = [json.loads(line) for line in (HERE / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    exported = [Event(**line) for line in lines if line["kind"] != "provenance"]
    kept = {event.seq for event in exported}
    assert [event for event in events if event.seq in kept] == exported
    folded = Fold.of(Ledger(opened.settings, exported), opened.pool)
    np.testing.assert_allclose(folded.learner.probabilities(), scores_then(), atol=1e-6)
