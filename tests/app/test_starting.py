"""The preview of a start before it is saved: the items that fit most and least, and which names are items or words."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tellmore.app import starting
from tellmore.app.server import open_session as open_project_session
from tellmore.app.session import Session
from tellmore.app.wire_start import StartIn
from tellmore.data.ingest import EmbeddingSource, Ingest
from tellmore.data.project import open_project
from tellmore.errors import SettingError
from tellmore.pool import Pool
from tellmore.store.beforehand import Beforehand, beforehand_of
from tellmore.store.fold import new_learner
from tests.app.conftest import SETTINGS, body_for

Visit = Callable[..., TestClient]


def preview(client: TestClient, like: list[str], unlike: list[str]) -> Any:
    return client.post("/api/start/preview", json={"like": like, "unlike": unlike}).json()


def test_the_ends_are_those_of_a_learner_that_starts_there(visit: Visit, pool: Pool) -> None:
    shown = preview(visit(), ["i5", "text 7"], ["i8"])
    settings = SETTINGS.changed(start={"like": ["i5", "i7"], "unlike": ["i8"]})
    probability = new_learner(pool, settings, Beforehand()).probabilities()
    order = np.argsort(-probability)
    assert [item["id"] for item in shown["most"]] == [pool.ids[row] for row in order[:8]]
    assert [item["id"] for item in shown["least"]] == [pool.ids[row] for row in order[:-9:-1]]
    assert [item["probability"] for item in shown["most"]] == pytest.approx(probability[order[:8]], abs=1e-6)
    assert shown["most"][0]["text"] == pool.text[order[0]]  # type: ignore[index]


def test_of_many_items_the_ends_are_found_as_well(open_session: Callable[..., Session]) -> None:
    X = np.random.default_rng(4).standard_normal((1000, 6))
    pool = Pool(X / np.linalg.norm(X, axis=1, keepdims=True), ids=[str(row) for row in range(len(X))])
    session = open_session(pool=pool)
    shown = starting.preview(session, StartIn(like=["3"]))
    probability = new_learner(pool, SETTINGS.changed(start={"like": ["3"]}), Beforehand()).probabilities()
    assert [int(item.id) for item in shown.most] == np.argsort(-probability)[:8].tolist()
    assert [int(item.id) for item in shown.least] == np.argsort(probability)[:8].tolist()


def test_names_say_what_they_were_found_as(visit: Visit) -> None:
    shown = preview(visit(), ["text 5, i6"], ["i8"])
    assert [(one["name"], one["item"]["id"]) for one in shown["like"]] == [("text 5", "i5"), ("i6", "i6")]
    assert shown["unlike"][0]["item"]["text"] == "text 8"


def test_words_that_are_no_items_go_through_the_embedder_of_the_project(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    texts = ["warm and kind", "kind people", "a warm day", "cold and cruel", "cruel words", "a cold night"] * 2
    items = tmp_path / "items.csv"
    items.write_text("\n".join(["id,text", *(f"i{row},{text} {row}" for row, text in enumerate(texts))]))
    Ingest(tmp_path / "p", items, EmbeddingSource(embed="tfidf")).run()
    project = open_project(tmp_path / "p")
    beforehand = beforehand_of(project)
    with closing(open_project_session(project, beforehand=beforehand).start()) as session:
        assert starting.start_out(session).no_words is None
        shown = starting.preview(session, StartIn(like=["warm, i0"], unlike=["cruel"]))
        assert [(one.name, one.item and one.item.id) for one in shown.like] == [("warm", None), ("i0", "i0")]
        assert "warm" in (shown.most[0].text or "")
        assert "cruel" in (shown.least[0].text or "")
        with pytest.raises(SettingError, match="nothing is known of 'zebra'"):
            starting.preview(session, StartIn(like=["zebra"]))


def test_looking_changes_nothing(visit: Visit, session: Session) -> None:
    owner = visit()
    seq, settings = session.desk.seq, session.settings
    preview(owner, ["i5"], [])
    assert (session.desk.seq, session.settings) == (seq, settings)
    assert session.settled_view().learner.start_weight is None


@pytest.mark.parametrize(
    ("like", "unlike", "said"),
    [
        (
            ["sunny"],
            [],
            "no item has the id or the text 'sunny', and it cannot be used as a word: the vectors",
        ),
        (["i5", "i6"], ["i6"], "'i6' is named both as like and as unlike; choose one"),
        ([], [], "a start needs at least one example"),
        (["i5,,i6"], [], "an example is empty"),
        ([""], [], "like.0"),
    ],
)
def test_what_cannot_be_a_start_is_refused_in_one_line(
    visit: Visit, like: list[str], unlike: list[str], said: str
) -> None:
    reply = visit().post("/api/start/preview", json={"like": like, "unlike": unlike})
    assert reply.status_code == 422
    assert said in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


def test_a_start_is_asked_for_until_there_is_one_or_an_answer(visit: Visit) -> None:
    owner = visit()
    first = owner.get("/api/start").json()
    assert first["fresh"]
    assert "without a model for words" in first["no_words"]
    owner.put("/api/settings", json={"like": ["i5"]})
    assert not owner.get("/api/start").json()["fresh"]
    owner.put("/api/settings", json={"like": []})
    assert owner.get("/api/start").json()["fresh"]
    question = owner.get("/api/question").json()["question"]
    owner.post("/api/answers", json=body_for(question))
    assert not owner.get("/api/start").json()["fresh"]


def test_the_first_screen_names_the_attribute_as_the_owner_did(visit: Visit) -> None:
    owner = visit()
    assert owner.get("/api/start").json()["attribute"] == "calm"
    owner.put("/api/settings", json={"attribute": "a spam message"})
    assert owner.get("/api/start").json()["attribute"] == "a spam message"


def test_items_to_choose_from_are_a_few_or_those_searched_for(visit: Visit) -> None:
    owner = visit()

    def offered(search: str = "") -> list[str]:
        query = {"sort": "random", "limit": 12, "search": search}
        return [row["id"] for row in owner.get("/api/items", params=query).json()["rows"]]

    assert len(set(offered())) == 12
    assert offered() == offered() != [f"i{row}" for row in range(12)]
    assert set(offered("TEXT 4")) == {"i4", *(f"i4{digit}" for digit in range(10))}
    assert offered("nowhere") == []


def test_the_dashboard_says_what_the_answers_think_of_the_start(visit: Visit, session: Session) -> None:
    owner = visit()
    assert owner.get("/api/dashboard").json()["start_verdict"] is None
    owner.put("/api/settings", json={"like": ["i5"]})
    session.settled_view()
    assert owner.get("/api/dashboard").json()["start_verdict"] is None, "nothing was answered yet"
    question = owner.get("/api/question").json()["question"]
    owner.post("/api/answers", json=body_for(question))
    view = session.settled_view()
    shown = owner.get("/api/dashboard").json()["start_verdict"]
    assert shown.startswith("your answers ")
    assert f"{100 * view.learner.start_agreement():.0f} % of the items" in shown
