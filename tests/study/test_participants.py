"""The routes of a study: who gets in, what is refused, and what a participant never sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app.api import cookie_name, create_app, study_page
from tellmore.app.limits import RateLimit
from tellmore.app.participants import study_router
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.data.settings import Settings
from tellmore.pool import Pool
from tellmore.store.repository import Repository
from tellmore.study.design import BankQuestion
from tellmore.study.entry import signature_of
from tellmore.study.session import StudySession
from tellmore.study.settings import Entry, Study
from tests.study.test_session import right_answer, step_value

KEY = "0123456789abcdef"
TIMING = {"onset_ms": 1200, "first_action_ms": 2000, "submit_ms": 4700, "moves": 2, "device": "mouse"}


class Site:
    """A running study in memory; ``visit`` opens another browser."""

    def __init__(
        self,
        log: Repository,
        study: Study,
        bank: list[BankQuestion],
        images: bool = False,
        listed: Sequence[str] = (),
    ) -> None:
        X = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32)
        files = [f"pictures/{i}.jpg" for i in range(20)] if images else None
        pool = Pool(X, ids=[f"w{i}" for i in range(20)], text=[f"word {i}" for i in range(20)], images=files)
        self.session = Session(log, pool, Settings())
        self.tokens = Tokens(log)
        study_session = StudySession(log, study, bank, pool, listed=lambda: listed)
        router = study_router(study_session, self.tokens, cookie_name(self.session), study_page, KEY)
        self.app = create_app(self.session, tokens=self.tokens, routers=[router], limit=RateLimit(10_000, 10_000))

    def visit(self) -> TestClient:
        return TestClient(self.app, base_url="http://127.0.0.1")


@pytest.fixture
def site(log: Repository, study: Study, bank: list[BankQuestion]) -> Site:
    return Site(log, study, bank)


def enter(browser: TestClient, **who: str) -> dict[str, Any]:
    reply = browser.post("/api/study/enter", json=who)
    assert reply.status_code == 200, reply.text
    state: dict[str, Any] = reply.json()
    return state


def to_first_question(browser: TestClient, study: Study, who: str) -> dict[str, Any]:
    state = enter(browser, prolific_pid=who, study_id="S1", session_id="T1")
    while state["step"] != "question":
        if state["question"]:
            body = {"question_id": state["question"]["id"], "answer": right_answer(study, state["question"])}
            state = browser.post("/api/study/answers", json={**body, "timing": TIMING}).json()["next"]
        else:
            body = {"step": state["step"], "value": step_value(study, state["step"])}
            state = browser.post("/api/study/step", json=body).json()
    return state


def test_entering_sets_a_cookie_that_scripts_cannot_read(site: Site) -> None:
    browser = site.visit()
    reply = browser.post("/api/study/enter", json={"participant": "anna"})
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert reply.json()["step"] == "eligibility"
    assert browser.get("/api/study").json() == reply.json()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"study_id": "S"}, 400),
        ({"participant": "a b"}, 422),
        ({"participant": "x" * 200}, 422),
        ({"participant": "ok", "admin": True}, 422),
    ],
)
def test_bad_arrivals_are_refused_in_one_line(site: Site, body: dict[str, Any], status: int) -> None:
    reply = site.visit().post("/api/study/enter", json=body)
    assert reply.status_code == status
    assert "\n" not in reply.json()["error"]


def test_without_entering_nothing_is_shown(site: Site) -> None:
    stranger = site.visit()
    assert stranger.get("/api/study").status_code == 401
    assert stranger.post("/api/study/step", json={"step": "consent", "value": True}).status_code == 401
    body = {"question_id": "q", "answer": {"type": "skip"}, "timing": TIMING}
    assert stranger.post("/api/study/answers", json=body).status_code == 401


def test_participants_see_nothing_of_the_model(site: Site) -> None:
    browser = site.visit()
    enter(browser, participant="anna")
    for path in ("/api/question", "/api/dashboard", "/api/answers", "/api/settings", "/api/export/jsonl"):
        assert browser.get(path).status_code == 403


def test_owners_are_no_participants(site: Site) -> None:
    owner = site.visit()
    owner.headers["Authorization"] = f"Bearer {site.tokens.issue_owner_link()}"
    assert owner.get("/api/study").status_code == 401


def refused(browser: TestClient, **who: str) -> str:
    reply = browser.post("/api/study/enter", json=who)
    assert reply.status_code == 403, reply.text
    return str(reply.json()["error"])


def test_the_browser_that_began_comes_back_to_its_question(site: Site, study: Study) -> None:
    browser = site.visit()
    first = to_first_question(browser, study, "pid1")
    assert enter(browser, prolific_pid="pid1")["question"] == first["question"]
    assert browser.get("/api/study").json()["question"] == first["question"]


def test_an_id_alone_acts_for_nobody_who_has_begun(site: Site, log: Repository) -> None:
    enter(site.visit(), prolific_pid="pid1", session_id="T1")
    before, stranger = list(log.since()), site.visit()
    assert "already in use in another browser" in refused(stranger, prolific_pid="pid1")
    assert "already in use" in refused(stranger, prolific_pid="pid1", session_id="T1"), "so short can be guessed"
    assert "already in use" in refused(stranger, participant="pid1", session_id="x" * 24)
    assert stranger.post("/api/study/step", json={"step": "consent", "value": False}).status_code == 401
    assert list(log.since()) == before


def test_a_platforms_session_and_a_signed_link_go_on_in_another_browser(site: Site, study: Study) -> None:
    session_id = "6504a1b2c3d4e5f601234567"
    enter(site.visit(), prolific_pid="pid1", session_id=session_id)
    assert enter(site.visit(), prolific_pid="pid1", session_id=session_id)["step"] == "eligibility"
    first = to_first_question(site.visit(), study, "pid2")
    signed = signature_of(KEY, "pid2")
    assert enter(site.visit(), participant="pid2", signature=signed)["question"] == first["question"]
    assert "not made for this id" in refused(site.visit(), participant="pid1", signature=signed)


@pytest.mark.parametrize("by", ["list", "signed"])
def test_a_study_lets_in_whom_it_expects(log: Repository, study: Study, bank: list[BankQuestion], by: str) -> None:
    site = Site(log, study.model_copy(update={"entry": Entry(by=by)}), bank, listed=["anna"])
    refused(site.visit(), participant="bob")
    assert (site.visit().post("/api/study/enter", json={"participant": "anna"}).status_code == 200) == (by == "list")
    assert enter(site.visit(), participant="carl", signature=signature_of(KEY, "carl"))["step"] == "eligibility"


def test_enough_is_enough(log: Repository, study: Study, bank: list[BankQuestion]) -> None:
    site = Site(log, study.model_copy(update={"entry": Entry(most=2)}), bank)
    first = site.visit()
    enter(first, participant="anna")
    enter(site.visit(), participant="bob")
    assert "as many people as the study needs" in refused(site.visit(), participant="carl")
    assert enter(first, participant="anna")["step"] == "eligibility"


def test_an_owner_who_tries_the_study_stays_the_owner(site: Site) -> None:
    owner = site.visit()
    owner.get(f"/?token={site.tokens.issue_owner_link()}")
    enter(owner, participant="me")
    assert owner.get("/api/me").json()["role"] == "owner"
    assert owner.get("/api/study").json()["step"] == "eligibility"


def test_a_question_carries_no_hint_of_gold_or_stage(site: Site, study: Study) -> None:
    state = to_first_question(site.visit(), study, "pid1")
    assert set(state["question"]) == {"id", "kind", "items"}
    assert set(state["question"]["items"][0]) == {"id", "text", "image"}


def test_raw_times_are_stored_as_sent(site: Site, study: Study, log: Repository) -> None:
    browser = site.visit()
    question = to_first_question(browser, study, "pid1")["question"]
    body = {"question_id": question["id"], "answer": right_answer(study, question), "timing": TIMING}
    assert browser.post("/api/study/answers", json=body).json()["saved"] is True
    stored = next(event for event in log.since(kinds=["study_answer"]) if event.question_id == question["id"])
    assert {name: stored.payload["timing"][name] for name in TIMING} == TIMING


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"timing": {"onset_ms": -5, "submit_ms": 3}}, 422),
        ({"timing": None}, 422),
        ({"answer": {"type": "skip"}}, 422),
        ({"answer": {"type": "label", "positive": True}}, 422),
        ({"question_id": "study-00099-1-001"}, 409),
        ({"question_id": "../x"}, 422),
    ],
)
def test_bad_answers_are_refused_and_change_nothing(
    site: Site, study: Study, log: Repository, change: dict[str, Any], status: int
) -> None:
    browser = site.visit()
    question = to_first_question(browser, study, "pid1")["question"]
    before = list(log.since())
    body = {"question_id": question["id"], "answer": right_answer(study, question), "timing": TIMING, **change}
    reply = browser.post("/api/study/answers", json=body)
    assert reply.status_code == status, reply.text
    assert "\n" not in reply.json()["error"]
    assert list(log.since()) == before


def test_a_study_takes_no_level_items(site: Site, study: Study, log: Repository) -> None:
    browser = site.visit()
    question = to_first_question(browser, study, "pid1")["question"]
    order = [item["id"] for item in question["items"]]
    level = {"type": "rank", "order": order, "n_positive": 0, "ties": [0]}
    body = {"question_id": question["id"], "timing": TIMING}
    reply = browser.post("/api/study/answers", json={**body, "answer": level})
    assert reply.status_code == 422
    assert "allows no ties" in reply.json()["error"]
    assert browser.post("/api/study/answers", json={**body, "answer": right_answer(study, question)}).status_code == 200
    stored = next(event for event in log.since(kinds=["study_answer"]) if event.question_id == question["id"])
    assert stored.payload["answer"] == right_answer(study, question)


def test_another_answer_to_the_same_question_is_a_conflict(site: Site, study: Study) -> None:
    browser = site.visit()
    question = to_first_question(browser, study, "pid1")["question"]
    answer = right_answer(study, question)
    body = {"question_id": question["id"], "answer": answer, "timing": TIMING}
    first = browser.post("/api/study/answers", json=body)
    assert browser.post("/api/study/answers", json=body).json() == first.json()
    changed = {**body, "answer": {**answer, "n_positive": 2}}
    assert browser.post("/api/study/answers", json=changed).status_code == 409


def test_a_deleted_participant_is_somebody_new(site: Site, study: Study) -> None:
    browser = site.visit()
    to_first_question(browser, study, "pid1")
    owner = site.visit()
    owner.headers["Authorization"] = f"Bearer {site.tokens.issue_owner_link()}"
    assert owner.delete("/api/participants/participant-00001").status_code == 200
    assert browser.get("/api/study").status_code == 401
    assert enter(browser, prolific_pid="pid1")["step"] == "eligibility"


def test_pictures_have_addresses_on_this_server(log: Repository, study: Study, bank: list[BankQuestion]) -> None:
    site = Site(log, study, bank, images=True)
    browser = site.visit()
    state = to_first_question(browser, study, "pid1")
    while state["question"]["items"][0]["image"] is None:  # gold questions come first and have none
        body = {"question_id": state["question"]["id"], "answer": right_answer(study, state["question"])}
        state = browser.post("/api/study/answers", json={**body, "timing": TIMING}).json()["next"]
    item = state["question"]["items"][0]
    assert item["image"] == f"/api/items/{item['id']}/image"


def test_the_page_is_open_to_anybody(site: Site) -> None:
    assert site.visit().get("/study").status_code in (200, 503)
