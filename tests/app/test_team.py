"""Several people: second opinions, known items, conflicts, comments and flags, filters of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from tellmore.app.api import create_app
from tellmore.app.limits import RateLimit
from tellmore.app.session import Session
from tellmore.app.tokens import Tokens
from tellmore.data.settings import LearningSettings, Settings, TeamSettings
from tests.app.conftest import SETTINGS, body_for

Visit = Callable[..., TestClient]
TEAM = SETTINGS.model_copy(
    update={
        "team": TeamSettings(overlap=0.4, known_share=0.3),
        "learning": LearningSettings(question="label", check_share=0.0),
    }
)


def visitors(session: Session, *names: str) -> list[TestClient]:
    tokens = Tokens(session.repository)
    app = create_app(session, tokens=tokens, limit=RateLimit(rate=10_000, burst=10_000))
    clients = []
    for name in names:
        client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        token, _ = tokens.issue("owner" if name == "owner" else "annotator", name, name)
        client.get(f"/?token={token}")
        clients.append(client)
    return clients


def answers(client: TestClient, n: int, *, flip: bool = False) -> None:
    question = client.get("/api/question").json()["question"]
    for _ in range(n):
        question = client.post("/api/answers", json=body_for(question, flip=flip)).json()["next"]["question"]


@pytest.fixture
def team(open_session: Callable[..., Session]) -> tuple[Session, list[TestClient]]:
    """An owner who labelled two items, and two people who answer in turn; one of them always gives the opposite."""
    session = open_session(settings=TEAM)
    owner, ann, bo = visitors(session, "owner", "ann", "bo")
    for item in ("i2", "i3"):
        owner.post("/api/labels", json={"item": item, "positive": item == "i2"})
    for _ in range(6):
        answers(ann, 2)
        answers(bo, 2, flip=True)
    return session, [owner, ann, bo]


def test_some_questions_are_given_to_two_people_and_some_items_are_known(
    team: tuple[Session, list[TestClient]],
) -> None:
    session, [owner, *_] = team
    rows = owner.get("/api/answers?limit=500").json()["rows"]
    why = Counter(row["why"] for row in rows)
    assert why["second"] > 2
    assert why["known"] >= 2
    asked = session.desk.asked
    twice = Counter(one.second_of for one in asked.values() if one.second_of)
    assert set(twice.values()) == {1}, "a question is given to two people, not to three"
    for one in asked.values():
        if one.second_of:
            first = asked[one.second_of]
            assert set(first.question.items) == set(one.question.items)
            assert first.participant != one.participant
    known = [one for one in asked.values() if one.why == "known"]
    assert all(one.participant != "owner" and one.question.items[0] in ("i2", "i3") for one in known)
    assert max(Counter((one.participant, one.question.items[0]) for one in known).values()) == 1


def test_conflicts_are_listed_and_settled_by_a_label_that_says_so(team: tuple[Session, list[TestClient]]) -> None:
    session, [owner, ann, _] = team
    found = owner.get("/api/agreement").json()
    assert found["agreement"]["alpha"] is None or found["agreement"]["alpha"] < 0.5
    assert found["open"] == found["total"] > 0
    first = found["conflicts"][0]
    assert {vote["positive"] for vote in first["votes"]} == {True, False}
    learnt = len(session.desk.counting())
    assert owner.post("/api/settle", json={"item": first["id"], "positive": True}).status_code == 200
    after = owner.get("/api/agreement").json()
    assert after["open"] == found["open"] - 1
    assert after["conflicts"][-1]["settled"] is True
    assert len(session.desk.counting()) == learnt + 1
    assert owner.get("/api/answers?only=settled").json()["total"] == 1
    assert ann.get("/api/agreement").status_code == 403


def test_random_answers_are_served_and_only_pointed_out(team: tuple[Session, list[TestClient]]) -> None:
    _, [owner, _, bo] = team
    answers(bo, 6, flip=True)
    people = {row["participant"]: row for row in owner.get("/api/dashboard").json()["annotators"]}
    assert people["bo"]["reliability"]["shared"] > 0
    assert people["bo"]["reliability"]["known_right"] == 0
    assert bo.get("/api/question").json()["question"] is not None


def test_the_log_is_filtered_by_person_kind_and_sort(team: tuple[Session, list[TestClient]]) -> None:
    _, [owner, ann, _] = team
    everything = owner.get("/api/answers?limit=500").json()
    of_ann = owner.get("/api/answers?limit=500&participant=ann").json()
    assert of_ann["total"] == len(of_ann["rows"]) == 12
    assert {row["participant"] for row in of_ann["rows"]} == {"ann"}
    assert owner.get("/api/answers?kind=rank").json()["total"] == 0
    ann.post("/api/undo", json={})
    assert owner.get("/api/answers?only=undone&participant=ann").json()["total"] == 1
    assert owner.get("/api/answers?only=direct").json()["total"] == 2
    assert owner.get("/api/answers?only=nonsense").status_code == 422
    assert owner.get("/api/answers?limit=5").json()["total"] == everything["total"]


def test_comments_and_flags_reach_the_owner_and_go_with_their_writer(visit: Visit, session: Session) -> None:
    owner, ann = visit("owner"), visit("annotator", "ann", "Ann")
    shown = ann.get("/api/question").json()["question"]["items"][0]["id"]
    assert (
        ann.post("/api/notes", json={"item": shown, "text": "  Half of it is missing. ", "flag": True}).status_code
        == 201
    )
    assert ann.post("/api/notes", json={"item": shown}).status_code == 422
    other = next(
        item for item in session.pool.ids if not any(item in a.question.items for a in session.desk.asked.values())
    )
    assert ann.post("/api/notes", json={"item": other, "text": "?"}).status_code == 404
    assert owner.post("/api/notes", json={"item": other, "text": "mine"}).status_code == 201
    noted = owner.get("/api/items?show=noted").json()["rows"]
    assert {(row["id"], row["notes"], row["flagged"]) for row in noted} == {(shown, 1, True), (other, 1, False)}
    [note] = owner.get(f"/api/items/{shown}/why").json()["notes"]
    assert (note["text"], note["flag"]) == ("Half of it is missing.", True)
    assert owner.delete("/api/participants/ann").status_code == 200
    assert [row["id"] for row in owner.get("/api/items?show=noted").json()["rows"]] == [other]


def test_shares_of_the_team_are_settings(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    assert owner.put("/api/settings", json={"overlap": 0.2, "known_share": 0.1}).json()["overlap"] == 0.2
    assert session.settings.team == TeamSettings(overlap=0.2, known_share=0.1)
    assert owner.put("/api/settings", json={"overlap": 0.9}).status_code == 422
    assert Settings().team == TeamSettings(overlap=0.0, known_share=0.0)


def test_an_owner_leaves_somebody_out_and_counts_them_again(team: tuple[Session, list[TestClient]]) -> None:
    session, (owner, ann, bo) = team
    before = session.settled_view()

    def row(name: str) -> dict:
        return next(each for each in owner.get("/api/dashboard").json()["annotators"] if each["name"] == name)

    def change(client: TestClient, participant: str, out: bool) -> int:
        return client.post("/api/leave-out", json={"participant": participant, "out": out}).status_code

    assert row("bo")["manner"]["left_out"] is False
    owner.post("/api/invitations", json={"name": "Cy"})
    assert row("Cy")["manner"]["habits"] == "no answers yet"
    assert not any(each["left_out"] for each in owner.get("/api/answers").json()["rows"])
    assert change(ann, "bo", True) == 403
    assert change(owner, "nobody", True) == 404
    assert change(owner, "bo", True) == 200
    without = session.settled_view()
    assert set(without.learner.told_by) == {"owner", "ann"}
    assert row("bo")["manner"] == {
        "verdict": None,
        "habits": "left out",
        "left_out": True,
    }
    assert {each["participant"] for each in owner.get("/api/answers").json()["rows"] if each["left_out"]} == {"bo"}
    answers(bo, 1)  # somebody who is left out still gets questions, and is not notified
    assert "left" not in bo.get("/api/question").text
    assert change(owner, "bo", False) == 200
    after = session.settled_view()
    assert len(after.effects) == len(before.effects) + 1
    assert set(after.learner.told_by) == {"owner", "ann", "bo"}
