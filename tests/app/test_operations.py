"""Health, metrics, request lines, and what owners did."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tellmore.app.inviting import invitation_link
from tellmore.app.logs import REQUESTS, JsonLines
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.errors import SettingError, StateError, StoreError
from tests.app.conftest import body_for


def test_health_needs_no_token_and_tells_a_database_that_is_away(
    app: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = TestClient(app, base_url="http://127.0.0.1")
    assert (stranger.get("/health").status_code, stranger.get("/health").json()) == (200, {"status": "ok"})

    def away() -> None:
        raise StoreError("the database does not respond")

    monkeypatch.setattr(session.repository, "keep_claim", away)
    assert stranger.get("/health").status_code == 503


def test_the_description_has_every_refusal_that_the_documentation_lists(app: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"\b(?:4|5)\d\d(?= \()", page.partition("## ")[0]))
    assert "503" in documented
    for path, methods in app.openapi()["paths"].items():
        for about in methods.values():
            described = {status for status in about["responses"] if status >= "400"}
            assert described == documented or not path.startswith("/api"), path


def test_figures_are_for_owners_and_monitors(visit: Callable[..., TestClient], app: Any, tokens: Tokens) -> None:
    owner, ann = visit("owner"), visit("annotator", "ann")
    question = ann.get("/api/question").json()["question"]
    ann.post("/api/answers", json=body_for(question))
    token, _ = tokens.issue("monitor", "p-watch", "watch")
    monitor = TestClient(app, base_url="http://127.0.0.1", headers={"authorization": f"Bearer {token}"})
    assert [who.get("/metrics").status_code for who in (owner, monitor, ann)] == [200, 200, 403]
    assert TestClient(app, base_url="http://127.0.0.1").get("/metrics").status_code == 401
    assert [monitor.get(path).status_code for path in ("/api/me", "/api/question", "/api/dashboard")] == [403] * 3
    lines = monitor.get("/metrics").text.splitlines()
    assert 'tellmore_answers_total{state="counts"} 1.0' in lines
    assert 'tellmore_requests_total{method="POST",route="/api/answers",status="200"} 1.0' in lines
    issued = {
        line.split('"')[1]: float(line.rsplit(" ", 1)[1])
        for line in lines
        if line.startswith("tellmore_questions_total")
    }
    assert {"best", "check", "fallback"} <= set(issued)
    assert sum(issued.values()) >= 1
    assert any(line.startswith('tellmore_request_seconds_bucket{le="0.1",route="/api/answers"}') for line in lines)
    assert {"tellmore_questions_out", "tellmore_planner_behind"} <= {line.split(" ")[0] for line in lines}


def test_what_owners_did_is_on_record(visit: Callable[..., TestClient], session: Session) -> None:
    owner, ann = visit("owner"), visit("annotator", "ann")
    owner.put("/api/settings", json={"instruction": "Look twice."})
    made = owner.post("/api/invitations", json={"name": "Bob"}).json()
    owner.delete(f"/api/invitations/{made['id']}")
    owner.get("/api/export/jsonl")
    owner.post("/api/reset", json={"confirm": "wrong"})
    ann.get("/api/question")
    done = [(each["what"], each["details"].get("what")) for each in reversed(owner.get("/api/audit").json())]
    assert ("audit", "PUT /api/settings") in done
    assert ("audit", "POST /api/invitations") in done
    assert ("audit", f"DELETE /api/invitations/{made['id']}") in done
    assert ("audit", "GET /api/export/jsonl") in done
    assert not any("reset" in str(what) for _, what in done), "what was refused was not done"
    assert all(each["who"] and each["t_utc"] for each in owner.get("/api/audit").json())


def test_requests_are_logged_as_json(visit: Callable[..., TestClient], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=REQUESTS.name):
        visit("annotator", "ann").get("/api/me")
    line = json.loads(JsonLines().format(caplog.records[-1]))
    assert {key: line[key] for key in ("level", "message", "method", "path", "status")} == {
        "level": "info", "message": "request", "method": "GET", "path": "/api/me", "status": 200,
    }  # fmt: skip
    assert line["ms"] >= 0
    assert line["participant"] == "ann"
    try:
        raise ValueError("odd")
    except ValueError:
        record = logging.getLogger("x").makeRecord("x", 40, "f", 1, "failed", (), __import__("sys").exc_info())
    assert "ValueError: odd" in json.loads(JsonLines().format(record))["exception"]


def test_the_command_line_invites(session: Session, app: Any) -> None:
    url = str(session.repository._database.engine.url)
    with pytest.raises(StateError, match="--public-url"):
        invitation_link(url, "Ann", "annotator", days=7)
    session.repository.say_address("http://127.0.0.1")
    link = invitation_link(url, "Ann", "annotator", days=7)
    app.state.tellmore.tokens.reload()
    browser = TestClient(app, base_url="http://127.0.0.1")
    browser.get(link)
    assert browser.get("/api/me").json()["name"] == "Ann"
    with pytest.raises(SettingError, match="only be for annotators"):
        invitation_link(url, "Eve", "owner", days=7, people=3)
