"""A project whose people mean different things: a classifier for each of them, and what the app says about it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tellmore import cli
from tellmore.app.api import create_app
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.classifier import Classifier
from tellmore.data.project import Project, create_project
from tellmore.data.settings import Settings
from tellmore.errors import SettingError
from tellmore.kinds.tick import TickAnswer
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, participant_event, question_event
from tellmore.store.repository import Repository
from tellmore.store.state import State, load_state

X = np.random.default_rng(0).normal(size=(60, 40))
NAMES = {"p1": "Ann", "p2": "Bob", "p3": "Cy", "p4": "Dee", "p5": "Ann"}
TIMING = {"onset_ms": 0, "first_action_ms": 500, "submit_ms": 4000, "latency_ms": 5}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Ann and Cy answer by one column, Bob and Dee by another; a second Ann answers once."""
    ids = [f"i{row}" for row in range(len(X))]
    made = create_project(tmp_path_factory.mktemp("camps") / "p", Pool(X, ids=ids), Settings())
    rng, events = np.random.default_rng(1), [participant_event(p, name, "annotator") for p, name in NAMES.items()]
    for number in range(49):
        who = "p5" if number == 48 else f"p{number % 4 + 1}"
        column = 1 if who in ("p2", "p4") else 0
        rows = rng.choice(len(X), 12, replace=False)
        question = Question("tick", [ids[row] for row in rows], f"q{number}")
        answer = TickAnswer([ids[row] for row in rows if X[row, column] > 0])
        events += [question_event(question, who, check=False), answer_event(question.id, who, answer, timing=TIMING)]
    repository = Repository(made.database_url)
    repository.append(events)
    repository.close()
    return made


@pytest.fixture(scope="module")
def state(project: Project) -> State:
    return load_state(project)


def test_each_person_has_a_classifier_to_take_away(project: Project, state: State, tmp_path: Path) -> None:
    bob = state.of_person("Bob")
    for own, column in ((bob, 1), (state.of_person("Cy"), 0)):
        assert np.mean(own.learner.predict() == (X[:, column] > 0)) > 0.85
    out = tmp_path / "bob.npz"
    done = CliRunner().invoke(cli.app, ["export", str(project.folder), "--out", str(out), "--person", "Bob"])
    assert done.exit_code == 0, done.output
    assert Classifier.load(out).predict_proba(X) == pytest.approx(bob.learner.predict_proba(), abs=1e-5)
    assert json.loads(str(np.load(out)["provenance"]))["person"] == "Bob"
    assert "person" not in state.provenance


def test_somebody_unknown_or_ambiguous_is_refused_in_one_line(state: State) -> None:
    with pytest.raises(SettingError, match="'Zoe' has given no answer; those who have: Ann, Bob, Cy, Dee, Ann"):
        state.of_person("Zoe")
    with pytest.raises(SettingError, match="2 people are called 'Ann'; name one by the id in the log: p1, p5"):
        state.of_person("Ann")
    assert state.of_person("p1").person == "p1"


def test_the_app_names_camps_and_what_divides_them(project: Project) -> None:
    session = Session(Repository(project.database_url), project.pool, project.settings).start()
    try:
        tokens = Tokens(session.repository)
        client = TestClient(create_app(session, tokens=tokens), base_url="http://127.0.0.1")
        token, _ = tokens.issue("owner", "owner", "Owner")
        client.get(f"/?token={token}")
        session.settled_view()
        found = client.get("/api/opinions").json()
    finally:
        session.close()
    assert found["people"] == ["Ann", "Bob", "Cy", "Dee"]
    assert found["few"] == ["Ann"]
    assert {tuple(found["camps"][side]) for side in ("first", "second")} == {("Ann", "Cy"), ("Bob", "Dee")}
    row = {f"i{at}": each for at, each in enumerate(X)}
    for item in found["disputed"][:3]:
        assert (row[item["id"]][0] > 0) != (row[item["id"]][1] > 0)
        assert [view["name"] for view in item["views"]] == found["people"]
    more = [row[item["id"]] for item in found["camps"]["first_more"]]
    assert np.mean([each[0] - each[1] for each in more]) > 1
