"""The backend for Label Studio, called as Label Studio calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tellmore.app.label_studio import choices_tags, create_backend, serve_backend
from tellmore.data.project import Project, create_project
from tellmore.data.settings import Settings
from tellmore.errors import SettingError
from tellmore.pool import Pool
from tellmore.store.state import load_state

CONFIG = '<View><Text name="t" value="$text"/><Choices name="mood" toName="t"><Choice value="kind"/></Choices></View>'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    X = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    pool = Pool(X, ids=[f"i{row}" for row in range(20)], text=[f"text {row}" for row in range(20)])
    settings = Settings().changed(project={"positive": "kind", "negative": "not kind"})
    return create_project(tmp_path / "p", pool, settings)


@pytest.fixture
def client(project: Project) -> TestClient:
    return TestClient(create_backend(project), base_url="http://127.0.0.1")


def annotated(client: TestClient, item: str, word: str, *, number: int = 1, action: str = "ANNOTATION_CREATED") -> dict:
    result = {"from_name": "mood", "to_name": "t", "type": "choices", "value": {"choices": [word]}}
    annotation = {"id": number, "result": [result], "completed_by": 7, "lead_time": 2.5}
    event = {"action": action, "task": {"id": 5, "data": {"id": item}}, "annotation": annotation}
    response = client.post("/webhook", json=event)
    assert response.status_code == 201, response.text
    return response.json()


def test_health_setup_and_predictions(client: TestClient):
    assert client.get("/health").json() == {"status": "UP", "model_class": "tellmore"}
    assert client.post("/setup", json={"project": "1.2", "schema": CONFIG}).json()["model_version"] == "tellmore-0"
    tasks = [{"id": 1, "data": {"id": "i3"}}, {"id": 2, "data": {"text": "text 4"}}, {"id": 3, "data": {"text": "?"}}]
    told = client.post("/predict", json={"tasks": tasks, "label_config": CONFIG}).json()
    assert told["model_version"] == "tellmore-0"
    assert len(told["results"]) == 3
    result = told["results"][0]["result"][0]
    assert (result["from_name"], result["to_name"], result["type"]) == ("mood", "t", "choices")
    assert told["results"][2]["result"] == []
    assert told["results"][2]["score"] == 1.0
    alone = [client.post("/predict", json={"tasks": [task]}).json()["results"][0]["score"] for task in tasks]
    assert alone == [each["score"] for each in told["results"]], "tasks come in batches, and are ordered together"
    assert len(set(alone)) == 3


def test_labels_are_learnt_changed_and_taken_back(client: TestClient, project: Project):
    assert annotated(client, "i3", "Kind") == {"added": 1}
    assert annotated(client, "i3", "Kind") == {"added": 0}
    state = load_state(project)
    assert len(state.effects) == 1
    assert state.ledger.counting()[0][1].rt_ms == 2500
    task = {"tasks": [{"data": {"id": "i3"}}]}
    first = client.post("/predict", json=task).json()
    assert first["results"][0]["result"][0]["value"]["choices"] == ["kind"]
    for word in ("not kind", "kind"):
        assert annotated(client, "i3", word, action="ANNOTATION_UPDATED") == {"added": 1}
        assert len(load_state(project).effects) == 1
    again = client.post("/predict", json=task).json()
    assert again["results"][0]["result"][0]["value"]["choices"] == ["kind"]
    assert again["model_version"] != first["model_version"]
    gone = client.post("/webhook", json={"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]})
    assert gone.json() == {"taken_back": 1}
    assert load_state(project).effects == []


def test_what_is_known_is_asked_last(client: TestClient):
    """The order of tasks by prediction score is tellmore's order of questions."""
    annotated(client, "i3", "kind")
    tasks = [{"data": {"id": f"i{row}"}} for row in range(20)]
    scores = [each["score"] for each in client.post("/predict", json={"tasks": tasks}).json()["results"]]
    assert scores[3] > np.median(scores)


def test_what_does_not_fit_is_refused(client: TestClient, project: Project):
    event = {"action": "ANNOTATION_CREATED", "task": {"data": {"id": "i3"}}, "annotation": {"id": 1}}
    event["annotation"]["result"] = [{"type": "choices", "value": {"choices": ["maybe"]}}]
    refused = client.post("/webhook", json=event)
    assert refused.status_code == 422
    assert "'maybe' is unknown" in refused.json()["detail"]
    assert client.post("/webhook", json={"action": "PROJECT_UPDATED"}).json() == {}
    assert load_state(project).events == []


def test_only_this_computer_or_who_knows_the_password(project: Project):
    stranger = TestClient(create_backend(project), base_url="http://evil.example")
    assert stranger.get("/health").status_code == 400
    guarded = TestClient(create_backend(project, password="secret"), base_url="http://ml.example")
    assert guarded.get("/health").status_code == 200
    assert guarded.post("/predict", json={"tasks": []}).status_code == 401
    assert guarded.post("/predict", json={"tasks": []}, auth=("any", "wrong")).status_code == 401
    assert guarded.post("/predict", json={"tasks": []}, auth=("any", "secret")).status_code == 200
    with pytest.raises(SettingError, match="TELLMORE_LABEL_STUDIO_PASSWORD"):
        serve_backend(project, "0.0.0.0", 0, password=None, say=print)


def test_tags_are_read_from_the_interface():
    assert choices_tags(CONFIG) == ("mood", "t")
    assert choices_tags("<View/>") is None
