"""A new kind works everywhere without a change in any other file: learner, log, HTTP, laboratory, export."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import tellmore as tm
from tellmore.app.api import create_app
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.cli import app
from tellmore.data.project import create_project, open_project
from tellmore.data.settings import LearningSettings, Settings
from tellmore.store.repository import Repository
from tests.toy.best_worst import BestWorstAnswer

N = 40


@pytest.fixture
def pool() -> tm.Pool:
    X = np.random.default_rng(2).standard_normal((N, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return tm.Pool(X, ids=[f"i{row}" for row in range(N)], text=[f"thing {row}" for row in range(N)])


@pytest.fixture
def folder(pool: tm.Pool, tmp_path: Path) -> Path:
    learning = LearningSettings(question="best_worst", kinds=("label", "best_worst"), check_share=0.0)
    create_project(tmp_path / "project", pool, Settings(learning=learning))
    return tmp_path / "project"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def answer(question: dict[str, Any]) -> dict[str, Any]:
    items = sorted((item["id"] for item in question["items"]), key=lambda item: int(item[1:]))
    return {"type": "best_worst", "best": items[0], "worst": items[-1]}


def test_it_keeps_the_whole_contract(best_worst: tm.Kind) -> None:
    tm.check_question_kind(best_worst, sizes=(3, 4))


def test_a_learner_asks_it_alone_and_weighs_it_where_it_is_allowed(pool: tm.Pool) -> None:
    learner = tm.Learner(pool, "best_worst")
    question = learner.ask()
    assert (question.kind, question.size) == ("best_worst", 4)
    learner.tell(question, BestWorstAnswer(question.items[0], question.items[1]))
    mean = dict(zip(pool.ids, learner.scores()[0], strict=True))
    assert mean[question.items[0]] > mean[question.items[1]]
    weighing = tm.Learner(pool, "auto", kinds=("label", "best_worst"))
    weighing.ask()
    assert {rate.kind for rate in weighing.rates} == {"label", "best_worst"}
    assert "best_worst" not in {rate.kind for rate in tm.Learner(pool, "auto").rates}


def test_it_is_asked_over_http_logged_told_and_exported(folder: Path, best_worst: tm.Kind) -> None:
    project = open_project(folder)
    session = Session(Repository(project.database_url), project.pool, project.settings).start()
    tokens = Tokens(session.repository)
    client = TestClient(create_app(session, tokens=tokens), base_url="http://127.0.0.1")
    client.get(f"/?token={tokens.issue('owner', 'owner', 'owner')[0]}")
    try:
        known = {kind["name"]: kind for kind in client.get("/api/me").json()["project"]["kinds"]}
        script = client.get(known["best_worst"]["script"])
        assert script.headers["content-type"].startswith("text/javascript")
        assert best_worst.script is not None
        assert script.text == best_worst.script.read_text(encoding="utf-8")
        assert client.get("/api/kinds/rank/card.js").status_code == 404
        question = client.get("/api/question").json()["question"]
        for _ in range(3):
            while question["kind"] == "label":  # a random check, or a question asked while the next one is not ready
                skip = {"question_id": question["id"], "answer": {"type": "skip"}}
                question = client.post("/api/answers", json=skip).json()["next"]["question"]
            assert question["kind"] == "best_worst"
            wrong = {"type": "best_worst", "best": question["items"][0]["id"], "worst": "nobody"}
            refused = client.post("/api/answers", json={"question_id": question["id"], "answer": wrong})
            assert (refused.status_code, "two of the items" in refused.json()["error"]) == (422, True)
            body = {"question_id": question["id"], "answer": answer(question)}
            question = client.post("/api/answers", json=body).json()["next"]["question"]
        assert client.post("/api/undo", json={}).json()["previous"]["type"] == "best_worst"
        rows = client.get("/api/answers?limit=10&offset=0").json()["rows"]
        assert rows[0]["told"].startswith("“thing ")
        assert "least of 4" in rows[0]["told"]
    finally:
        session.close()
    assert json.loads(run("status", folder, "--json"))["answers"] == 2
    run("export", folder, "--format", "csv", "--table", "answers", "--out", folder / "answers.csv")
    with (folder / "answers.csv").open(encoding="utf-8") as file:
        exported = list(csv.DictReader(file))
    assert json.loads(exported[0]["answer"])["type"] == "best_worst"
    run("export", folder, "--format", "npz", "--out", folder / "belief.npz")
    run("export", folder, "--format", "report", "--out", folder / "report.html")
    assert "most, " in (folder / "report.html").read_text(encoding="utf-8")
    run("replay", folder)
    rates = json.loads(run("rates", folder, "--kind", "best_worst", "--kind", "label", "--json"))["rows"]
    assert {row["kind"] for row in rates} == {"best_worst", "label"}


def test_simulated_people_answer_it(pool: tm.Pool, tmp_path: Path) -> None:
    scores = pool.X @ np.random.default_rng(0).standard_normal(5)
    np.savez(tmp_path / "pool.npz", X=pool.X, ids=np.array(pool.ids), mean=scores, threshold=0.0)
    shown = run(
        *("simulate", "--pool", tmp_path / "pool.npz", "--question", "best_worst", "--answers", 15, "--seeds", 2),
        *("--jobs", 1, "--cache", tmp_path / "trials", "--json"),
    )
    assert np.mean(json.loads(shown)["curves"]["accuracy"], axis=0)[-1] > 0.6


def test_a_log_with_a_kind_that_is_not_installed_says_so(
    folder: Path, best_worst: tm.Kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tellmore import kinds

    copied = shutil.copytree(folder, tmp_path / "elsewhere")
    without = {name: kind for name, kind in kinds.REGISTRY._kinds.items() if kind is not best_worst}
    monkeypatch.setattr(kinds.REGISTRY, "_kinds", without)
    result = CliRunner().invoke(app, ["status", str(copied)])
    assert result.exit_code != 0
    assert isinstance(result.exception, tm.SettingError)
    assert "unknown question kind 'best_worst'" in str(result.exception)
