"""Seed examples named in the app: by id or text, checked against the pool, learnt from as part of the prior."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore import Learner, Pool
from tellmore.app.seeds import seed_ids
from tellmore.app.session import Session
from tellmore.errors import SettingError
from tellmore.kinds import answer_from_json
from tellmore.questions import Question
from tests.app.conftest import body_for

Visit = Callable[..., TestClient]


def work(client: TestClient, n: int) -> None:
    question = client.get("/api/question").json()["question"]
    for _ in range(n):
        question = client.post("/api/answers", json=body_for(question)).json()["next"]["question"]


def recomputed(lines: str, pool: Pool) -> Learner:
    """The exported log learnt from anew, by the library alone, on top of the seeds named last."""
    events = [json.loads(line) for line in lines.splitlines()]
    learning: dict[str, Any] = {}
    for event in events:
        learning |= event["payload"].get("learning", {}) if event["kind"] == "setting" else {}
    asked = {event["question_id"]: event["payload"] for event in events if event["kind"] == "question"}
    seeds = {key: learning.get(key, ()) for key in ("seeds_positive", "seeds_negative")}
    learner = Learner(pool, question="rank", set_size=3, **seeds)
    for event in events:
        if event["kind"] == "answer":
            shown = asked[event["question_id"]]
            learner.tell(Question(shown["kind"], shown["items"]), answer_from_json(event["payload"]["answer"]))
    return learner


def test_seeds_change_the_belief_and_the_dashboard_follows_the_log(visit: Visit, session: Session, pool: Pool) -> None:
    owner = visit("owner")
    work(owner, 20)
    session.settled_view()
    before = owner.get("/api/dashboard").json()
    reply = owner.put("/api/settings", json={"seeds_positive": ["i5", "text 7"], "seeds_negative": ["i8"]})
    assert (reply.json()["seeds_positive"], reply.json()["seeds_negative"]) == (["i5", "i7"], ["i8"])
    view = session.settled_view()
    shown = owner.get("/api/dashboard").json()
    learner = recomputed(owner.get("/api/export/jsonl").text, pool)
    np.testing.assert_allclose(view.learner.posterior.mean, learner.posterior.mean, atol=1e-10)
    assert shown["answers"] == before["answers"] == 20
    p = learner.predict_proba(pool.X)[:, 1]
    assert [item["id"] for item in shown["most_positive"]] == [pool.ids[row] for row in np.argsort(-p)[:10]]
    assert [item["probability"] for item in shown["most_positive"]] == pytest.approx(np.sort(p)[::-1][:10].tolist())
    assert shown["most_positive"] != before["most_positive"]
    assert shown["curve"][-1]["logdet_per_dim"] == pytest.approx(
        float(learner.posterior.logdet - learner.prior.logdet) / (pool.d + 1), abs=1e-8
    )


def test_seeds_taken_back_leave_no_trace(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    work(owner, 4)
    plain = session.settled_view().learner.posterior.mean
    owner.put("/api/settings", json={"seeds_negative": ["i3"]})
    assert not np.allclose(session.settled_view().learner.posterior.mean, plain)
    owner.put("/api/settings", json={"seeds_negative": []})
    np.testing.assert_allclose(session.settled_view().learner.posterior.mean, plain, atol=1e-12)


def test_seeds_survive_a_restart(open_session: Callable[..., Session]) -> None:
    first = open_session()
    first.change_settings("owner", {"learning": {"seeds_positive": ["i4"], "seeds_negative": ["i9"]}})
    belief = first.settled_view().learner.posterior.mean
    first.close()
    np.testing.assert_array_equal(open_session().settled_view().learner.posterior.mean, belief)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seeds_positive": ["i1", "nowhere"]}, "'nowhere'"),
        ({"seeds_negative": ["text 999"]}, "'text 999'"),
        ({"seeds_positive": ["i1"], "seeds_negative": ["i2", "i1"]}, "'i1'"),
        ({"seeds_positive": [""]}, "seeds_positive"),
    ],
)
def test_impossible_seeds_are_refused_in_one_line(visit: Visit, change: dict[str, Any], named: str) -> None:
    owner = visit("owner")
    for reply in (owner.put("/api/settings", json=change), owner.post("/api/settings/preview", json=change)):
        assert reply.status_code == 422
        assert named in reply.json()["error"]
    assert owner.get("/api/settings").json()["seeds_positive"] == []


def test_a_text_of_several_items_needs_the_id() -> None:
    pool = Pool(np.eye(3), ids=["a", "b", "c"], text=["Calm", "calm", "b"])
    assert seed_ids(pool, ["b", "a", "b"]) == ["b", "a"]
    with pytest.raises(SettingError, match="2 items have the text 'calm': a, b"):
        seed_ids(pool, ["calm"])
