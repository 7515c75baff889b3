"""A start named in the app: examples by id or text, checked against the pool, and learnt according to the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore import Learner, Pool, Start
from tellmore.app.present import changes_of
from tellmore.app.session import Session
from tellmore.app.wire import SettingsChange
from tellmore.errors import QuestionError, SettingError
from tellmore.kinds import answer_from_json
from tellmore.questions import Question
from tellmore.store.beforehand import named_examples
from tests.app.conftest import body_for

Visit = Callable[..., TestClient]


def work(client: TestClient, n: int) -> None:
    question = client.get("/api/question").json()["question"]
    for _ in range(n):
        question = client.post("/api/answers", json=body_for(question)).json()["next"]["question"]


def recomputed(lines: str, pool: Pool) -> Learner:
    """The exported log, learnt again by the library alone, from the latest start."""
    events = [json.loads(line) for line in lines.splitlines()]
    start: dict[str, Any] = {}
    for event in events:
        start |= event["payload"].get("start", {}) if event["kind"] == "setting" else {}
    asked = {event["question_id"]: event["payload"] for event in events if event["kind"] == "question"}
    sides = ([pool.ids[pool.find(name) or 0] for name in start.get(key, ())] for key in ("like", "unlike"))
    learner = Learner(pool, question="rank", set_size=3, start=Start.of_items(pool, *sides))
    for event in events:
        if event["kind"] == "answer":
            shown = asked[event["question_id"]]
            question = Question(shown["kind"], shown["items"], check=shown["check"])  # a random fallback is a check too
            learner.tell(question, answer_from_json(event["payload"]["answer"]))
    return learner


def test_a_start_changes_the_belief_and_the_dashboard_follows_the_log(
    visit: Visit, session: Session, pool: Pool
) -> None:
    owner = visit("owner")
    work(owner, 20)
    session.settled_view()
    before = owner.get("/api/dashboard").json()
    reply = owner.put("/api/settings", json={"like": ["i5, text 7"], "unlike": ["i8"]})
    assert (reply.json()["like"], reply.json()["unlike"]) == (["i5", "text 7"], ["i8"])
    view = session.settled_view()
    shown = owner.get("/api/dashboard").json()
    learner = recomputed(owner.get("/api/export/jsonl").text, pool)
    np.testing.assert_allclose(view.learner.posterior.mean, learner.posterior.mean, atol=1e-10)
    assert shown["answers"] == before["answers"] == 20
    p = learner.predict_proba(pool.X)[:, 1]
    assert [item["id"] for item in shown["most_positive"]] == [pool.ids[row] for row in np.argsort(-p)[:10]]
    assert [item["probability"] for item in shown["most_positive"]] == pytest.approx(np.sort(p)[::-1][:10].tolist())
    assert shown["most_positive"] != before["most_positive"]
    progress = learner.progress
    assert shown["curve"][-1]["logdet_per_dim"] == pytest.approx(
        (progress.logdet - progress.prior_logdet) / (pool.d + 1), abs=1e-8
    )


def test_a_start_taken_back_leaves_no_trace(visit: Visit, session: Session) -> None:
    owner = visit("owner")
    work(owner, 4)
    plain = session.settled_view().learner.posterior.mean
    owner.put("/api/settings", json={"unlike": ["i3"]})
    assert not np.allclose(session.settled_view().learner.posterior.mean, plain)
    owner.put("/api/settings", json={"unlike": []})
    np.testing.assert_allclose(session.settled_view().learner.posterior.mean, plain, atol=1e-12)


def test_a_start_survives_a_restart(open_session: Callable[..., Session]) -> None:
    first = open_session()
    first.change_settings("owner", {"start": {"like": ["i4"], "unlike": ["i9"]}})
    belief = first.settled_view().learner.posterior.mean
    first.close()
    np.testing.assert_array_equal(open_session().settled_view().learner.posterior.mean, belief)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"like": ["i1", "nowhere"]}, "'nowhere'"),
        ({"unlike": ["text 999"]}, "'text 999'"),
        ({"like": ["i1"], "unlike": ["i2", "i1"]}, "'i1'"),
        ({"like": [""]}, "like"),
    ],
)
def test_impossible_starts_are_refused_in_one_line(visit: Visit, change: dict[str, Any], named: str) -> None:
    owner = visit("owner")
    for reply in (owner.put("/api/settings", json=change), owner.post("/api/settings/preview", json=change)):
        assert reply.status_code == 422
        assert named in reply.json()["error"]
    assert owner.get("/api/settings").json()["like"] == []


def test_a_text_of_several_items_needs_the_id() -> None:
    pool = Pool(np.eye(3), ids=["a", "b", "c"], text=["Calm", "calm", "b"])
    assert named_examples(pool, ["b", "a", "b"]) == ["b", "a"]
    with pytest.raises(QuestionError, match="2 items have the text 'calm': 'a', 'b'; name one by its id"):
        named_examples(pool, ["calm"])


def test_an_item_with_a_comma_is_one_example_and_other_commas_separate() -> None:
    pool = Pool(np.eye(3), text=["Calm, cool", "warm", "cold"])
    assert named_examples(pool, ["calm, cool", "warm, cold"]) == ["calm, cool", "warm", "cold"]
    with pytest.raises(SettingError, match="an example is empty"):
        named_examples(pool, ["warm,,cold"])


def test_who_changes_the_seeds_of_an_earlier_version_moves_them(open_session: Callable[..., Session]) -> None:
    change = changes_of(SettingsChange(like=["i4"]), open_session().pool)
    assert change == {"learning": {"seeds_positive": []}, "start": {"like": ["i4"]}}
