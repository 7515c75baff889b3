"""The questions end, stay ended, and continue if the owner says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app.engine import LocalEngine
from tellmore.app.session import ConflictError, Session
from tellmore.kinds.label import LabelAnswer
from tellmore.kinds.rank import RankAnswer
from tellmore.kinds.select import SelectAnswer
from tellmore.policy.stopping import Settled
from tellmore.pool import Pool
from tellmore.questions import Question
from tellmore.store.events import answer_event, participant_event, question_event
from tellmore.types import Answer, Skip
from tests.app.conftest import SETTINGS, TIMING, body_for

LABELS = SETTINGS.changed(learning={"question": "label", "check_share": 0.2})


@pytest.fixture(scope="module")
def few() -> Pool:
    X = np.random.default_rng(2).standard_normal((12, 3))
    return Pool(X, ids=[f"i{row}" for row in range(12)])


@pytest.fixture(scope="module")
def many() -> Pool:
    """Items with a large first number are positive: the easiest of problems."""
    X = np.random.default_rng(2).standard_normal((400, 2)) + np.array([[1.5, 0.0]]) * np.resize([1, -1], (400, 1))
    return Pool(X, ids=[f"i{row}" for row in range(400)])


def truth(pool: Pool, question: Question) -> Answer:
    positive = [item for item in question.items if pool.X[pool.rows([item])[0], 0] > 0]
    rest = [item for item in question.items if item not in positive]
    return LabelAnswer(bool(positive)) if question.kind == "label" else RankAnswer([*positive, *rest], len(positive))


def answer_until_the_end(session: Session, person: str, *, most: int, answer: Answer | None = None) -> int:
    """How many questions were answered before there was none."""
    asked = session.question(person)
    for number in range(most):
        if asked is None:
            return number
        session.settled_view()
        asked = session.answer(person, asked.question.id, answer or truth(session.pool, asked.question), TIMING)
    raise AssertionError(f"still asked after {most} answers")


def ends(session: Session) -> list[str]:
    return [event.payload["why"] for event in session.repository.since() if event.kind == "end"]


@pytest.mark.parametrize("question", ["label", "rank", "select"])
def test_a_pool_of_twelve_is_not_asked_about_for_ever(
    open_session: Callable[..., Session], few: Pool, question: str
) -> None:
    session = open_session(SETTINGS.changed(learning={"question": question}), pool=few)
    asked = session.question("ann")
    for _ in range(40):
        if asked is None:
            break
        kind, items = asked.question.kind, asked.question.items  # random checks are labels, whatever is asked otherwise
        told = {"label": LabelAnswer(True), "rank": RankAnswer(items, 1)}.get(kind)
        asked = session.answer("ann", asked.question.id, told or SelectAnswer(items[0], True), TIMING)
    assert asked is None
    assert ends(session)[0] in ("labelled", "shown")


def test_who_skips_everything_comes_to_an_end_too(open_session: Callable[..., Session], few: Pool) -> None:
    session = open_session(LABELS, pool=few)
    assert answer_until_the_end(session, "ann", most=40, answer=Skip()) in (36, 37)
    assert ends(session) == ["shown"]


def test_the_end_stays_over_restarts_and_new_answers(open_session: Callable[..., Session], many: Pool) -> None:
    session = open_session(LABELS, pool=many)
    assert answer_until_the_end(session, "ann", most=200) >= 20
    assert ends(session) == ["settled"]
    before = session.desk.end
    # Late answers that contradict everything: the learner would continue, but the decision stays.
    for row in range(20):
        question = Question("label", [many.ids[row]])
        wrong = LabelAnswer(not truth(many, question).positive)
        session.append([question_event(question, "bob", check=True), answer_event(question.id, "bob", wrong)])
    assert not session.settled_view().stop
    assert session.question("ann") is None
    session.close()
    again = open_session(LABELS, pool=many)
    assert again.desk.end == before
    assert again.question("ann") is None
    assert ends(again) == ["settled"]


def test_the_end_counts_the_last_answer(
    visit: Callable[..., TestClient], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = visit("owner")
    question = owner.get("/api/question").json()["question"]
    learn = LocalEngine.learn

    def slowly(*args: Any, **options: Any) -> bool:
        time.sleep(0.3)
        return learn(*args, **options)

    monkeypatch.setattr(LocalEngine, "learn", slowly)
    session.end("owner")
    reply = owner.post("/api/answers", json=body_for(question)).json()["next"]
    assert reply["end"] is not None
    assert reply["progress"]["answers_all"] == reply["progress"]["answers"] == 1


def test_the_owner_goes_on_and_ends(open_session: Callable[..., Session], many: Pool) -> None:
    session = open_session(LABELS, pool=many)
    answer_until_the_end(session, "ann", most=200)
    session.go_on("owner")
    asked = session.question("ann")
    assert asked is not None
    session.answer("ann", asked.question.id, truth(many, asked.question), TIMING)
    session.settled_view()
    assert session.question("ann") is not None, "the rule does not end it a second time"
    assert session.desk.end is not None, "one can still stop"
    session.end("owner")
    assert session.question("bob") is None
    session.go_on("owner")
    assert session.question("bob") is not None


def test_taking_back_an_answer_takes_back_the_end(
    open_session: Callable[..., Session], few: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine random labels are asked, often of the same items, which would end the questions for another reason.
    monkeypatch.setattr("tellmore.app.ending.SHOWN_OFTEN", 100)
    for place in ("tellmore.learner.Settled", "tellmore.store.fold.Settled"):
        monkeypatch.setattr(place, lambda checks=10: Settled(answers=10_000, checks=checks))
    session = open_session(LABELS, pool=few)
    answer_until_the_end(session, "ann", most=400)
    assert ends(session)[0] == "labelled"
    with pytest.raises(ConflictError, match="every item has a label"):
        session.go_on("owner")
    last = max(given.seq for given in session.desk.given.values() if given.seq < session.desk.end.seq)
    question_id = next(given.question_id for given in session.desk.given.values() if given.seq == last)
    session.undo("ann", question_id)
    assert session.desk.end is None
    assert session.question("ann").question.items == session.desk.asked[question_id].question.items


def test_what_people_read_at_the_end(session: Session, visit: Callable[..., TestClient]) -> None:
    session.end("owner")
    owner, annotator = visit(), visit("annotator")
    assert not owner.get("/api/start").json()["fresh"], "who has ended the questions is not asked how to begin"
    told = owner.get("/api/question").json()
    assert (told["question"], told["reason"]) == (None, None)
    assert told["end"]["title"] == "The questions have ended"
    assert told["end"]["go_on"] is True
    assert told["progress"]["standing"] == [], "the end says it, and nothing under it contradicts that"
    assert annotator.get("/api/question").json()["end"] == {
        "title": "Done, thank you",
        "text": "All your answers are saved. You can close this page.",
        "go_on": False,
    }
    assert owner.post("/api/go-on", json={}).json() == {"done": True}
    assert annotator.get("/api/question").json()["question"] is not None


def test_a_quota_is_asked_of_annotators_only(session: Session, visit: Callable[..., TestClient]) -> None:
    session.append([participant_event("p-kim", "Kim", "annotator")])
    owner, kim = visit(), visit("annotator", "p-kim")
    assert owner.put("/api/settings", json={"quota": 2}).json()["quota"] == 2
    assert last_reply(kim, 2)["end"]["title"] == "Done, thank you"
    progress = kim.get("/api/question").json()["progress"]
    assert (progress["answers"], progress["quota"]) == (2, 2)
    assert last_reply(owner, 3)["question"] is not None
    assert owner.put("/api/settings", json={"quota": None}).json()["quota"] is None
    assert kim.get("/api/question").json()["question"] is not None


def last_reply(person: TestClient, answers: int) -> Any:
    """What is shown after this many answers."""
    reply = person.get("/api/question").json()
    for _ in range(answers):
        reply = person.post("/api/answers", json=body_for(reply["question"])).json()["next"]
    return reply
