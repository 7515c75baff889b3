"""Ties and partial rankings: accepted, logged and learnt if the project allows them, otherwise refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from tellmore.app.session import Session
from tellmore.kinds.rank import RankAnswer
from tests.app.conftest import SETTINGS, TIMING, answer_to

Visit = Callable[..., TestClient]


@pytest.fixture
def session(open_session: Callable[..., Session]) -> Session:
    return open_session(SETTINGS.changed(learning={"ties": True}))


def ranking(client: TestClient) -> dict[str, Any]:
    """The open question; questions of other kinds are answered first."""
    question = client.get("/api/question").json()["question"]
    while question["kind"] != "rank":
        question = send(client, question, answer_to(question)).json()["next"]["question"]
    return question


def send(client: TestClient, question: dict[str, Any], answer: dict[str, Any]) -> Any:
    return client.post("/api/answers", json={"question_id": question["id"], "answer": answer, "timing": TIMING})


def level(question: dict[str, Any], n_positive: int, ties: list[int]) -> dict[str, Any]:
    order = [item["id"] for item in question["items"]]
    return {"type": "rank", "order": order, "n_positive": n_positive, "ties": ties}


def test_the_page_is_told_whether_ties_are_allowed(visit: Visit) -> None:
    owner = visit("owner")
    assert owner.get("/api/me").json()["project"]["ties"] is True
    assert owner.put("/api/settings", json={"ties": False}).json()["ties"] is False
    assert owner.get("/api/me").json()["project"]["ties"] is False


def test_ties_are_logged_learnt_and_exported(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    question = ranking(owner)
    answer = level(question, 1, [1])
    assert send(owner, question, answer).status_code == 200
    told = {asked.id: given for asked, given in session.settled_view().learner.history}
    assert told[question["id"]] == RankAnswer(answer["order"], 1, ties=[1])
    lines = [json.loads(line) for line in owner.get("/api/export/jsonl").text.splitlines()]
    [logged] = [line for line in lines if line["kind"] == "answer" and line["question_id"] == question["id"]]
    assert logged["payload"]["answer"] == answer
    rows = list(csv.DictReader(io.StringIO(owner.get("/api/export/csv?table=answers").text)))
    assert json.loads(rows[-1]["answer"]) == answer
    assert owner.post("/api/undo", json={}).json()["previous"] == answer


def test_all_level_is_an_answer_too(visit: Visit) -> None:
    ann = visit("annotator")
    question = ranking(ann)
    assert send(ann, question, level(question, 0, [0, 1])).status_code == 200


@pytest.mark.parametrize(("n_positive", "ties"), [(1, [0]), (2, [1]), (1, [2]), (1, [-1]), (1, ["0"]), (1, [True])])
def test_impossible_ties_are_refused(visit: Visit, n_positive: int, ties: list[Any]) -> None:
    ann = visit("annotator")
    question = ranking(ann)
    reply = send(ann, question, level(question, n_positive, ties))
    assert reply.status_code == 422
    assert "\n" not in reply.json()["error"]


def test_ties_are_refused_where_the_project_has_none(visit: Visit) -> None:
    owner = visit("owner")
    question = ranking(owner)
    owner.put("/api/settings", json={"ties": False})
    reply = send(owner, question, level(question, 1, [1]))
    assert reply.status_code == 422
    assert "allows no ties" in reply.json()["error"]
    assert send(owner, question, level(question, 1, [])).status_code == 200


def test_an_answer_with_ties_can_be_sent_again_after_they_were_forbidden(visit: Visit) -> None:
    owner = visit("owner")
    question = ranking(owner)
    assert send(owner, question, level(question, 1, [1])).status_code == 200
    owner.put("/api/settings", json={"ties": False})
    assert send(owner, question, level(question, 1, [1])).status_code == 200
    assert send(owner, question, level(question, 1, [])).status_code == 409
